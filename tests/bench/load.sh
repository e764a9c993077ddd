# load.sh - an image file to one node and to two, and by docker load.
# shellcheck shell=bash
#
# For run, after lib.sh. An archive of docker save with layers that cannot be
# compressed. In turns, each with all of it gone from engines, nodes and
# controller: `docker load`, `regatta image load` to one node, and to two, which
# is beside `docker load` on both at once.
# shellcheck source=tests/system/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../system/cluster.sh"

LOAD_MIB=${BENCH_MIB:-$((${QUICK:-0} ? 4 : 300))}
LOAD_ROUNDS=$((${QUICK:-0} ? 1 : 5))

load_forget() # TAG
{
	local i

	for i in 1 2; do
		dk "e$i" rmi -f "$1" >/dev/null 2>&1
		dk "e$i" image prune -f >/dev/null
		rm -f "$CLUSTER/n$i"/content/loose/*
	done
	rm -f "$CLUSTER"/controller/content/{loose,kept}/*
	sync
}

# load_docker N: on so many engines at once
load_docker()
{
	local i pids=()

	for ((i = 1; i <= $1; i++)); do
		dk "e$i" load -q -i "$BED/load.tar" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

load_regatta() # N
{
	cli image load "$BED/load.tar" --nodes "$(seq -s, -f 'n%g' "$1")"
}

# load_seconds TAG COMMAND...
load_seconds()
{
	local began

	load_forget "$1"
	began=$EPOCHREALTIME
	"${@:2}" >/dev/null 2>&1 || return 1
	awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

load_median()
{
	printf '%s\n' "$@" | sort -g | awk '{ s[NR] = $1 }
		END { print (s[int((NR + 1) / 2)] + s[int(NR / 2) + 1]) / 2 }'
}

# load_put WAY NODES SECONDS OF-DOCKER
load_put()
{
	awk -v way="$1" -v nodes="$2" -v s="$3" -v docker="$4" \
		-v mib="$LOAD_MIB" -v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		printf "  %-24s %6d %9.2f %9.0f %9.2f\n", way, nodes, s,
			mib / s, s / docker
		printf "{\"benchmark\":\"load\",\"way\":\"%s\",\"nodes\":%d," \
			"\"mib\":%d,\"seconds\":%.3f,\"of_docker\":%.3f}\n", \
			way, nodes, mib, s, s / docker >>results
	}'
}

load_run()
{
	local tag=regatta-test/load:1 nodes round s docker regatta

	rm -rf "$CLUSTER"
	cluster_up 2 && random_image e1 "$tag" "$LOAD_MIB" 4 &&
		dk e1 save "$tag" -o "$BED/load.tar" || return 1
	printf '  %-24s %6s %9s %9s %9s\n' "($LOAD_MIB MiB, 4 layers)" nodes \
		seconds MiB/s 'of docker'
	for nodes in 1 2; do
		docker=() regatta=()
		for ((round = 0; round < LOAD_ROUNDS; round++)); do
			s=$(load_seconds "$tag" load_docker "$nodes") || return 1
			docker+=("$s")
			s=$(load_seconds "$tag" load_regatta "$nodes") || return 1
			regatta+=("$s")
		done
		s=$(load_median "${docker[@]}")
		load_put 'docker load' "$nodes" "$s" "$s"
		load_put 'regatta image load' "$nodes" \
			"$(load_median "${regatta[@]}")" "$s"
	done
	cluster_down
}
