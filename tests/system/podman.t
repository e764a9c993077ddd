#!/bin/bash
# podman.t - Podman's Docker API as the engine: the same tests pass on it.
#
# Each test of "again" runs again with Podman (TEST_ENGINE) and counts as one
# here.
# Long: whole tests once more, on another engine.
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

# Podman gives each image a digest, also one that no registry has.
must registry_up
must cluster_up 1
must tool_image e1 "$REGISTRY/tool:1"

# pin_of IMAGE: what a job says that its image is
pin_of()
{
	printf '%s\n' 'sweep: pin' "image: $1" 'retries: 0' \
		'command: [/tool, print, "10"]' >"$BED/pin.yaml"
	submit "$BED/pin.yaml" && wait_job "$JOB" completed 60 &&
		job_get "$JOB" .provenance.image_pin
}
must pin_of "$REGISTRY/tool:1" >"$BED/pin"
like "$(<"$BED/pin")" '^sha256:' \
	"the digest of an image that no registry has is none"
must dk e1 push -q "$REGISTRY/tool:1" >/dev/null
must wait_sweep "$SWEEP" 30
must dk e1 rmi "$REGISTRY/tool:1" >/dev/null
must dk e1 pull -q "$REGISTRY/tool:1" >/dev/null
like "$(pin_of "$REGISTRY/tool:1")" "^$REGISTRY/tool@sha256:" \
	"that of one which the registry has is one"

# What it made itself it calls localhost/, where no registry is asked.
must tool_image e1 localhost/tool:1
like "$(pin_of tool:1)" '^sha256:' "an image that it made has no registry's digest"
is "$(log_of engines/e1/dockerd | grep -c 'to pull localhost/')" 0 \
	"and no registry is looked for at localhost"

done_testing
