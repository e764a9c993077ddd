#!/bin/bash
# twin.t - two agents with one key harm no job; strays are removed, others' not.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 1
others=$(dk e1 run -d --network none --label regatta.cluster=others \
	--label regatta.node=n1 --label regatta.job=1 \
	--label regatta.attempt=1 --label regatta.rank=0 \
	"$TOOL_IMAGE" /tool sleep 1000)

# The key and the engine of the first, but a folder of its own.
twin_up()
{
	spawn twin "$REGATTA_BUILD/regatta-agent" \
		--controller "$REGATTA_CONTROLLER" \
		--controller-key "$CLUSTER/controller.key" \
		--key "$CLUSTER/n1.key" --state "$BED/twin" \
		--engine "$(engine_host e1)" --images "$REGATTA_BUILD/images" \
		--init "$REGATTA_BUILD/regatta-init" --address 127.0.0.1
}

must submit_tool first append /host/runs x , print 1000 , wait /host/go , \
	print 7000
must wait_job "$JOB" running 20
twin_up
ok 'wait_for "log_of twin | grep \"another agent uses the same key\"" 10' \
	"a second agent with the key of another is refused in words"
like "$(log_of cluster/controller)" "refused n1: another agent" \
	"the controller says so too"
touch "$BED/host/first/go"
ok 'wait_sweep "$SWEEP" 20' "the first one goes on"
touch "$BED/go"
ok 'intact "$JOB" append /dev/null x , print 1000 , wait "$BED/go" , \
	print 7000' "its job is whole, in one attempt"

# An engine that hung makes what it was asked for after that was given up.
# shellcheck disable=SC2034 # in the condition
stray=$(dk e1 create --network none --name regatta-regatta-99-1-0 \
	--label regatta.cluster=regatta --label regatta.node=n1 --label regatta.job=99 \
	--label regatta.attempt=1 --label regatta.rank=0 "$TOOL_IMAGE" /tool)
must submit_tool short print 1000
must wait_sweep "$SWEEP" 20
ok 'wait_for "! dk e1 inspect $stray" 30' \
	"a stray is removed in the session, too, after a task"

# The other folder knows nothing of what the first left.
must submit_tool second append /host/runs x , wait /host/go , print 7000
must wait_job "$JOB" running 20
must agent_kill 1
ok 'wait_for "[[ \$(job_get $JOB .attempt) == 2 ]]" 20' \
	"when the first is gone, the second has the node: its job begins again"
must wait_job "$JOB" running 20
ok 'wait_for "[[ \$(containers e1 | wc -l) == 2 ]]" 10' \
	"the container that it does not know is removed"
touch "$BED/host/second/go"
ok 'wait_job "$JOB" completed 20' "the job completes"
must wait_sweep "$SWEEP" 20
is "$(containers e1)" "$others" "the container of others is left alone"
done_testing
