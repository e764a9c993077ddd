#!/bin/bash
# stacks.t - a stack tool of an image: it never runs with the agent's rights,
# also where the agent is root without its unit.
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
must cluster_up 1

# An image whose py-spy tells its rights, and tries to leave a setuid file.
mkdir -p "$BED/image/usr/bin"
cp "$REGATTA_BUILD/lab/tool" "$BED/image/tool"
cp "$REGATTA_BUILD/lab/tool" "$BED/image/usr/bin/py-spy"
TOOL_IMAGE=test/spy:1
must dk e1 import - "$TOOL_IMAGE" >/dev/null \
	< <(tar -C "$BED/image" --owner=0 --group=0 -c .)

mkdir -p "$BED/host/spied"
chmod 0777 "$BED/host/spied"
must submit_tool spied retries=0 user=4321:4321 show /proc/self/status , \
	touch /host/begun , sleep 1000 , error python
must wait_for "[[ -e $BED/host/spied/begun ]]" 30
run cli stacks "$JOB" --format json
is "$rc" 0 "the stacks are looked at"
stack=$(jq -r 'select(.tool) | .stack[]' \
	"$CLUSTER/controller/logs/$JOB/1/evidence-0.log")
rights='^(Uid|Gid|Cap|NoNewPrivs|Seccomp)'
# As the command, which printed its own first.
is "$(grep -E "$rights" <<<"$stack")" \
	"$(grep -E "$rights" "$(log_file "$JOB")" | tr '\t' '?')" \
	"the image's tool has the rights of the command"
like "$stack" "CapEff:.0000000000000000" "no capability"
is "$(stat -c %a "$BED/host/spied/evil")" 644 "it can make no setuid file"
run cli cancel job "$JOB"
must wait_job "$JOB" cancelled 30
ok 'wait_for cluster_clean 30' "nothing of it is left on the node"
done_testing
