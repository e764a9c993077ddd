# validate.sh - quick on eight nodes, beside the same program by parallel-ssh.
# shellcheck shell=bash
#
# For run, after lib.sh. Hosts with an engine and an agent each; sshd runs on each, and
# parallel-ssh runs the command of the set there by `docker run`, as often as the set
# did. That tells no node from another: it only measures.
# shellcheck source=tests/system/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../system/cluster.sh"

VALIDATE_NODES=8

# sshd of each host: root, with a key of its own.
validate_sshd()
{
	local ssh=$BED/ssh i

	mkdir -p "$ssh" /run/sshd && ssh-keygen -q -t ed25519 -N '' -f "$ssh/key" &&
		ssh-keygen -q -t ed25519 -N '' -f "$ssh/host" || return
	for ((i = 1; i <= VALIDATE_NODES; i++)); do
		spawn -n "$(host_netns "$i")" "sshd$i" /usr/sbin/sshd -D -e -f /dev/null -h "$ssh/host" \
			-o PidFile=none -o StrictModes=no -o UsePAM=no \
			-o PermitRootLogin=prohibit-password \
			-o "AuthorizedKeysFile=$ssh/key.pub" || return
		wait_for "on_switch bash -c '</dev/tcp/$(host_address "$i")/22' 2>/dev/null" \
			10 || return
		printf '%s %s\n' "$(host_address "$i")" "$(engine_host "host$i")" \
			>>"$ssh/engines"
		printf '%s\n' "$(host_address "$i")" >>"$ssh/hosts"
	done
}

# validate_time COMMAND...: seconds
validate_time()
{
	local began=${EPOCHREALTIME/[^0-9]/}

	on_switch timeout -k 5 300 "$@" >"$BED/validate.out" 2>"$BED/validate.err" || {
		tail -5 "$BED/validate.err" >&2
		return 1
	}
	awk -v us=$((${EPOCHREALTIME/[^0-9]/} - began)) \
		'BEGIN { printf "%.2f\n", us / 1000000 }'
}

# Suspects would be measured again, which parallel-ssh does not do.
validate_regatta()
{
	validate_time regatta submit "$REGATTA_BUILD/images/validation/quick.yaml" \
		--set nodes=each --wait
}

# What a job ran, in words for the other shell, on the engine of its host.
validate_script()
{
	local image argv

	image=$(job_get 1 .provenance.image_pin) &&
		argv=$(job_get 1 '.spec.container.argv | @sh') || return
	cat >"$BED/ssh/quick" <<-END
		#!/bin/sh
		set -- \$SSH_CONNECTION
		exec docker -H "\$(sed -n "s/^\$3 //p" "$BED/ssh/engines")" run --rm \\
			--pull never --entrypoint '' --network host \\
			--tmpfs /regatta/in $image $argv
	END
	chmod +x "$BED/ssh/quick"
}

validate_parallel_ssh()
{
	validate_time parallel-ssh -h "$BED/ssh/hosts" -l root -p 32 -t 0 -i \
		-x "-i $BED/ssh/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null" \
		"$BED/ssh/quick"
}

validate_run()
{
	local ours=0 theirs=0 s

	# What another benchmark left behind has ended.
	rm -rf "$CLUSTER"
	cluster_up $VALIDATE_NODES hosts && validate_sshd || return
	# The first one brings the image to the engines.
	validate_regatta >/dev/null && validate_script &&
		validate_parallel_ssh >/dev/null || return
	for _ in 1 2 3; do
		s=$(validate_regatta) && ours=$(awk "BEGIN { print $ours + $s / 3 }") &&
			s=$(validate_parallel_ssh) &&
			theirs=$(awk "BEGIN { print $theirs + $s / 3 }") || return
	done
	awk -v ours="$ours" -v theirs="$theirs" -v nodes=$VALIDATE_NODES \
		-v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		printf "  %-38s %8.2f s\n", "regatta, the set quick", ours
		printf "  %-38s %8.2f s\n", "parallel-ssh, docker run", theirs
		way = "{\"benchmark\":\"validate\",\"way\":\"%s\",\"nodes\":%d,\"seconds\":%.2f}\n"
		printf way, "regatta", nodes, ours >>results
		printf way, "parallel-ssh", nodes, theirs >>results
	}'
	cluster_down && hosts_down
}
