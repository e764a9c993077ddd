#!/bin/bash
# failures.t - each way in which a job ends badly has its class and sentence.
#
# And whatever it printed is at the controller, byte for byte.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need cmp

must registry_up
must proxy_up slow "$REGISTRY" stall 2000000
AGENT_ARGS=(--stall 2)
must cluster_up 2 one

# failed JOB CLASS TEXT NAME: waits, then judges
failed()
{
	wait_job "$1" failed 30
	is "$(job_get "$1" .failure)" "$2" "$4: class $2"
	like "$(job_get "$1" .text)" "$3" "$4: $(job_get "$1" .text)"
}

# The pulls stall for seconds; all else goes on meanwhile, on the other node.
must random_image e1 "$REGISTRY/big:1" 8
must dk e1 push -q "$REGISTRY/big:1" >/dev/null
must dk e1 rmi -f "$REGISTRY/big:1" >/dev/null
cat >"$BED/stall.yaml" <<END
sweep: stall
image: $PROXY/big:1
retries: 0
command: [/tool, print, "1000"]
END
must submit "$BED/stall.yaml"
stalled=$JOB
must wait_for '[[ $(log_of proxy-slow) == *stalled* ]]' 30

# A command that ends with a code, after one that prints a lot.
must submit_tool exit print 104857600 , exit 1
exit_job=$JOB
must wait_sweep "$SWEEP" 60
failed "$exit_job" exit "n[12]: rank 0 exited with code 1" "exit 1"
is "$(log_size "$exit_job")" 104857600 "100 MB are at the controller"
ok 'log_is $exit_job 1 0 print 104857600' "byte for byte"

# What no text file should hold.
must submit_tool bytes longline 2097152 , garbage 100000 , longline 10 , \
	error "and an error"
must wait_job "$JOB" completed 30
"$REGATTA_BUILD/lab/tool" longline 2097152 , garbage 100000 , longline 10 , \
	error "and an error" >"$BED/want" 2>&1
ok 'cmp "$BED/want" "$(log_file "$JOB")"' \
	"a line of 2 MB, NULs and broken UTF-8 come byte for byte"
run regatta logs "$JOB"
ok 'cmp "$BED/want" "$BED/out"' "and so does the command line print them"

# What the ranks printed says why, and where.
said="RuntimeError: CUDA out of memory. Tried to allocate 2 GiB"
must submit_tool reason retries=0 print 1000 , error "$said" , \
	error "Watchdog caught collective operation timeout" , exit 3
failed "$JOB" oom "rank 0 exited with code 3: $said\$" "with its reason"
is "$(job_get "$JOB" '.reason | "\(.class) \(.rank) \(.stream) \(.line)"')" \
	"device-oom 0 rank-0 $said" "which stands apart, too"
is "$(tail -c "+$(($(job_get "$JOB" .reason.offset) + 1))" \
	"$(log_file "$JOB")" | head -1)" "$said" "with its place in the output"
is "$(job_get "$JOB" '.ends[0] | "\(.rank) \(.step) \(.line)"')" \
	"0 null $said" "and how its rank ended"
run regatta show job "$JOB"
like "$(cat "$BED/out")" "STEP +SAID.*RuntimeError: CUDA out of memory" \
	"in words, too"
like "$(cat "$BED/out")" "to do: use a smaller batch" "and what is to be done"
run regatta report "$SWEEP"
like "$(cat "$BED/out")" "Tried to allocate 2 GiB" "and below the report"
run regatta diagnose "$JOB"
is "$(head -1 "$BED/out")" "device-oom: $said" "diagnose tells it, too"
is "$(tail -1 "$BED/out")" "  communication: Watchdog caught collective operation timeout" \
	"and what else the output shows"
run regatta diagnose "$exit_job" --format json
is "$(jq -r '"\(.class) \(.line)"' "$BED/out")" "other null" \
	"of a job that says nothing it tells no line"
is "$(job_get "$exit_job" '.reason | "\(.rank) \(.exit_code) \(.line)"')" \
	"0 1 null" "but who failed, and how"

# A rank that only the launcher tells of, without a code.
must submit_tool launched retries=0 print 1000 , \
	error "srun: error: n9: task 3: Segmentation fault" , exit 1
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" '.ends[] | select(.rank == 3) |
	"\(.exit_code) \(.signal) \(.ended_ms) \(.line)"')" \
	"null null null srun: error: n9: task 3: Segmentation fault" \
	"what is not told of a rank's end is null"
run regatta show job "$JOB"
like "$(cat "$BED/out")" " 3 +n[12] +- +- +- +- +- +srun" "and a dash in words"

must submit_tool signal print 1000 , abort
failed "$JOB" exit "signal|SIGABRT|[Aa]borted" "a command that aborts"
is "$(job_get "$JOB" '.ends[] | "\(.rank) \(.exit_code) \(.signal)"')" \
	"0 134 6" "and how its rank ended"
must submit_tool oom memory=32m print 1000 , eat 100000000
failed "$JOB" oom "memory" "a memory limit"
ok 'log_is $JOB 1 0 print 1000' "what it printed before is there"
must submit_tool late timeout=1s grace=1s print 1000 , stubborn , sleep 1000
failed "$JOB" timeout "1 ?s" "a time limit"
ok 'log_is $JOB 1 0 print 1000' "what it printed before is there"
must wait_sweep "$SWEEP" 20

# What the agent reads of a task, the command can write.
out=/regatta/out
must submit_tool ruin folder $out/exit.json , link /etc/passwd $out/x , exit 3
failed "$JOB" exit "exit record is forged or damaged" "a folder for its exit record"
is "$(job_get "$JOB" .attempt)" 1 "it is not tried again"
zero='{"version":1,"exit_code":0,"signal":0,"started_ms":1,"ended_ms":2,"oom_kills":0,"memory_peak_bytes":0,"processes":[]}'
must submit_tool early retries=0 append $out/x "$zero" , \
	rename $out/x $out/exit.json , print 1000 , wait /host/go
must wait_job "$JOB" running 30
must wait_for '(($(log_size "$JOB") == 1000))' 30
tap 0 "a record that the command makes ends nothing"
touch "$BED/host/early/go"
failed "$JOB" exit "exit record is forged or damaged: another file" \
	"but is told at the end"
must submit_tool taken retries=0 rename $out/exit.json.new $out/y , exit 0
failed "$JOB" exit "exit record is forged or damaged: another file" \
	"a command that takes the record's file away"
must submit_tool forge retries=0 print 1000 , link /etc/passwd $out/rank-0.log
wait_for '[[ $(job_get "$JOB" .state) == @(failed|completed) ]]' 30
# The agent may have read what was printed before the link was there.
if [[ $(job_get "$JOB" .state) == completed ]]; then
	is "$(log_size "$JOB")" 1000 "a link for its output, too late"
else
	like "$(job_get "$JOB" .text)" "1000 of 1000 bytes .* lost" \
		"a link for its output"
fi
like "$(log_size "$JOB")" '^(0|1000)$' "no file of the node is read through it"

cat >"$BED/missing.yaml" <<END
sweep: missing
image: $REGISTRY/nobody:1
command: [/tool]
END
must submit "$BED/missing.yaml"
failed "$JOB" image "nobody.*(not found|unknown)" "an image that does not exist"
is "$(job_get "$JOB" .attempt)" 1 "it is not tried again"
cat >"$BED/nothing.yaml" <<END
sweep: nothing
image: $TOOL_IMAGE
retries: 0
command: [/nothing/there]
END
must submit "$BED/nothing.yaml"
failed "$JOB" exit "/nothing/there" "a command that does not exist"
cat >"$BED/mount.yaml" <<END
sweep: mount
image: $TOOL_IMAGE
retries: 0
mounts: [{host: /nothing/there, container: /data}]
command: [/tool]
END
must submit "$BED/mount.yaml"
failed "$JOB" preflight "/nothing/there" "a folder that is not on the node"
like "$(job_get "$JOB" '.reason | "\(.node) \(.how)"')" \
	"^n[12] .*/nothing/there" "whose reason names the node"
cat >"$BED/silent.yaml" <<END
sweep: silent
framework: cpu
image: $TOOL_IMAGE
command: [/tool, print, "1000"]
END
must submit "$BED/silent.yaml"
failed "$JOB" no-metric "" "a training that measures nothing"

# The registry again: three tries that stall, then words.
must wait_job "$stalled" failed 40
failed "$stalled" image "$PROXY/big:1: after 3 tries.* no data for 2000 ms" \
	"a registry that stalls"
must submit "$BED/stall.yaml"
must wait_job "$JOB" preparing 10
must proxy_pass slow
must wait_job "$JOB" completed 30
ok 'log_is $JOB 1 0 print 1000' "a pull goes on when the registry does"

# A command that fails always: its sweep stops. ends FAILURE: jobs that ended so
ends()
{
	jobs_get "$SWEEP" "map(select(.failure == \"$1\")) | length"
}
# waiting: jobs that wait for their paused sweep
waiting()
{
	jobs_get "$SWEEP" 'map(select(.state == "queued" and
		.waits == "its sweep is paused")) | length'
}
must submit_tool wrong repeat=500 exit 1
run cli watch "$SWEEP"
is "$rc" 1 "a sweep of 500 cells that exit 1 is paused"
like "$err" \
	"sweep $SWEEP is paused: its first 10 jobs exited with code 1; regatta retry $SWEEP .*regatta cancel $SWEEP " \
	"which asks what to do"
ran=$(ends exit)
ok '((ran >= 10 && ran <= 12))' "no more than 12 have run"
is "$(waiting)" "$((500 - ran))" "the others wait"
like "$(cli sweeps)" "$SWEEP +wrong +paused" "sweeps says so"
must controller_kill
must controller_up
must nodes_up 2 20
is "$(waiting) $(ends exit)" "$((500 - ran)) $ran" \
	"also after the controller was killed"
must submit_tool after print 1
must wait_job "$JOB" completed 30
SWEEP=$((SWEEP - 1))
is "$(waiting)" "$((500 - ran))" "other sweeps run meanwhile"
must cli retry "$SWEEP"
must wait_for '(( $(jobs_get "$SWEEP" "map(select(.attempt == 2 and
	.failure == \"exit\")) | length") + $(ends exit) >= 2 * ran ))' 30
run cli watch "$SWEEP"
is "$rc" 1 "a retry goes on, and is paused when 10 more end alike"
ok '(( $(waiting) >= 500 - 3 * ran && $(waiting) < 500 ))' "for the rest"
must cli cancel "$SWEEP"
must wait_sweep "$SWEEP" 60
is "$(waiting)" 0 "a cancel ends it"
must submit_tool mixed stop_after=off repeat=13 exit 1
must wait_sweep "$SWEEP" 60
is "$(ends exit)" 13 "with stop_after: off all run"
must submit_tool three stop_after=3 repeat=9 exit 1
must wait_sweep "$SWEEP" 60
ok '(( $(ends exit) >= 3 && $(ends exit) <= 5 ))' "stop_after: 3 is kept"
must submit_tool share stop_after=50% repeat=9 exit 1
must wait_sweep "$SWEEP" 60
ok '(( $(ends exit) >= 5 && $(ends exit) <= 7 ))' "and a share of all jobs"
run cli retry "$SWEEP"
must wait_for '(( $(jobs_get "$SWEEP" "map(select(.attempt == 2)) | length") == 9 ))' 30
must wait_sweep "$SWEEP" 60
ok '(( $(ends exit) >= 5 && $(ends exit) <= 7 ))' "a retry counts anew"
sed -i 's/^stop_after: .*/stop_after: 0/' "$BED/host/share.yaml"
run cli submit "$BED/host/share.yaml"
is "$rc" 2 "stop_after: 0 is refused"
like "$err" 'stop_after' "with its line: $err"

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
ok '[[ $(dk e1 network ls -q --filter type=custom) == "" ]]' "no network either"
done_testing
