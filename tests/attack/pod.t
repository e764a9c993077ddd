#!/bin/bash
# pod.t - in a pod, regatta-init runs tools for the agent beside the command. A
# program of fewer rights than the container's gets none through it. Nothing runs
# there by a policy that has to be compared.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need regatta-init setpriv
must regatta-init install "$BED/pod"
spawn main regatta-init pod "$BED/pod"
tool=$BED/pod/bin/tool
run -t 20 "$tool" id -u
is "$rc:$out" "0:0" "the agent's tools run"
for user in 12345 65534; do
	run -t 20 setpriv --reuid="$user" --regid="$user" --clear-groups \
		"$tool" id -u
	is "$rc:$out" "125:" "user $user, who may connect, is refused"
done
run -t 20 "$tool" sh -c 'exit 7'
is "$rc" 7 "the agent's still run"
end main KILL

mkdir "$BED/checked"
must regatta-init install "$BED/checked"
spawn main regatta-init pod "$BED/checked"
echo "checked: true" >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--engine "pod:$BED/checked" --policy "$BED/policy.yaml")
must cluster_up 1
cat >"$BED/checked.yaml" <<END
sweep: checked
image: lab/checked:1
retries: 0
network: host
command: [/bin/touch, $BED/ran]
END
must submit "$BED/checked.yaml"
must wait_sweep "$SWEEP" 60
is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
	"a policy that has to be compared lets nothing run"
like "$(job_get "$JOB" .text)" "checked: the agent cannot compare all" \
	"$(job_get "$JOB" .text)"
ok '[[ ! -e $BED/ran ]]' "nothing ran"
end main KILL
done_testing
