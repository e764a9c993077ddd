# pull.sh - an image from a registry, for a job, and by docker pull.
# shellcheck shell=bash
#
# For run, after lib.sh. One engine, a registry on the same machine, an image of
# four layers that cannot be compressed. In turns, each with all of it gone from
# the engine: a job that needs the image, from when its node is told to prepare
# until it has it, as the job's events say, and until it has ended, as who waits
# for it sees; and `docker pull`.
# shellcheck source=tests/system/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/../system/cluster.sh"

PULL_MIB=${BENCH_MIB:-$((${QUICK:-0} ? 4 : 256))}
PULL_ROUNDS=$((${QUICK:-0} ? 1 : 5))

pull_image() # TAG
{
	random_image e1 "$1" "$PULL_MIB" 4 && dk e1 push -q "$1" >/dev/null
}

pull_forget() # TAG
{
	dk e1 rmi -f "$1" >/dev/null 2>&1
	dk e1 image prune -af >/dev/null
	sync
}

# Seconds that a command takes.
pull_seconds()
{
	local began=$EPOCHREALTIME

	"$@" >/dev/null 2>&1 || return 1
	awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

pull_median()
{
	printf '%s\n' "$@" | sort -g | awk '{ s[NR] = $1 }
		END { print (s[int((NR + 1) / 2)] + s[int(NR / 2) + 1]) / 2 }'
}

# pull_put WAY SECONDS OF-DOCKER
pull_put()
{
	awk -v way="$1" -v s="$2" -v docker="$3" -v mib="$PULL_MIB" \
		-v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		printf "  %-34s %9.2f %9.0f %9.2f\n", way, s, mib / s, s / docker
		printf "{\"benchmark\":\"pull\",\"way\":\"%s\",\"mib\":%d," \
			"\"seconds\":%.3f,\"of_docker\":%.3f}\n", way, mib, s, \
			s / docker >>results
	}'
}

pull_run()
{
	local tag round docker=() job=() whole=() s

	rm -rf "$CLUSTER"
	cluster_up 1 && registry_up || return 1
	tag=$REGISTRY/pull:1
	pull_image "$tag" || return 1
	printf '%s\n' 'sweep: pull' "image: $tag" 'command: [/tool]' \
		>"$BED/pull.yaml"
	for ((round = 0; round < PULL_ROUNDS; round++)); do
		pull_forget "$tag"
		s=$(pull_seconds dk e1 pull -q "$tag") || return 1
		docker+=("$s")
		pull_forget "$tag"
		s=$(pull_seconds cli submit --wait "$BED/pull.yaml") || return 1
		whole+=("$s")
		job+=("$(cli show job "$((round + 1))" --format json | jq '
			.job.events | map({(.kind): .time_ms}) | add |
			(.image - .prepare) / 1000')")
	done
	printf '  %-34s %9s %9s %9s\n' "($PULL_MIB MiB, 4 layers)" seconds \
		MiB/s 'of docker'
	s=$(pull_median "${docker[@]}")
	pull_put 'docker pull' "$s" "$s"
	pull_put 'a job: told until it has it' "$(pull_median "${job[@]}")" "$s"
	pull_put 'a job: submit --wait, all of it' \
		"$(pull_median "${whole[@]}")" "$s"
	cluster_down
	registry_down
}
