#!/bin/bash
# engines.t - the engines of newer systems: the same tests pass on the newest
# Docker of Debian with each of its image stores, and on its newest Podman.
TEST_LIMIT=1750
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/newer.sh
. "$(dirname "$0")/newer.sh"
newer_need
newer_engines

again system/run TEST_ENGINE=podman
done_testing
