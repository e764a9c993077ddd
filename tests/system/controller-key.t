#!/bin/bash
# controller-key.t - the controller changes its own key: agents and people go on,
# whatever is killed when.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 2
must make_key "$CLUSTER/viewer.key" watcher viewer 2>/dev/null
must make_key "$CLUSTER/absent.key" absent viewer 2>/dev/null
must wait_for 'regatta nodes --key "$CLUSTER/absent.key"' 10
kept=$CLUSTER/controller/controller.keys

# next_of FILE: the last key of an agent's or a person's file
next_of()
{
	cut -d ' ' -f 4 "$1" 2>/dev/null
}

# has FILE: the key that it takes the controller to have
has()
{
	cut -d ' ' -f 3 "$1" 2>/dev/null
}

mkdir -p "$BED/host"
cat >"$BED/s.yaml" <<END
sweep: lasting
image: $TOOL_IMAGE
retries: 0
repeat: 3
mounts: [{host: $BED/host, container: /host}]
secrets: {PASSED: {from: env}}
command: [/tool, env, ",", wait, /host/go]
END
PASSED=word-$RANDOM run regatta submit "$BED/s.yaml" --format json
lasting=$(jq -r .sweep <<<"$out")
for n in 0 1; do
	must wait_job "$(jobs_get "$lasting" ".[$n].job")" running 30
done

run regatta key rotate "$CLUSTER/controller.key"
like "$rc $err" "^2 .*regatta key rotate-controller" \
	"the controller's key is its own to change: $err"
run regatta key rotate-controller --keep 1s
like "$rc $err" "^2 .*keep: 1 s is not valid here; expected 10 s" \
	"not at once: $err"
run regatta key rotate-controller --key "$CLUSTER/viewer.key"
like "$rc $err" "^[12] .*viewer" "nor does a viewer: $err"
run regatta key rotate-controller --keep 25s
is "$rc" 0 "an operator has it change"
next=$out
like "$err" "the controller uses this key from .*receive it" \
	"in words: $err"
run regatta key rotate-controller --keep 1h
like "$rc $err" "^1 .*changes in [0-9]+ s" "one at a time: $err"
is "$(stat -c %a "$kept")" 600 "nobody else reads what the controller keeps"

# Whatever is killed then, the next key is known.
controller_kill
must agent_kill 2
must controller_up
must agent_up 2
for n in n1 n2; do
	ok 'wait_for "[[ \$(next_of \"\$CLUSTER/$n/controller.keys\") == \"\$next\" ]]" 20' \
		"$n keeps the next key"
done
run regatta nodes --key "$CLUSTER/viewer.key"
is "$(next_of "$CLUSTER/viewer.key.controller")" "$next" \
	"so does who looks at anything"

# Who cannot keep it is told, as long as there is time.
must small_disk tiny 1
must make_key "$BED/tiny/full.key" full viewer 2>/dev/null
head -c 2M /dev/zero >"$BED/tiny/zeros" 2>/dev/null
must wait_for 'regatta nodes --key "$BED/tiny/full.key"' 10
run regatta nodes --key "$BED/tiny/full.key"
like "$rc $err" "^0 .*next key cannot be saved: .*No space left" \
	"who cannot keep it is told: $err"

# One is away when it changes, and had heard of it; one had not.
must agent_stop 2
ok 'wait_for "log_of cluster/controller | finds \"key changes; all clients\"" 40' \
	"the controller changes its key"
ok 'wait_for "[[ \$(has \"\$CLUSTER/n1/controller.keys\") == \"\$next\" ]]" 20' \
	"an agent that was there follows"
must agent_up 2
ok 'nodes_up 2 20' "one that was away then does, too"
is "$(has "$CLUSTER/n2/controller.keys")" "$next" "and keeps the new key"
run regatta nodes --key "$CLUSTER/viewer.key"
is "$rc" 0 "so does a person"
run regatta nodes --key "$CLUSTER/absent.key"
like "$rc $err" "^3 .*its key is not the given public key" \
	"who never heard of it is told: $err"
run regatta nodes --key "$CLUSTER/absent.key" --controller-key "$next"
is "$rc" 0 "and given the key by hand gets on"

# Killed again, all of them know nothing else.
controller_kill
must agent_kill 1
must controller_up
must agent_up 1
ok 'nodes_up 2 20' "killed afterwards, they find each other"
touch "$BED/host/go"
ok 'wait_sweep $lasting 60' "what ran has not noticed any of this"
is "$(jobs_get "$lasting" '[.[].state] | join(" ")')" \
	"completed completed completed" \
	"and what waited opens what was sealed for the old key"

# What comes now is of the new one.
PASSED=word-$RANDOM run regatta submit "$BED/s.yaml" --format json
is "$rc" 0 "secrets are sealed for the new key"
ok 'wait_sweep "$(jq -r .sweep <<<"$out")" 60' "and nodes open them"
token=$(regatta node token 2>/dev/null)
mkdir "$BED/n3"
run "$REGATTA_BUILD/regatta-agent" join "$token" --name n3 --no-start \
	--config "$BED/n3/agent.yaml" --address 127.0.0.1
is "$rc" 0 "a node joins: $err"
run regatta key rotate "$CLUSTER/viewer.key"
is "$rc" 0 "keys of people rotate as ever: $err"
done_testing
