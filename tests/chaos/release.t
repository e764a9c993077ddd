#!/bin/bash
# release.t - an agent that is killed while the engine starts its container: the
# next one compares the container with the policy, and releases its command.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
mkdir -p "$BED/host"
echo "mounts: [{host: $BED/host, write: true}]" >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 2
# By its id, so that neither node is asked what the name means.
TOOL_IMAGE=$(dk e1 image inspect -f '{{.Id}}' "$TOOL_IMAGE")
TOOL_IMAGE=sha256:${TOOL_IMAGE#sha256:}

# started NAME WORD...: the job is about to start on n1, whose agent was killed;
# its container then waits, running
started()
{
	engine_freeze e2
	must submit_tool "$1" retries=0 nodes=2 "${@:2}"
	must wait_for "grep -q 'task ready job=$JOB ' \
		'$CLUSTER/agent1.log'" 30
	engine_freeze e1
	engine_thaw e2
	# Of either rank.
	must wait_for "compgen -G '$CLUSTER/n1/spool/$JOB.*/in/start.new'" 30
	spool=$(echo "$CLUSTER/n1/spool/$JOB".*)
	agent_kill 1
	engine_thaw e1
	must wait_for "[[ -s $spool/out/started ]]" 30
}

started one append /host/ran '${NODE_RANK}'
ok '[[ ! -e $spool/in/start ]] && ! compgen -G "$spool/out/rank-*"' \
	"a container whose agent is gone waits"
must agent_up 1
must wait_job "$JOB" completed 60
must wait_sweep "$SWEEP" 30
is "$(wc -l <"$BED/host/one/ran")" 2 "the next agent releases it, once"

# Its mount is another one than the policy allows now.
started two touch /host/ran1
mkdir -p "$BED/other"
echo "mounts: [{host: $BED/other, write: true}]" >"$BED/policy.yaml"
must agent_up 1
must wait_sweep "$SWEEP" 60
is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
	"what the policy does not allow any more is not released"
ok 'wait_for cluster_clean 30' "nothing of it is left on the nodes"
done_testing
