#!/bin/bash
# release.t - images, volumes and links that change between the policy's answer
# and the engine's mount: no command of such a container is released. The count
# of attempts is printed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
mkdir -p "$BED/host" "$BED/data/good" "$BED/secret" "$BED/ro/sub" "$BED/image"
echo "mounts: [{host: $BED/host, write: true}, {host: $BED/data, write: true},
  {host: $BED/ro}]
groups: []
ipc: [private, host]
devices: [/dev/zero, /dev/fuse]" >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 2
attempts=0
shm=/dev/shm/${BED##*/}
# shellcheck disable=SC2154
own_end()
{
	rm -f "$shm"
	umount -q "$BED/ro/sub" || :
}
trap 'bed_exit own_end' EXIT

# image NAME [--change LINE]...: from $BED/image, for both engines
image()
{
	local engine

	TOOL_IMAGE=test/$1:1
	shift
	cp "$REGATTA_BUILD/lab/tool" "$BED/image/tool"
	for engine in e1 e2; do
		tar -C "$BED/image" --owner=0 --group=0 -c . |
			dk "$engine" import "$@" - "$TOOL_IMAGE" >/dev/null ||
			return 1
	done
	rm -rf "$BED/image"
	mkdir "$BED/image"
}

# run_tool NAME LINE... , WORD...: as submit_tool, with these lines alone; a line
# that begins with / is a mount, HOST CONTAINER [ro]
run_tool()
{
	local name=$1 word mounts='' file=$BED/host/$1.yaml

	shift
	mkdir -p "$BED/host/$name"
	chmod 0777 "$BED/host/$name"
	{
		echo "sweep: $name"
		echo "image: $TOOL_IMAGE"
		echo "retries: 0"
		while [[ $1 != , ]]; do
			if [[ $1 == /* ]]; then
				read -r host container mode <<<"$1"
				mounts+="{host: $host, container: $container"
				mounts+="${mode:+, read_only: true}}, "
			else
				echo "$1"
			fi
			shift
		done
		echo "mounts: [$mounts{host: $BED/host/$name, container: /host}]"
		echo "command:"
		for word in /tool "${@:2}"; do
			echo "  - '$word'"
		done
	} >"$file"
	submit "$file"
}

# refused NAME TEXT WHAT LINE... : class policy, and nothing has run
refused()
{
	local name=$1 text=$2 what=$3

	((++attempts))
	must run_tool "$name" "${@:4}" , touch /host/ran
	must wait_sweep "$SWEEP" 90
	is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
		"$what: class policy"
	like "$(job_get "$JOB" .text)" "$text" "$what: $(job_get "$JOB" .text)"
	ok '[[ ! -e $BED/host/'"$name"'/ran ]]' "$what: nothing ran"
}

# An image that puts its own program in regatta-init's place, by a volume over
# a link, and by a mount of the sweep below one.
evil()
{
	mkdir -p "$BED/image/a/b" "$BED/image/regatta"
	ln -s /regatta "$BED/image/a/b/c"
	cp "$REGATTA_BUILD/lab/tool" "$BED/image/regatta/init"
}
evil
must image volume --change "VOLUME /a/b/c"
refused volume 'mounted at /regatta' "a volume over Regatta's folder"
evil
must image below
cp "$REGATTA_BUILD/lab/tool" "$BED/data/init"
refused below 'mounted at /regatta/init' "a mount through a link" \
	"$BED/data/init /a/b/c/init"
refused out 'mounted at /regatta/out' "a mount over the output" \
	"$BED/data/good /a/b/c/out"
ln -s / "$BED/image/a"
must image root
must run_tool root "$BED/data/good /a" , touch /host/ran
((++attempts))
must wait_sweep "$SWEEP" 90
like "$(job_get "$JOB" '"\(.state) \(.failure)"')" "^failed (policy|create)" \
	"a mount over the root is refused, here or by the engine"

# What is harmless, is harmless.
mkdir -p "$BED/image/real"
ln -s /real "$BED/image/link"
must image plain --change "VOLUME /volume"
must run_tool plain "$BED/data/good /link/data" "$BED/data /all" \
	"$BED/ro /all/ro ro" , touch /volume/x , touch /link/data/x , \
	show /real/data/x , touch /host/ran
((++attempts))
must wait_job "$JOB" completed 30
ok '[[ -e $BED/host/plain/ran ]]' \
	"volumes, links and mounts inside mounts of an honest job"

# A group by the image.
mkdir -p "$BED/image/etc"
echo 'me:x:1000:1000::/:/x' >"$BED/image/etc/passwd"
echo 'shadow:x:42:me' >"$BED/image/etc/group"
must image group
refused group 'groups: 42' "a group that the image gives" \
	'user: "1000"'

# A mount below a read-only one.
must mount -t tmpfs none "$BED/ro/sub"
must run_tool sub "$BED/ro /ro ro" , touch /ro/sub/x
((++attempts))
must wait_sweep "$SWEEP" 90
like "$(job_get "$JOB" .text)" \
	"$BED/ro/sub is mounted below|cannot make file: /ro/sub/x" \
	"below a read-only mount: $(job_get "$JOB" .text)"
is "$(ls "$BED/ro/sub")" "" "nothing was written there"

# Links that change after the policy was asked. The engine is halted between:
# the job waits for its other node meanwhile.
# changed NAME TEXT WHAT FROM TO LINK LINE... , WORD...
changed()
{
	local name=$1 text=$2 what=$3 from=$4 to=$5 link=$6

	((++attempts))
	ln -sfn "$from" "$link"
	engine_freeze e2
	must run_tool "$name" "nodes: 2" "${@:7}"
	must wait_for "grep -q 'task ready job=$JOB ' \
		'$CLUSTER/agent1.log'" 30
	engine_freeze e1
	engine_thaw e2
	must wait_for "compgen -G '$CLUSTER/n1/spool/$JOB.*/in/start*'" 30
	must wait_for "compgen -G '$CLUSTER/n2/spool/$JOB.*/in/start'" 30
	ln -sfn "$to" "$link"
	engine_thaw e1
	must wait_sweep "$SWEEP" 90
	is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
		"$what: class policy"
	like "$(job_get "$JOB" .text)" "$text" "$what: $(job_get "$JOB" .text)"
}
# By its id, so that neither node is asked what the name means.
TOOL_IMAGE=$(dk e1 image inspect -f '{{.Id}}' regatta-test/tool:1)
TOOL_IMAGE=sha256:${TOOL_IMAGE#sha256:}
changed mount "$BED/data/link is not what" "a link of a mount" \
	"$BED/data/good" "$BED/secret" "$BED/data/link" \
	"$BED/data/link /got" , touch /got/x
is "$(ls "$BED/secret")" "" "nothing was written there"
# Podman opens devices when a container is created.
[[ $TEST_ENGINE == podman ]] || changed device "devices: /dev/mine" "a link of a device" \
	/dev/zero /dev/kmsg "$shm" "device_nodes: ['$shm:/dev/mine']" , \
	sleep 0
ok 'wait_for cluster_clean 30' "nothing of it is left on the nodes"
diag "$attempts attempts, none got through"
done_testing
