#!/bin/bash
# secrets.t - the disk of a node while a task waits for its secrets: no value is
# in any file of it, and an agent that is killed meanwhile takes none away.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
must cluster_up 2
# By its id, so that neither node is asked what the name means.
TOOL_IMAGE=$(dk e1 image inspect -f '{{.Id}}' "$TOOL_IMAGE")
TOOL_IMAGE=sha256:${TOOL_IMAGE#sha256:}
ROUNDS=5
variable=env-$RANDOM$RANDOM$RANDOM file=file-$RANDOM$RANDOM$RANDOM
cat >"$BED/s.yaml" <<END
sweep: secret
image: $TOOL_IMAGE
retries: 0
nodes: 2
secrets:
  VALUE: {from: env}
  FILE: {from: env, as: file}
command: [/tool, env, ",", show, /run/secrets/FILE]
END
files() # of the nodes that have a value, but for what the command prints
{
	grep -rlaE --devices=skip --exclude='rank-*.log' "$variable|$file" "$CLUSTER"/n[12] 2>/dev/null
}

# The engine of the first node is halted before the start of its container.
for ((round = 1; round <= ROUNDS; round++)); do
	# Both get the job before anybody misses the second engine.
	must wait_for 'grep -E "policy=|session with" "$CLUSTER/agent1.log" |
		tail -n 1 | finds session && nodes_up 2 1' 30
	engine_freeze e2
	VALUE=$variable FILE=$file must submit "$BED/s.yaml"
	must wait_for "grep -q 'task ready job=$JOB ' '$CLUSTER/agent1.log'" 30
	engine_freeze e1
	engine_thaw e2
	must wait_for "compgen -G '$CLUSTER/n1/spool/$JOB.*/in/start*'" 30
	found+=$(files)
	agent_kill 1
	must agent_up 1
	engine_thaw e1
	# Another one is killed when the command is just released.
	wait_for "compgen -G '$CLUSTER/n1/spool/$JOB.*/in/start'" 30
	agent_kill 1
	found+=$(files)
	must agent_up 1
	must wait_sweep "$SWEEP" 60
	states+="$(job_get "$JOB" .state) "
	for node in 0 1; do
		cli logs --stream "rank-$node" "$JOB" 2>/dev/null |
			grep -cE "^VALUE=$variable\$|^$file\$"
	done >>"$BED/seen"
	found+=$(files)
done
is "$found" "" "in $ROUNDS rounds no file of a node has a value"
is "$states" "$(printf 'completed %.0s' $(seq "$ROUNDS"))" \
	"though agents are killed, all jobs end well"
is "$(sort "$BED/seen" | uniq -c | sed 's/^ *//')" "$((2 * ROUNDS)) 2" \
	"each task had both, as a variable and as a file"
ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
