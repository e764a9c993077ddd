#!/bin/bash
# cdi.t - Podman 5.4 and later puts accelerators into a container by the CDI
# descriptions of the node.
#
# Such an engine reads /etc/cdi. CDI_FOLDER is that folder where the engine has
# a file system of its own; without it, nothing of the machine is changed.
TEST_ENGINE=podman
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
[[ ${CDI_FOLDER-} ]] || skip_all "needs an engine with an /etc/cdi of its own"
cluster_need

# The agent has the same descriptions in its user's folder.
must mkdir -p "$BED/home/.config" "$CDI_FOLDER" "$BED/marks"
must ln -s "$CDI_FOLDER" "$BED/home/.config/cdi"
{
	printf '%s\n' 'cdiVersion: 0.6.0' 'kind: nvidia.com/gpu' 'devices:'
	for i in 0 1; do
		echo "mark $i" >"$BED/marks/$i"
		printf '%s\n' "- name: \"$i\"" '  containerEdits:' \
			"    env: [CDI_$i=yes]" '    mounts:' \
			"    - hostPath: $BED/marks/$i" \
			"      containerPath: /mark$i" \
			'      options: [ro, bind]'
	done
} >"$CDI_FOLDER/nvidia.yaml"
must "$ROOT/tests/lab/machine" "$BED/machine" nvidia 2
AGENT_ARGS=(--device-root "$BED/machine/dev" --sysfs-root "$BED/machine/sys"
	--proc-root "$BED/machine/proc" --file-root "$BED/machine/files"
	--tools "$BED/machine/bin")
# The policy names no path: what is described is allowed.
echo "users: ['*']" >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
AGENT_ARGS+=(--policy "$BED/policy.yaml")
export HOME=$BED/home
must cluster_up 1
is "$(nodes_get '.[0].facts.engine_cdi | join(" ")')" \
	"nvidia.com/gpu=0 nvidia.com/gpu=1" "the agent knows the CDI devices"
cat >"$BED/marks.yaml" <<-END
	sweep: marks
	image: $TOOL_IMAGE
	vendor: nvidia
	devices: 2
	retries: 0
	ulimits: {memlock: 65536, stack: 8388608}
	command: [/tool, show, /mark0, ",", show, /mark1, ",", env, CDI_1]
END
must submit "$BED/marks.yaml"
ok 'wait_job $JOB completed 60' "a job gets its devices" ||
	diag "$(job_get "$JOB" .text)"
like "$(cli logs "$JOB")" "mark 0.*mark 1.*CDI_1=yes" \
	"by the engine: with the mounts and variables of their descriptions"
ok 'wait_for cluster_clean 20' "nothing is left"
done_testing
