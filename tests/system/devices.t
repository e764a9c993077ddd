#!/bin/bash
# devices.t - two machines of simulated cards: each container gets its own.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need mknod
mknod "$BED/node" c 1 3 || skip_all "device nodes cannot be made here"

SAMPLES=$ROOT/tests/samples/monitor

# put ROOT PATH TEXT: a file.
put()
{
	mkdir -p "$(dirname "$1$2")" && echo "$3" >"$1$2"
}

# node ROOT PATH [GROUP]: a character device.
node()
{
	mkdir -p "$(dirname "$1$2")" && mknod -m 660 "$1$2" c 1 3 &&
		chgrp "${3-0}" "$1$2"
}

# card ROOT BUS VENDOR DEVICE CLASS NUMA: a PCI function.
card()
{
	local at=/sys/bus/pci/devices/$2

	put "$1" "$at/vendor" "0x$3" && put "$1" "$at/device" "0x$4" &&
		put "$1" "$at/class" "0x$5" && put "$1" "$at/numa_node" "$6"
}

# tool ROOT NAME FILE: a tool that prints a recorded output.
tool()
{
	put "$1" "/bin/$2" "#!/bin/sh
cat '$3'" && chmod +x "$1/bin/$2"
}

# Eight C500 behind a server's own graphics chip, which is card0; four to a
# NUMA node.
metax_card()
{
	local bus=$2 i=$3

	card "$1" "$bus" 9999 4000 038000 $((i / 4)) &&
		put "$1" "/sys/bus/pci/devices/$bus/drm/card$((i + 1))/dev" x &&
		put "$1" "/sys/bus/pci/devices/$bus/drm/renderD$((i + 128))/dev" x &&
		node "$1" "/dev/dri/card$((i + 1))" video &&
		node "$1" "/dev/dri/renderD$((i + 128))" video
}
metax_machine()
{
	local bus i=0

	for bus in 0e 0f 10 12 35 36 37 38; do
		metax_card "$1" "0000:$bus:00.0" $((i++)) || return 1
	done
	card "$1" 0000:03:00.0 1a03 2000 030000 -1
	put "$1" /sys/bus/pci/devices/0000:03:00.0/drm/card0/dev x
	node "$1" /dev/dri/card0 && node "$1" /dev/mxcd &&
		tool "$1" mx-smi "$SAMPLES/metax__2.2.9_board_x8.txt"
}

# Eight A100, whose minor numbers run against the bus.
nvidia_machine()
{
	local bus i=0

	for bus in 10:1c 10:1d 20:1c 20:1d 90:1c 90:1d a0:1c a0:1d; do
		card "$1" "0000:$bus.0" 10de 20b2 030200 $((i / 4)) &&
			put "$1" "/proc/driver/nvidia/gpus/0000:$bus.0/information" \
				"Device Minor: 	 $((7 - i))" &&
			node "$1" "/dev/nvidia$((7 - i))" || return 1
		i=$((i + 1))
	done
	node "$1" /dev/nvidiactl && node "$1" /dev/nvidia-uvm &&
		tool "$1" nvidia-smi "$SAMPLES/nvidia__table_535_x8.txt"
}

# machine_up I FOLDER: the agent of node I, on that machine.
machine_up()
{
	AGENT_ARGS=(--device-root "$2/dev" --sysfs-root "$2/sys"
		--proc-root "$2/proc" --tools "$2/bin")
	agent_up "$1"
}

must cluster_up 2 one
must agent_stop 1
must agent_stop 2
M=$BED/metax N=$BED/nvidia
mkdir -p "$M/proc" "$N/proc"
must metax_machine "$M"
must nvidia_machine "$N"
must machine_up 1 "$M"
must machine_up 2 "$N"
must wait_for "[[ \$(nodes_get 'map(.vendor + \" \" + .state) | sort | join(\",\")') \
	== 'metax up,nvidia up' ]]" 20
tap 0 "the vendors of two nodes are found"
node_get()
{
	cli show node "$1" --format json | jq -r ".node | $2"
}
is "$(node_get n1 '"\(.devices) \(.free) \(.lost) \(.chips | tojson)"')" \
	'8 8 0 {"C500":8}' "eight cards, with their chip"
is "$(node_get n2 '.inventory | map("\(.bus_id)=\(.numbers[0].value) \(.numa)") |
	"\(.[0]), \(.[7])"')" "0000:10:1c.0=7 0, 0000:a0:1d.0=0 1" \
	"minor numbers and NUMA nodes"
is "$(node_get n1 .facts.simulated)" true "the simulation is named"

# What this machine has no right to raise is said in the sweep.
LIMITS='ulimits={memlock: 65536, stack: 8388608}'

# running JOB: its container's first process.
running()
{
	wait_job "$1" running 30 >&2 &&
		dk e1 inspect -f '{{.State.Pid}}' "$(task_container "$1")"
}
# devices_of PID: the devices in its /dev that a container does not have
# anyway.
devices_of()
{
	(cd "/proc/$1/root/dev" && find . -type c | sed 's/^..//' | grep -vxE \
		'null|zero|full|tty|u?random|console|ptmx|pts/.*' | sort -V |
		paste -sd' ')
}
env_of()
{
	tr '\0' '\n' <"/proc/$(pgrep -P "$1" | head -1)/environ" |
		grep -E "VISIBLE_DEVICES|NVIDIA|CUDA" | sort | paste -sd' '
}

must submit_tool whole vendor=metax "$LIMITS" sleep 1000
pid=$(running "$JOB") || die "no container runs"
is "$(devices_of "$pid")" "dri/card1 dri/card2 dri/card3 dri/card4 dri/card5 \
dri/card6 dri/card7 dri/card8 dri/renderD128 dri/renderD129 dri/renderD130 \
dri/renderD131 dri/renderD132 dri/renderD133 dri/renderD134 dri/renderD135 \
mxcd" "metax: a whole node is all cards and what they share, and nothing else"
is "$(env_of "$pid")" "CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
MACA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7" "its variables count from 0"
video=$(getent group video | cut -d: -f3)
like " $(sed -n 's/^Groups:[[:space:]]*//p' "/proc/$pid/status") " " $video " \
	"it is in the host's group of the nodes, by number"
is "$(node_get n1 .free)" 0 "the node is taken"
run cli cancel job "$JOB"
must wait_job "$JOB" cancelled 30

# Three jobs of single devices: two of three, one of two.
must submit_tool three vendor=nvidia devices=3 shared=true "$LIMITS" sleep 1000
first=$JOB one=$(running "$JOB") || die "no container runs"
must submit_tool again vendor=nvidia devices=3 shared=true "$LIMITS" sleep 1000
second=$JOB two=$(running "$JOB") || die "no container runs"
must submit_tool pair vendor=nvidia devices=2 shared=true "$LIMITS" sleep 1000
third=$JOB three=$(running "$JOB") || die "no container runs"
is "$(devices_of "$one")" "nvidia5 nvidia6 nvidia7 nvidiactl nvidia-uvm" \
	"nvidia: three cards of one NUMA node, by minor number"
is "$(devices_of "$two")" "nvidia1 nvidia2 nvidia3 nvidiactl nvidia-uvm" \
	"the next job's are of the other, for there they fit"
is "$(devices_of "$three")" "nvidia0 nvidia4 nvidiactl nvidia-uvm" \
	"the last gets what is left"
is "$(env_of "$three")" "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,1 \
NVIDIA_DRIVER_CAPABILITIES=compute,utility" "all count from 0"

# A card falls off the bus while its job runs.
mv "$N/sys/bus/pci/devices/0000:10:1c.0" "$BED/kept"
rm "$N/dev/nvidia7"
must wait_for '[[ $(node_get n2 .lost) == 1 ]]' 40
tap 0 "a card that goes is noticed"
like "$(cli nodes)" "7 of 8" "the node says so"
is "$(job_get "$first" '.events | map(select(.kind == "device").data) |
	map("\(.node) \(.device) \(.bus_id) \(.text)") | .[]')" \
	"n2 0 0000:10:1c.0 it has disappeared" \
	"its job says so, and which"
is "$(job_get "$first" .state)" running "and runs on"
for job in "$first" "$second" "$third"; do
	run cli cancel job "$job"
	must wait_job "$job" cancelled 30
done
must submit_tool seven vendor=nvidia devices=7 "$LIMITS" sleep 1000
pid=$(running "$JOB") || die "no container runs"
is "$(devices_of "$pid")" "nvidia0 nvidia1 nvidia2 nvidia3 nvidia4 nvidia5 \
nvidia6 nvidiactl nvidia-uvm" "seven cards are still to be had"
run cli cancel job "$JOB"
must wait_job "$JOB" cancelled 30
must submit_tool eight vendor=nvidia devices=8 "$LIMITS" exit 0
eight=$JOB
is "$(job_get "$eight" .state)" queued "eight are not"
mv "$BED/kept" "$N/sys/bus/pci/devices/0000:10:1c.0"
must node "$N" /dev/nvidia7
must wait_job "$eight" completed 40
tap 0 "until the card is back"

# What is missing fails the job by name, before anything is fetched.
mv "$N/dev/nvidia-uvm" "$BED/kept"
must submit_tool missing vendor=nvidia retries=0 "$LIMITS" exit 0
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" .failure)" preflight "a missing shared node is a preflight"
like "$(job_get "$JOB" .text)" \
	"nvidia needs: $N/dev/nvidia-uvm: No such file" "failure that names it"
ln -s /dev/zero "$N/dev/nvidia-uvm"
must submit_tool outside vendor=nvidia retries=0 "$LIMITS" exit 0
must wait_job "$JOB" failed 30
like "$(job_get "$JOB" .text)" "leads to /dev/zero, outside of $N/dev" \
	"a node of the real /dev is not handed out"

ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
