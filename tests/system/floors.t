#!/bin/bash
# floors.t - a device that reaches less than the floor of its chip is bad, also where
# there are too few others to compare it with. Facts that change are told, and a tool
# that loops is read.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
# shellcheck source=tests/lab/lab.sh
. "$(dirname "$0")/../lab/lab.sh"
need_root
lab_need
must lab_up
must lab_node a1 nvidia 2 pci_device=20f3 model='NVIDIA A800-SXM4-80GB'
must nodes_up 1 30

dmi=$(lab_machine a1)/sys/class/dmi/id
mkdir -p "$BED/host" "$dmi"
echo 9.75 >"$dmi/bios_version"
cat >"$BED/set.yaml" <<-END
	sweep: floors
	nodes: each
	vendor: nvidia
	image: $LAB_IMAGE
	${LAB_LIMITS/=/: }
	mounts: [{host: $BED/host, container: /host}]
	command: [/tool, show, /host/measured]
	log: {rules: [{dict: '[measured]', others: ., summary: true}]}
	retries: 0
END
echo '[measured] {"device0_bf16_tflops": 250, "device1_bf16_tflops": 100}' \
	>"$BED/host/measured"
run timeout 100 regatta validate "$BED/set.yaml" --again 1s --format json
is "$(jq -r '.units[] | select(.verdict == "bad") | .name' "$BED/out")" "a1 device 1" \
	"one of two devices is bad"
like "$(jq -r '.units[] | select(.verdict == "bad") | .checks[].text' "$BED/out")" \
	"^bf16_tflops: 100, .*, below 124.8, the floor of its chip$" \
	"because its chip does more"
must submit_tool looped vendor=nvidia devices=2 "$LAB_LIMITS" wait /host/go
looped()
{
	grep -c '"d":' "$CLUSTER/controller/logs/$JOB/1/samples-0.log" 2>/dev/null
}
ok 'wait_for "((\$(looped) >= 4))" 30' "a tool that loops is read again and again"
touch "$BED/host/looped/go"
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '.result.usage | [.devices[].samples > 3, .errors == []] | unique')" \
	"$(printf '[\n  true\n]')" "without an error"
ok 'wait_for "[[ \$(nodes_get .[0].facts.bios) == 9.75 ]]" 60' \
	"an agent tells what changed at its machine"
ok 'wait_for cluster_clean 30' "nothing is left on the node"
done_testing
