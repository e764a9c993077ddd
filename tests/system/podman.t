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

done_testing
