#!/bin/bash
# bench.t - every benchmark runs to a good end; no figure is a check.
#
# The figures are in build/bench/quick.json; tests/check prints them.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

need_root
need jq

mkdir -p "$BED"
rm -f "$REGATTA_BUILD/bench/quick.json"
history_size=$(stat -c %s "$REGATTA_BUILD/bench/history.jsonl" 2>/dev/null)
run -t 800 env QUICK=1 REGATTA_BENCH_RESULTS="$REGATTA_BUILD/bench/quick.json" \
	"$ROOT/tests/bench/run"
is "$rc" 0 "all benchmarks end well"
((rc == 0)) || diag "$(tail -n 60 "$BED/out")" "$(tail -n 20 "$BED/err")"
is "$(jq -s -r 'map(.benchmark) | unique | join(" ")' \
	"$REGATTA_BUILD/bench/quick.json")" \
	"causes cluster cycle extract extract-memory flagperf history load log memory pack pull \
queue restart sampling share snapshot streams submit-to-start-order sweep web yardstick" "each tells its results"
like "$out" 'cycle-1 .*of the bare API +>= 0.97' "figures stand beside goals"
is "$(stat -c %s "$REGATTA_BUILD/bench/history.jsonl" 2>/dev/null)" \
	"$history_size" "a quick run is no part of the history"

run "$ROOT/tests/bench/figures" "$REGATTA_BUILD/bench/quick.json" "$BED/history"
run "$ROOT/tests/bench/figures" "$REGATTA_BUILD/bench/quick.json" "$BED/history"
is "$(jq -s '[.[] | select(.figure == "cycle-4" and .commit and .machine and
	.date and (.value | type) == "number")] | length' "$BED/history")" 2 \
	"a figure is a line of the history, of every run"
is "$(jq -s '[.[] | select(.figure == "cycle-4") | .yardsticks |
	select(.memcpy_gb_s > 0 and .box_mb_s > 0 and .sync_ms > 0 and
	.create_ms > 0)] | length' "$BED/history")" 2 \
	"... with the machine's own yardsticks of that minute"
like "$out" '# machine: memcpy [0-9.]+ GB/s, box [0-9.]+ MB/s, sync [0-9.]+ ms' \
	"... which are told"
like "$out" 'cycle-4 +([0-9.]+) of the bare API +>= 0.97 +!? *([0-9.]+)' \
	"... and what it was before is shown"
is "${BASH_REMATCH[2]-}" "${BASH_REMATCH[1]-}" "... as it was"
done_testing
