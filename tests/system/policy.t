#!/bin/bash
# policy.t - a node refuses what its policy forbids, whatever the controller
# says, and takes a new policy and new settings while it runs.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need

# The agent's settings are a file, the policy another, beside it.
cat >"$BED/agent.yaml" <<END
policy: policy.yaml
verbose: true
housekeeping_cpus: 0
END
echo 'users: ["*"]' >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
export REGATTA_AGENT_CONFIG=$BED/agent.yaml
must cluster_up 1
like "$(log_of cluster/agent1)" "node=n1 policy=$BED/policy.yaml" \
	"the agent says which policy it has"

is "$(sed -n 's/^Cpus_allowed_list:\t//p' \
	"/proc/$(pid_of cluster/agent1)/status")" 0 \
	"and stays on the processors that are left to it"

# refused TEXT NAME: the job at hand
refused()
{
	wait_job "$JOB" failed 20
	is "$(job_get "$JOB" .failure)" policy "$2: class policy"
	like "$(job_get "$JOB" .text)" "$1" "$2: $(job_get "$JOB" .text)"
}

# reloaded N: has the agent read its files N times again?
reloaded()
{
	kill -HUP "$(pid_of cluster/agent1)"
	wait_for "(( \$(log_of cluster/agent1 |
		grep -c 'settings read again\|the policy is not changed') >= $1 ))" 10
}

must submit_tool mount print 10
refused "mounts: $BED/host/mount \(writable\) is not allowed; .* allows nothing" \
	"a mount by default"

# What the registry would say comes too late: nothing is pulled.
cat >"$BED/image.yaml" <<END
sweep: image
image: 127.0.0.1:9/no/such:1
capabilities: [SYS_ADMIN]
retries: 0
command: [/tool, print, "1"]
END
must submit "$BED/image.yaml"
refused 'capabilities: SYS_ADMIN is not allowed; .* allows nothing' \
	"before anything is pulled"
is "$(containers e1)" "" "no container was made of any of it"

echo "mounts: [{host: $BED/host, write: tru}]" >"$BED/policy.yaml"
must reloaded 1
like "$(log_of cluster/agent1)" "policy.yaml:1: mounts\[0\].write" \
	"a policy with an error is told, by file and line"
cat >"$BED/policy.yaml" <<END
users: [me, operator]
mounts: [{host: $BED/host, write: true}]
limits: {memory: 64M, log: 1000, disk: 16M}
END
must reloaded 2
must submit_tool allowed append /host/done x , print 10
must wait_job "$JOB" completed 30
ok '[[ -s $BED/host/allowed/done ]]' \
	"a new policy counts at SIGHUP, for who is allowed by name"

must submit_tool limit sleep 60000
must wait_job "$JOB" running 30
is "$(dk e1 inspect -f '{{.HostConfig.Memory}}' "$(task_container "$JOB")")" \
	67108864 "a job that names no limit gets the policy's"
must cli cancel job "$JOB"
must wait_sweep "$SWEEP" 30
must submit_tool long print 5000
must wait_job "$JOB" completed 30
is "$(log_size "$JOB")" 1000 "so for what it may print"
must submit_tool more memory=128M print 1
refused 'limits.memory: 134217728 bytes is not allowed;' "more memory"

mkdir "$BED/tree"
must submit_tool disk "workspace=$BED/tree" into /data , print 10000000 , \
	into /workspace/more , print 10000000 , into - , sleep 60
refused 'limits.disk: the container wrote 19 MiB to its own disk; .* allows 16 MiB' \
	"a container that writes too much on its own disk, its workspace counted"

# A link that a job left in a folder that it may write to.
ln -s /etc "$BED/host/away"
cat >"$BED/link.yaml" <<END
sweep: link
image: $TOOL_IMAGE
mounts: [{host: $BED/host/away, container: /x, read_only: true}]
command: [/tool, print, "1"]
END
must submit "$BED/link.yaml"
refused "mounts: $BED/host/away -> /etc is not allowed;" \
	"a link that leads out of what is allowed"

# What a sweep needs, and nothing beside it.
rm "$BED/host/away"
mkdir -p "$BED/host/first/inside"
cat >"$BED/needs.yaml" <<END
sweep: needs
image: $TOOL_IMAGE
mounts:
  - {host: $BED/host/first, container: /x}
  - {host: $BED/host/first/inside, container: /y, read_only: true}
capabilities: [SYS_NICE]
ipc: host
ulimits: {nproc: 4096}
ssh: true
matrix: {security: [[], [seccomp=unconfined]]}
command: [/tool, append, /x/done, "1"]
END
run cli plan "$BED/needs.yaml"
like "$out" "security=\[\] +n1 +capabilities: SYS_NICE is not allowed; the node's policy allows nothing" \
	"plan asks the nodes what their policies refuse"
is "$(sed -n '/^these policy lines/,$p' <<<"$out" | sed -n '/^capa/p; /^  - /p')" \
	"  - {host: \"$BED/host/first\", write: true}
capabilities: [\"SYS_NICE\"]" "and the lines that would allow it"
mkdir -p "$BED/alone"
cp "$(command -v regatta)" "$BED/alone/"
run env PATH=/usr/bin:/bin REGATTA_IMAGES="$REGATTA_BUILD/images" \
	"$BED/alone/regatta" plan "$BED/needs.yaml"
like "$out" "policies were not checked: program regatta-agent not found" \
	"without regatta-agent it says that it could not ask"
must submit "$BED/needs.yaml"
refused "capabilities: SYS_NICE is not allowed; .* allows nothing" \
	"a sweep that needs more"
regatta policy suggest "$BED/needs.yaml" >"$BED/policy.yaml"
is "$(grep -v '^ *#' "$BED/policy.yaml")" "mounts:
  - {host: \"$BED/host/first\", write: true}
ipc: [\"private\",\"shareable\",\"none\",\"host\"]
capabilities: [\"SYS_NICE\"]
security: [\"no-new-privileges\",\"seccomp=unconfined\"]
ulimits: {\"core\":\"unlimited\",\"memlock\":\"unlimited\",\"nofile\":\"unlimited\",\"stack\":\"unlimited\",\"nproc\":4096}" \
	"policy suggest prints the least that it needs"
must reloaded 3
ok 'wait_for "[[ \$(cli plan $BED/needs.yaml --format json | jq -c \".kept |
	map(.refused)\") == \"[null,null]\" ]]" 10' \
	"plan knows of the new policy"
must submit "$BED/needs.yaml"
must wait_sweep "$SWEEP" 30
is "$(jobs_get "$SWEEP" 'map(.state) | unique | .[]')" completed \
	"with which it runs"

echo 'users: [somebody]' >"$BED/policy.yaml"
must reloaded 4
must submit_tool stranger print 1
refused 'users: [a-z]+ is not allowed; .* allows somebody' "who may not"

sed -i 's/verbose.*/stall: 3/' "$BED/agent.yaml"
must reloaded 5
like "$(log_of cluster/agent1)" "W changed, effective at the next start: stall" \
	"it says which settings wait for the next start"
ok 'alive cluster/agent1' "and the agent runs on"
agent_stop 1
like "$(log_of cluster/agent1)" "its containers keep running tasks=0" \
	"at its end it says what it leaves"
done_testing
