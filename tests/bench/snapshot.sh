# snapshot.sh - what a snapshot of all processes of a task takes.
# shellcheck shell=bash
#
# For run, after lib.sh. The agent's own program looks at SNAPSHOT_PROCESSES below
# one, as below the first process of a container; half a second of it is the time
# for which it watches who computes.

SNAPSHOT_PROCESSES=1024

snapshot_run()
{
	local root begun took seen

	setsid bash -c "for ((i = 0; i < $SNAPSHOT_PROCESSES; i++)); do
		sleep 600 &
	done; wait" &
	root=$!
	wait_for "(( \$(pgrep -c -P $root) == $SNAPSHOT_PROCESSES ))" 30
	begun=${EPOCHREALTIME/[^0-9]/}
	seen=$("$REGATTA_BUILD/regatta-agent" snapshot "$root" 0 1 | wc -l)
	took=$((${EPOCHREALTIME/[^0-9]/} - begun))
	{ kill -KILL -- "-$root" && wait "$root"; } 2>/dev/null
	((seen == SNAPSHOT_PROCESSES)) || return 1
	awk -v us="$took" -v processes="$SNAPSHOT_PROCESSES" \
		-v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		printf "  %d processes %34.2f s\n", processes, us / 1e6
		printf "{\"benchmark\":\"snapshot\",\"way\":\"regatta-agent\"," \
			"\"processes\":%d,\"seconds\":%.3f}\n", processes, \
			us / 1e6 >>results
	}'
}
