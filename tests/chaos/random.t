#!/bin/bash
# random.t - whatever is killed whenever, each job of a sweep runs once, whole.
#
# Rounds of a sweep of short jobs; at random instants the controller, an agent
# or all of them are killed and started again. RANDOM_SEED repeats a run.
# Longer: ten rounds instead of two.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
seed=${RANDOM_SEED:-$((${EPOCHREALTIME/[^0-9]/} % 32768))}
RANDOM=$seed
diag "RANDOM_SEED=$seed"
must cluster_up 2 one

rounds=${ROUNDS:-$((${REGATTA_LONG:-0} ? 10 : 2))} jobs=6 kills=3
mkdir "$BED/host/rounds" -p

sweep()
{
	cat <<-END
		sweep: round-$1
		image: $TOOL_IMAGE
		mounts: [{host: $BED/host/rounds, container: /host}]
		matrix: {n: [$(seq -s ', ' "$jobs")]}
		command: [/tool, append, /host/runs, "$1/\${n}/", ",", print,
		  "\${n}0007", ",", sleep, "0.05", ",", print, "1\${n}0000",
		  ",", lines, "1\${n}", "100"]
	END
}

strike()
{
	case $((RANDOM % 4)) in
	0) controller_kill && controller_up ;;
	1) agent_kill 1 && agent_up 1 ;;
	2) agent_kill 2 && agent_up 2 ;;
	3) kill -KILL "$(pid_of cluster/controller)" \
		"$(pid_of cluster/agent1)" "$(pid_of cluster/agent2)" 2>/dev/null
		controller_kill && agent_kill 1 && agent_kill 2 &&
			controller_up && agent_up 1 && agent_up 2 ;;
	esac
}

# What became of a job, to find out why; false, always.
story()
{
	diag "$(job_get "$1" '.events[] | "\(.time_ms) \(.kind) \(.data)"')"
	diag "$(cd "$CLUSTER" && grep -H "job=$1 " ./*.log)"
	return 1
}

# Each of a round's jobs: completed at once, its log whole, run once.
whole()
{
	local n job bad=0 found

	for ((n = 1; n <= jobs; n++)); do
		job=$((JOB + n - 1))
		intact "$job" append /dev/null x , print "${n}0007" , \
			print "1${n}0000" , lines "1$n" || story "$job" || bad=1
		found=$(runs rounds "$1/$n/")
		if [[ $found != 1 ]]; then
			diag "job $job ran $found times"
			bad=1
		fi
	done
	((!bad))
}

for ((round = 1; round <= rounds; round++)); do
	sweep $round >"$BED/sweep.yaml"
	must submit "$BED/sweep.yaml"
	for ((k = 0; k < kills; k++)); do
		# Only to spread the strikes: no result depends on it.
		sleep "0.$((RANDOM % 60 + 10))"
		must strike
	done
	ok 'wait_sweep "$SWEEP" 30' "round $round: the sweep ends" || {
		diag "$(log_of cluster/controller | tail -20)"
		diag "$(log_of cluster/agent1 | tail -20)"
		diag "$(log_of cluster/agent2 | tail -20)"
		story "$JOB"
		break
	}
	ok 'whole $round' "round $round: each job ran once, its log is whole"
done
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
