#!/bin/bash
# controller.t - a controller killed in any phase of a job goes on with it.
#
# What it answered is not forgotten, what it said is not done twice, and the
# log goes on at exactly the byte where its file ends. Also when the agents
# are killed with it.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 2

again()
{
	controller_kill && controller_up
}

# The agents too, all at the same moment.
again_all()
{
	kill -KILL "$(pid_of cluster/controller)" "$(pid_of cluster/agent1)" \
		"$(pid_of cluster/agent2)" 2>/dev/null
	controller_kill && agent_kill 1 && agent_kill 2 && controller_up &&
		agent_up 1 && agent_up 2
}

# check NAME PHASE WORD...: the job of the sweep NAME, hit in this phase
check()
{
	local name=$1 phase=$2 words

	shift 2
	# shellcheck disable=SC2034 # ok evaluates it
	words=("$@")
	ok 'wait_sweep "$SWEEP" 30' "killed while $phase: the job ends"
	ok 'intact "$JOB" "${words[@]}"' "killed while $phase: its log is whole"
	is "$(runs "$name")" 1 "killed while $phase: it ran once"
}

must registry_up
must random_image e1 "$REGISTRY/big:1" 8
must dk e1 push -q "$REGISTRY/big:1" >/dev/null
must dk e1 rmi -f "$REGISTRY/big:1" >/dev/null

for all in '' _all; do
	who=controller${all:+ and agents}

	# Submitted: the answer was just given.
	must submit_tool "submit$all" append /host/runs x , print 5000
	must "again$all"
	check "submit$all" "submitted, $who" append /dev/null x , print 5000

	# Preparing: the image is stuck on its way.
	must proxy_up "slow$all" "$REGISTRY" stall 3000000
	TOOL_IMAGE=$PROXY/big:1
	must submit_tool "pull$all" append /host/runs x , print 5000
	TOOL_IMAGE=regatta-test/tool:1
	must wait_for "log_of proxy-slow$all | grep stalled" 20
	must "again$all"
	must proxy_pass "slow$all"
	check "pull$all" "preparing, $who" append /dev/null x , print 5000
	node=$(job_get "$JOB" '.provenance.nodes[0]')
	must dk "e${node#n}" rmi -f "$PROXY/big:1" >/dev/null

	# Running, in the middle of its output.
	must submit_tool "print$all" append /host/runs x , \
		beat /host/beats 200 10 20000 , print 1234567
	must wait_for "((\$(log_size $JOB) > 100000))" 20
	must "again$all"
	check "print$all" "printing, $who" append /dev/null x , \
		beat /dev/null 200 0 20000 , print 1234567

	# It ends while no controller is there.
	must submit_tool "away$all" append /host/runs x , print 50000 , \
		wait /host/go , print 2000000 , touch /host/gone
	must wait_job "$JOB" running 20
	must controller_kill
	touch "$BED/host/away$all/go"
	must wait_for "[[ -e $BED/host/away$all/gone &&
		! \$(task_container $JOB) ]]" 20
	must "again$all"
	touch "$BED/go"
	check "away$all" "away, $who" append /dev/null x , print 50000 , \
		wait "$BED/go" , print 2000000

	# Collecting: most of its output is still on the node.
	must submit_tool "collect$all" append /host/runs x , print 200000000
	node=$(job_get "$JOB" '.allocation[0]')
	must wait_for "log_of cluster/agent${node#n} |
		grep 'task ended job=$JOB '" 20
	must "again$all"
	check "collect$all" "collecting, $who" append /dev/null x , \
		print 200000000
	rm "$(log_file "$JOB")"
done

# It ends in time while no controller is there, which comes back too late to
# see that it did.
must submit_tool late timeout=6s append /host/runs x , wait /host/go , \
	print 5000 , touch /host/gone
must wait_job "$JOB" running 20
# shellcheck disable=SC2034 # wait_for evaluates it
since=$(date +%s)
must controller_kill
touch "$BED/host/late/go"
must wait_for "[[ -e $BED/host/late/gone ]] && ((\$(date +%s) > since + 6))" 20
must controller_up
ok 'wait_job "$JOB" completed 20' "a job that ended in time is not too late"

# The same submit twice would be two sweeps: there are as many as were asked.
is "$(cli sweeps --format json | jq '.sweeps | length')" 11 \
	"no sweep is forgotten, none is there twice"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
