#!/bin/bash
# attacks-podman-new.t - all of tests/attack, on the newest Podman of Debian.
TEST_LIMIT=1750
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/newer.sh
. "$(dirname "$0")/newer.sh"
newer_need
newer_engines
attacks again TEST_ENGINE=podman
done_testing
