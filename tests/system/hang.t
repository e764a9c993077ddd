#!/bin/bash
# hang.t - where the ranks of a job are, and what is done about one that hangs.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
need_root
cluster_need
need /usr/bin/python3 curl
CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_up 2 hosts

step_of()
{
	job_get "$1" '.progress.step // 0'
}

# train NAME LINE...: a training of four ranks on two nodes that goes on
train()
{
	local name=$1

	shift
	printf '%s\n' "sweep: $name" "framework: cpu" "model: gpt-nano" \
		"steps: 1000000" "nodes: 2" "processes: 2" \
		"batch: {micro: 1, accumulate: 1}" "$@" >"$BED/$name.yaml"
	must submit "$BED/$name.yaml"
	must wait_for "((\$(step_of $JOB) > 3))" 60
}

train stacks
run cli stacks "$JOB" --format json
like "$(jq -r '[.ranks[] | "\(.rank) \(.node)"] | join(" ")' "$BED/out")" \
	"^0 n[12] 1 n[12] 2 n[12] 3 n[12]$" "the ranks of a running job are looked at"
like "$(jq -r '.ranks[2].command' "$BED/out")" "^/trainer " \
	"their commands are told"
like "$(jq -r '.ranks[2].sockets[]' "$BED/out" | head -1)" \
	"^10\.77\..* ESTABLISHED$" "and whom they speak with"
pid=$(jq '.ranks[2].pid' "$BED/out")
kill -STOP "$pid"
run cli stacks "$JOB"
like "$(head -1 "$BED/out")" "^n[12]: rank 2 halted.*; 3 ranks: waiting for" \
	"one that stands still is named: $(head -1 "$BED/out")"
kill -CONT "$pid"
# shellcheck disable=SC2034 # below, in words
step=$(step_of "$JOB")
ok 'wait_for "((\$(step_of $JOB) > $step))" 20' \
	"the job goes on"
run cli cancel job "$JOB"
must wait_job "$JOB" cancelled 30
like "$(job_get "$JOB" '.result.flags[] | select(.code == "straggler").words[0]')" \
	"^n[12]: rank 2 halted.*; 3 ranks: waiting for" \
	"its result says who stood still"
run cli stacks 999
is "$rc" 2 "of a job that is not there nothing is told"
# One that stands still, of four that wait for each other.
train hang "hang: 6s"
job=$JOB
run cli stacks "$job" --format json
pid=$(jq '.ranks[] | select(.rank == 1) | .pid' "$BED/out")
kill -STOP "$pid"
ok 'wait_for "[[ \$(cli jobs --sweep $SWEEP) == *suspected\ hang* ]]" 20' \
	"a job that shows no life is suspected"
like "$(cli jobs --sweep "$SWEEP")" "step [0-9]+/1000000, [0-9.]+s ago" \
	"the age of its last step is told"
address=$(cli web)
in_net="nsenter --net=/run/netns/$(switch_netns)"
$in_net curl -s -o /dev/null -c "$BED/jar" "$address"
like "$($in_net curl -s -b "$BED/jar" "${address%/login*}/job/$job")" \
	'[0-9]+s ago, suspected hang</span>' "its page says so"
must wait_job "$job" failed 150
is "$(job_get "$job" .failure)" hang "and fails as hang"
like "$(job_get "$job" .text)" "nothing written for [0-9]+ s after step [0-9]+: \
n[12]: rank 1 halted .*; 3 ranks: waiting for the network" \
	"which says who hangs: $(job_get "$job" .text)"
is "$(job_get "$job" '.reason | "\(.rank) \(.class)"')" "1 other" \
	"and names the rank"
run cli stacks "$job"
like "$(head -1 "$BED/out")" "rank 1 halted" "its stacks are kept"

# Three ranks of a launcher, which share its output: one sleeps, two wait for it.
image=$BED/image
must python_copy "$image"
cat >"$image/launch.py" <<'END'
import os, subprocess, sys
children = [subprocess.Popen([sys.executable, "/train.py"],
    env=dict(os.environ, RANK=str(rank))) for rank in range(3)]
sys.exit(max(child.wait() for child in children))
END
cat >"$image/train.py" <<'END'
import os, socket, time
def load_batch():
    time.sleep(1000)
def all_reduce():
    pair = socket.socketpair()
    pair[0].recv(1)
def step():
    all_reduce()
print("begun", flush=True)
load_batch() if os.environ["RANK"] == "1" else step()
END
# What PyTorch's flight recorder writes when a collective times out.
must python3 - "$image" <<'END'
import pickle, sys
for rank in range(4):
    calls = [{"process_group": ("0", "default_pg"), "collective_seq_id": i + 1,
        "profiling_name": "nccl:all_reduce", "is_p2p": False,
        "state": "started" if i == 40 else "completed"}
        for i in range(41 - (rank == 2))]
    with open(f"{sys.argv[1]}/dump{rank}", "wb") as file:
        pickle.dump({"version": "2.9", "entries": calls, "pg_config": {"0":
            {"name": "0", "ranks": "[0, 1, 2, 3]"}}}, file, protocol=2)
END
cat >"$image/collective.py" <<'END'
import os, time
rank = os.environ["RANK"]
with open("/dump" + rank, "rb") as dump:
    with open(os.environ["TORCH_FR_DUMP_TEMP_FILE"] + rank, "wb") as file:
        file.write(dump.read())
time.sleep(1000 if rank == "2" else 3) # till the files were seen
print("Watchdog caught collective operation timeout: a sum", flush=True)
os.abort()
END
cp "$ROOT/tests/lab/recorder.py" "$image/"
must python_modules "$image" "import pickle"
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
for engine in $(cluster_engines); do
	must dk "$engine" import "$BED/image.tar" test/python:1 >/dev/null
done
cat >"$BED/python.yaml" <<'END'
sweep: python
image: test/python:1
hang: 4s
command: [python3, /launch.py]
END
must submit "$BED/python.yaml"
must wait_job "$JOB" failed 150
is "$(job_get "$JOB" .failure)" hang "a launcher whose ranks stand still hangs"
like "$(job_get "$JOB" .text)" ": n[12]: rank 1 load_batch train.py:3; \
2 ranks: all_reduce train.py:6$" \
	"the stacks of Python say where: $(job_get "$JOB" .text)"
run cli logs "$JOB"
is "$(grep -c '^Fatal Python error: Aborted' "$BED/out")" 3 \
	"each rank printed its stack"

# Those that wait fail; the one that they wait for prints nothing.
cat >"$BED/collective.yaml" <<'END'
sweep: collective
image: test/python:1
nodes: 2
processes: 2
retries: 0
command: [python3, /collective.py]
END
must submit "$BED/collective.yaml"
must wait_job "$JOB" failed 150
like "$(job_get "$JOB" .text)" "\(Aborted\): n[12]: rank 2 has not entered all_reduce 41, in \
which 3 ranks wait \(flight recorder\)$" \
	"the dumps of a flight recorder tell who did not come: $(job_get "$JOB" .text)"
is "$(job_get "$JOB" '.reason | "\(.task) \(.rank) \(.class)"')" \
	"1 2 communication" "and the reason names it"

# Those that stand still are asked: by a person, when they are suspected, at the end.
cat >"$BED/asked.yaml" <<'END'
sweep: asked
image: test/python:1
nodes: 2
processes: 2
hang: 40s
retries: 0
log: {rules: [{match: 'step (?<step>\d+)/(?<steps>\d+) \| loss (?<loss>\S+)'}]}
command: [python3, /recorder.py, stands]
END
sed -e 's/^sweep: .*/sweep: late/' -e 's/stands/goes/' -e 's/^hang: .*/hang: off/' \
	"$BED/asked.yaml" >"$BED/late.yaml"
absent='n[12]: rank 2 has not entered all_reduce 41, in which 3 ranks wait \(flight recorder\)'
last='n[12]: rank 2 was the last to enter [0-9]+ of [0-9]+ collectives, [34][0-9] ms after the others \(flight recorder\)'
must submit "$BED/asked.yaml"
asked=$JOB
ok 'wait_for "run cli stacks $asked; finds -E \"\$absent\" <\"\$BED/out\"" 60' \
	"ranks that stand still are asked for their dumps"
ok 'wait_for "[[ \$(cli jobs --sweep $SWEEP) =~ suspected\ hang.*\$absent ]]" 60' \
	"the list of jobs names who did not come, while they stand"
like "$(job_get "$asked" .progress.found)" "^$absent$" "and so does the job"
must wait_job "$asked" failed 150
like "$(job_get "$asked" .text)" "$absent$" "and why the others hang"
run cli stacks "$asked"
like "$(sed -n 2p "$BED/out")" "^$absent$" "what they said is kept"
must submit "$BED/late.yaml"
must wait_for "((\$(step_of $JOB) > 40))" 60
run cli stacks "$JOB"
like "$(sed -n 2p "$BED/out")" "^$last$" "of those that go on, the one that comes last is told"
run cli cancel job "$JOB"
must wait_job "$JOB" cancelled 30
like "$(cli show job "$JOB")" "$last" "its result says so"

# One that goes on printing that it waits, which its rules do not call life.
cat >"$BED/waits.yaml" <<'END'
sweep: waits
image: test/python:1
hang: 4s
log: {rules: [{match: 'step (?<step>\d+) loss (?<loss>\S+)'},
  {match: '^saved ', life: true}]}
command: [python3, -uc, "import time\nprint('step 1 loss 2.5')
\nfor i in range(30): print('saved', i) or time.sleep(0.2)
\nwhile True: print('waiting') or time.sleep(0.2)"]
END
must submit "$BED/waits.yaml"
waits=$JOB

# One that leaves early, and another that fails for it.
cat >"$BED/early.yaml" <<'END'
sweep: early
image: test/python:1
processes: 2
command: [python3, -c, "import os, sys, time; rank = int(os.environ['RANK']); \
  time.sleep(rank * 2.5); sys.exit(rank * 3)"]
END
must submit "$BED/early.yaml"
must wait_job "$JOB" failed 150
like "$(job_get "$JOB" .text)" "rank 1 exited with code 3; rank 0 exited first, \
with code 0, [23] s earlier$" "the rank that exited early is told: $(job_get "$JOB" .text)"
run cli show job "$JOB"
ok 'grep -qE "^ *0  n[12] .* 0 +-( |\$)" "$BED/out"' "and how all ranks ended"

must wait_job "$waits" failed 150
is "$(job_get "$waits" .failure)" hang "words that are no life keep no job"
run cli logs "$waits"
ok 'grep -q "^saved 29$" "$BED/out"' "those that are life do"

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
