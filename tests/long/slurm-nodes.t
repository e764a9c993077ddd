#!/bin/bash
# slurm-nodes.t - what agents in allocations of a real Slurm offer: devices,
# processors and memory of the step; to several allocations, to a controller
# that stands, and until their time is over.
: "${TEST_LIMIT:=600}"
# shellcheck source=tests/lab/slurm-test.sh
. "$(dirname "$0")/../lab/slurm-test.sh"
need docker dockerd containerd
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

# Two sweeps at once on one node: each has its devices, processors and memory.
must "$ROOT/tests/lab/machine" "$BED/cards" nvidia 4
cat >cards.yaml <<END
sweep: cards
vendor: nvidia
devices: 2
shared: true
cpus: 2
memory: 64MiB
ulimits: {memlock: 65536}
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
command: [/tool, steps, "20", "5", ",", wait, "/host/\${name}"]
matrix: {name: [left]}
END
sed 's/\[left\]/[right]/; s/^sweep: cards/sweep: others/; s/memory: .*/memory: 96MiB/' \
	cards.yaml >others.yaml
export REGATTA_AGENT_DEVICE_ROOT=$BED/cards/dev \
	REGATTA_AGENT_SYSFS_ROOT=$BED/cards/sys \
	REGATTA_AGENT_PROC_ROOT=$BED/cards/proc \
	REGATTA_AGENT_FILE_ROOT=$BED/cards/files \
	REGATTA_AGENT_TOOLS=$BED/cards/bin
run regatta slurm --print cards.yaml
like "$out" "cpus-per-task=2.*--mem=64M.*--gres=gpu:2" \
	"a shared sweep asks for what it names"
submit cards cards.yaml -- -t 10 -w a1
submit others others.yaml -- -t 10 -w a1
must wait_for '[[ $(dk one ps -q | wc -l) == 2 ]]' 90
is "$(squeue -h -o "%N %t" | sort | uniq -c | xargs)" "2 a1 R" \
	"both run on one node"
# shellcheck disable=SC2046 # two
dk one inspect $(dk one ps -q) >"$BED/two.json"
is "$(jq '[.[].HostConfig.Devices[].PathOnHost | select(test("nvidia[0-9]"))] |
	length, (unique | length)' two.json | xargs)" "4 4" \
	"each has two devices that the other has not"
is "$(jq -c '[.[].HostConfig | [.NanoCpus / 1e9, .Memory / 1048576]] | sort' two.json)" \
	'[[2,64],[2,96]]' "and the processors and memory that it asked for"
touch host/left host/right
must wait_for '[[ -e cards/outcome && -e others/outcome ]]' 60
must wait_for '[[ ! $(squeue -h) ]]' 60
nothing cards "after two sweeps on one node"
unset "${!REGATTA_AGENT_@}"

# A controller that stands gets nodes for a while.
key()
{
	regatta key new "stand/keys/$1.key" --name "$1" --role "$2" \
		>>stand/authorized
}
stand()
{
	spawn stand regatta-controller --config /dev/null --listen "$1" \
		--key stand/keys/controller.key --keys stand/authorized \
		--state stand/state --images "$REGATTA_BUILD/images" \
		--node-lost 20 --endpoint-file stand/endpoint
	wait_for '[[ -s stand/endpoint ]]' 20
}
# allocate MINUTES: the number of the job in $job
allocate()
{
	job=$(sbatch --parsable -w a2 --exclusive --mem=0 -t "$1" \
		-o "$BED/allocated-%j.log" --wrap "srun regatta-agent \
		--for-allocation --config /dev/null --policy any \
		--controller $BED/stand/endpoint --key $BED/stand/keys \
		--controller-key $BED/stand/keys/controller.key \
		--images $REGATTA_BUILD/images --engine $DOCKER_HOST \
		--init $REGATTA_BUILD/regatta-init") || die "sbatch"
}
job_is()
{
	jq -e --arg state "$1" '.jobs[0].state == $state' \
		<(regatta jobs --format json 2>/dev/null) >/dev/null
}
mkdir -p stand/keys
for one in "controller controller" "operator operator" "a2 agent"; do
	# shellcheck disable=SC2086 # two words
	must key $one
done
must stand 'tcp://127.0.0.1:*'
REGATTA_CONTROLLER=$(<stand/endpoint)
export REGATTA_CONTROLLER REGATTA_CONTROLLER_KEY=$BED/stand/keys/controller.key \
	REGATTA_KEY=$BED/stand/keys/operator.key
rm -f host/go-*
sed 's/n: \[1, 2, 3\]/n: [1]/' slow.yaml >stand.yaml
allocate 1
must wait_for 'regatta nodes | finds "leaves at"' 60
run regatta submit stand.yaml
is "$rc" 0 "a sweep for a node that leaves: $err"
must wait_for 'job_is running' 30
must wait_for 'grep -q "leaving: no new task" allocated-*.log' 90
kill -9 "$(pid_of stand)"
must stand "$REGATTA_CONTROLLER"
must wait_for 'job_is queued' 60
like "$(regatta show job 1 --all)" "preempted" \
	"at the time limit the job goes back to the queue"
must wait_for '[[ $(slurm_state "$job") =~ COMPLETED|TIMEOUT ]]' 90
is "$(containers one)$(ls -A "$BED/nodes")" "" "and nothing is left on the node"
allocate 10
must wait_for 'job_is running' 60
touch host/go-1
must wait_for 'job_is completed' 60
ok true "the next allocation completes it"
must scancel "$job"
must wait_for '[[ ! $(squeue -h) ]]' 60
is "$(containers one)$(ls -A "$BED/nodes")" "" "after scancel nothing is left"
end stand

slurm_down
done_testing
