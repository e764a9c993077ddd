#!/bin/bash
# registry.t - a registry that lies to the engine of a node: what becomes of the
# job is told in harmless words. The count of lies is printed. An agent with
# sanitizers is taken where `make asan` built it.
TEST_LIMIT=900
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need python3
mkdir -p "$BED/build"
ln -s "$REGATTA_BUILD"/* "$BED/build"
[[ -x $ROOT/build/asan/regatta-agent ]] &&
	ln -sf "$ROOT/build/asan/regatta-agent" "$BED/build"
REGATTA_BUILD=$BED/build
diag "$(readlink "$REGATTA_BUILD/regatta-agent")"
# shellcheck disable=SC2034 # in a condition
FAULT='AddressSanitizer|runtime error:|LeakSanitizer|core dumped|Assertion'
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--devices 8 --stall 5)
must cluster_up 1
spawn liar python3 "$(dirname "$0")/registry.py"
must wait_for '[[ $(log_of liar) == [1-9]* ]]' 30
read -r port lies <<<"$(log_of liar)"

cat >"$BED/lies.yaml" <<END
sweep: lies
image: 127.0.0.1:$port/evil/\${lie}:1
retries: 0
command: [/tool, print, "10"]
matrix: {lie: [${lies// /, }]}
END
must submit "$BED/lies.yaml"
must wait_sweep "$SWEEP" 600
run cli jobs --sweep "$SWEEP" --format json
cp "$BED/out" "$BED/jobs"
count=$(jq '.jobs | length' "$BED/jobs")
is "$(jq '[.jobs[] | select(.failure == "image")] | length' "$BED/jobs")" \
	"$count" "each job fails for its image"
is "$(jq -r '[.jobs[] | select((.text | length) > 1000 or
	(.text | explode | any(. < 32 or . == 127 or
		(. >= 8234 and . <= 8238))))] | length' "$BED/jobs")" 0 \
	"in words that are harmless"
diag "$(jq -r '.jobs[] | "\(.cell): \(.text[0:110])"' "$BED/jobs")"
for words in "jobs --sweep $SWEEP" "show sweep $SWEEP" "report $SWEEP" \
	"report $SWEEP --format html" "audit"; do
	# shellcheck disable=SC2086 # words
	run cli $words
	ok '! LC_ALL=C grep -q "$(printf "\033")\]0;taken" "$BED/out"' \
		"$words: as well"
done
ok 'alive cluster/agent1 && alive cluster/controller' "agent and controller live"
ok '! log_of cluster/agent1 | grep -E "$FAULT"' "and found no fault in themselves"
must submit_tool honest print 10
ok 'wait_job "$JOB" completed 60' "a job with an honest image runs"
diag "$count lies"
done_testing
