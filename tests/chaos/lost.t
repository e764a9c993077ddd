#!/bin/bash
# lost.t - a node that is gone for good loses its task, and not the job.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
# Longer than the wire needs to notice a node that is only slow.
CONTROLLER_ARGS=(--node-lost 5)
must small_disk cluster/controller/logs 2
must cluster_up 3 hosts

# A gang of two; one of its nodes goes, the third is free.
must submit_tool gang nodes=2 append /host/runs '${NODE_RANK}' , print 1000 , \
	wait /host/go , print 7000
must wait_job "$JOB" running 20
must wait_for "((\$(log_size $JOB 1 0) + \$(log_size $JOB 1 1) == 2000))" 20
lost=$(job_get "$JOB" '.allocation[1]')
must link_cut "${lost#n}"
ok 'wait_for "[[ \$(job_get $JOB .attempt) == 2 ]]" 40' \
	"the gang of a lost node is tried again"
like "$(job_get "$JOB" \
	'[.events[] | select(.kind == "retry")][0].data | "\(.failure): \(.text)"')" \
	"^node-lost: $lost has been out of reach for 5 s" \
	"its class is node-lost, and the sentence names the node"
must wait_job "$JOB" running 20
ok '[[ $(job_get "$JOB" ".allocation | join(\" \")") != *$lost* ]]' \
	"on nodes that are there"
touch "$BED/host/gang/go"
ok 'wait_job "$JOB" completed 20' "and completes there"
for rank in 0 1; do
	ok 'log_is "$JOB" 2 $rank append /dev/null x , print 1000 , \
		print 7000' "the log of rank $rank is whole"
	ok 'log_is "$JOB" 1 $rank append /dev/null x , print 1000' \
		"that of the first attempt is kept"
done
is "$(runs gang)" 4 "each rank ran once in each attempt"
ok '[[ $(containers "host${lost#n}") ]]' \
	"the lost node has its container still"
must link_restore "${lost#n}"
must nodes_up 3 20
ok 'wait_for "[[ ! \$(containers host${lost#n}) ]]" 20' \
	"when it comes back, that is removed"
ok 'wait_sweep "$SWEEP" 20' "the sweep is done"

# The command is over, but its output has no place: then the node goes.
must submit_tool rest retries=1 append /host/runs x , print 3000000
must wait_for "[[ \$(job_get $JOB .state) == collecting ]]" 20
must wait_for '(($(log_size "$JOB") > 1000000))' 20
lost=$(job_get "$JOB" '.allocation[0]')
must link_cut "${lost#n}"
ok 'wait_for "[[ \$(job_get $JOB .attempt) == 2 ]]" 40' \
	"a job whose output went with its node is tried again"
must mount -o remount,size=64m "$CLUSTER/controller/logs"
ok 'wait_job "$JOB" completed 20' "and completes"
ok 'log_is "$JOB" 2 0 append /dev/null x , print 3000000' \
	"with all of its output"
must link_restore "${lost#n}"
must nodes_up 3 20
must wait_sweep "$SWEEP" 20

# A controller that stands still hears nobody: that is no node's fault.
must submit_tool still retries=1 append /host/runs x , wait /host/go
must wait_job "$JOB" running 20
node=$(job_get "$JOB" '.allocation[0]')
must agent_kill "${node#n}"
must wait_for '[[ $(nodes_get ".[] | select(.name == \"$node\").state") == down ]]' 20
kill -STOP "$(pid_of cluster/controller)"
must agent_up "${node#n}"
sleep 6
kill -CONT "$(pid_of cluster/controller)"
must nodes_up 3 20
touch "$BED/host/still/go"
ok 'wait_job "$JOB" completed 20 && [[ $(job_get "$JOB" .attempt) == 1 ]]' \
	"a node that comes back while the controller stands still loses nothing"
must wait_sweep "$SWEEP" 20

# Nor is a job late that ended in time, while nobody could hear it.
must submit_tool late timeout=10s append /host/runs x , wait /host/go
must wait_job "$JOB" running 20
node=$(job_get "$JOB" '.allocation[0]')
kill -STOP "$(pid_of cluster/controller)"
touch "$BED/host/late/go"
must wait_for "log_of cluster/agent${node#n} | grep 'task ended job=$JOB '" 8
sleep 10
kill -CONT "$(pid_of cluster/controller)"
ok 'wait_job "$JOB" completed 20' \
	"a job that ends in time while the controller stands still is not late"
must wait_sweep "$SWEEP" 20

# The only node that could: the job waits for it.
must submit_tool all nodes=3 append /host/runs x , wait /host/go , print 7000
must wait_job "$JOB" running 20
must link_mute 2
ok 'wait_for "[[ \$(job_get $JOB .state) == queued ]]" 40' \
	"a gang that needs the lost node waits"
must controller_kill
must controller_up
touch "$BED/host/all/go"
must link_unmute 2
ok 'wait_sweep "$SWEEP" 40' "and goes on when it is back"
is "$(job_get "$JOB" '"\(.state) \(.attempt)"')" "completed 2" \
	"in another attempt, though the controller was killed before it"
ok 'wait_for cluster_clean 10' "nothing is left on the nodes"
done_testing
