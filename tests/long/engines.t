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

again system/stores
for test in image-gc image-pull images; do
	again "system/$test" CONTAINERD_STORE=1
done
for test in image run failures gang collect; do
	again "system/$test" CONTAINERD_STORE=1
	again "system/$test" CONTAINERD_STORE=
	again "system/$test" TEST_ENGINE=podman
done
again system/cdi CDI_FOLDER="$root/etc/cdi"
again chaos/engine CONTAINERD_STORE=1
again attack/build CONTAINERD_STORE=1
done_testing
