#!/bin/bash
# paths.t - paths that an image or a container chose: a link of an image leads to
# a mount of the node. The agent, which is root, writes nothing there that the
# container could not.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need

# A folder of somebody else, on a mount that jobs may write.
data=$BED/data
mkdir -p "$data/victim" "$BED/tree" "$BED/image/a/b"
echo mine >"$data/victim/main.py"
chmod 0600 "$data/victim/main.py"
chown -R 1234:1234 "$data/victim"
chmod 0700 "$data/victim"
echo theirs >"$BED/tree/main.py"
chmod 0777 "$data"

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

ok 'wait_for cluster_clean 30' "nothing of it is left on the node"
diag "$attempts attempts, none got through"
done_testing
