#!/bin/bash
# clock.t - a wall clock that jumps forward or back harms no job and no node.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need gcc
must gcc -O1 -shared -fPIC -o "$BED/shift.so" "$ROOT/tests/lab/clock/shift.c"
export CLOCK_SHIFT=$BED/shift
echo 0 >"$CLOCK_SHIFT"
# All daemons, and the command line, have one clock: the machine's.
export LD_PRELOAD=$BED/shift.so
CONTROLLER_ARGS=(--node-lost 5)
must cluster_up 1
unset LD_PRELOAD

# states: of all jobs there are
states()
{
	cli jobs --all --format json |
		jq -r '[.jobs[] | "\(.state) \(.attempt)"] | join(",")'
}
# The agent's heartbeat is answered after the jump, and a job runs through it.
jump()
{
	must submit_tool "$1" append /host/runs x , print 1000 , \
		wait /host/go , print 2000
	must wait_job "$JOB" running 20
	echo "$2" >"$CLOCK_SHIFT"
	touch "$BED/host/$1/go"
	ok 'wait_job $JOB completed 30' "$1: the job that ran completes"
	must wait_sweep "$SWEEP" 20
	# Nothing else to say: then it is a heartbeat.
	seen=$(nodes_get '.[0].seen_ms')
	must wait_for "[[ \$(nodes_get '.[0].seen_ms') != $seen ]]" 15
	must submit_tool "$1-next" print 100
	ok 'wait_job $JOB completed 30' "$1: so does one that is new"
	is "$(nodes_get '.[0].state')" up "$1: the node stays"
	is "$(runs "$1")" 1 "$1: nothing was begun twice"
}
jump day-ahead 86400
jump year-back -31536000
controller_kill
export LD_PRELOAD=$BED/shift.so
must controller_up
unset LD_PRELOAD
must nodes_up 1 20
jump back-to-now 0
is "$(states | tr ',' '\n' | sort -u)" "completed 1" \
	"every job completed in its first attempt"
is "$(job_get 4 '.started_ms > .ended_ms')" false \
	"no job ended before it began, in a time that went on"
ok '! log_of cluster/controller | finds "out of reach"' \
	"no node was ever thought to be gone"

# A clock of one node alone.
agent_kill 1
echo 31 >"$BED/ahead"
export LD_PRELOAD=$BED/shift.so
CLOCK_SHIFT=$BED/ahead must agent_up 1
unset LD_PRELOAD
must nodes_up 1 20
ok 'wait_for "cli nodes | finds \"its clock is 3[01] s ahead of the controller\"" 70' \
	"a node whose clock is apart says so"
done_testing
