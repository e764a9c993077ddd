#!/bin/bash
# tree.t - FlagPerf trees that no honest person has: links out, FIFOs, devices,
# bombs, code, and names that are none. The count of attempts is printed. A
# program with sanitizers is taken where `make asan` built it.
TEST_LIMIT=900
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need python3 "$REGATTA_BUILD/regatta"
program=$REGATTA_BUILD/regatta
[[ -x $ROOT/build/asan/regatta ]] && program=$ROOT/build/asan/regatta
diag "$program"
mkdir -p "$BED/trees"
export REGATTA_IMAGES=$REGATTA_BUILD/images XDG_CONFIG_HOME=$BED
unset REGATTA_CONTROLLER
tap_of python3 "$(dirname "$0")/tree.py" "$program" "$BED/trees"
done_testing
