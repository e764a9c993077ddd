#!/bin/bash
# badnode.t - a node that fails every job does not fail a queue of jobs.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need

# Agent 1 has an init of its own, and an own view of one folder.
data=$BED/host/data
mkdir -p "$data/set"
cp "$REGATTA_BUILD/regatta-init" "$BED/init"
must cluster_up 2
agent_stop 1
must nodes_up 1 20
AGENT_WITH=(unshare -m sh -c "mount -t tmpfs none $data && exec \"\$@\"" sh)
AGENT_ARGS=(--init "$BED/init")
must agent_up 1
AGENT_WITH=() AGENT_ARGS=()
must nodes_up 2 20

# health FIELD: of node 1
health()
{
	nodes_get '.[] | select(.name == "n1") | .health.'"$1"
}

# lost: attempts of the sweep that failed
lost()
{
	jobs_get "$SWEEP" 'map(.attempt - 1) | add'
}

rm "$BED/init"
must submit_tool create repeat=20 print 10
must wait_sweep "$SWEEP" 90
is "$(jobs_get "$SWEEP" 'map(.state) | unique | .[]')" completed \
	"one node of two cannot create containers: all 20 cells complete"
ok '(( $(lost) >= 1 && $(lost) <= 2 ))' "at most 2 attempts are lost"
is "$(health create)" 1 "the failure counts against the node"
run cli nodes
like "$(grep '^n1 ' "$BED/out")" 'last failure at .*, create: n1: ' \
	"which is told, with its reason"

# With no other node for it, a gang goes there nevertheless.
on_probation()
{
	for _ in {1..9}; do
		submit_tool gang nodes=2 retries=0 print 1 &&
			wait_sweep "$SWEEP" 30 || return 1
		[[ $(health probation_ms) == null ]] || return 0
	done
	return 1
}
ok on_probation "after three failures the node is on probation"
run cli nodes
like "$(grep '^n1 ' "$BED/out")" \
	'up, on probation .*on probation since [0-9: Z-]+, one job at a time' \
	"which is told, with its time"
cli watch "$SWEEP" 2>"$BED/watched"
ok 'finds "on probation: n1 (create)" <"$BED/watched"' "watch, too" ||
	diag "$(cat "$BED/watched")"
since=$(health probation_ms)
must controller_kill
must controller_up
must nodes_up 2 20
is "$(health probation_ms)" "$since" "a killed controller knows it again"
cp "$REGATTA_BUILD/regatta-init" "$BED/init"
must submit_tool gang nodes=2 print 1
must wait_job "$JOB" completed 30
is "$(health failure)" null "a task that starts ends it"

# A folder that one node lacks.
must submit_tool needs "needs=[$data/set]" repeat=20 print 10
must wait_sweep "$SWEEP" 90
is "$(jobs_get "$SWEEP" 'map(.state) | unique | .[]')" completed \
	"one node of two lacks a path of needs: all 20 cells complete"
ok '(( $(lost) >= 1 && $(lost) <= 2 ))' "at most 2 attempts are lost"
is "$(health preflight)" 1 "the failure counts against the node"
run cli node undrain n1
is "$(health failure)" null "and undrain forgets it"

# What no node has is the job's fault.
must submit_tool nothing "needs=[$data/nothing]" print 1
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" '"\(.attempt) \(.failure)"')" "2 preflight" \
	"what no node has is looked for on each, once"
is "$(nodes_get '.[].health')" $'null\nnull' "and counts against none"

# A container that no node can create, without a second attempt.
must submit_tool nowhere workdir=/tool retries=0 repeat=12 print 1
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" 'map(.failure) | unique | .[]')" create \
	"a folder that is a file: no job of the sweep starts"
is "$(nodes_get '[.[].health.probation_ms // empty]')" '[]' \
	"no node is on probation for it"
ok '(( $(nodes_get "[.[].health.create // 0] | add") <= 1 ))' \
	"and only the first counts, until another node has it, too"
must submit_tool honest nodes=2 print 1
must wait_job "$JOB" completed 30

# A command that kills itself seems a lost node. One sweep of them counts nowhere.
must submit_tool kills retries=0 repeat=6 kill
must wait_sweep "$SWEEP" 90
is "$(jobs_get "$SWEEP" 'map("\(.state) \(.failure)") | unique | .[]')" \
	"failed node-lost" "a command kills itself: the class is node-lost"
is "$(nodes_get '[.[].health.node_lost // 0] | add')" 0 \
	"but one sweep of that counts against no node"
must submit_tool kills retries=0 repeat=2 kill
must wait_sweep "$SWEEP" 90
ok '(( $(nodes_get "[.[].health.node_lost // 0] | add") > 0 ))' \
	"a second sweep does"
must submit_tool well nodes=2 print 1
must wait_job "$JOB" completed 60

# An engine that hangs while its node resolves the image of a sweep.
engine_freeze e1
must submit_tool frozen repeat=2 print 10
must wait_for '[[ $(jobs_get "$SWEEP" ".[1].state") == completed ]]' 30
is "$(job_get "$JOB" .state)" preparing \
	"the engine of one node hangs: the other node resolves the image"
like "$(cli jobs --sweep "$SWEEP")" 'n1: the engine is away: ' \
	"jobs tells of the engine"
like "$(cli nodes)" 'n1 +up, engine away .*the engine is away since ' \
	"nodes, too"
must submit_tool other repeat=3 print 10
must wait_sweep "$SWEEP" 40
is "$(jobs_get "$SWEEP" 'map(.state + " " + .allocation[0]) |
	unique | .[]')" 'completed n2' "no new job goes to that node"
engine_thaw e1
must wait_job "$JOB" completed 30
must wait_for '[[ $(nodes_get ".[0].engine_away") == null ]]' 15
must engine_stop e1
ok 'wait_for "[[ \$(cli nodes) == *\"engine away\"* ]]" 5' \
	"an engine that was stopped is told within 5 s"
must engine_start e1
ok 'wait_for "[[ \$(cli nodes) != *\"engine away\"* ]]" 15' \
	"and when it is back"

# One container of a gang waits for the other, and somebody prunes.
engine_freeze e2
must submit_tool pruned nodes=2 print 10
must wait_for '[[ $(dk e1 ps -aq --filter status=created) ]]' 20
must dk e1 container prune -f >/dev/null
engine_thaw e2
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" .attempt)" 1 \
	"a container that was pruned before its start is created again"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"

# An agent in a container of its engine, with its state at a path of its own.
agent_stop 1
must mkdir "$BED/elsewhere"
AGENT_WITH=(docker --host "$(engine_host e1)" run --rm --network host)
for part in /usr /lib /lib64 "$REGATTA_BUILD" "$BED"; do
	AGENT_WITH+=(--volume "$part:$part")
done
AGENT_WITH+=(--volume "$BED/elsewhere:$CLUSTER/n1" --entrypoint=)
AGENT_WITH+=("$TOOL_IMAGE")
must agent_up 1
ok 'wait_for "log_of cluster/agent1 | finds \"does not see $CLUSTER/n1\"" 20' \
	"an agent whose folder the engine does not see says so at its start"
is "$(log_of cluster/agent1 | grep -c 'does not see')" 1 \
	"what it does see is not told"
agent_stop 1
done_testing
