#!/bin/bash
# engine.t - an engine that lies to an agent: answers that do not end, are no
# HTTP, no JSON, of other types, or contradict themselves, in each request that a
# task needs, and in streams of images. The count is printed. An agent with
# sanitizers is taken where `make asan` built it.
TEST_LIMIT=600
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need python3
WAVES=2 STREAMS=16
mkdir -p "$BED/build"
ln -s "$REGATTA_BUILD"/* "$BED/build"
[[ -x $ROOT/build/asan/regatta-agent ]] &&
	ln -sf "$ROOT/build/asan/regatta-agent" "$BED/build"
REGATTA_BUILD=$BED/build
diag "$(readlink "$REGATTA_BUILD/regatta-agent")"
# shellcheck disable=SC2034 # in a condition
FAULT='AddressSanitizer|runtime error:|LeakSanitizer|core dumped|Assertion'
# shellcheck disable=SC2034 # in conditions
LIMIT_MIB=256 # some 100 of these are what sanitizers need
export ASAN_OPTIONS=quarantine_size_mb=16

# The agent is given the liar's socket, all others the engine's own.
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--devices 8 --engine "unix://$BED/liar.sock")
spawn liar python3 "$(dirname "$0")/engine.py" "$BED/liar.sock" \
	"$BED/engines/e1/docker.sock" "$BED/lies"
must cluster_up 1
# shellcheck disable=SC2034 # in conditions
pid=$(pid_of cluster/agent1)

for ((wave = 1; wave <= WAVES; wave++)); do
	cat >"$BED/wave.yaml" <<YAML
sweep: wave-$wave
image: $TOOL_IMAGE
matrix: {n: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}
devices: 1
timeout: 2m
command: [/tool, print, "\${n}"]
YAML
	must submit "$BED/wave.yaml"
	wait_for "(( \$(jobs_get $SWEEP '[.[] | select(.state | IN(\"completed\",
		\"failed\", \"cancelled\") | not)] | length') == 0 ))" 120 || break
	jobs_get "$SWEEP" '.[] | "\(.state) \(.failure) \(.text)"' >>"$BED/ends"
done
diag "$(wc -l <"$BED/lies") lies, $((16 * WAVES)) jobs:" \
	"$(cut -d' ' -f1,2 "$BED/ends" | sort | uniq -c | tr -s ' \n' ' ')"
diag "$(grep -o '^[^:]*' "$BED/lies" | sort | uniq -c)"
diag "$(grep ^failed "$BED/ends" | sort | uniq -c | cut -c 1-220)"
ok '((wave > WAVES))' "each job comes to an end"
is "$(grep -c '^failed [a-z-]* null$' "$BED/ends")" 0 \
	"each that failed says what was wrong"
ok '! grep -P "[\x00-\x08\x0b-\x1f\x7f]" "$BED/ends"' \
	"in words that a terminal can show"
# Streams.
must dk e1 save -o "$BED/whole.tar" "$TOOL_IMAGE"
words=0
# Has this save or load of image $n ended well, or said what was wrong?
stream_said()
{
	echo "$n $1 $rc ${err//$'\n'/; }" >>"$BED/said"
	((words += rc == 0 || (rc == 1 && ${#err} > 0)))
	[[ $1 != save ]] || ((rc)) || tar -tf "$BED/back.tar" manifest.json \
		>/dev/null 2>&1 || echo "$n $1: no image" >>"$BED/said"
}
for ((n = 1; n <= STREAMS; n++)); do
	run -t 250 cli image save "$TOOL_IMAGE" "$BED/back.tar"
	stream_said save
	dk e1 rmi -f "$TOOL_IMAGE" >/dev/null 2>&1
	run -t 250 cli image load "$BED/whole.tar"
	stream_said load
done
diag "$(grep -cE '^(save|load):' "$BED/lies") lies in streams"
diag "$(grep -vE '^[0-9]+ (save|load) (0|1 .)' "$BED/said")"
is "$words" $((2 * STREAMS)) "each save and load ends, or says what was wrong"
ok '! grep -P "[\x00-\x08\x0b-\x1f\x7f]" "$BED/said"' "in words, too"
ok '! grep "no image$" "$BED/said"' "each that was saved is an image"
dk e1 load -q -i "$BED/whole.tar" >/dev/null

# A process of somebody's, in a PID namespace of its own as a container's.
spawn foreign unshare -pf --kill-child sleep 1000
must wait_for '[[ $(pgrep -P "$(pid_of foreign)") ]]' 10
pgrep -P "$(pid_of foreign)" >"$BED/lies.pid"
must submit_tool named retries=0 print 1
ok 'wait_sweep "$SWEEP" 60' "a task ends whose process 1 is said to be another"
is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
	"its failure says so: $(job_get "$JOB" .text)"
ok 'alive foreign' "and that process lives"
end foreign KILL
ok '[[ $(pid_of cluster/agent1) == "$pid" ]] && alive cluster/agent1' \
	"it is the same agent"
ok '! log_of cluster/agent1 | grep -E "$FAULT"' "it found no fault in itself"
memory=$(awk '$1 == "VmHWM:" { print int($2 / 1024) }' \
	"/proc/$(pid_of cluster/agent1)/status")
ok '((memory < LIMIT_MIB))' "its memory is limited: at most $memory MiB"
done_testing
