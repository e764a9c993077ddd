#!/bin/bash
# engine.t - an engine that stops, dies or hangs costs no byte and no result.
#
# With live-restore containers run on; without it they are stopped, which is
# the node's fault and not the job's.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 1

stopped()
{
	engine_stop e1 && engine_start e1
}

killed()
{
	engine_kill e1 dockerd && engine_start e1
}

killed_all()
{
	engine_kill e1 && engine_start e1
}

# The command never waits for anybody: the largest gap between its beats, ms.
largest_gap()
{
	awk 'NR > 1 && $1 - last > gap {gap = $1 - last} {last = $1}
		END {print gap + 0}' "$BED/host/$1/beats"
}

for fault in stopped killed killed_all; do
	must submit_tool "$fault" append /host/runs x , \
		beat /host/beats 300 10 20000 , print 12345
	must wait_for "((\$(log_size $JOB) > 100000))" 20
	must $fault
	ok 'wait_sweep "$SWEEP" 30' "engine $fault while printing: the job ends"
	ok 'intact "$JOB" append /dev/null x , beat /dev/null 300 0 20000 , \
		print 12345' "engine $fault while printing: the log is whole"
	is "$(runs $fault)" 1 "engine $fault while printing: it ran once"
	gap=$(largest_gap $fault)
	ok '((gap < 1000))' "engine $fault while printing: it was never held up"
	diag "largest gap $gap ms"
done

# The last words, and code 7, fall into the hole.
for fault in stop kill freeze; do
	must submit_tool "last-$fault" append /host/runs x , print 1000 , \
		wait /host/go , print 500000 , exit 7
	must wait_job "$JOB" running 20
	pid=$(dk e1 inspect -f '{{.State.Pid}}' "$(task_container "$JOB")")
	case $fault in
	freeze) must engine_freeze e1 && touch "$BED/host/last-$fault/go" ;;
	*) touch "$BED/host/last-$fault/go" && must "engine_$fault" e1 ;;
	esac
	must wait_for "[[ ! -d /proc/$pid ]]" 20
	if [[ $fault == freeze ]]; then
		# The record in the spool tells it, without the engine.
		ok 'wait_job "$JOB" failed 20' \
			"engine frozen at the last words: the job ends still"
		ok '! engine_answers e1' "and the engine is still frozen then"
		must engine_thaw e1
	else
		must engine_start e1
	fi
	ok 'wait_sweep "$SWEEP" 30' "engine $fault at the last words: the end"
	is "$(job_get "$JOB" '"\(.state) \(.failure) \(.attempt)"')" \
		"failed exit 1" "engine $fault at the last words: class exit"
	is "$(job_get "$JOB" .text)" "n1: rank 0 exited with code 7" \
		"engine $fault at the last words: the code is known"
	touch "$BED/go"
	ok 'log_is "$JOB" 1 0 append /dev/null x , print 1000 , \
		wait "$BED/go" , print 500000' \
		"engine $fault at the last words: they are here"
	is "$(runs "last-$fault")" 1 "engine $fault at the last words: one run"
done

# It hangs for ten seconds while a job is prepared and another one runs.
must submit_tool hang append /host/runs x , beat /host/beats 300 10 20000 , \
	print 12345
must wait_for "((\$(log_size $JOB) > 100000))" 20
must engine_freeze e1
size=$(($(log_size "$JOB") + 2000000))
ok "wait_for '((\$(log_size $JOB) > $size))' 10" \
	"an engine that hangs does not keep the log back"
sleep 7 # the fault itself: ten seconds in all
must engine_thaw e1
ok 'wait_sweep "$SWEEP" 30' "engine hung: the job ends"
ok 'intact "$JOB" append /dev/null x , beat /dev/null 300 0 20000 , \
	print 12345' "engine hung: the log is whole"
is "$(runs hang)" 1 "engine hung: it ran once"

# Without live-restore the engine stops its containers when it ends.
must engine_stop e1
echo --live-restore=false >>"$BED/engines/e1/arguments"
must engine_start e1
must submit_tool dies append /host/runs x , print 1000 , wait /host/go , \
	print 7000
must wait_job "$JOB" running 20
must engine_stop e1
touch "$BED/host/dies/go"
must engine_start e1
ok 'wait_sweep "$SWEEP" 40' "engine without live-restore: the job ends"
is "$(job_get "$JOB" '"\(.state) \(.attempt)"')" "completed 2" \
	"engine without live-restore: it completed in another attempt"
is "$(job_get "$JOB" '[.events[] | select(.kind == "retry")][0].data.failure
	')" node-lost "the first one's class is node-lost"
ok 'log_is "$JOB" 1 0 append /dev/null x , print 1000' \
	"the log of the first attempt is kept"
ok 'log_is "$JOB" 2 0 append /dev/null x , print 1000 , wait "$BED/go" , \
	print 7000' "that of the second one is whole"
is "$(runs dies)" 2 "it ran once in each attempt"
ok 'wait_for cluster_clean 30' "nothing is left on the node"
done_testing
