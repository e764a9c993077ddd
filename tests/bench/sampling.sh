# sampling.sh - what it costs an agent to sample 16 devices once a second.
# shellcheck shell=bash
#
# For run, after lib.sh. A real agent on a simulated machine with a real engine;
# its tool prints what was recorded, at next to no cost. Beside it a loop of the
# shell that runs the same tool and keeps a line of each device, as scripts do.
# shellcheck source=tests/system/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../system/cluster.sh"
# shellcheck source=tests/lab/lab.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lab/lab.sh"

SAMPLING_S=$((${QUICK:-0} ? 1 : 30))

# Seconds of a processor that the process used, by its threads' nanoseconds, since
# the ticks of 10 ms are coarser than all it needs; and those of its children, alive
# or not, by ticks.
sampling_seconds()
{
	local child

	cat "/proc/$1"/task/*/schedstat | awk '{ s += $1 } END { printf "%f ", s / 1e9 }'
	{
		sed 's/.*) //' "/proc/$1/stat" | awk '{ print $14 + $15 }'
		for child in $(pgrep -P "$1"); do
			sed 's/.*) //' "/proc/$child/stat" 2>/dev/null |
				awk '{ print $12 + $13 + $14 + $15 }'
		done
	} | awk -v hz="$(getconf CLK_TCK)" '{ s += $1 } END { print s / hz }'
}

# sampling_measure WAY PID DEVICES: a line of the table, and one of results.
sampling_measure()
{
	local before after

	before=$(sampling_seconds "$2") && sleep "$SAMPLING_S" &&
		after=$(sampling_seconds "$2") || return 1
	awk -v way="$1" -v before="$before" -v after="$after" \
		-v s="$SAMPLING_S" -v devices="$3" \
		-v rss="$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$2/status")" \
		-v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		split(before, b); split(after, a)
		own = (a[1] - b[1]) / s * 100
		tools = (a[2] - b[2]) / s * 100
		printf "  %-38s %8.2f %8.2f %10.1f\n", way, own, tools, rss / 1024
		printf "{\"benchmark\":\"sampling\",\"way\":\"%s\"," \
			"\"devices\":%d,\"cpu_percent\":%.3f," \
			"\"tool_cpu_percent\":%.3f,\"rss_mib\":%.2f}\n", way, \
			devices, own, tools, rss / 1024 >>results
	}'
}

sampling_run()
{
	local tool agent loop

	lab_up && lab_node s1 nvidia 16 && nodes_up 1 30 || return 1
	tool=$(lab_machine s1)/bin/nvidia-smi
	"$tool" --query-gpu=index,driver_version >"$BED/recorded" &&
		printf '%s\n' '#!/bin/sh' "cat $BED/recorded" \
			'case "$*" in *--loop-ms=*) ;; *) exit ;; esac' \
			"while sleep 1; do tail -n +2 $BED/recorded; done" \
			>"$tool" || return 1
	agent=$(pid_of cluster/agent1)
	printf '  %-38s %8s %8s %10s\n' '' 'CPU (%)' 'tool (%)' 'RSS (MiB)'
	sampling_measure "agent, no task" "$agent" 0
	submit_tool none vendor=nvidia devices=0 "$LAB_LIMITS" sleep 1000 &&
		wait_job "$JOB" running 30 || return 1
	sampling_measure "agent, a task without devices" "$agent" 0
	run cli cancel job "$JOB"
	wait_job "$JOB" cancelled 30 || return 1
	submit_tool busy vendor=nvidia devices=16 "$LAB_LIMITS" sleep 1000 &&
		wait_job "$JOB" running 30 || return 1
	sampling_measure "agent, 16 devices at 1 Hz" "$agent" 16
	run cli cancel job "$JOB"
	wait_job "$JOB" cancelled 30 || return 1
	(while sleep 1; do
		"$tool" | awk -F, -v t="$(date +%s)" 'NR > 1 {
			print t, $3, $6, $7, $9, $11 }' >>"$BED/kept"
	done) &
	loop=$!
	sampling_measure "shell loop, 16 devices at 1 Hz" "$loop" 16
	kill "$loop"
	wait "$loop" 2>/dev/null
	agent_stop 1
	controller_stop
}
