#!/bin/bash
# slurm.t - regatta slurm: a sweep as a job of a real Slurm, and nothing left.
: "${TEST_LIMIT:=600}"
# shellcheck source=tests/lab/slurm-test.sh
. "$(dirname "$0")/../lab/slurm-test.sh"
need docker dockerd containerd

must slurm_bed
must slurm_up a1 a2 a3

cat >good.yaml <<END
sweep: good
vendor: cpu
framework: cpu
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
command: [/tool, steps, "20", "5", ",", print, "\${k}", ",", exit, "\${code}"]
matrix:
  nodes: [1, 3]
  k: [1, 2, 3, 4]
  code: [0]
END

# What would be submitted.
run regatta slurm --print good.yaml -- -t 5
like "$rc $out" "^0 #!/bin/bash.*--nodes=3.*--signal=B:TERM@120.*run --slurm" \
	"the script asks for the widest job, and for a warning"
ok 'bash -n "$BED/out"' "it is a script"
run regatta slurm --print nowhere.yaml
is "$rc" 2 "a sweep that is not there is a wrong request"
run regatta run --slurm good.yaml
like "$rc $err" "^2 .*allocation|^2 .*SLURM_JOB_NODELIST" \
	"--slurm outside of an allocation says what is expected"

# A sweep over three nodes.
submit good good.yaml -- -t 5
must over 'COMPLETED|FAILED'
is "$(slurm_state "$job")" COMPLETED "the job's state is the sweep's"
is "$(states good)" \
	'["completed","completed","completed","completed","completed","completed","completed","completed"]' \
	"every cell has its row"
like "$(cat good/slurm.log)" "8 of 8 jobs completed" "the log has the outcome"
is "$(jq -r '[.rows[].provenance.nodes[]] | unique | join(" ")' good/report.json)" \
	"a1 a2 a3" "all three nodes worked"
is "$(find good/keys -name '*.key' -perm /077)" "" "keys are their owner's"
nothing good "after a sweep"
run regatta jobs --state "$BED/good"
like "$rc $out" "^0 .*completed" "what it kept can be read afterwards"
run regatta slurm --state "$BED/good" good.yaml
is "$rc" 2 "a folder is used once"

# A sweep that fails.
sed 's/code: \[0\]/code: [0, 3]/; s/^sweep: good/sweep: bad/' good.yaml >bad.yaml
submit bad bad.yaml -- -t 5
must over 'COMPLETED|FAILED'
is "$(slurm_state "$job")" FAILED "a failed cell fails the job"
nothing bad "after a failure"

# The time limit comes while a cell runs; then the rest.
cat >slow.yaml <<END
sweep: slow
vendor: cpu
framework: cpu
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
command: [/tool, steps, "20", "5", ",", wait, "/host/go-\${n}"]
matrix:
  n: [1, 2]
END
touch host/go-1
submit slow slow.yaml -- -t 2 --signal=B:TERM@95
must wait_for 'grep -q "job 2 .*running" slow/slurm.log' 60
must over 'COMPLETED|FAILED|TIMEOUT'
like "$(cat slow/slurm.log)" "continue with" "the limit ends the run in order"
is "$(states slow)" '["completed","queued"]' "what ran is in the queue again"
nothing slow "after the time limit"
touch host/go-2
run regatta slurm --resume "$BED/slow" -- -t 5
job=${out##* }
must over 'COMPLETED|FAILED'
is "$(slurm_state "$job") $(states slow)" \
	'COMPLETED ["completed","completed"]' "--resume runs what is missing"
nothing slow "after the rest"

# Cancelled, and requeued.
rm -f host/go-*
submit cancelled slow.yaml -- -t 5
must wait_for 'grep -q "job 1 .*running" cancelled/slurm.log' 60
must scancel "$job"
must over 'CANCELLED|COMPLETED|FAILED'
nothing cancelled "after scancel"
submit requeued slow.yaml -- -t 5
must wait_for 'grep -q "job 1 .*running" requeued/slurm.log' 60
touch host/go-{1,2}
must scontrol requeue "$job"
must slurm_again "$job"
must over 'COMPLETED'
is "$(states requeued)" '["completed","completed"]' "a requeued job goes on"
nothing requeued "after a requeue"


# Preempted by a partition that goes first.
rm -f host/go-*
submit preempted slow.yaml -- -t 10 -w a1
must wait_for 'grep -q "job 1 .*running" preempted/slurm.log' 60
# shellcheck disable=SC2034 # below
first=$(sbatch -p first -w a1 --exclusive -o /dev/null --parsable \
	--wrap "touch $BED/first; sleep 1")
must wait_for '[[ -e first ]]' 90
is "$(containers one)$(ls -A "$BED/nodes")" "" "who goes first finds nothing there"
touch host/go-{1,2}
must wait_for '[[ $(slurm_state "$first") == COMPLETED ]]' 60
must slurm_again "$job"
must over 'COMPLETED'
is "$(states preempted)" '["completed","completed"]' "a preempted job goes on"
nothing preempted "after a preemption"

# A node fails, with all that it ran.
rm -f host/go-*
submit failing slow.yaml -- -t 10 -N 2 -w a1,a2
must wait_for 'grep -q "job 1 .*running" failing/slurm.log &&
	grep -q "job 2 .*running" failing/slurm.log' 60
node=$(sed -n "s/.*running.*[ (]on \(a[12]\)).*/\1/p" failing/slurm.log |
	grep -v "$(scontrol show job "$job" | sed -n 's/.*BatchHost=//p')" |
	head -1)
slurm_node_kill "$node"
# shellcheck disable=SC2046 # several
kill -9 $(grep -lsz "^SLURMD_NODENAME=$node\$" /proc/[0-9]*/environ |
	xargs grep -lszxF "REGATTA_BED=$BED" | cut -d/ -f3) 2>/dev/null
must wait_for '[[ $(sinfo -h -n "$node" -o %t) == down* ]]' 60
must wait_for '[[ $(slurm_state "$job") == PENDING ]]' 60
touch host/go-{1,2}
must slurmd -N "$node"
must wait_for '[[ $(sinfo -h -n "$node" -o %t) == idle ]]' 60
must slurm_again "$job"
must over 'COMPLETED'
is "$(states failing)" '["completed","completed"]' \
	"after a node failed the requeued job goes on"
nothing failing "after a node failed"

slurm_down
done_testing
