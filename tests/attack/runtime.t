#!/bin/bash
# runtime.t - a runtime that mounts more than the job asked for, as those of
# vendors do, and as they do when an image misleads them: what no profile, CDI
# description or policy names is refused by name, and nothing runs. The count of attempts is
# printed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
[[ $TEST_ENGINE == docker ]] || skip_all "Podman: system/cdi.t"

# It adds the mounts in the file `adds` and the device in the file `makes` to a
# container's, and becomes runc. What the engine asks for is in `environment`.
mkdir -p "$BED/host" "$BED/lib" "$BED/allowed/sub" "$BED/secret"
cat >"$BED/runtime" <<END
#!/bin/bash
words=("\$@")
while [[ \$# -gt 0 && \$1 != create ]]; do shift; done
while [[ \$# -gt 0 && \$1 != --bundle && \$1 != -b ]]; do shift; done
if [[ \${2-} && -s $BED/adds ]]; then
	adds=\$(<$BED/adds) perl -0pi -e \
		's/"mounts":\[(?:[^][]|\[[^][]*\])*\K(?=\])/,\$ENV{adds}/' \
		"\$2/config.json"
fi
if [[ \${2-} && -s $BED/makes ]]; then
	makes=\$(<$BED/makes) perl -0pi -e '
		my \$rule = \$ENV{makes} =~ s/"path": "[^"]*"/"allow": true,
			"access": "rwm"/r;
		s/("resources":\{"devices":\[[^]]*)\]/\$1,\$rule]/;
		s/"devices":\[(?=\{"path")/\$&\$ENV{makes},/ or
			s/"linux":\{/\$&"devices":[\$ENV{makes}],/' \
		"\$2/config.json"
fi
[[ ! \${2-} ]] || perl -0ne 'print "\$1\n" while /"(NVIDIA_[^"]*)"/g' \
	"\$2/config.json" >$BED/environment
exec runc "\${words[@]}"
END
chmod +x "$BED/runtime"
echo driver >"$BED/lib/libcuda.so.550.1"
echo "mounts: [{host: $BED/host, write: true}, {host: $BED/allowed}]
devices: [/dev/mine]" >"$BED/policy.yaml"
must "$ROOT/tests/lab/machine" "$BED/machine" nvidia 1
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
ENGINE_ARGS=(--add-runtime "more=$BED/runtime" --default-runtime more)
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml" --device-root "$BED/machine/dev"
	--sysfs-root "$BED/machine/sys" --proc-root "$BED/machine/proc"
	--file-root "$BED/machine/files" --tools "$BED/machine/bin")
must cluster_up 1
attempts=0

# adds SOURCE TARGET [OPTION]
adds()
{
	printf '{"source": "%s", "destination": "%s", "type": "bind",
		"options": ["rbind", "%s"]}\n' "$1" "$2" "${3-ro}"
}
# runs NAME WORD...: the job of that name, with the mounts of standard input
runs_with()
{
	local name=$1

	cat >"$BED/adds"
	((++attempts))
	must submit_tool "$name" vendor=nvidia devices=1 retries=0 \
		'ulimits={memlock: 65536, stack: 8388608}' "${@:2}"
	must wait_sweep "$SWEEP" 60
}
# refused NAME SOURCE TARGET [OPTION]
refused()
{
	local name=$1

	runs_with "$name" touch /host/ran < <(adds "${@:2}")
	is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
		"$name: class policy"
	like "$(job_get "$JOB" .text)" "runtime or hook of the engine mounted" \
		"$name: $(job_get "$JOB" .text)"
	ok '[[ ! -e $BED/host/'"$name"'/ran ]]' "$name: nothing ran"
}
# taken NAME SOURCE TARGET [OPTION]
taken()
{
	runs_with "$1" touch /host/ran < <(adds "${@:2}")
	is "$(job_get "$JOB" '.state')" completed "$1: $(job_get "$JOB" .text)"
}

refused secret "$BED/secret" /mnt
refused root / /mnt
refused shadow /etc/shadow /etc/shadow
refused processes /proc /mnt
refused node /dev/kmsg /dev/nvidia0
refused inside "$BED/secret" /host/deep rw
ln -s "$BED/secret" "$BED/lib/libcuda.so.550.2"
refused link "$BED/lib/libcuda.so.550.2" /usr/lib/libcuda.so.550.2
refused writable "$BED/allowed/sub" /sub rw
taken library "$BED/lib/libcuda.so.550.1" /usr/lib/libcuda.so.550.1
taken allowed "$BED/allowed/sub" /sub
# What the engine keeps for one container is not for another.
dk e1 create --name other "$TOOL_IMAGE" /tool >/dev/null
other=$(dk e1 inspect -f '{{.Id}}' other)
folder=$BED/engines/e1/data/containers/$other
ok '[[ -d $folder ]]' "another container has a folder of its own"
refused neighbour "$folder" /mnt
refused hosts "$folder/config.v2.json" /etc/other rw
dk e1 rm other >/dev/null

# made NAME PATH TYPE MAJOR MINOR: the same with a device node
made()
{
	printf '{"path": "%s", "type": "%s", "major": %d, "minor": %d,
		"fileMode": 438, "uid": 0, "gid": 0}' "${@:2}" >"$BED/makes"
	runs_with "$1" touch /host/ran </dev/null
	rm "$BED/makes"
}
# refused_node NAME PATH TYPE MAJOR MINOR
refused_node()
{
	made "$@"
	is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
		"$1: class policy"
	like "$(job_get "$JOB" .text)" \
		"of the engine made $2 \\($3 $4:$5\\)" \
		"$1: $(job_get "$JOB" .text)"
	ok '[[ ! -e $BED/host/'"$1"'/ran ]]' "$1: nothing ran"
}
# taken_node NAME PATH TYPE MAJOR MINOR
taken_node()
{
	made "$@"
	is "$(job_get "$JOB" '.state')" completed "$1: $(job_get "$JOB" .text)"
}
refused_node kmsg /dev/kmsg c 1 11
refused_node below /dev/a/b/kmsg c 1 11
refused_node disk /dev/nvidia-caps/disk b 7 0
must mkdir "$BED/machine/dev/nvidia-caps"
must mknod "$BED/machine/dev/nvidia-caps/cap1" c 1 11
must mknod "$BED/machine/dev/mine" c 1 11
taken_node profile /dev/nvidia-caps/cap1 c 1 11
taken_node policy /dev/mine c 1 11
refused_node other /dev/nvidia-caps/cap2 c 1 11
taken_node plain /dev/nothing c 1 3

dk e1 build -q -t test/all:1 - >/dev/null 2>&1 <<END
FROM $TOOL_IMAGE
ENV NVIDIA_VISIBLE_DEVICES=all
END
TOOL_IMAGE=test/all:1
: >"$BED/adds"
must submit_tool all vendor=nvidia devices=1 retries=0 \
	'ulimits={memlock: 65536, stack: 8388608}' print 1
must wait_job "$JOB" completed 60
is "$(grep ^NVIDIA_VISIBLE_DEVICES= "$BED/environment")" \
	NVIDIA_VISIBLE_DEVICES=void "an image selects no devices"
diag "$attempts attempts, none got through"
ok 'wait_for cluster_clean 30' "nothing of it is left on the node"
done_testing
