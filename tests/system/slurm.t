#!/bin/bash
# slurm.t - a sweep as a job of a real Slurm, seen live, and nothing left.
# shellcheck source=tests/lab/slurm-test.sh
. "$(dirname "$0")/../lab/slurm-test.sh"
need docker dockerd containerd
must slurm_bed
must slurm_up a1

cat >short.yaml <<END
sweep: short
vendor: cpu
framework: cpu
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
command: [/tool, steps, "20", "5", ",", wait, "/host/go-\${n}"]
matrix: {n: [1, 2]}
END
submit short short.yaml -- -t 10 --begin=now+1hour
run regatta watch --state short
like "$rc $err" "^2 .*Slurm job has not started yet" \
	"before it starts there is nothing to see, and that is said"
must scontrol update "jobid=$job" StartTime=now
must wait_for 'grep -q "job 1 .*running" short/slurm.log' 30
run regatta jobs --state short --format json
like "$rc $out" '^0 .*"running"' "the login node sees what runs"
spawn watch regatta watch --state short
must wait_for 'log_of watch | finds "job 1 .*running"' 20
touch host/go-{1,2}
must over 'COMPLETED|FAILED'
is "$(slurm_state "$job") $(states short)" \
	'COMPLETED ["completed","completed"]' "the job's state is the sweep's"
must wait_for '! alive watch' 20
like "$(cat short/slurm.log)" "2 of 2 jobs completed" "the log has the outcome"
like "$(cat short/agent.log)" "leaving: .*tasks=0" "the agent leaves"
nothing short "after the sweep"

# Each of them ends only when the other one runs.
cat >side.yaml <<END
sweep: side
vendor: cpu
image: regatta-test/tool:1
devices: 1
shared: true
mounts: [{host: $BED/host, container: /host}]
command: [/tool, touch, "/host/side-\${n}", ",", wait, "/host/side-\${other}"]
include: [{n: 1, other: 2}, {n: 2, other: 1}]
END
submit side side.yaml -- -t 10 -c 2
must over 'COMPLETED|FAILED'
is "$(slurm_state "$job") $(states side)" \
	'COMPLETED ["completed","completed"]' \
	"jobs that share a node run side by side on its processors"
nothing side "after them"

done_testing
