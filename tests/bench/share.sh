# share.sh - one image to 1, 2, 4 and 8 nodes, from a file and by pulling.
# shellcheck shell=bash
#
# For run, after lib.sh. Hosts with an engine and an agent each, on a switch with
# the controller and a registry; every link, also that of the controller and the
# registry, carries so many Mbit/s each way. Beside `regatta image load`, every
# node pulls the same image, of four layers that cannot be compressed, from the
# registry at the same time.
# shellcheck source=tests/system/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../system/cluster.sh"

SHARE_MIB=${BENCH_MIB:-$((${QUICK:-0} ? 4 : 256))}
SHARE_MBIT=100
SHARE_NODES=(1 2 4 8)
((${QUICK:-0})) && SHARE_NODES=(1 2)

# Slow down what goes out of a device: NETNS DEVICE
share_limit()
{
	tc -n "$1" qdisc add dev "$2" root tbf rate "${SHARE_MBIT}mbit" \
		burst 256kb latency 200ms
}

share_links()
{
	local i

	share_limit "$(switch_netns)" bridge0 || return 1
	for ((i = 1; i <= $1; i++)); do
		share_limit "$(switch_netns)" "port$i" &&
			share_limit "$(host_netns "$i")" eth0 || return 1
	done
}

# Every engine is as it was before.
share_forget()
{
	local i

	for ((i = 1; i <= $1; i++)); do
		dk "host$i" rmi -f "$2" >/dev/null 2>&1
		dk "host$i" image prune -f >/dev/null 2>&1
	done
	for ((i = 1; i <= $1; i++)); do
		rm -f "$CLUSTER/n$i"/content/loose/*
	done
	rm -f "$CLUSTER"/controller/content/{loose,kept}/*
}

# share_put WAY NODES SECONDS ONE: a line of the table, and one of results
share_put()
{
	awk -v way="$1" -v nodes="$2" -v s="$3" -v one="$4" -v mib="$SHARE_MIB" \
		-v mbit="$SHARE_MBIT" -v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		printf "  %-30s %6d %9.1f %9.2f\n", way, nodes, s, s / one
		printf "{\"benchmark\":\"share\",\"way\":\"%s\",\"nodes\":%d," \
			"\"mib\":%d,\"mbit_s\":%d,\"seconds\":%.2f," \
			"\"of_one\":%.3f}\n", way, nodes, mib, mbit, s, \
			s / one >>results
	}'
}

share_seconds()
{
	local began=$EPOCHREALTIME

	"$@" >&2 || return 1
	awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

share_pull()
{
	local i pids=()

	for ((i = 1; i <= $1; i++)); do
		docker -H "$(engine_host "host$i")" pull -q "$2" >/dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
}

share_load()
{
	on_switch "$REGATTA_BUILD/regatta" image load "$BED/image.tar" \
		--nodes "$(seq -s, -f 'n%g' "$1")" 2>/dev/null
}

share_run()
{
	local tag=10.77.0.1:5000/share:1 nodes s one=()

	# What another benchmark left behind has ended.
	rm -rf "$CLUSTER"
	cluster_up "${SHARE_NODES[-1]}" hosts || return 1
	random_image host1 "$tag" "$SHARE_MIB" 4 &&
		dk host1 push -q "$tag" >/dev/null &&
		dk host1 save "$tag" -o "$BED/image.tar" &&
		share_links "${SHARE_NODES[-1]}" || return 1
	printf '  %-30s %6s %9s %9s\n' '' nodes seconds 'of one'
	for nodes in "${SHARE_NODES[@]}"; do
		share_forget "${SHARE_NODES[-1]}" "$tag"
		s=$(share_seconds share_load "$nodes") || return 1
		one[0]=${one[0]:-$s}
		share_put 'regatta image load' "$nodes" "$s" "${one[0]}"
		share_forget "${SHARE_NODES[-1]}" "$tag"
		s=$(share_seconds share_pull "$nodes" "$tag") || return 1
		one[1]=${one[1]:-$s}
		share_put 'docker pull on each' "$nodes" "$s" "${one[1]}"
	done
	cluster_down && hosts_down
}
