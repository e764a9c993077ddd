#!/bin/bash
# chain.t - jobs that go after others: held, on the same nodes, or skipped.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 2 one

host=$BED/host/chain
mkdir -p "$host"
states()
{
	jobs_get "$1" '[.[] | .state] | join(" ")'
}

# Each step writes its name, waits to be let go, and needs what the one before
# it is to have left behind.
cat >"$BED/chain.yaml" <<END
sweep: chain
image: $TOOL_IMAGE
mounts: [{host: $host, container: /host}]
matrix:
  line: [bad, a, b]
  step:
    - {step: train}
    - {step: tune, after: {step: train}}
    - {step: test, after: {step: tune}}
command: [/tool, append, /host/runs, "\${line}-\${step}", ",", wait,
  "/host/\${line}-\${step}", ",", rename, "/host/\${line}-\${step}",
  "/host/\${line}.last"]
END
run cli plan "$BED/chain.yaml"
like "$out" "line=a step=tune +step=train" "a plan shows what goes after what"
must submit "$BED/chain.yaml"
chain=$SWEEP
must wait_for "[[ \$(runs chain) == 2 ]]" 60
is "$(states "$chain")" \
	"running queued queued running queued queued queued queued queued" \
	"only those that go after nothing run, on both nodes"
is "$(job_get 2 .waits) / $(job_get 6 .waits)" \
	"waits for job 1 / waits for job 5" "the others say for which they wait"
run cli jobs
like "$out" "queued .*waits for job 1" "also in the list"

# The first line fails: what is there is no file that can be renamed to it.
mkdir "$host/bad.last"
touch "$host/bad-train"
must wait_for "[[ \$(job_get 3 .state) == failed ]]" 30
is "$(job_get 2 '"\(.failure): \(.text)"') / $(job_get 3 .failure)" \
	"skipped: job 1 (line=bad step=train) failed: exit / skipped" \
	"behind a job that fails all are skipped, with the reason"
is "$(job_get 3 .text)" "$(job_get 2 .text)" "which is that of the first"
must wait_for "[[ \$(runs chain b-train) == 1 ]]" 30

# The second ends, and is followed, though the controller was killed.
node_a=$(job_get 4 '.allocation[0]')
node_b=$(job_get 7 '.allocation[0]')
must controller_kill
touch "$host/b-train" "$host/a-train"
must controller_up
must nodes_up 2 20
must wait_for "[[ \$(runs chain 'a-tune\|b-tune') == 2 ]]" 60
is "$(job_get 5 '.allocation[0]') $(job_get 8 '.allocation[0]')" \
	"$node_a $node_b" "the next step runs where the one before it did"
must controller_kill
must controller_up
must nodes_up 2 20
is "$(job_get 6 .waits)" "waits for job 5" "after a restart all are held again"

# Another sweep gets the node before what is pinned to it.
must submit_tool other priority=9 wait /host/go
other=$JOB
touch "$host/b-tune"
must wait_job "$other" running 30
is "$(job_get "$other" '.allocation[0]')" "$node_b" "another job is first"
must agent_stop "${node_b#n}"
must wait_for "[[ \$(job_get 9 .waits) != null ]]" 20
is "$(job_get 9 .waits)" \
	"needs 1 node that job 8 ran on: $node_b is down" \
	"a job whose node is gone says so"
must agent_up "${node_b#n}"
must nodes_up 2 20
touch "$BED/host/other/go" "$host/a-tune" "$host/a-test" "$host/b-test"
must wait_sweep "$chain" 60
is "$(job_get 6 '.allocation[0]') $(job_get 9 '.allocation[0]')" \
	"$node_a $node_b" "then all the steps of a line were on one node"
is "$(states "$chain")" "failed failed failed completed completed completed \
completed completed completed" "and completed but for the first line"
is "$(sort "$host/runs" | uniq -c | awk '{print $1}' | sort -u)" 1 \
	"each ran once"

# Again, what failed and what was skipped for it.
rmdir "$host/bad.last"
touch "$host/bad-train" "$host/bad-tune" "$host/bad-test"
run cli retry "$chain"
must wait_sweep "$chain" 60
is "$(states "$chain")" "completed completed completed completed completed \
completed completed completed completed" "a retry revives those behind it"
is "$(runs chain bad-train) $(runs chain bad-tune) $(runs chain bad-test)" \
	"2 1 1" "in their order"
is "$(jobs_get "$chain" '[.[:3] | .[].allocation[0]] | unique | length')" 1 \
	"on one node"

# What is held can be cancelled; what is behind one that is cancelled goes.
must submit "$BED/chain.yaml"
must wait_for "[[ \$(runs chain) == 12 ]]" 60
run cli cancel job "$((JOB + 1))"
must wait_for "[[ \$(job_get $((JOB + 2)) .state) == failed ]]" 20
is "$(job_get "$((JOB + 1))" .state) $(job_get "$((JOB + 2))" .text)" \
	"cancelled job $((JOB + 1)) (line=bad step=tune) was cancelled" \
	"a job that is held is cancelled"
run cli cancel sweep "$SWEEP"
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" '[.[].failure] | unique | join(" ")')" \
	"cancelled skipped" "a sweep that is cancelled, with all it holds"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
