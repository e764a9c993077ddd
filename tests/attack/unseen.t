#!/bin/bash
# unseen.t - agents that cannot look at their containers: in another PID
# namespace, or without root. Their node says so, and runs nothing where the policy
# demands that all is compared.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need unshare setpriv
mkdir -p "$BED/host"
chmod 0777 "$BED/host"
USER_ID=12345
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
allowed="mounts: [{host: $BED/host, write: true}]"
echo "$allowed" >"$BED/policy.yaml"
must cluster_up 1
extent()
{
	cli show node n1 --format json | jq -r .node.facts.release_check
}
is "$(extent)" null \
	"an agent that is root beside its engine compares all"

# sees WORD WHAT: the node says so, and what that means for jobs
sees()
{
	echo "$allowed" >"$BED/policy.yaml"
	must agent_up 1
	ok "wait_for '[[ \$(extent) == $1 ]]' 20" "$2: the node says so"
	must submit_tool "$1-runs" retries=0 print 10
	must wait_job "$JOB" completed 30
	is "$(job_get "$JOB" .provenance.environment.release_check)" "$1" \
		"$2: so does the origin of the result"
	ok 'log_of cluster/agent1 | finds "cannot compare all of a container"' \
		"$2: so does the log"
	must agent_kill 1
	echo "$allowed
checked: true" >"$BED/policy.yaml"
	must agent_up 1
	must nodes_up 1 20
	must submit_tool "$1-refused" retries=0 touch /host/ran
	must wait_sweep "$SWEEP" 60
	is "$(job_get "$JOB" '"\(.state) \(.failure)"')" "failed policy" \
		"$2, checked: class policy"
	like "$(job_get "$JOB" .text)" "checked: the agent cannot compare all" \
		"$2, checked: $(job_get "$JOB" .text)"
	ok '[[ ! -e $BED/host/'"$1"'-refused/ran ]]' "$2, checked: nothing ran"
	must agent_kill 1
}
must agent_stop 1
AGENT_WITH=(unshare --pid --fork --kill-child --mount-proc)
sees none "in another PID namespace"

chown -R "$USER_ID" "$CLUSTER/n1" "$CLUSTER/n1.key"
chmod o+x "$CLUSTER"
chmod o+r "$CLUSTER/controller.key"
chmod 0666 "$(engine_host e1 | sed s,unix://,,)"
AGENT_WITH=(setpriv "--reuid=$USER_ID" "--regid=$USER_ID" --clear-groups)
sees partial "without root"
ok 'wait_for cluster_clean 30' "nothing of it is left on the node"
done_testing
