#!/bin/bash
# facts.t - what a result says of its nodes, and what no node may run beside.
#
# Two simulated machines with different drivers; a job over both, its rows in
# every report; processes of others on a card; a node of another driver refused.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
# shellcheck source=tests/lab/lab.sh
. "$(dirname "$0")/../lab/lab.sh"
need_root
lab_need
must lab_up
must lab_node a1 nvidia 2
must lab_node a2 nvidia 2 driver=550.54.15
must nodes_up 2 30

fact()
{
	cli show node "$1" --format json | jq -r ".node.facts | $2"
}
is "$(fact a1 '"\(.accelerators)x \(.accelerator), \(.driver), \(.sdk)"')" \
	"2x NVIDIA A100-SXM4-80GB, 535.129.03, 12.2" \
	"a node tells its accelerators, driver and SDK"
is "$(fact a2 '"\(.machine), \(.machine_vendor), \(.driver)"')" \
	"Machine of 2 cards, Simulated, 550.54.15" "and its machine"
is "$(fact a1 '[.cpu, .cpus, .memory_bytes, .memory_available_bytes, .os,
	.kernel, .engine, .numa_nodes, .clock.synchronised]
	| map(. != null) | all')" true \
	"processor, memory, NUMA, system, kernel, engine, clock"
run cli show node a1
for line in 'accelerator: NVIDIA A100' 'driver: 535.129.03' 'sdk: 12.2' \
	'machine: Machine' "kernel: $(uname -r)" 'synchronised: '; do
	ok "grep -qE '^ +$line' '$BED/out'" "show node prints '$line'"
done
ok "grep -qE '^ +0  0000:10:00.0  NVIDIA A100-SXM4-80GB  A100-SXM4-80GB +0 +81920' \
	'$BED/out'" "and a line for each device"
ok "grep -qE 'memory_bytes: [0-9.]+ GiB' '$BED/out'" "sizes have a unit"

# A job over both: 4 devices, 3 seconds of steps.
TRAIN=(framework=cpu vendor=nvidia chip=A100-SXM4-80GB nodes=2 devices=2
	model=llama2_7b precision=bf16 "$LAB_LIMITS"
	'batch={micro: 1, accumulate: 1, sequence: 512}' retries=0)
must submit_tool both "${TRAIN[@]}" steps 50 100
both=$JOB
must wait_job "$both" completed 40
tap 0 "a job trains on both"
must run cli report "$SWEEP" --format json
cp "$BED/out" "$BED/rows.json"
row()
{
	jq -r ".rows[0] | $1" "$BED/rows.json"
}
is "$(row '.provenance.environment | "\(.driver) \(.sdk) \(.accelerators)"')" \
	"535.129.03 12.2 2" "its environment is of its first node"
is "$(row '.provenance.environment.clock.synchronised != null and
	.provenance.environment.memory_available_bytes > 0')" true \
	"as it was then"
like "$(row '.provenance.hosts[0].ulimits | join(" ")')" \
	" nofile=([0-9]+):\\1 " \
	"with its limits: of open files, all that the engine allows"
is "$(row '.provenance.hosts | map("\(.nodes[0]) \(.driver)") | sort | join(", ")')" \
	"a1 535.129.03, a2 550.54.15" "nodes that differ have entries of their own"
is "$(row '.result.flags | map(select(.code == "drivers-differ")) | .[0].words[0]')" \
	"535.129.03 (a1); 550.54.15 (a2)" \
	"different drivers are a warning"
is "$(row '.result | "\(.memory_by_rank_mib | map(. - 69960) | join(" ")) of
	\(.usage.mem_total_mib) \(.chip_memory_gib)" | gsub("\\s+"; " ")')" \
	"40 41 40 41 of 81920 80" "the memory of each device, and what there is"
is "$(row '.result | "\(.mfu_formula) \(.mfu > 0) \(.joules_per_token > 0)"')" \
	"6N true true" "MFU with its formula, and J/token"
is "$(row '.result.usage.devices | map("\(.node):\(.device) \(.power_w.max)") |
	join(", ")')" "a1:0 300.5, a1:1 301.5, a2:0 300.5, a2:1 301.5" \
	"each device was sampled"
run cli verify "$both"
is "$rc" 0 "the result comes out of its log again, with its warnings"

must run cli report "$SWEEP" --style reference
for line in 'Machine of 2 cards' 'NVIDIA A100-SXM4-80GB' '535.129.03' \
	'12.2' "$(row .provenance.environment.engine)" "$(uname -r)"; do
	ok "grep -qF -- '$line' '$BED/out'" "the reference page has $line"
done
like "$(grep -o "[0-9.]*/80[0-9.]* " "$BED/out")" "^0.00/80.00" "and the memory, of 80 GiB"
must run cli report "$SWEEP" --format html
for title in Power Temperature Utilisation Memory 'CPU load of the nodes'; do
	ok "grep -qF '>$title<' '$BED/out'" "the HTML page has a chart: $title"
done
ok "! grep -qE '<script|https?:' '$BED/out'" "and nothing from elsewhere"

# Whoever wants one driver gets it, or nothing.
must submit_tool same "${TRAIN[@]}" same_driver=require steps 1 1
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" '"\(.failure): \(.text)"')" \
	"preflight: driver differs: 535.129.03 (a1); 550.54.15 (a2)" \
	"same_driver: require refuses, and says who has what"
ok '! grep -q started <(job_get "$JOB" ".events[].kind")' "nothing was started"

# A driver that is changed while the agent runs is told with the next job.
must lab_stop a2
echo 535.200 >"$(lab_machine a1)/sys/module/nvidia/version"
must submit_tool newer vendor=nvidia devices=2 "$LAB_LIMITS" exit 0
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" .provenance.environment.driver)" 535.200 \
	"a driver is looked at for each job"
is "$(fact a1 .driver)" 535.200 "and the node shows it"
controller_kill
controller_up
must nodes_up 1 30
is "$(fact a1 .driver)" 535.200 "also to another controller"

# Strangers.
card=$(lab_machine a1)/dev/nvidia1
exec {held}<"$card"
must submit_tool held vendor=nvidia devices=2 retries=0 "$LAB_LIMITS" exit 0
must wait_job "$JOB" completed 30
tap 0 "where a tool tells of processes, open files are nobody"
exec {held}<&-
must dk e1 run -d --name theirs --network none --device "$card" \
	"$LAB_IMAGE" /tool sleep 1000 >/dev/null
must submit_tool taken vendor=nvidia devices=2 retries=0 "$LAB_LIMITS" exit 0
must wait_job "$JOB" failed 30
like "$(job_get "$JOB" '"\(.failure): \(.text)"')" \
	"preflight: a1: the devices are in use: container theirs holds $card" \
	"a container that is not ours forbids the job, by name"
must submit_tool warned vendor=nvidia devices=2 foreign_processes=warn \
	"$LAB_LIMITS" exit 0
must wait_job "$JOB" completed 30
like "$(job_get "$JOB" '.result.flags[] | .words // [] | join(": ")')" "a1: container theirs holds $card" \
	"or is a warning, where the sweep says so"
must dk e1 rm -f theirs >/dev/null
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
