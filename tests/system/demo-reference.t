#!/bin/bash
# demo-reference.t - the demo of the reference systems prints their tables, and
# says that nothing of it was measured.
# Long: the five reference systems one after the other.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need docker dockerd jq mknod
mknod "$BED/node" c 1 3 || skip_all "device nodes cannot be made here"

run "$ROOT/deploy/demo-reference" fr there too
is "$rc" 2 "wrong words are refused"
run -t 200 "$ROOT/deploy/demo-reference" en "$BED/kept"
is "$rc" 0 "the demo ends well" || diag "$err"
is "$(grep -c '^## .* (replayed on simulated hardware)$' <<<"$out")" 5 \
	"five tables, each marked as replayed"
for row in '| H800, 2 nodes, 16 devices (2x8) | / | 2068 | 2.06 | 77/80 | 16.31% |' \
	'| GAS=1024(GBS=1024=4M tokens) | 1.00 | True | 62/64 |' \
	'(finetune) | LBS=16(GBS=128=262144 tokens) | 2937 | 0.4796 | 78/80 | 35.9% | 39.54% |' \
	'| 6.42 \* 2048 / 8 = 1643 tokens/s | 35.84\*2 + 34.71\*2 + 32.80\*2 + 32.04\*2 GB |' \
	'| S4000, 1 node, 8 devices (1x8) | / | 1.00 | 3.20 | 44.2/48.0 |'; do
	ok '[[ $out == *"$row"* ]]' "there is $row" || diag "$out"
done
like "$out" "1 token/p/s, the losses, and the memory of" \
	"what was made up is told"
like "$err" "every figure above was replayed" "and that none was measured"
is "$(find "$BED/kept" -name '*.md' -o -name '*.json' | wc -l)" 10 \
	"pages and results are kept"
done_testing
