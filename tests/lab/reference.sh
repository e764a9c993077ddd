# reference.sh - the five reference systems: their nodes, with simulated cards,
# and an image that replays their published figures.
# shellcheck shell=bash disable=SC2034 # the test reads them
#
#	. "$(dirname "$0")/lib.sh"
#	. "$(dirname "$0")/cluster.sh"
#	. "$(dirname "$0")/../lab/lab.sh"
#	. "$(dirname "$0")/../lab/reference.sh"
#	reference_need
#	must reference_up
#	must reference_submit baichuan2-13b-h800
#	must wait_sweep "$SWEEP" 60
#
#	REFERENCES		the sweeps, in deploy/sweeps
#	reference_up		2x8 H800 (h1 h2), 4x8 C500 (c1 ... c4), 8 A800
#				(a8), 8 A100 (a1), 8 S4000 (s1), all on one
#				engine, with $REPLAY_IMAGE; waits for them
#	reference_submit NAME [ARGUMENT...]	the sweep as it is shipped, but
#				with that image, folders of the lab and limits
#				that it may set; sets $SWEEP
#	reference_baseline	trains what llama2-70b-c500 is aligned with on the
#				four nodes of NVIDIA cards; sets $JOB
#	reference_told JOB [RANK]	what the stand-in says of how it was
#				started, the values of each start (port, name
#				of the container) left out

REFERENCES='baichuan2-13b-h800 llama2-70b-c500 llava1.5-7b-a800 gpt3-a100
llama2-7b-s4000'
REPLAY_IMAGE=regatta-test/replay:1

reference_need()
{
	lab_need
	need "$REGATTA_BUILD/lab/replay"
}

# Every launcher is the stand-in.
reference_image()
{
	local folder=$BED/replay

	mkdir -p "$folder"/{usr/bin,workspace/FlagScale} || return 1
	touch "$folder/workspace/FlagScale/pretrain_llama.py"
	cp "$REGATTA_BUILD/lab/replay" "$folder/replay"
	cat "$LAB"/replay/*.table >"$folder/replay.table"
	ln -s /replay "$folder/usr/bin/torchrun"
	ln -s /replay "$folder/usr/bin/deepspeed"
	ln -s /replay "$folder/usr/bin/python3"
	tar -C "$folder" --owner=0 --group=0 -c . |
		dk e1 import - "$REPLAY_IMAGE" >/dev/null
}

# What the sweeps take along and mount: a checkout, as far as they name it, and
# data. What the cards use is what the stand-in writes beside it.
reference_folders()
{
	local name script cases=$BED/FlagPerf/training/benchmarks

	for script in {baichuan2_13b,llama2_7b}/deepspeed/run_pretraining \
		gpt3_{6.7B,13B}/paddle/run_pretraining \
		llava1.5_7b/deepspeed-torch/{train/train_mem,evaluate/evaluator}; do
		mkdir -p "$(dirname "$cases/$script")" &&
			touch "$cases/$script.py" || return 1
	done
	mkdir -p "$BED/FlagPerf/base" || return 1 # which stays behind
	for name in $REFERENCES; do
		mkdir -p "$BED/data/$name" || return 1
	done
}

reference_up()
{
	local i

	lab_up && reference_image && reference_folders || return 1
	for i in 1 2; do
		lab_node "h$i" nvidia 8 pci_device=2324 model='NVIDIA H800' \
			maker=NVIDIA product='H800(80G)' || return 1
	done
	for i in 1 2 3 4; do
		lab_node "c$i" metax 8 maker=MetaX product='C500 64G' ||
			return 1
	done
	lab_node a8 nvidia 8 pci_device=20f3 model='NVIDIA A800-SXM4-80GB' \
		driver=470.141.10 cuda=11.4 maker=NVIDIA product='DGX A800' \
		used_file="$BED/data/llava1.5-7b-a800/cards" &&
		lab_node a1 nvidia 8 driver=470.129.06 cuda=11.8 maker=NVIDIA \
			product='DGX A100' \
			used_file="$BED/data/gpt3-a100/cards" &&
		lab_node s1 mthreads 8 maker='Moore Threads' \
			product='MCCX D800' &&
		nodes_up 9 60
}

reference_submit()
{
	local file=$ROOT/deploy/sweeps/$1.yaml answer
	local set=(-s image="$REPLAY_IMAGE" -s variables.data="$BED/data/$1"
		-s 'ulimits={memlock: 65536, stack: 8388608}' -s shm=64M)

	! grep -q '^workspace:' "$file" ||
		set+=(-s workspace.path="$BED/FlagPerf")
	shift
	SWEEP=''
	if ! answer=$(cli submit "$file" "${set[@]}" "$@" --format json \
		2>"$BED/words"); then
		diag "$(<"$BED/words")"
		return 1
	fi
	SWEEP=$(jq -r .sweep <<<"$answer")
}

reference_baseline()
{
	reference_submit llama2-70b-c500 -s sweep=baseline -s vendor=nvidia \
		-s chip= -s 'exclude=[{batch.accumulate: 44}]' || return 1
	JOB=$(jobs_get "$SWEEP" '.[0].job')
	[[ $JOB ]]
}

# What C500 is aligned with.
reference_align()
{
	echo "align={baseline: $1, cells: {batch.accumulate: 1024}}"
}

reference_told()
{
	local log port

	log=$(log_file "$1" 1 "${2-0}")
	port=$(sed -n 's/^replay: env MASTER_PORT=//p' "$log")
	sed -n 's/^replay: //p' "$log" | sed -E \
		-e '/^env (HOSTNAME|HOME|PATH)=/d' \
		-e "s/(_port=|_PORT=|:)$port\$/\1PORT/"
}
