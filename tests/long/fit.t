#!/bin/bash
# fit.t - regatta validate on sixteen pretended nodes of two vendors, one of which is
# three times as fast: a device with half the bandwidth, a slow disk and a device that
# throttles are found, and nothing else.
TEST_LIMIT=900
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need

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

# A gang, whose node n2 works while the others wait.
sed -e 's/^sweep: .*/sweep: gang/' -e 's/^nodes: .*/nodes: [n1, n2, n4]/' \
	-e 's/"15", "300".*/"100000", "300"]/' "$BED/set.yaml" >"$BED/gang.yaml"
must submit "$BED/gang.yaml"
ok 'wait_for "[[ \$(cli jobs --sweep $SWEEP) == *waits\ for\ n2\ \(20\ %\ slower\)* ]]" 60' \
	"while a gang runs, the list says whom it waits for"
is "$(job_get "$JOB" .progress.straggler.who)" n2 "and so does the job"
run cli cancel job "$JOB"
must wait_job "$JOB" cancelled 60
like "$(cli show job "$JOB")" \
	"n2 was at least 20 % slower than its 2 peers throughout: it drew 25 % more power" \
	"and its result"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
