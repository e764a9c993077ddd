#!/bin/bash
# gang.t - jobs of two nodes train together; others run side by side.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 2 hosts

# The same global batch on one node and on two, and with accumulation.
cat >"$BED/train.yaml" <<END
sweep: train
framework: cpu
model: gpt-nano
steps: 30
include:
  - {nodes: 1, batch: {micro: 4, accumulate: 1}}
  - {nodes: 2, batch: {micro: 2, accumulate: 1}}
  - {nodes: 2, batch: {micro: 1, accumulate: 2}}
END
must submit "$BED/train.yaml"
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" 'map(.state) | unique | .[]')" completed \
	"a model is trained on one node and on two"
# step and loss of a log, a line each
curve()
{
	sed -nE 's/.*step ([0-9]+)\/.*loss ([0-9.]+).*/\1 \2/p' "$(log_file "$1")"
}
for job in 2 3; do
	paste -d' ' <(curve 1) <(curve $job) >"$BED/curves"
	is "$(wc -l <"$BED/curves")" 30 "job $job: 30 steps have a loss"
	ok 'awk "{d = \$2 - \$4; if (d < 0) d = -d}
		NF != 4 || \$1 != \$3 || d > 0.002 {bad = 1}
		END {exit bad}" "$BED/curves"' \
		"job $job on two nodes has the loss curve of one node"
done
run cli report "$SWEEP" --format json
ok 'jq -e ".rows[1].result.tokens_per_second_per_device * 1.9 <
	.rows[1].result.tokens_per_second" "$BED/out" >/dev/null' \
	"token/p/s is the sum of both, for each"
is "$(jq -c '.rows[1].provenance.nodes | sort' "$BED/out")" '["n1","n2"]' \
	"its provenance names both nodes"

# What each rank is told.
must submit_tool told nodes=2 processes=1 env
must wait_job "$JOB" completed 30
# variable VALUE of rank 0, of rank 1
while read -r variable first second; do
	for rank in 0 1; do
		want=$first
		((rank == 0)) || want=$second
		run cli logs "$JOB" --rank $rank
		ok 'grep -qxE "$variable=$want" "$BED/out"' \
			"rank $rank: $variable=$want"
	done
done <<'END'
MASTER_ADDR 10\.77\.0\.1[12] 10\.77\.0\.1[12]
NNODES 2 2
WORLD_SIZE 2 2
NODE_RANK 0 1
RANK 0 1
END
is "$(cli logs "$JOB" --rank 0 | grep -E '^MASTER_(ADDR|PORT)=')" \
	"$(cli logs "$JOB" --rank 1 | grep -E '^MASTER_(ADDR|PORT)=')" \
	"both have the same meeting point"

# Side by side: each ends only when the other one runs.
mkdir -p "$BED/host/pair"
cat >"$BED/pair.yaml" <<END
sweep: pair
image: $TOOL_IMAGE
timeout: 20s
mounts: [{host: $BED/host/pair, container: /host}]
matrix:
  pair: [{me: a, you: b}, {me: b, you: a}]
command: [/tool, touch, "/host/\${me}", ",", wait, "/host/\${you}"]
END
must submit "$BED/pair.yaml"
must wait_sweep "$SWEEP" 40
is "$(jobs_get "$SWEEP" 'map(.state) | unique | .[]')" completed \
	"two jobs of one node run side by side"

# The rank that failed first is reported last: its agent stands still meanwhile.
must submit_tool late nodes=2 wait '/host/end${NODE_RANK}' , \
	show '/host/words${NODE_RANK}' , touch '/host/told${NODE_RANK}' , exit 1
must wait_job "$JOB" running 30
first=$(job_get "$JOB" '.tasks[0].node')
agent=$(pid_of "cluster/agent${first#n}")
printf '%s\n' 'Traceback (most recent call last):' '  File "oar.py", line 3' \
	"KeyError: 'pear'" >"$BED/host/late/words0"
printf '%s\n' 'no news of my peer' >"$BED/host/late/words1"
kill -STOP "$agent"
for rank in 0 1; do
	touch "$BED/host/late/end$rank"
	must wait_for "[[ -e $BED/host/late/told$rank ]]" 20
done
must wait_for 'log_of cluster/controller | finds "job=$JOB ends early"' 20
kill -CONT "$agent"
ok 'wait_job $JOB failed 30' "a job whose second rank is reported first fails"
is "$(job_get "$JOB" .text)" "$first: rank 0 exited with code 1: KeyError: 'pear'" \
	"its sentence is of the first that failed"

# All or nothing: half a gang waits, and holds nothing.
must submit_tool first touch /host/is , wait /host/go
first=$JOB
must wait_for '[[ -e $BED/host/first/is ]]' 20
must submit_tool gang nodes=2 print 100
gang=$JOB
is "$(job_get "$gang" .state)" queued "a gang of two waits for the second node"
is "$(nodes_get 'map(.free) | add')" 1 "and holds no node meanwhile"
run cli jobs
like "$out" "gang .*queued" "jobs shows it"
touch "$BED/host/first/go"
must wait_job "$first" completed 20
ok 'wait_job $gang completed 20' "it runs when both are free"
ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
