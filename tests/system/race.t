#!/bin/bash
# race.t - the fastest of several cells: heats, memory, the final, the verdict.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 2 one

# rows SWEEP: "repeat state failure" of each job by its cell, one a line
rows()
{
	jobs_get "$1" 'sort_by(.job) | .[] |
		"\(.cell) \(.repeat) \(.state) \(.failure // "-")"'
}

verdict()
{
	local id

	for id in $(jobs_get "$1" '.[].job'); do
		job_get "$id" '.events[] | select(.kind == "enough") |
			.data.text'
	done
}

nodes_of()
{
	jobs_get "$1" '[.[] | select(.failure != "pruned") | .allocation[]] |
		unique | length'
}

# Steps of known length, so the winner is known. The heats of `slow` and `late`
# decide nothing but that they are slower; the controller dies between heats.
cat >"$BED/known.yaml" <<END
sweep: known
framework: cpu
image: $TOOL_IMAGE
repeat: 3
race: {steps: 5, max: 4}
matrix:
  ms: [40, 20, 90]
command: [/tool, steps, "60", "\${ms}"]
END
must submit "$BED/known.yaml"
run cli jobs --sweep 1
ok 'grep -q "waits for its turn in the race" "$BED/out"' \
	"a heat that is not started says why"
must wait_for "[[ \$(job_get 1 .state) == completed ]]" 60
must controller_kill
must controller_up
must nodes_up 2 20
must wait_sweep 1 120
is "$(rows 1)" "ms=40 0 completed -
ms=20 0 completed -
ms=90 0 completed -
ms=20 1 completed -
ms=20 2 completed -
ms=20 3 completed -" "each cell has a heat, the fastest one runs in full"
is "$(verdict 1)" \
	"won by the cell of job 2: no cell is more than 1 % faster (confidence 95 %, 1 cell in the final, 2 rounds)" \
	"the winner is told once, with what is known of it"
is "$(nodes_of 1)" 1 "all of it on one node"
like "$(job_get 3 .text)" "^heat: ended after step" "a heat ends early"
run cli show job 3
like "$out" "heat: ended after step" "and show says so"

run cli report 1
like "$(cat "$BED/out")" "ms=20, [0-9.]+ token/p/s .3 full runs.: won by the cell of job 2: no cell is more than 1 % faster" \
	"the report has the winner"
like "$(cat "$BED/out")" "out after the heat: ms=40 .-.* %, heat., ms=90" \
	"and who is out"
run cli report 1 --format json
is "$(jq -r '.races[0] | "\(.end) \(.winner) \([.cells[] | "\(.cell) \(.place)"] | join(", "))"' "$BED/out")" \
	"won 2 ms=40 heat, ms=20 winner, ms=90 heat" "in JSON, too"
is "$(jq -r '[.cells[] | "\(.cell) \(.repeats.runs)"] | join(", ")' "$BED/out")" \
	"ms=40 1, ms=20 3, ms=90 1" "a heat is no repeat of its cell"
ok 'jq -e ".races[0] | .device_hours < .matrix_device_hours" "$BED/out" >/dev/null' \
	"it took fewer device hours than all cells in full"

run cli report 1 --format csv
is "$(head -1 "$BED/out" | tr -d '\r' | tr , '\n' | grep '^race' | tr '\n' ' ')" \
	"race race_end race_winner race_bound race_confidence race_finalists race_rounds race_spread race_margin race_differ race_device_hours race_matrix_device_hours race_job race_cell race_place race_rate race_unit race_runs race_round race_why " \
	"CSV has columns of the race"
ok 'grep -q ",ms=20,winner,[0-9.]*,token/p/s,3,0," "$BED/out"' \
	"and in them what JSON has"
sed '/^race:/d' "$BED/known.yaml" >"$BED/plain.yaml"
run cli report 1 --format json
key=$(jq -r '.rows[] | select(.job == 4).provenance.cell_key' "$BED/out")
run cli plan "$BED/plain.yaml" --format json
is "$key" \
	"$(jq -r '.kept[] | select(.cell == "ms=20") | .key' "$BED/out")" \
	"a full run is what the cell is without a race"

# What needs more memory than a cell that ran out never runs.
cat >"$BED/memory.yaml" <<END
sweep: memory
framework: cpu
model: gpt-nano
steps: 400
race: {steps: 4, max: 2, margin: 25%, tie: 20%}
matrix:
  batch.micro: [1, 2, 16, 32]
command: [/trainer, --micro-batch, "\${batch.micro}", --steps, "30",
  --device-memory, "40"]
END
run cli submit --wait "$BED/memory.yaml"
ok 'grep -Eq "race: .*[1-4] of [34] heats.*; best heat batch.micro=[12]: [0-9.]+ token/p/s" "$BED/err"' \
	"how far the race is, is told"
is "$rc" 0 "memory that runs out is a result of a race, not a failure"
# shellcheck disable=SC2034 # like evaluates it
all=$(rows 2)
like "$all" "batch.micro=1 0 completed -" "small batches run"
like "$all" "batch.micro=16 0 completed oom" "one runs out of memory"
like "$all" "batch.micro=32 0 completed pruned" "a larger one is not run"
like "$(jobs_get 2 '.[] | select(.failure == "pruned").text')" \
	"^not run: job 9 ran out of memory, and this cell needs no less: micro 32 for 16$" \
	"which names the other one, and what differs"
is "$(verdict 2 | wc -l)" 1 "there is one verdict"

# Heats are taken over; full runs are not.
run cli submit --resume --wait "$BED/known.yaml"
is "$rc" 0 "a race is resumed"
is "$(jobs_get 3 '[.[] | select(.from)] | length')" 3 "its heats are reused"
is "$(jobs_get 3 '[.[] | select(.from | not)] | length')" 3 \
	"the final is run"

# A long run of the winner, in the same file; the shortest step wins. A heat
# that failed is run again by a person.
cat >"$BED/chain.yaml" <<END
sweep: chain
framework: cpu
image: $TOOL_IMAGE
retries: 0
race: {steps: 3, max: 2, figure: iteration_ms_median, order: least}
matrix:
  layout:
    - {ms: 60}
    - {ms: 30}
    - {ms: 15, needs: ["$BED/there"]}
  phase:
    - {phase: race, n: 8}
    - {phase: train, n: 4, after: {phase: race}}
    - {phase: test, n: 3, after: {phase: train}}
command: [/tool, steps, "\${n}", "\${ms}"]
END
# ended CELL: "state failure" of its jobs, with its text if that is not a failure
ended()
{
	jobs_get "$SWEEP" "sort_by(.job) | .[] | select(.cell | test(\"$1\")) |
		\"\\(.state) \\(.failure // \"-\")\"" | tr '\n' ' '
}
must submit "$BED/chain.yaml"
run cli jobs --sweep "$SWEEP"
must wait_sweep "$SWEEP" 120
is "$(ended 'ms=30.*phase=train')" "completed - " "the winner runs on"
is "$(ended 'ms=30.*phase=test')" "completed - " "and what follows it"
is "$(ended 'ms=60.*phase=train')$(ended 'ms=60.*phase=test')" \
	"completed pruned completed pruned " "the others do not"
like "$(jobs_get "$SWEEP" '.[] | select(.cell | test("ms=60.*phase=test")).text')" \
	"^not run: lost the race, which was won by job [0-9]+ .*ms=30" \
	"and name the winner"
is "$(ended 'ms=15.*phase=race')" "failed preflight " "a heat failed"
touch "$BED/there"
run cli retry "$SWEEP"
must wait_sweep "$SWEEP" 120
is "$(ended 'ms=15.*phase=race' | cut -d ' ' -f 1-4)" \
	"completed - completed -" "it runs again, and then in full"
is "$(verdict "$SWEEP" | wc -l)" 2 "with a verdict of its own"
run cli report "$SWEEP" --format json
like "$(jq -r '.races[0].cells[] | select(.place == "winner") | "\(.cell) \(.unit) \(.rate)"' "$BED/out")" \
	"ms=15.* iteration_ms_median 1[5-9]" "which has another winner"

# A full run fails; when it runs again, its cell wins, and what follows it runs.
mkdir -p "$BED/host"
cat >"$BED/again.yaml" <<END
sweep: again
framework: cpu
image: $TOOL_IMAGE
retries: 0
race: {steps: 3, max: 2, margin: 25%, tie: 20%}
mounts: [{host: $BED/host, container: /host}]
matrix:
  layout:
    - {ms: 60, n: 12, file: /tool}
    - {ms: 30, n: 100, file: /host/there}
  phase:
    - {phase: race}
    - {phase: train, after: {phase: race}}
command: [/tool, steps, "\${n}", "\${ms}", ",", into, /dev/null, ",", show, "\${file}"]
END
must submit "$BED/again.yaml"
must wait_sweep "$SWEEP" 120
is "$(ended 'ms=60.*phase=train')$(ended 'ms=30.*phase=train')" \
	"completed - completed pruned " \
	"a cell that fails in the final is not followed"
touch "$BED/host/there"
run cli retry "$SWEEP"
must wait_sweep "$SWEEP" 120
is "$(ended 'ms=30.*phase=train')" "completed - " \
	"after a retry that it wins, it is"
is "$(ended 'ms=30.*phase=race')" "completed - completed - completed - " \
	"with all its runs"

# No cell runs: the race has failed.
sed 's/"40"/"1"/; s/^sweep:.*/sweep: none/' "$BED/memory.yaml" >"$BED/none.yaml"
run cli submit --wait "$BED/none.yaml"
SWEEP=$((SWEEP + 1))
is "$rc" 1 "a race without a winner is failed work"
like "$err" "sweep $SWEEP: 4 of 4 jobs completed, and no cell won the race" \
	"and says so"
run cli watch "$SWEEP"
is "$rc" 1 "also later"
run cli bundle "$SWEEP" --output "$BED/none.tar.zst"
run cli watch "$BED/none.tar.zst"
is "$rc" 1 "and from a file"
like "$err" "sweep $SWEEP: 4 of 4 jobs completed, and no cell won the race" \
	"with the same words"

# The largest micro batch that runs.
cat >"$BED/fit.yaml" <<END
sweep: fit
framework: cpu
model: gpt-nano
batch: {micro: fit}
command: [/trainer, --micro-batch, "\${batch.micro}", --steps, "12",
  --device-memory, "40"]
END
run cli submit --wait "$BED/fit.yaml"
is "$rc" 0 "the largest micro batch is looked for"
SWEEP=$((SWEEP + 1))
like "$(verdict "$SWEEP")" \
	"^micro batch [0-9]+ is the largest that runs, of those that were tried" \
	"and found"
fits=$(verdict "$SWEEP" | cut -d ' ' -f 3)
is "$(jobs_get "$SWEEP" '[.[] | select(.repeat == 1).cell] | join(" ")')" \
	"batch.micro=$fits" "it alone runs in full"
is "$(jobs_get "$SWEEP" "[.[] | select(.failure == \"oom\") | .cell |
	ltrimstr(\"batch.micro=\") | tonumber | select(. <= $fits)] | length")" \
	0 "what is larger does not run"
ok '(( $(jobs_get "$SWEEP" "[.[] | select(.failure != \"pruned\")] | length") < 16 ))' \
	"most of the others are not tried"

# What a plan tells of it.
run cli plan "$BED/memory.yaml"
like "$(cat "$BED/out")" "4 heats of 4 steady steps, one after the other, from batch.micro=1 to batch.micro=32; then full runs of those within 25 %, and at least 1 of the winner" \
	"a plan has the heats"
like "$(cat "$BED/out")" "   1  batch.micro=1 +[0-9.]+ +[0-9.]+ ?m?s +3" \
	"in their order, with memory, the time of earlier ones, and what they settle"
like "$(cat "$BED/out")" "its heats take about .*, by those of 3 cells" \
	"and the time of all"
like "$(cat "$BED/out")" "where one cell runs out of memory, up to 3 others never run" \
	"and what may never run"

# What is refused.
sed 's/max: 4/max: 1/' "$BED/known.yaml" >"$BED/wrong.yaml"
run cli plan "$BED/wrong.yaml"
is "$rc" 2 "a final of one run is refused"
like "$(cat "$BED/err")" "race.max: .*expected.* 2 to 1000" "and what is valid is told"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"

# The node of a race goes, and does not come back.
must controller_stop
CONTROLLER_ARGS=(--node-lost 5)
must controller_up
must nodes_up 2 30
sed 's/^sweep: .*/sweep: left/; s/"60"/"61"/' "$BED/known.yaml" >"$BED/left.yaml"
run cli submit "$BED/left.yaml"
is "$rc" 0 "a race that will lose its node"
SWEEP=$((SWEEP + 1))
first=$(jobs_get "$SWEEP" 'map(.job) | min')
must wait_for "[[ \$(job_get $first .state) == completed ]]" 60
node=$(job_get "$first" '.allocation[0]')
must agent_kill "${node#n}"
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" '[.[] | select(.state != "completed")] | length')" 0 \
	"a race leaves a node that is lost"
last=$(jobs_get "$SWEEP" 'map(.job) | max')
is "$(job_get "$last" '.allocation[0]')" "n$((3 - ${node#n}))" \
	"and goes on on another one"
done_testing
