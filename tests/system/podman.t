#!/bin/bash
# podman.t - Podman's Docker API as the engine: the same tests pass on it.
#
# Each test of "again" runs again with Podman (TEST_ENGINE) and counts as one
# here.
TEST_LIMIT=570 TEST_ENGINE=podman
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
command -v podman >/dev/null ||
	skip_all "Podman is not installed: apt-get install podman"
version=$(podman --version | grep -oE '[0-9]+' | head -1)
((version >= 4)) || skip_all "Podman is older than 4"

# again TEST WHAT: and what of it failed
again()
{
	run -t 400 env -u BED_WATCHED TEST_ENGINE=podman "$ROOT/tests/$1.t"
	if ((rc == 0)) && [[ $out == *1..* ]]; then
		tap 0 "$2: $1.t, $(grep -c ^ok <<<"$out") tests"
	else
		tap 1 "$2: $1.t ended with $rc"
		diag "$(grep -v '^ok' <<<"$out")"
	fi
}

again system/run "a job runs, with output, exit code and end"
again system/failures "failures have their class: exit, out of memory, image"
again chaos/agent "an agent that is killed adopts what it finds"
again system/lab "each vendor's whole path"

# An image at a bounded rate, by a name that it knows for a moment only.
must cluster_up 1
must registry_up
for image in a:1 b:1; do
	must random_image e1 "$REGISTRY/$image" 6
	must dk e1 push -q "$REGISTRY/$image" >/dev/null
	must dk e1 rmi -f "$REGISTRY/$image" >/dev/null
done
mkdir "$BED/host"
cat >"$BED/rated.yaml" <<END
sweep: rated
image: $REGISTRY/\${part}:1
preload: true
preload_rate: 2M
mounts: [{host: $BED/host, container: /host}]
matrix: {part: [a, b]}
command: [/tool, wait, "/host/\${part}", ",", print, "1000"]
END
must submit "$BED/rated.yaml"
ok 'wait_for "[[ \$(nodes_get .[0].preload[0].phase) == ready ]]" 120' \
	"an image is brought ahead at a bounded rate"
seconds=$(job_get "$JOB" '.events[] | select(.kind == "preload") |
	.data.seconds // empty')
ok '[[ ${seconds%.*} -ge 2 ]]' "in its time: $seconds s"
ok 'wait_for "! dk e1 image ls | grep regatta-relay" 60' \
	"the name of the relay goes away"
touch "$BED/host/a"
second=$(jobs_get "$SWEEP" 'sort_by(.job) | .[1].job')
must wait_job "$second" running 60
is "$(job_get "$second" '[.events[] | select(.kind == "image")] | length')" 0 \
	"the next job has its image already"
ok '! log_of cluster/agent1 | grep "has no name"' "by its name"
touch "$BED/host/b"
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" '[.[].state] | unique | join(" ")')" completed \
	"and runs of it"
ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
