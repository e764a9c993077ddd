#!/bin/bash
# attacks-docker.t - all of tests/attack, on the newest Docker of Debian.
TEST_LIMIT=1750
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/long/newer.sh
. "$(dirname "$0")/newer.sh"
newer_need
newer_engines
attacks again CONTAINERD_STORE=1
done_testing
