#!/bin/bash
# attacks-podman.t - all of tests/attack, on the Podman of this machine.
TEST_LIMIT=1750
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/newer.sh
. "$(dirname "$0")/newer.sh"
need_root
need podman
attacks here TEST_ENGINE=podman
done_testing
