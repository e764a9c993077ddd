#!/bin/bash
# paths.t - paths that an image or a container chose: a link of an image leads to
# a mount of the node. The agent, which is root, writes and reads nothing there
# that the container could not.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need

# A folder of somebody else, on a mount that jobs may write.
data=$BED/data
mkdir -p "$data/victim" "$BED/tree" "$BED/image/a/b" "$BED/image/own"
chmod 0777 "$BED/image/own"
echo mine >"$data/victim/main.py"
chmod 0600 "$data/victim/main.py"
chown -R 1234:1234 "$data/victim"
chmod 0700 "$data/victim"
echo theirs >"$BED/tree/main.py"
chmod 0777 "$data"
echo secret >"$data/secret"
chmod 0600 "$data/secret"
echo open >"$data/open"

# An image whose links lead there.
cp "$REGATTA_BUILD/lab/tool" "$BED/image/tool"
ln -s /data "$BED/image/lnk"
ln -s ../../data/victim "$BED/image/a/b/c"
cat >"$BED/policy.yaml" <<-YAML
	mounts: [{host: $data, write: true}]
	user: ['[1-9]*:[1-9]*']
YAML
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 1
links=regatta-test/links:1
tar -C "$BED/image" --owner=0 --group=0 -c . | dk e1 import - $links >/dev/null
attempts=0

# job NAME LINE...: a job of user 1000 with these lines in its sweep
files()
{
	cli files "$JOB" --format json | jq -r "$1"
}

job()
{
	((++attempts))
	{
		echo "sweep: $1"
		echo "image: $links"
		echo "user: '1000:1000'"
		echo "retries: 0"
		echo "mounts: [{host: $data, container: /data}]"
		printf '%s\n' "${@:2}"
	} >"$BED/$1.yaml"
	submit "$BED/$1.yaml" &&
		wait_sweep "$SWEEP" 60 &&
		diag "$1: $(job_get "$JOB" '"\(.state) \(.text)"')"
}

state()
{
	stat -c '%u:%g %a' "$data/victim" "$data/victim/main.py"
	cat "$data/victim/main.py"
	ls -A "$data/victim"
}
before=$(state)
for folder in /lnk/victim /a/b/c /data/victim /lnk/victim/.; do
	job "workspace$attempts" "workspace: {path: ./tree, container: $folder}" \
		"command: [/tool, print, '1']" 2>/dev/null ||
		diag "$folder is refused: $(<"$BED/words")"
	is "$(state)" "$before" "a code tree at $folder changes nothing on the node"
done

# What the user of the command cannot read is not collected.
paths='/data/secret, "/data/secre*", /lnk/secret, /a/b/c/main.py, "/lnk/./**/main.py"'
((attempts += 5))
job collect "collect: [$paths, /data]" "command: [/tool, print, '1']"
is "$(files '[.[] | select(.content).path] | join(" ")')" /data \
	"of what is closed to the command nothing is collected"
is "$(files '[.[] | select(.content == null and
	(.text | test("Permission denied")))] | length')" 5 "in words"
like "$(files '.[] | select(.content).text')" 'left out, .*Permission denied' \
	"and what is left out of an open folder is told"
must cli fetch "$JOB" -o "$BED/back" 2>/dev/null
is "$(cd "$BED/back" && find . -type f | sort | xargs)" "./data/open" \
	"the files that anybody may read are there"

# regatta-init is killed: of the container's own disk alone.
((attempts += 4))
{
	echo "sweep: killed"
	echo "image: $links"
	echo "user: '1000:1000'"
	echo "retries: 0"
	echo "mounts: [{host: $data, container: /data}]"
	echo "collect: [/own/mine, /data, /lnk/open, /own/none, /own/linked]"
	echo "command: [/tool, into, /own/mine, ',', print, '1000', ',', link,"
	echo "  /etc/passwd, /regatta/out/collect-4.tar, ',', sleep, '600']"
} >"$BED/killed.yaml"
must submit "$BED/killed.yaml"
ok 'wait_for "[[ -L $CLUSTER/n1/spool/$JOB.1.0/out/collect-4.tar ]]" 60' \
	"a command runs, and leaves a link in the place of a tar file"
dk e1 kill "$(task_container "$JOB")" >/dev/null
must wait_job "$JOB" failed 60
files '.[] | "\(.path) \(.content) \(.text)"' | sed 's/^/# /'
is "$(files '[.[] | select(.content).path] | join(" ")')" '/own/mine /data' \
	"of the container's own disk it is collected"
is "$(files '[.[] | select(.text | test("own disk was read"))] | length')" 4 \
	"which is told"
must cli fetch "$JOB" -o "$BED/killed" 2>/dev/null
is "$(cd "$BED/killed" && find . -type f)" ./mine \
	"a mount is an empty folder there"

ok 'wait_for cluster_clean 30' "nothing of it is left on the node"
diag "$attempts attempts, none got through"
done_testing
