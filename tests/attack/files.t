#!/bin/bash
# files.t - hostile tar files on the ways that a job's files take: an engine hands
# them to an agent as collected files, the controller keeps them, a command line
# unpacks them. Nothing is written outside, each is refused in words or harmless.
# Counts are printed.
TEST_LIMIT=900
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need python3 jq
MEMORY_KIB=1000000 # of a command line's whole address space
MOST=$((64 << 20)) # bytes that one file may leave on the disk
here=$(dirname "$0")
mkdir -p "$BED/tars" "$BED/outside" "$BED/host" "$BED/back"
must python3 "$here/hostile_tars.py" "$BED/tars" "$BED/outside"
names=()
for tar in "$BED"/tars/*.tar; do
	names+=("$(basename "$tar" .tar)")
done

spawn proxy python3 "$here/archive_proxy.py" "$BED/proxy.sock" \
	"$BED/engines/e1/docker.sock" "$BED/tars"
must wait_for 'log_of proxy | finds ready' 10
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--engine "unix://$BED/proxy.sock")
must cluster_up 1
agent=$(pid_of cluster/agent1)

# Collected: of each a path, and a pattern below it.
paths=() patterns=()
for name in "${names[@]}"; do
	paths+=("/hostile/$name/.")
	[[ $name == many ]] || patterns+=("\"/hostile/$name/*\"")
done
list=$(IFS=,; echo "${paths[*]},${patterns[*]}")
must submit_tool collects "collect=[$list]" collect_limit=2G print 1
must wait_job "$JOB" completed 240
is "$(pid_of cluster/agent1)" "$agent" "the agent lives"
ok 'alive cluster/agent1 && alive cluster/controller' "so does the controller"
cli files "$JOB" --format json >"$BED/files"
is "$(jq length "$BED/files")" "$((${#paths[@]} + ${#patterns[@]}))" \
	"of each path something is said"

# fetches PATH: within its limits, and nothing of it is harmful
attempts=0 read=0 refused=0 bad=()
fetches()
{
	local back=$BED/back/$((++attempts))

	mkdir "$back"
	run -t 200 bash -c "ulimit -v $MEMORY_KIB; exec \
		'$REGATTA_BUILD/regatta' fetch $JOB '$1' -o '$back'"
	[[ $rc == [012] ]] || bad+=("$1: exit code $rc")
	((rc)) && ((++refused))
	((rc)) && [[ -z $err || $err == *"(null)"* ]] && bad+=("$1: no word")
	((rc == 2)) || ((++read))
	[[ $err != *$'\e'* ]] || bad+=("$1: an escape character in its words")
	[[ -z $(find "$back" ! -type f ! -type d ! -type l) ]] ||
		bad+=("$1: a device")
	[[ -z $(find "$back" -type f -perm /7022) ]] || bad+=("$1: rights")
	[[ -z $(find "$back" -lname "/*" -o -lname "*../..*") ]] ||
		bad+=("$1: a link that leads out")
	(($(du -sB1 "$back" | cut -f1) <= MOST)) ||
		bad+=("$1: too large")
	rm -rf "$back"
}
for path in "${paths[@]}" $(jq -r '.[].path | select(endswith("*"))' "$BED/files")
do
	fetches "$path"
done
is "${bad[*]}" "" "each is refused in words, or harmless"
ok '((read >= 30))' "and most were read, $read of $attempts"
diag "$attempts collected files: $refused refused, none got through"
is "$(ls -A "$BED/outside")" "" "nothing is written outside"
done_testing
