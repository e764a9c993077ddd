#!/bin/bash
# files.t - hostile tar files on the ways that a job's files take: a container
# leaves them where regatta-init puts what it packed, an agent takes them, the
# controller keeps them, a command line unpacks them. Nothing is written outside,
# each is refused in words or harmless. Counts are printed.
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

# An image file chooses no program that would unpack it.
mkdir "$BED/bin"
for name in lrzip grzip lzop; do
	printf '#!/bin/sh\ntouch %q\n' "$BED/bin/ran" >"$BED/bin/$name"
done
chmod +x "$BED"/bin/*
for magic in 'LRZI\0\5' 'GRZipII\0\2\4:)' '\211LZO\0\r\n\032\n'; do
	{
		printf '%b' "$magic"
		head -c 1000 /dev/zero
	} >"$BED/image"
	PATH=$BED/bin:$PATH run regatta image load "$BED/image" \
		--controller tcp://127.0.0.1:1
	ok '((rc)) && [[ ! -e $BED/bin/ran ]]' "no program is run for a file"
done

must cluster_up 1
agent=$(pid_of cluster/agent1)

# Collected: regatta-init is killed, so that it packs nothing itself.
paths=()
for name in "${names[@]}"; do
	paths+=("/hostile/$name/.")
done
list=$(IFS=,; echo "${paths[*]}")
must submit_tool collects retries=0 "collect=[$list]" collect_limit=2G sleep 600
must wait_job "$JOB" running 60
for ((i = 0; i < ${#names[@]}; i++)); do
	cp "$BED/tars/${names[i]}.tar" \
		"$CLUSTER/n1/spool/$JOB.1.0/out/collect-$i.tar" || die "no spool"
done
dk e1 kill "$(task_container "$JOB")" >/dev/null
must wait_job "$JOB" failed 240
is "$(pid_of cluster/agent1)" "$agent" "the agent lives"
ok 'alive cluster/agent1 && alive cluster/controller' "so does the controller"
cli files "$JOB" --format json >"$BED/files"
is "$(jq length "$BED/files")" "${#paths[@]}" \
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
for path in "${paths[@]}"; do
	fetches "$path"
done
is "${bad[*]}" "" "each is refused in words, or harmless"
ok '((read >= 15))' "and most were read, $read of $attempts"
diag "$attempts collected files: $refused refused, none got through"
is "$(ls -A "$BED/outside")" "" "nothing is written outside"
done_testing
