#!/bin/bash
# agent.t - an agent killed in any phase of a job comes back and goes on.
#
# The next agent adopts what the last one left: no byte of the log is lost or
# there twice, no command runs twice, nothing stays on the node.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 2

# check NAME PHASE WORD...: the job of the sweep NAME, hit in this phase
check()
{
	local name=$1 phase=$2 words

	shift 2
	ok 'wait_sweep "$SWEEP" 30' "killed while $phase: the job ends"
	# shellcheck disable=SC2034 # ok evaluates it
	words=("$@")
	ok 'intact "$JOB" "${words[@]}"' "killed while $phase: its log is whole"
	is "$(runs "$name")" 1 "killed while $phase: it ran once"
}

# Preparing: its image is on the way, and stuck.
must registry_up
must random_image e1 "$REGISTRY/big:1" 8
must dk e1 push -q "$REGISTRY/big:1" >/dev/null
must dk e1 rmi -f "$REGISTRY/big:1" >/dev/null
must proxy_up slow "$REGISTRY" stall 3000000
TOOL_IMAGE=$PROXY/big:1
must submit_tool pull append /host/runs x , print 5000
TOOL_IMAGE=regatta-test/tool:1
must wait_for 'log_of proxy-slow | grep stalled' 20
node=$(job_get "$JOB" '.allocation[0]')
is "$(job_get "$JOB" .state)" preparing "an image that is stuck is preparing"
must agent_kill "${node#n}"
must proxy_pass slow
must agent_up "${node#n}"
check pull preparing append /dev/null x , print 5000

# Ready: the other task of its gang cannot come, its agent sleeps. The image is
# known by its id: no node waits for another to find out what its name means.
must nodes_up 2 20
# shellcheck disable=SC2034 # submit_tool uses it
TOOL_IMAGE=$(dk e1 image inspect -f '{{.Id}}' regatta-test/tool:1)
kill -STOP "$(pid_of cluster/agent2)"
must submit_tool ready nodes=2 append /host/runs x , print 5000
must wait_for "[[ \$(job_get $JOB '.tasks[] | select(.node == \"n1\").state'
	) == ready ]]" 20
must agent_kill 1
kill -CONT "$(pid_of cluster/agent2)"
must agent_up 1
ok 'wait_sweep "$SWEEP" 30' "killed while ready: the gang ends"
ok 'intact "$JOB" append /dev/null x , print 5000' \
	"killed while ready: the log of its rank is whole"
ok 'log_is "$JOB" 1 1 print 5000' "and so is that of the other"
is "$(runs ready)" 2 "killed while ready: each rank ran once"

# Starting: the engine stands still in the call.
kill -STOP "$(pid_of cluster/agent2)"
must submit_tool start nodes=2 append /host/runs x , print 5000
must wait_for "[[ \$(job_get $JOB '.tasks[] | select(.node == \"n1\").state'
	) == ready ]]" 20
must engine_freeze e1
kill -CONT "$(pid_of cluster/agent2)"
must wait_for "log_of cluster/agent1 | grep 'task starting job=$JOB '" 20
must agent_kill 1
must engine_thaw e1
must agent_up 1
ok 'wait_sweep "$SWEEP" 30' "killed while starting: the gang ends"
ok 'intact "$JOB" append /dev/null x , print 5000' \
	"killed while starting: the log of its rank is whole"
is "$(runs start)" 2 "killed while starting: each rank ran once"

TOOL_IMAGE=regatta-test/tool:1

# Starting: at many moments of the 100 ms that a start takes.
for delay in 00 02 04 05 06 07 08 10; do
	must submit_tool "start-$delay" append /host/runs x , print 5000
	node=$(job_get "$JOB" '.allocation[0]')
	must wait_for "log_of cluster/agent${node#n} |
		grep 'task starting job=$JOB '" 20
	sleep "0.$delay" # only to spread the kills
	must agent_kill "${node#n}"
	must agent_up "${node#n}"
	check "start-$delay" "starting, +0.$delay s" append /dev/null x , \
		print 5000
done

# Running, in the middle of its output; twice.
must submit_tool print append /host/runs x , beat /host/beats 300 10 20000 , \
	print 1234567
node=$(job_get "$JOB" '.allocation[0]')
for size in 100000 3000000; do
	must wait_for "((\$(log_size $JOB) > $size))" 20
	must agent_kill "${node#n}"
	must agent_up "${node#n}"
done
check print printing append /dev/null x , beat /dev/null 300 0 20000 , \
	print 1234567

# It ends while nobody looks.
must submit_tool away append /host/runs x , print 50000 , \
	wait /host/go , print 2000000 , touch /host/gone
node=$(job_get "$JOB" '.allocation[0]')
must wait_job "$JOB" running 20
must agent_kill "${node#n}"
touch "$BED/host/away/go"
must wait_for '[[ -e $BED/host/away/gone && ! $(task_container $JOB) ]]' 20
must agent_up "${node#n}"
touch "$BED/w"
check away away append /dev/null x , print 50000 , wait "$BED/w" , \
	print 2000000

# Collecting: it has ended, most of its output is still on the node, as the
# controller stands still and an agent sends so much ahead and no more.
must submit_tool collect append /host/runs x , wait /host/go , \
	print 200000000
node=$(job_get "$JOB" '.allocation[0]')
must wait_job "$JOB" running 20
kill -STOP "$(pid_of cluster/controller)"
touch "$BED/host/collect/go"
must wait_for "log_of cluster/agent${node#n} |
	grep 'task ended job=$JOB '" 20
must agent_kill "${node#n}"
ok '(($(log_size "$JOB") < 200000000))' "killed while collecting: in time"
kill -CONT "$(pid_of cluster/controller)"
must agent_up "${node#n}"
check collect collecting append /dev/null x , wait "$BED/w" , \
	print 200000000

ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
