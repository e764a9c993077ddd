#!/bin/bash
# lab.t - every vendor's whole path with a real engine: found, given, sampled.
#
# What a container must get is written here by hand, from what the vendors
# publish; the check program inside tells what it truly got.
TEST_LIMIT=400
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
# shellcheck source=tests/lab/lab.sh
. "$(dirname "$0")/../lab/lab.sh"
need_root
lab_need

VENDORS="nvidia metax mthreads ascend cambricon kunlunxin iluvatar hygon amd
gaudi"

# Groups that profiles name have the numbers of this machine, beside those that
# the simulated nodes belong to; none where it does not have them.
group_number() { awk -F: -v name="$1" '$1 == name { print $3 }' /etc/group; }
video=$(group_number video) render=$(group_number render)

# What the facts say of a vendor: the nodes of each of its cards, in the order
# of the bus; those that all share; capabilities; variables, in
# which @ is the container's own count.
facts() # VENDOR
{
	local i

	cards=() shared=() groups=() env=() mounts=() hook='' last=''
	rights=0000000000000000 seccomp=0 shm=$((32 << 30)) chip=
	case $1 in
	invented)
		cards=(odd0 odd1) shared=(oddctl) env=(ODD_DEVICES=@)
		rights=0000000000800000 seccomp=2 shm=$((1 << 30))
		;;
	nvidia) # the minor numbers run against the bus
		for i in {7..0}; do cards+=("nvidia$i"); done
		shared=(nvidiactl nvidia-uvm)
		env=(CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=@
			"NVIDIA_DRIVER_CAPABILITIES=compute,utility")
		seccomp=2 chip=A100-SXM4-80GB hook=NVIDIA_VISIBLE_DEVICES
		watts=300.5 used=70000 total=81920
		;;
	metax) # card0 is the console's
		for i in {0..7}; do
			cards+=("dri/card$((i + 1)) dri/renderD$((i + 128))")
		done
		shared=(mxcd) groups+=(44 109 "$video") shm=$((100 << 30)) chip=C500
		env=(CUDA_VISIBLE_DEVICES=@ MACA_VISIBLE_DEVICES=@)
		watts=200 used=60000 total=65536
		;;
	mthreads)
		for i in {0..7}; do
			cards+=("mtgpu.$i dri/card$((i + 1))
				dri/renderD$((i + 128))")
		done
		groups+=(44 109) rights=0000000000080000 shm=$((80 << 30))
		env=(MTHREADS_DRIVER_CAPABILITIES=all MUSA_VISIBLE_DEVICES=@)
		mounts=(/usr/bin/mthreads-gmi) chip=S4000
		hook=MTHREADS_VISIBLE_DEVICES
		watts=200 used=40000 total=49152
		;;
	ascend) # by the physical ids
		for i in {7..0}; do cards+=("davinci$i"); done
		shared=(davinci_manager devmm_svm hisi_hdc) seccomp=2
		env=(ASCEND_RT_VISIBLE_DEVICES=@) chip=910B3
		hook=ASCEND_VISIBLE_DEVICES last=7
		mounts=(/usr/local/Ascend/driver /usr/local/dcmi
			/usr/local/sbin/npu-smi)
		watts=200.5 used=60000 total=65536
		;;
	cambricon)
		for i in {0..7}; do
			cards+=("cambricon_dev$i cambricon_ipcm$i")
		done
		shared=(cambricon_ctl cambricon_gdr) shm=$((128 << 30))
		env=(MLU_VISIBLE_DEVICES=@) mounts=(/usr/bin/cnmon)
		rights=0000000000080000 chip=MLU370-X8
		hook=CAMBRICON_VISIBLE_DEVICES
		watts=200 used=20000 total=23374
		;;
	kunlunxin) # the tool's numbers run against the bus
		for i in {7..0}; do cards+=("xpu$i"); done
		shared=(xpuctrl) groups+=(44 "$video") rights=0000000000080000
		env=(CUDA_VISIBLE_DEVICES=@ XPU_VISIBLE_DEVICES=@)
		mounts=(/usr/local/xpu) chip=P800-OAM
		hook=CXPU_VISIBLE_DEVICES last=7
		watts=200 used=90000 total=98304
		;;
	iluvatar) # power is told of one die in two
		for i in {0..7}; do cards+=("iluvatar$i"); done
		shared=(itrctl) env=(CUDA_VISIBLE_DEVICES=@)
		mounts=(/usr/local/corex) chip=BI-V150
		hook=IX_VISIBLE_DEVICES
		watts=200 used=30000 total=32768
		;;
	hygon | amd)
		for i in {0..7}; do
			cards+=("dri/card$((i + 1)) dri/renderD$((i + 128))")
		done
		shared=(kfd) groups+=(44 109 "$video" "$render")
		rights=0000000000080000
		env=(HIP_VISIBLE_DEVICES=@)
		if [[ $1 == hygon ]]; then
			shared+=(mkfd) mounts=(/opt/hyhal) chip=K100_AI
			hook=HYGON_VISIBLE_DEVICES
			watts=200 used=60000 total=65520
		else
			shm=$((64 << 30)) chip=MI300X
			hook=AMD_VISIBLE_DEVICES
			watts=600 used=180000 total=196592
		fi
		;;
	gaudi) # the memory of ipc: host is the host's
		for i in {0..7}; do
			cards+=("accel/accel$i accel/accel_controlD$i
				infiniband/uverbs$i")
		done
		env=(OMPI_MCA_btl_vader_single_copy_mechanism=none)
		rights=0000000000800000 seccomp=2 chip=Gaudi2
		hook=HABANA_VISIBLE_DEVICES
		shm=$(($(stat -f -c '%b * %S' /dev/shm)))
		watts=400 used=90000 total=98304
		;;
	esac
}

# hosts_count FIRST COUNT: the cards by the host's numbers, which a vendor's OCI
# hook reads with Podman; of some vendors they run against the bus.
hosts_count()
{
	local i numbers=()

	for ((i = $1; i < $1 + $2; i++)); do
		numbers+=("${last:+$((last - i))}")
		[[ $last ]] || numbers[-1]=$i
	done
	(IFS=, && echo "${numbers[*]}")
}

# want VENDOR FIRST COUNT: what the container of these cards has.
want()
{
	local item ids

	facts "$1"
	ids=$(seq -s, 0 $(($3 - 1)))
	if [[ $1 == metax ]] && (($3 == 8)); then # with the RDMA adapters
		shared+=(infiniband/rdma_cm infiniband/uverbs0)
		rights=0000000000004000
	fi
	{
		# shellcheck disable=SC2086,SC2068 # words
		printf 'node /dev/%s 1:3 open\n' ${cards[@]:$2:$3} ${shared[@]}
		printf 'group %s\n' "${groups[@]}" | grep 'p .' | sort -u
		echo "capabilities $rights"
		echo "seccomp $seccomp"
		echo "limit memlock 65536 65536"
		echo "limit stack 67108864 67108864"
		echo "shm $shm"
		echo "mount /host rw"
		if [[ $TEST_ENGINE == podman ]]; then
			echo "mount /run/.containerenv rw"
			printf 'env %s\n' container=podman TERM=xterm \
				${hook:+"$hook=$(hosts_count "$2" "$3")"}
		else
			echo "group 0"
		fi
		for item in "${mounts[@]}"; do
			echo "mount $item ro"
		done
		printf 'env %s\n' "${env[@]//@/$ids}" HOME=/ \
			"HOSTNAME=$(hostname)" MASTER_ADDR=127.0.0.1 \
			NNODES=1 NODE_RANK=0 "NPROC_PER_NODE=$3" \
			PYTHON{UNBUFFERED,FAULTHANDLER}=1 "${RECORDER[@]}" \
			"WORLD_SIZE=$3" "PATH=$USUAL_PATH"
	} | sort
}
# How PyTorch is told to keep its last collectives, by names old and new.
RECORDER=(TORCH_FR_BUFFER_SIZE=2000
	TORCH_FR_{DEBUG_INFO_PIPE,DUMP_TEMP}_FILE=/regatta/out/regatta-recorder-
	TORCH_NCCL_DEBUG_INFO_{PIPE,TEMP}_FILE=/regatta/out/regatta-recorder-
	TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_TRACE_BUFFER_SIZE=2000)
USUAL_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# got JOB [RANK]: what its container said, but for the port.
got()
{
	sed '/^end$/,$d; /^env MASTER_PORT=/d' "$(log_file "$1" 1 "${2-0}")" |
		sort
}

same() # NAME: $BED/want and $BED/got
{
	if cmp -s "$BED/want" "$BED/got"; then
		tap 0 "$1"
	else
		tap 1 "$1"
		diag "$(diff "$BED/want" "$BED/got")"
	fi
}

# submit_inside NAME VENDOR [KEY=VALUE...]: tells what it got, and waits.
submit_inside()
{
	local name=$1 file=$BED/host/$1.yaml

	mkdir -p "$BED/host"
	{
		printf '%s\n' "sweep: $name" "image: $LAB_IMAGE" "vendor: $2" \
			"${LAB_LIMITS/=/: }" \
			"mounts: [{host: $BED/host, container: /host}]"
		shift 2
		printf '%s\n' "${@/=/: }"
		printf '%s\n' "command: [/inside, /tool, wait, /host/$name.go]"
	} >"$file"
	submit "$file"
}
go()
{
	touch "$BED/host/$1.go"
}
# samples JOB [RANK]: how many have come
samples()
{
	grep -c '"d":' "$CLUSTER/controller/logs/$1/1/samples-${2-0}.log" \
		2>/dev/null || true
}
node_get()
{
	cli show node "$1" --format json | jq -r ".node | $2"
}

# A vendor that is known from a file alone, with a tool that misbehaves as its
# file `how` says.
cp -r "$REGATTA_BUILD/images" "$BED/images"
mkdir -p "$BED/images/vendors/invented"
cat >"$BED/images/vendors/invented/profile.yaml" <<'END'
vendor: invented
title: a vendor that is none
source: a test
discover:
  pci: {vendors: ["f00d"]}
  numbers:
    index: {order: bus}
  required: [index]
container:
  nodes: {device: ["/dev/odd{index}"], shared: [/dev/oddctl]}
  capabilities: [SYS_NICE]
  ulimits: {memlock: "-1", stack: "67108864"}
  shm: 1G
visible: [{name: ODD_DEVICES, numbering: container}]
monitor:
  command: [odd-smi]
  timeout: 2s
  layouts:
    - name: lines
      read: lines
      when: '^card'
      device: ['card (?<device>\d+) (?<bus_id>\S+) (?<name>\S+) (?<power_w>\d+ W)']
chips:
  - {name: good, pci: ["0001"], source: a test}
  - {name: line, pci: ["0002"], source: a test}
  - {name: nul, pci: ["0003"], source: a test}
  - {name: rows, pci: ["0004"], source: a test}
  - {name: hang, pci: ["0005"], source: a test}
END
cat >"$BED/odd" <<'END'
# shellcheck shell=bash disable=SC2034,SC2154
pci_vendor=f00d pci_device=0001 pci_class=120000
tools=odd-smi how=
card()
{
	node "odd$1"
}
machine()
{
	node oddctl
	echo "$how" >"$folder/how"
}
tool_odd_smi()
{
	case $(cat "$folder/how") in
	line) head -c 10000000 /dev/zero | tr '\0' x ;;
	nul) printf 'card 0\0 0000:10:00.0 Odd 1 W\n\0\0\377\n' ;;
	rows) seq -f 'card %.0f 0000:10:00.0 Odd 1 W' 0 5000 ;;
	hang) exec -a "hang-$folder" sleep 1000 ;;
	*)
		while read -r i bus _; do
			echo "card $i $bus Odd $((100 + i)) W"
		done <"$folder/cards"
		;;
	esac
}
END
CONTROLLER_ARGS=(--images "$BED/images")
AGENT_ARGS=(--images "$BED/images")
export REGATTA_IMAGES=$BED/images

must lab_up
for vendor in $VENDORS; do
	must lab_node "$vendor" "$vendor" 8
done
for i in 2 3 4; do
	must lab_node "metax$i" metax 8
done
for i in '' 2 3 4; do
	place=$(lab_machine "metax$i")/dev/infiniband
	must mkdir "$place"
	must mknod "$place/rdma_cm" c 1 3
	must mknod "$place/uverbs0" c 1 3
done
for how in good line nul rows hang; do
	i=$((i + 1))
	must lab_node "odd-$how" "$BED/odd" 2 pci_device=000$((i - 4)) \
		"how=${how#hang}"
done
must nodes_up 18 240
echo hang >"$(lab_machine odd-hang)/how"

for vendor in $VENDORS; do
	facts "$vendor"
	is "$(node_get "$vendor" '"\(.vendor) \(.devices) \(.chips | tojson)
\(.inventory | map("\(.bus_id) \(.numa)") | "\(.[0]) \(.[7])")"')" \
		"$vendor 8 {\"$chip\":8}
0000:10:00.0 0 0000:9d:00.0 1" "$vendor: eight cards are found"
done
is "$(node_get odd-good '"\(.vendor) \(.devices) \(.chips | tojson)"')" \
	'invented 2 {"good":2}' "a vendor is no more than a file"
is "$(for how in line nul rows; do
	node_get "odd-$how" '"\(.devices) \(.inventory[0].name)"'
done)" "2 null
2 null
2 null" "a tool that prints rubbish costs the names, and nothing else"


# Whole nodes, one of each vendor, all at once; of the four metax nodes, any.
declare -A whole=() first=() second=()
for vendor in $VENDORS; do
	must submit_inside "whole-$vendor" "$vendor"
	whole[$vendor]=$JOB
done
for how in good line nul rows hang; do
	must submit_inside "odd-$how" invented "chip=$how"
	whole[$how]=$JOB
done
for vendor in $VENDORS good; do
	must wait_for "(( \$(samples ${whole[$vendor]}) >= 3 ))" 60
	go "${vendor/#good/odd-good}" && go "whole-$vendor"
done
for how in line nul rows hang; do
	must wait_for "grep -q '\"error\":' \
		$CLUSTER/controller/logs/${whole[$how]}/1/samples-0.log" 30
	go "odd-$how"
done

# readings JOB: device, power, temperature, use and memory, a line each
readings()
{
	job_get "$1" '.result.usage.devices[] | "\(.device) \(.power_w.mean) \(
		.temp_c.max) \(.util_pct.mean) \(.mem_used_mib.max) \(
		.mem_total_mib)"'
}
# What the lab's tools print of card I.
told() # VENDOR
{
	local i power=

	facts "$1"
	for i in {0..7}; do
		[[ $1 != iluvatar || $((i % 2)) == 1 ]] || power=null
		[[ $power == null ]] || power=$(jq -n "$watts + $i")
		echo "$i $power $((40 + i)) $((90 + i)) $((used + i)) $total"
		power=
	done
}
SIMULATED="the devices were simulated: these are not measurements of real hardware"
for vendor in $VENDORS; do
	job=${whole[$vendor]}
	must wait_job "$job" completed 30
	want "$vendor" 0 8 >"$BED/want"
	got "$job" >"$BED/got"
	same "$vendor: a whole node is given, and nothing else"
	told "$vendor" >"$BED/want"
	readings "$job" >"$BED/got"
	same "$vendor: each card is sampled as its tool tells"
	# The job is too short for many samples of power.
	is "$(job_get "$job" '.result.flags | map(.code) - ["few-power-samples"] |
		join("; ")')" simulated \
		"$vendor: that it is a pretence is the only doubt"
done

report=$(jobs_get 1 '.[0].sweep')
for format in markdown csv json html; do
	like "$(cli report "$report" --format $format)" "$SIMULATED" \
		"a report in $format names the pretence"
done
like "$(cli show job "${whole[nvidia]}")" "$SIMULATED" "show does"
like "$(cli show node nvidia)" "simulated: true" "also of a node"
is "$(job_get "${whole[good]}" '.result.usage.devices |
	map("\(.name) \(.power_w.mean)") | join(", ")')" "Odd 100, Odd 101" \
	"the cards of a vendor from a file are sampled, too"
want invented 0 2 >"$BED/want"
got "${whole[good]}" >"$BED/got"
same "and its containers get what the file says"

flags()
{
	must wait_job "${whole[$1]}" completed 30
	job_get "${whole[$1]}" '.result.flags[0].words | join(": ")'
}
like "$(flags line)" "odd-smi: printed more than [0-9]+ bytes; killed" \
	"a tool that prints a line of 10 MB is told in the result"
like "$(flags nul)" "odd-smi: monitor output: .*contains no device" "one with NULs"
like "$(flags rows)" "odd-smi: .* more than 256 devices" \
	"one with thousands of rows"
like "$(flags hang)" "odd-smi: still running after 2000 ms; killed" "one that hangs"
is "$(for i in $(seq 18); do alive "cluster/agent$i" || echo "$i"; done)" "" \
	"the agents live on"

# Where the engine may raise limits, as it may on a server, this one completes.
must submit_tool raised vendor=gaudi retries=0 exit 0
wait_job "$JOB" completed 30 >/dev/null
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" \
	"null null|^create .*not permitted to set the limit (memlock=-1|nofile).*CAP_SYS_RES" \
	"an engine that may not raise a limit fails the job in words that help"

# Two jobs of two cards each on every node, at the same time.
for vendor in $VENDORS; do
	must submit_inside "first-$vendor" "$vendor" devices=2 shared=true
	first[$vendor]=$JOB
	must submit_inside "second-$vendor" "$vendor" devices=2 shared=true
	second[$vendor]=$JOB
done
for vendor in $VENDORS; do
	must wait_for "(( \$(samples ${first[$vendor]}) >= 1 &&
		\$(samples ${second[$vendor]}) >= 1 ))" 60
done
# metax has three nodes more, and they are taken one by one.
is "$(nodes_get '[.[] | select(.vendor != "invented" and .vendor != "metax") |
	.free] | unique | join(" ")')" 4 "four cards of eight are held"
for vendor in $VENDORS; do
	go "first-$vendor" && go "second-$vendor"
	must wait_job "${first[$vendor]}" completed 30
	must wait_job "${second[$vendor]}" completed 30
	want "$vendor" 0 2 >"$BED/want"
	got "${first[$vendor]}" >"$BED/got"
	same "$vendor: two cards alone are given, of one NUMA node"
	want "$vendor" 2 2 >"$BED/want"
	got "${second[$vendor]}" >"$BED/got"
	same "$vendor: a job beside it gets two others"
done

# Cards that go, and a node that leads out of its machine, while a gang runs.
must lab_lose iluvatar 3
out=$(lab_machine cambricon)/dev/cambricon_dev5
must ln -sfT /dev/null "$out"
must submit_inside gang metax nodes=4
gang=$JOB
for rank in 0 1 2 3; do
	must wait_for "(( \$(samples $gang $rank) >= 2 ))" 60
done
go gang
must wait_job "$gang" completed 30
is "$(job_get "$gang" '.result.usage.devices | group_by(.node) | map(
	"\(.[0].node) \(length) \(map(.power_w.mean) | add)") | sort |
	join(", ")')" "metax 8 1628, metax2 8 1628, metax3 8 1628, metax4 8 1628" \
	"a gang has the 32 cards of four nodes, each sampled"
is "$(for rank in 0 1 2 3; do
	got "$gang" $rank | grep -E '^env (NNODES|NODE_RANK|NPROC|WORLD)' |
		sed 's/^env //' | paste -sd' '
	got "$gang" $rank | grep -c '^node /dev/dri/renderD'
done)" "$(for rank in 0 1 2 3; do
	echo "NNODES=4 NODE_RANK=$rank NPROC_PER_NODE=8 WORLD_SIZE=32"
	echo 8
done)" "and each of its containers knows its place"

must wait_for '[[ $(node_get iluvatar .lost) == 1 ]]' 40
must wait_for '[[ $(node_get cambricon .lost) == 1 ]]' 40
is "$(node_get iluvatar '.inventory[] | select(.text) | "\(.index) \(.text)"')" \
	"3 it has disappeared" "a card that goes is noticed, and shown"
like "$(node_get cambricon '.inventory[] | select(.text) |
	"\(.index) \(.text)"')" "^5 .*leads to /dev/null, outside of $BED" \
	"a device node that leads out of the machine is refused"
for vendor in iluvatar cambricon; do
	must submit_inside "seven-$vendor" "$vendor" devices=7
	first[$vendor]=$JOB
	must submit_inside "eight-$vendor" "$vendor" devices=8
	go "seven-$vendor"
	must wait_job "${first[$vendor]}" completed 30
	is "$(job_get "$JOB" .state)" queued "$vendor: eight are not placed"
	run cli cancel job "$JOB"
done
is "$(got "${first[iluvatar]}" | grep -c '^node /dev/iluvatar[0124-7] ')" 7 \
	"seven are, without the one that went"
is "$(got "${first[cambricon]}" | grep -c '^node /dev/cambricon_dev[0-467] ')" \
	7 "or leads out"

# A profile cannot ask for another place either.
sed "s|/dev/odd{index}|/dev/../etc/odd{index}|" \
	"$BED/images/vendors/invented/profile.yaml" >"$BED/outside.yaml"
run cli vendors check "$BED/outside.yaml"
is "$rc" 2 "a profile whose node lies elsewhere is wrong"
like "$err" "outside.yaml:10: .*/dev/../etc/odd" "with file and line"

ok 'wait_for "cluster_clean &>/dev/null" 20 && cluster_clean' \
	"nothing is left on the engine"
ok '! pgrep -f "^hang-$BED"' "nor of a tool that hung"
done_testing
