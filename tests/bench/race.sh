# race.sh - what a race takes beside the whole matrix, and whether both find the
# same.
# shellcheck shell=bash
#
# For run, after lib.sh. 24 layouts of the CPU trainer on two nodes, whose device
# has a memory that is made up: so large that some layouts run out of it. The
# matrix runs each layout in full, `repeat` times; the race ends by itself.
# shellcheck source=tests/system/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../system/cluster.sh"

RACE_KEYS='nodes: [1, 2], batch.micro: [1, 2, 4, 8, 16, 32], batch.accumulate: [1, 2]'
RACE_STEPS=100 RACE_REPEAT=3

# race_sweep NAME KEY...: its report is $BED/NAME.json
race_sweep()
{
	local name=$1

	shift
	cat >"$BED/$name.yaml" <<-END
		sweep: $name
		framework: cpu
		model: gpt-nano
		repeat: $RACE_REPEAT
		check_memory: false
		stop_after: off
		$(printf '%s\n' "$@")
		matrix: {$RACE_KEYS}
		command: [/trainer, --micro-batch, "\${batch.micro}", --accumulate,
		  "\${batch.accumulate}", --steps, "$RACE_STEPS", --device-memory, "40"]
	END
	submit "$BED/$name.yaml" && wait_sweep "$SWEEP" 1100 &&
		run cli report "$SWEEP" --format json &&
		cp "$BED/out" "$BED/$name.json"
}

# Hours of nodes that the jobs of a report took.
race_hours()
{
	jq '[.table[] | (.wall_s // 0) * .nodes] | add / 3600' "$BED/$1.json"
}

race_run()
{
	local winner hours all behind

	# What another benchmark left behind has ended.
	rm -rf "$CLUSTER"
	cluster_up 2 one && race_sweep matrix &&
		race_sweep race "race: {steps: 5, margin: 20%, tie: 10%, max: 3}" ||
		return 1
	hours=$(race_hours race) all=$(race_hours matrix)
	winner=$(jq -r '.races[0] | .winner as $job | .cells[] |
		select(.job == $job).cell' "$BED/race.json")
	# How much slower the race's winner is than the best of the matrix, there.
	behind=$(jq --arg winner "$winner" '
		[.table[] | select(.rate)] | group_by(.cell) |
		map({cell: .[0].cell, rate: (map(.rate) | add / length)}) |
		(map(.rate) | max) as $best | .[] | select(.cell == $winner) |
		(1 - .rate / $best) * 100' "$BED/matrix.json")
	printf '  %-28s %10s %8s\n' '' 'node hours' 'jobs'
	printf '  %-28s %10.4f %8d\n' \
		"all layouts, repeat: $RACE_REPEAT" "$all" \
		"$(jq '.table | length' "$BED/matrix.json")" \
		race "$hours" "$(jq '[.table[] | select(.wall_s)] | length' "$BED/race.json")"
	printf '  the winner is %s, %.1f %% behind the best of all\n' \
		"$winner" "$behind"
	jq -r '.races[0] | "  it ended as \(.end); of \(.cells | length) layouts " +
		"\([.cells[] | select(.place == "oom")] | length) ran out of memory, and " +
		"\([.cells[] | select(.place == "pruned")] | length) never ran"' \
		"$BED/race.json"
	jq -nc --argjson hours "$hours" --argjson all "$all" \
		--argjson behind "${behind:-100}" \
		'{benchmark: "race", way: "regatta", node_hours: $hours,
		matrix_node_hours: $all, fewer: ($all / $hours),
		behind_percent: $behind}' >>"$REGATTA_BENCH_RESULTS"
	cluster_down
}
