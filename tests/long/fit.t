#!/bin/bash
# fit.t - regatta validate on sixteen pretended nodes of two vendors, one of which is
# three times as fast: a device with half the bandwidth, a slow disk and a device that
# throttles are found, and nothing else. One vendor has an image for the accelerators.
TEST_LIMIT=900
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
need_root
cluster_need
need /usr/bin/python3

NODES=16
RED="n1 n2 n3 n4 n5 n6 n7 n8"
HOST=$BED/host/fit

# An agent's tool knows by its environment whose devices it shows.
cp -r "$REGATTA_BUILD/images" "$BED/images"
mkdir -p "$BED/bin" "$HOST"
for vendor in red blue; do
	mkdir -p "$BED/images/vendors/$vendor"
	cat >"$BED/images/vendors/$vendor/profile.yaml" <<-END
		vendor: $vendor
		title: a vendor that is none
		source: a test
		monitor:
		  command: [pretend-smi]
		  timeout: 5s
		  layouts:
		    - name: lines
		      read: lines
		      when: '^card'
		      device: ['card (?<device>\d+) (?<power_w>\d+ W) (?<clock_mhz>\d+) MHz']
	END
done
printf '%s\n' "images: {pytorch: 'test/torch:1'}" >>"$BED/images/vendors/red/profile.yaml"
cat >"$BED/bin/pretend-smi" <<-'END'
	#!/bin/sh
	case $PRETEND in
	n6) echo "card 0 300 W 1400 MHz" ;;
	n2) echo "card 0 500 W 1900 MHz" ;;
	*) echo "card 0 400 W 1900 MHz" ;;
	esac
	echo "card 1 400 W 1900 MHz"
END
chmod 755 "$BED/bin/pretend-smi"
export PATH=$BED/bin:$PATH REGATTA_IMAGES=$BED/images
CONTROLLER_ARGS=(--images "$BED/images")

# What each node measures: noise of 1 %, and what is wrong with it.
for ((i = 1; i <= NODES; i++)); do
	disk=$((400 + i % 4)) first=$((1200 + i % 5)) second=$((1202 - i % 5))
	((i > 8)) && first=$((3 * first)) second=$((3 * second))
	((i == 3)) && second=$((second / 2))
	((i == 12)) && disk=40
	echo "[measured] {\"disk_mib_per_s\": $disk, \"device0_copy_gb_per_s\":" \
		"$first, \"device1_copy_gb_per_s\": $second}" >"$HOST/n$i"
done
cat >"$BED/set.yaml" <<-END
	sweep: fit
	nodes: each
	image: $TOOL_IMAGE
	mounts: [{host: $HOST, container: /host}]
	command: [/tool, steps, "15", "300", ",", show, "/host/\${node}"]
	framework: cpu
	log:
	  rules:
	    - match: 'step (?<step>\d+)/(?<steps>\d+) \| loss (?<loss>\S+)'
	    - {dict: '[measured]', others: ., summary: true}
	retries: 0
END

# The agents are of one vendor each.
eval "agent_begin() $(declare -f agent_up | tail -n +2)"
agent_up()
{
	AGENT_WITH=(env "PRETEND=n$1")
	AGENT_ARGS=(--images "$BED/images" --vendor blue)
	[[ " $RED " != *" n$1 "* ]] || AGENT_ARGS[3]=red
	agent_begin "$1"
}
must cluster_up $NODES one

# PyTorch with two accelerators and a clock of its own, so that all are equally fast.
must python_copy "$BED/torch"
must python_modules "$BED/torch" "import importlib, json, os, threading, time"
cat >"$BED/torch/torch.py" <<'END'
import threading, time
mine = threading.local()
def work(seconds):
    mine.now = getattr(mine, "now", 0) + seconds
time.monotonic = lambda: getattr(mine, "now", 0)
float32, bfloat16, float16, uint8 = range(4)
class Tensor:
    copy_ = staticmethod(lambda _: work(0.004))
ones = lambda *_, **__: Tensor()
empty_like = lambda _: Tensor()
mm = lambda *_: work(0.001)
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    synchronize = set_device = staticmethod(lambda _: None)
END
must python_modules "$BED/torch" "import pickle"
cp "$ROOT/tests/lab/recorder.py" "$BED/torch/"
dk "$(cluster_engines)" import -c "ENV PYTHONPATH=/" - test/torch:1 >/dev/null \
	< <(tar -C "$BED/torch" --owner=0 --group=0 -c .)
run timeout 400 regatta validate quick --again 1s --nodes n1,n2,n3,n9,n10 --format json
devices=$(cli report "$(jq '.sweeps[-1]' "$BED/out")" --format json)
is "$(jq -r '[.rows[].provenance.nodes[]] | sort | join(" ")' <<<"$devices")" "n1 n2 n3" \
	"quick measures the accelerators of nodes that have an image for them"
is "$(jq -r '[.rows[1].result.metrics | keys[] | select(startswith("device1_"))] | join(" ")' \
	<<<"$devices")" "device1_bf16_tflops device1_copy_gb_per_s device1_fp16_tflops \
device1_fp32_tflops device1_from_device_gb_per_s device1_to_device_gb_per_s" \
	"by precision, and their copies"
is "$(jq '[.units[] | select(.kind == "device")] | length' "$BED/out")" 0 \
	"of good ones there is nothing to say"
like "$(jq -r '.notes | join("; ")' "$BED/out")" \
	"^n9, n10: accelerators not measured: the profile of blue names no image of PyTorch for \
regatta validate devices$" "of the others it says so"
run timeout 400 regatta validate devices --again 1s --nodes n1,n2
is "$rc" 0 "devices finds the vendor of each node by itself"

run timeout 400 regatta validate "$BED/set.yaml" --again 1s --format json
[[ $rc == 1 ]] || diag "$(tail -5 <<<"$err")"
is "$(jq -r '[.units[] | select(.verdict == "bad") | .name] | sort | join(", ")' \
	"$BED/out")" "n12, n3 device 1, n6 device 0" \
	"half a bandwidth, a slow disk and a low clock are found, and nothing else"
is "$(jq -r '[.units[] | select(.verdict == "bad") | .checks[] |
	select(.verdict == "bad") | .test] | sort | join(" ")' "$BED/out")" \
	"clock_mhz copy_gb_per_s disk_mib_per_s" "by what was measured"
is "$rc" 1 "and the command fails"
run timeout 100 regatta validate pairs
like "$err" "nodes of (red and blue|blue and red) do not make pairs" \
	"nodes of two vendors are not paired"

# A gang, whose node n2 works while the others wait, and whose rank 2 calls last.
sed -e 's/^sweep: .*/sweep: gang/' -e 's/^nodes: .*/nodes: [n1, n2, n4]/' \
	-e 's/^image: .*/image: test\/torch:1/' -e '$a processes: 1' \
	-e 's/^command: .*/command: [python3, \/recorder.py, goes]/' "$BED/set.yaml" >"$BED/gang.yaml"
must submit "$BED/gang.yaml"
ok 'wait_for "[[ \$(cli jobs --sweep $SWEEP) == *waits\ for\ n2\ \(20\ %\ slower\)* ]]" 60' \
	"while a gang runs, the list says whom it waits for"
ok 'wait_for "[[ \$(job_get $JOB .progress.straggler.who) == n2 ]]" 20' "and so does the job"
last='n4: rank 2 was the last to enter [0-9]+ of [0-9]+ collectives, [34][0-9] ms after the others'
ok 'wait_for "[[ \$(job_get $JOB .progress.found) =~ ^\$last ]]" 60' \
	"its ranks are asked then, once: the one that calls last is told"
like "$(cli jobs --sweep "$SWEEP")" "waits for n2 .*, $last" "also in the list"
run cli cancel job "$JOB"
must wait_job "$JOB" cancelled 60
like "$(cli show job "$JOB")" \
	"n2 was at least 20 % slower than its 2 peers throughout: it drew 25 % more power" \
	"and its result"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
