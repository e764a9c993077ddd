#!/bin/bash
# rights.t - what root of a container may do: little, whatever it may write to.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
mkdir -p "$BED/host"
mounts="mounts: [{host: $BED/host, write: true}]"
echo "$mounts" >"$BED/policy.yaml"
unset REGATTA_AGENT_POLICY
# shellcheck disable=SC2034 # for cluster_up
AGENT_ARGS=(--policy "$BED/policy.yaml")
must cluster_up 1

# policy LINE...: as the node's policy, from now on
reloads=0
policy()
{
	printf '%s\n' "$@" >"$BED/policy.yaml"
	((++reloads))
	kill -HUP "$(pid_of cluster/agent1)"
	wait_for "((\$(log_of cluster/agent1 |
		grep -c 'settings read again') >= $reloads))" 20
}

# attack NAME [KEY=VALUE...]: each way to a file that gives rights on the host
attack()
{
	must submit_tool "$@" touch /host/evil , mode /host/evil 4755 , \
		mode /host/evil 2755 , mode /host/evil 0755 , \
		device /host/null , user 1000 , \
		show /proc/self/status
	must wait_job "$JOB" completed 30
	out=$(cat "$(log_file "$JOB")")
}

# By default, but for a folder that may be written to.
attack bare retries=0
# shellcheck disable=SC2154 # set by attack
is "$(grep -E '^(mode|device|group|user): ' <<<"$out")" \
	"mode: Operation not permitted
mode: Operation not permitted
mode: done
device: Operation not permitted
group: Operation not permitted
user: Operation not permitted" "no setuid, setgid, device; no other user"
for line in $'CapEff:\t0000000000000000' $'CapBnd:\t0000000000000000' \
	$'NoNewPrivs:\t1' $'Seccomp:\t2'; do
	ok "grep -qF '$line' <<<\"\$out\"" "its process has $line"
done
is "$(find "$BED/host/bare" ! -type d -printf '%f %m %y\n')" "evil 755 f" \
	"on the host lies a plain file"

# What the sweep names, the policy has to name.
caps='capabilities=[SETUID, SETGID, KILL, MKNOD]'
must submit_tool refused retries=0 "$caps" print 1
must wait_job "$JOB" failed 20
like "$(job_get "$JOB" .text)" "capabilities: SETUID is not allowed;" \
	"capabilities that the policy does not name are refused"
must policy "$mounts" "capabilities: [SETUID, SETGID, KILL, MKNOD]"
attack named retries=0 "$caps"
is "$(grep -E '^(mode|device|group|user): ' <<<"$out")" \
	"mode: Operation not permitted
mode: Operation not permitted
mode: done
device: Operation not permitted
group: done
user: done" "even with MKNOD no device, nor setuid files"
like "$out" $'CapBnd:\t00000000080000e0' "it has those, and no other"

must policy "mounts: [{host: $BED/host, write: true, suid: true}]" \
	"capabilities: [SETUID, SETGID, KILL, MKNOD, FSETID]"
attack suid retries=0 "$caps"
is "$(grep -E '^(mode|device): ' <<<"$out")" \
	"mode: done
mode: done
mode: done
device: done" "suid: true of the policy's mount lets it"

# Processes.
must submit_tool held retries=0 wait /host/go
must wait_job "$JOB" running 30
is "$(dk e1 inspect -f '{{.HostConfig.PidsLimit}} {{.HostConfig.SecurityOpt}}' \
	"$(task_container "$JOB")")" "32768 [no-new-privileges]" \
	"processes have a limit; seccomp is the engine's own"
touch "$BED/host/held/go"
must wait_sweep "$SWEEP" 30
must policy "$mounts" "limits: {pids: 16}"
must submit_tool bomb retries=0 fork 100 1000
must wait_job "$JOB" completed 30
orphans=$(grep -c orphan "$(log_file "$JOB")")
ok "((orphans > 5 && orphans < 16))" \
	"of a hundred processes there are $orphans: the policy's limit is 16"

# As whom.
must policy "$mounts" 'user: ["[1-9]*:[1-9]*"]'
must submit_tool root retries=0 print 1
must wait_job "$JOB" failed 20
is "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"policy n1: user: 0 (root) is not allowed; $BED/policy.yaml allows [1-9]*:[1-9]*" \
	"an image that names nobody runs as root, which a policy may forbid"
must submit_tool other retries=0 'user="1000:1000"' print 1
must wait_job "$JOB" completed 30
tap 0 "another user is fine"
done_testing
