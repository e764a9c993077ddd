# slurm-test.sh - the head of a test of a real Slurm.
# shellcheck shell=bash
#
# Source it first. It starts the test again in a network namespace of its own
# (with SLURM_MOUNTS=1 also one of mounts), reads lib.sh and slurm.sh, and skips
# the test where Slurm is missing.
if ((EUID == 0)) && [[ ! ${SLURM_ALONE-} ]]; then
	exec env SLURM_ALONE=1 unshare -n ${SLURM_MOUNTS:+-m} "$0" "$@"
fi
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
# shellcheck source=tests/lab/slurm.sh
. "$ROOT/tests/lab/slurm.sh"
need jq "${SLURM_PROGRAMS[@]}" "$REGATTA_BUILD"/{regatta,lab/tool}
