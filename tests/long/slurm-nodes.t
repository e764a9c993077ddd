#!/bin/bash
# slurm-nodes.t - what agents in allocations of a real Slurm offer: devices,
# processors and memory of the step; to several allocations, to a controller
# that stands, and until their time is over.
if ((EUID == 0)) && [[ ! ${SLURM_ALONE-} ]]; then
	exec env SLURM_ALONE=1 unshare -n "$0" "$@"
fi
: "${TEST_LIMIT:=600}"
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
need_root
# shellcheck source=tests/lab/slurm.sh
. "$ROOT/tests/lab/slurm.sh"
need docker dockerd containerd jq "${SLURM_PROGRAMS[@]}" \
	"$REGATTA_BUILD"/{regatta,lab/tool}
must slurm_bed
must slurm_up a1 a2

cat >slow.yaml <<END
sweep: slow
vendor: cpu
framework: cpu
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
command: [/tool, steps, "20", "5", ",", wait, "/host/go-\${n}"]
matrix: {n: [1, 2, 3]}
END

# Two allocations work for one sweep; the one that leads is cancelled.
submit two --allocations 2 slow.yaml -- -t 10
must wait_for 'grep -q "job 2 .*running" two/slurm.log' 60
is "$(grep -c "joins the run" two/slurm.log)" 1 "one leads, and one joins"
must wait_for '[[ $(containers one | wc -l) == 2 ]]' 30
leads=$(pgrep -f "regatta-controller.*$BED/two" | head -1)
first=$(tr '\0' '\n' <"/proc/$leads/environ" |
	sed -n 's/^SLURM_ARRAY_TASK_ID=//p')
touch host/go-3
must scancel "${job}_$first"
must wait_for 'grep -q "leads the run from now on" two/slurm.log' 60
ok true "the other leads when the first ends"
touch host/go-{1,2}
must wait_for '[[ -e two/outcome ]]' 90
is "$(cat two/outcome) $(states two)" \
	'0 ["completed","completed","completed"]' "the sweep goes on to its end"
must wait_for '[[ ! $(squeue -h -j '"$job"') ]]' 60
nothing two "after two allocations"
like "$(regatta jobs --state "$BED/two" --all)" "completed" "all can be read"

done_testing
