#!/bin/bash
# reference.t - the five reference systems: planned, placed, started as their
# pages state, and their tables.
#
# What is expected here was written from the published pages and from what
# FlagPerf's cases start; the figures that the stand-in replays are in
# tests/lab/replay. Notes on where the pages slip stand in the sweeps.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
# shellcheck source=tests/lab/lab.sh
. "$(dirname "$0")/../lab/lab.sh"
# shellcheck source=tests/lab/reference.sh
. "$(dirname "$0")/../lab/reference.sh"
need_root
reference_need

shopt -s lastpipe # told_is counts here, at the end of a pipe
declare -A SWEEPS=()

# told_is JOB RANK NAME: how the container was started is what stands in stdin.
told_is()
{
	cat >"$BED/want"
	reference_told "$1" "$2" >"$BED/got"
	if difference=$(diff "$BED/want" "$BED/got"); then
		tap 0 "$3"
	else
		tap 1 "$3"
		diag "$difference"
	fi
}

# table_is SWEEP NAME: the performance table of its page is what stands in stdin.
table_is()
{
	cli report "$1" --style reference --language zh |
		grep '^|' | sed '1,/吞吐量/d' >"$BED/got"
	cat >"$BED/want"
	if difference=$(diff "$BED/want" "$BED/got"); then
		tap 0 "$2"
	else
		tap 1 "$2"
		diag "$difference"
	fi
}

# Job number N (from 1) of a sweep.
job_of()
{
	jobs_get "${SWEEPS[$1]}" ".[$2 - 1].job"
}

placed_on()
{
	cli report "${SWEEPS[$1]}" --format json |
		jq -r '[.rows[].provenance.nodes | join(",")] | unique | join(" ")'
}

# Cells kept and dropped, and the nodes that each would run on.
plan_of()
{
	cli plan "$ROOT/deploy/sweeps/$1.yaml" --format json |
		jq -r '"\(.totals.kept) \(.totals.dropped) " +
			([.kept[].on | join(",")] | unique | join(" "))'
}

# ---- what all containers of a vendor have --------------------------------

# How PyTorch is told to keep its last collectives, by names old and new.
RECORDER=(TORCH_FR_BUFFER_SIZE=2000
	TORCH_FR_{DEBUG_INFO_PIPE,DUMP_TEMP}_FILE=/regatta/out/regatta-recorder-
	TORCH_NCCL_DEBUG_INFO_{PIPE,TEMP}_FILE=/regatta/out/regatta-recorder-
	TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_NCCL_TRACE_BUFFER_SIZE=2000)
nvidia_env() # NODES RANK [VARIABLE=VALUE...]
{
	local network=()

	(($1 > 1)) && network=({GLOO,NCCL}_SOCKET_IFNAME=lo)
	printf 'env %s\n' "${@:3}" "${network[@]}" CUDA_DEVICE_ORDER=PCI_BUS_ID \
		CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 NNODES="$1" \
		NODE_RANK="$2" MASTER_ADDR=127.0.0.1 MASTER_PORT=PORT \
		NPROC_PER_NODE=8 WORLD_SIZE=$(($1 * 8)) PYTHON{UNBUFFERED,FAULTHANDLER}=1 \
		"${RECORDER[@]}" NVIDIA_DRIVER_CAPABILITIES=compute,utility | LC_ALL=C sort
}

nvidia_nodes()
{
	printf 'node /dev/%s\n' nvidia-uvm nvidia{0..7} nvidiactl
}

torchrun() # NODES RANK
{
	cat <<-END
		arg torchrun
		arg --nnodes=$1
		arg --node_rank=$2
		arg --nproc_per_node=8
		arg --master_addr=127.0.0.1
		arg --master_port=PORT
	END
}

flagperf_arguments() # NODES RANK
{
	cat <<-END
		arg run_pretraining.py
		arg --flagperf_config=/regatta/in/cell.py
		arg --node_rank=$2
		arg --nproc_per_node=8
		arg --nnodes=$1
		arg --deepspeed
		arg --deepspeed_config=/regatta/in/ds_config.json
		arg --data_dir=/data
	END
}

# ---- the five -------------------------------------------------------------

baichuan() # RANK GAS
{
	echo "cwd /workspace/FlagPerf/training/benchmarks/baichuan2_13b/deepspeed"
	torchrun 2 "$1"
	flagperf_arguments 2 "$1"
	nvidia_env 2 "$1" CUDA_DEVICE_MAX_CONNECTIONS=1 NCCL_IB_DISABLE=0
	sed 's/^/file /' <<-END
		cell.py: seqlength = 2048
		cell.py: batchsize = 1
		cell.py: datafilename = "openwebtext_baichuan2_100M.npy"
		cell.py: theoryflops = 989e12
		cell.py: epochs = 1
		cell.py: flashattn = False
		ds_config.json: {
		ds_config.json:   "train_micro_batch_size_per_gpu": 1,
		ds_config.json:   "gradient_accumulation_steps": $2,
		ds_config.json:   "optimizer": {
		ds_config.json:     "type": "AdamW",
		ds_config.json:     "params": {"lr": 1e-5, "weight_decay": 0.1, "betas": [0.9, 0.95],
		ds_config.json:                "eps": 1e-5}
		ds_config.json:   },
		ds_config.json:   "zero_optimization": {"stage": 1, "overlap_comm": true},
		ds_config.json:   "bf16": {"enabled": true},
		ds_config.json:   "activation_checkpointing": {"partition_activations": true},
		ds_config.json:   "gradient_clipping": 1.0,
		ds_config.json:   "steps_per_print": 1
		ds_config.json: }
	END
	nvidia_nodes
	echo "row baichuan2-13b gas $2"
	echo "gang met"
}

llama70() # RANK ROW TP PP GBS [bf16] [split]
{
	echo "cwd /workspace/FlagScale"
	torchrun 4 "$1"
	printf 'arg %s\n' --tee=3 --redirects=3 --log_dir=/tmp/flagscale \
		pretrain_llama.py --train-iters=100 --eval-iters=0 \
		--tensor-model-parallel-size="$3" \
		--pipeline-model-parallel-size="$4"
	[[ ${7-} != split ]] || printf 'arg %s\n' --pipline-num-layers-list \
		9 9 10 10 10 11 11 10
	printf 'arg %s\n' --micro-batch-size=1 --global-batch-size="$5" \
		--seq-length=4096 --max-position-embeddings=4096 \
		--num-layers=80 --hidden-size=8192 --ffn-hidden-size=28672 \
		--num-attention-heads=64 --group-query-attention \
		--num-query-groups=8 --normalization=RMSNorm \
		--use-rotary-position-embeddings --no-position-embedding \
		--swiglu --multiple-of=4096 --disable-bias-linear \
		--untie-embeddings-and-output-weights \
		--use-distributed-optimizer --sequence-parallel \
		--use-flash-attn
	[[ ${6-} != bf16 ]] || echo "arg --bf16"
	printf 'arg %s\n' --recompute-granularity=full \
		--recompute-method=block --recompute-num-layers=6 \
		--data-path=/data/llama_00_text_document \
		--tokenizer-type=Llama2Tokenizer \
		--tokenizer-model=/data/tokenizer/tokenizer.model --split=1 \
		--init-method-std=0.02 --seed=1234 --attention-dropout=0.0 \
		--hidden-dropout=0.0 --weight-decay=1e-2 --adam-beta1=0.9 \
		--adam-beta2=0.95 --clip-grad=1.0 --lr=0.00015 \
		--min-lr=1.0e-5 --lr-decay-style=cosine \
		--lr-warmup-fraction=.01 --log-interval=1
	printf 'env %s\n' CUDA_DEVICE_MAX_CONNECTIONS=1 \
		CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 FORCE_ACTIVATE_WAIT=1 \
		GLOO_SOCKET_IFNAME=lo \
		MACA_SMALL_PAGESIZE_ENABLE=1 \
		MACA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 MALLOC_THRESHOLD=95 \
		MASTER_ADDR=127.0.0.1 MASTER_PORT=PORT MAX_JOBS=20 \
		MCCL_LIMIT_RING_LL_THREADTHRESHOLDS=1 MCCL_MAX_NCHANNELS=16 \
		MCCL_NET_GDR_LEVEL=7 MCCL_P2P_LEVEL=SYS MCCL_SOCKET_IFNAME=lo \
		MCPYTORCH_DISABLE_PRINT=1 MHA_USE_BLAS=ON NNODES=4 \
		NODE_RANK="$1" NPROC_PER_NODE=8 \
		PYTHONFAULTHANDLER=1 PYTHONPATH=/workspace/FlagScale \
		PYTHONUNBUFFERED=1 \
		PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64 \
		PYTORCH_ENABLE_SAME_RAND_A100=1 SET_DEVICE_NUMA_PREFERRED=1 \
		"${RECORDER[@]}" WORLD_SIZE=32
	printf 'node /dev/%s\n' dri/card{1..8} dri/renderD{128..135} mxcd
	echo "row llama2-70b $2"
	echo "gang met"
}

llava() # STEP SAMPLES MICRO STAGE SPECIAL...
{
	echo "cwd /workspace/FlagPerf/training/benchmarks/llava1.5_7b/deepspeed-torch"
	printf 'arg %s\n' python3 /regatta/in/tokens.py "$2" deepspeed \
		--num_gpus=8 --master_port=PORT train/train_mem.py \
		--deepspeed=/regatta/in/ds_config.json \
		--model_name_or_path=/data/LLaVA-Pretrain/checkpoints/vicuna-7b-v1.5 \
		--vision_tower=/data/LLaVA-Pretrain/checkpoints/openai/clip-vit-large-patch14-336 \
		--mm_projector_type=mlp2x_gelu --mm_vision_select_layer=-2 \
		--mm_use_im_start_end=False --mm_use_im_patch_token=False \
		"${@:5}" --bf16=True --tf32=True \
		--output_dir="/data/Output/$1/llava-v1.5-7b" \
		--num_train_epochs=1 --per_device_train_batch_size="$3" \
		--per_device_eval_batch_size=4 \
		--gradient_accumulation_steps=1 --evaluation_strategy=no \
		--save_strategy=steps --save_total_limit=1 --weight_decay=0. \
		--warmup_ratio=0.03 --lr_scheduler_type=cosine \
		--logging_steps=1 --model_max_length=2048 \
		--gradient_checkpointing=True --dataloader_num_workers=4 \
		--lazy_preprocess=True --report_to=none
	nvidia_env 1 0
	sed 's/^/file /' <<-END
		ds_config.json: {
		ds_config.json:   "train_micro_batch_size_per_gpu": "auto",
		ds_config.json:   "train_batch_size": "auto",
		ds_config.json:   "gradient_accumulation_steps": "auto",
		ds_config.json:   "bf16": {"enabled": "auto"},
		ds_config.json:   "zero_optimization": {
		ds_config.json:     "stage": $4, "overlap_comm": true,
		ds_config.json:     "contiguous_gradients": true, "sub_group_size": 1e9,
		ds_config.json:     "reduce_bucket_size": "auto",
		ds_config.json:     "stage3_prefetch_bucket_size": "auto",
		ds_config.json:     "stage3_param_persistence_threshold": "auto",
		ds_config.json:     "stage3_max_live_parameters": 1e9, "stage3_max_reuse_distance": 1e9,
		ds_config.json:     "stage3_gather_16bit_weights_on_model_save": true
		ds_config.json:   }
		ds_config.json: }
		tokens.py: import subprocess, sys, time
		tokens.py: open("tokens.txt", "w").close()
		tokens.py: start = time.time()
		tokens.py: subprocess.run(sys.argv[2:], check=True)
		tokens.py: seconds = time.time() - start
		tokens.py: lengths = [int(line) for line in open("tokens.txt") if line.strip()]
		tokens.py: rate = sum(lengths) / len(lengths) * int(sys.argv[1]) / seconds
		tokens.py: print("System tokens per second: ", rate)
		tokens.py: print("Tokens/p/s: ", rate / 8)
	END
	nvidia_nodes
	echo "row llava1.5-7b $1"
}

mmmu()
{
	echo "cwd /workspace/FlagPerf/training/benchmarks/llava1.5_7b/deepspeed-torch"
	printf 'arg %s\n' python3 evaluate/evaluator.py \
		/data/Output/finetune/llava-v1.5-7b /data/MMMU/MMMU \
		config/llava1.5.yaml /data/Output/llava1.5_7b_val.json \
		config/answer_dict_val.json
	nvidia_env 1 0
	nvidia_nodes
	echo "row llava1.5-7b mmmu"
}

gpt3() # SIZE LAYOUT
{
	local tree=/workspace/FlagPerf/training

	echo "cwd $tree/benchmarks/gpt3_$1/paddle"
	printf 'arg %s\n' python3 -u -m paddle.distributed.launch \
		--master=127.0.0.1:PORT --nnodes=1 --rank=0 \
		--nproc_per_node=8 --log_dir=/tmp/paddle run_pretraining.py \
		--vendor=nvidia --data_dir=/data --enable_extern_config \
		--extern_config_dir="$tree/nvidia/gpt3_$1-paddle/config" \
		--extern_config_file="config_$2A10080Gx1x8.py" \
		--extern_module_dir="$tree/nvidia/gpt3_$1-paddle/extern"
	nvidia_env 1 0
	nvidia_nodes
	echo "row gpt3-$1 $2"
}

llama7()
{
	echo "cwd /workspace/FlagPerf/training/benchmarks/llama2_7b/deepspeed"
	torchrun 1 0
	flagperf_arguments 1 0
	printf 'env %s\n' DS_ACCELERATOR=musa MASTER_ADDR=127.0.0.1 \
		MASTER_PORT=PORT MTHREADS_DRIVER_CAPABILITIES=all \
		MUSA_KERNEL_TIMEOUT=1800000 \
		MUSA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 NCCL_PROTOS=2 NNODES=1 \
		NODE_RANK=0 NPROC_PER_NODE=8 PYTHONFAULTHANDLER=1 \
		PYTHONUNBUFFERED=1 "${RECORDER[@]}" WORLD_SIZE=8
	sed 's/^/file /' <<-END
		cell.py: seqlength = 4096
		cell.py: batchsize = 3
		cell.py: datafilename = "openwebtext_llama2_100M.npy"
		cell.py: theoryflops = 98e12
		cell.py: epochs = 1
		cell.py: flashattn = True
		cell.py: gradient_checkpointing_enable = True
		ds_config.json: {
		ds_config.json:   "train_micro_batch_size_per_gpu": 3,
		ds_config.json:   "gradient_accumulation_steps": 1,
		ds_config.json:   "optimizer": {
		ds_config.json:     "type": "AdamW",
		ds_config.json:     "params": {"lr": 1e-5, "weight_decay": 0.1, "betas": [0.9, 0.95],
		ds_config.json:                "eps": 1e-5}
		ds_config.json:   },
		ds_config.json:   "zero_optimization": {
		ds_config.json:     "stage": 3, "overlap_comm": true,
		ds_config.json:     "contiguous_gradients": true, "reduce_scatter": true,
		ds_config.json:     "reduce_bucket_size": 1e7, "allgather_bucket_size": 1e8,
		ds_config.json:     "stage3_prefetch_bucket_size": 1e7, "sub_group_size": 1e9,
		ds_config.json:     "stage3_max_live_parameters": 1e9, "stage3_max_reuse_distance": 1e9
		ds_config.json:   },
		ds_config.json:   "fp16": {"enabled": true},
		ds_config.json:   "activation_checkpointing": {"partition_activations": true},
		ds_config.json:   "gradient_clipping": 1.0,
		ds_config.json:   "steps_per_print": 10
		ds_config.json: }
	END
	printf 'node /dev/%s\n' dri/card{1..8} dri/renderD{128..135} mtgpu.{0..7}
	echo "row llama2-7b"
}

# ---- run -------------------------------------------------------------------

must reference_up
is "$(plan_of baichuan2-13b-h800)" "2 0 h1,h2" \
	"baichuan2 is planned whole, on its nodes"
is "$(plan_of llama2-70b-c500)" "4 0 c1,c2,c3,c4" "llama2-70b"
is "$(plan_of llava1.5-7b-a800)" "3 0 a8" "llava1.5"
is "$(plan_of gpt3-a100)" "8 0 a1" "gpt3"
is "$(plan_of llama2-7b-s4000)" "1 0 s1" "llama2-7b"

must reference_baseline
baseline=$JOB
for name in $REFERENCES; do
	set=()
	[[ $name != llama2-70b-c500 ]] ||
		set=(-s "$(reference_align "$baseline")")
	must reference_submit "$name" "${set[@]}"
	SWEEPS[$name]=$SWEEP
done
for name in $REFERENCES; do
	must wait_sweep "${SWEEPS[$name]}" 120
	is "$(jobs_get "${SWEEPS[$name]}" \
		'map("\(.state) \(.attempt)") | unique | join(",")')" \
		"completed 1" "$name: every job completes at once"
done

is "$(placed_on baichuan2-13b-h800)" h1,h2 "2x8 H800 are found"
is "$(placed_on llama2-70b-c500)" c1,c2,c3,c4 "4x8 C500"
is "$(placed_on llava1.5-7b-a800)" a8 "1x8 A800"
is "$(placed_on gpt3-a100)" a1 "1x8 A100"
is "$(placed_on llama2-7b-s4000)" s1 "1x8 S4000"

n=0
for gas in 8 64; do
	n=$((n + 1))
	job=$(job_of baichuan2-13b-h800 $n)
	for rank in 0 1; do
		baichuan $rank $gas | told_is "$job" $rank \
			"baichuan2, GAS $gas: node $rank is started as published"
	done
done
table_is "${SWEEPS[baichuan2-13b-h800]}" "and its table is the published one" <<'END'
| 配置 | fix_hp | token/p/s | loss | mem | MFU |
| --- | --- | --- | --- | --- | --- |
| H800 2机16卡（2x8） | / | 2068 | 2.06 | 77/80 | 16.31% |
| H800 2机16卡（2x8） | GAS=64(GBS=1024=2M tokens) | 2710 | 2.07 | 77/80 | 21.37% |
END

job=$(job_of llama2-70b-c500 1)
llama70 0 'fp32 tp8 pp4' 8 4 44 | told_is "$job" 0 \
	"llama2-70b, fp32, TP8PP4: the first node is started as published"
job=$(job_of llama2-70b-c500 2)
llama70 3 'amp tp8 pp4' 8 4 44 bf16 | told_is "$job" 3 "amp: the last"
job=$(job_of llama2-70b-c500 3)
llama70 1 'amp tp4 pp8' 4 8 44 bf16 split | told_is "$job" 1 \
	"TP4PP8: the second, with layers that differ from stage to stage"
job=$(job_of llama2-70b-c500 4)
llama70 2 'amp tp4 pp8 gas 1024' 4 8 1024 bf16 split | told_is "$job" 2 \
	"GAS 1024: the third"
run cli report "${SWEEPS[baichuan2-13b-h800]}"
like "$out" '16 devices;.* chip H800.* device memory \(GiB\) 80; driver 535\.129\.03;' \
	"the head of a report names devices, their memory and their driver"
like "$out" '\| +100\.0 % of 2068 \|(.|\n)*\| +100\.0 % of 2710 \|' \
	"published figures stand beside the measured ones"

table_is "${SWEEPS[llama2-70b-c500]}" \
	"the table has the published memory and alignment (rates are withheld)" <<'END'
| 配置 | precision | parallel | fix_hp | token/p/s | 是否精度对齐 | mem | MFU |
| --- | --- | --- | --- | --- | --- | --- | --- |
| C500 4机32卡（4x8） | fp32 | TP8PP4DP1 | / | 1.00 | / | 60/64 | / |
| C500 4机32卡（4x8） | amp | TP8PP4DP1 | / | 1.00 | / | 60/64 | 0.18% |
| C500 4机32卡（4x8） | amp | TP4PP8DP1 | / | 1.00 | / | 62/64 | 0.18% |
| C500 4机32卡（4x8） | amp | TP4PP8DP1 | GAS=1024(GBS=1024=4M tokens) | 1.00 | True | 62/64 | 0.18% |
END

llava pretrain 558128 32 2 --version=plain \
	--data_path=/data/LLaVA-Pretrain/blip_laion_cc_sbu_558k.json \
	--image_folder=/data/LLaVA-Pretrain/images \
	--tune_mm_mlp_adapter=True --learning_rate=1e-3 --save_steps=24000 |
	told_is "$(job_of llava1.5-7b-a800 1)" 0 "llava1.5 is pretrained"
llava finetune 665344 16 3 --version=v1 \
	--data_path=/data/LLaVA-Finetune/llava_v1_5_mix665k.json \
	--image_folder=/data/LLaVA-Finetune/data \
	--pretrain_mm_mlp_adapter=/data/Output/pretrain/llava-v1.5-7b/mm_projector.bin \
	--image_aspect_ratio=pad --group_by_modality_length=True \
	--learning_rate=2e-5 --save_steps=50000 |
	told_is "$(job_of llava1.5-7b-a800 2)" 0 "then finetuned"
mmmu | told_is "$(job_of llava1.5-7b-a800 3)" 0 "then asked"
is "$(jobs_get "${SWEEPS[llava1.5-7b-a800]}" \
	'[.[] | .started_ms, .ended_ms] | . == sort')" true "one after the other"
table_is "${SWEEPS[llava1.5-7b-a800]}" "the table has all of it" <<'END'
| 配置 | fix_hp | token/p/s | loss | mem | acc(MMMU) | MFU |
| --- | --- | --- | --- | --- | --- | --- |
| A800单机8卡（1x8）（pretrain） | / | 4013 | 2.1025 | 74/80 | / | 18.01% |
| A800单机8卡（1x8）（finetune） | LBS=16(GBS=128=262144 tokens) | 2937 | 0.4796 | 78/80 | 35.9% | 39.54% |
END

n=0
for size in 6.7B 13B; do
	for layout in TP1PP1SH2SP8 TP2PP1SH1SP4 TP2PP1SH2SP4 TP2PP4SH1SP1; do
		n=$((n + 1))
		gpt3 $size $layout | told_is "$(job_of gpt3-a100 $n)" 0 \
			"gpt3-$size is started as $layout"
	done
done
table_is "${SWEEPS[gpt3-a100]}" "the table has eight rows" <<'END'
| 配置 | config | precision | fix_hp | parallel_strategy | throughput | memory |
| --- | --- | --- | --- | --- | --- | --- |
| **gpt3_6.7B** | | | | | | |
| A100单机8卡（1x8） | config_TP1PP1SH2SP8A10080Gx1x8 | fp16 | / | TP1PP1SH2SP8 | 17.23 \* 2048 / 8 = 4410 tokens/s | 66.27\*8 GB |
| A100单机8卡（1x8） | config_TP2PP1SH1SP4A10080Gx1x8 | fp16 | GAS=64(GBS=1024=2M tokens) | TP2PP1SH1SP4 | 15.72 \* 2048 / 8 = 4024 tokens/s | 54.65\*8 GB |
| A100单机8卡（1x8） | config_TP2PP1SH2SP4A10080Gx1x8 | fp16 | GAS=64(GBS=1024=2M tokens) | TP2PP1SH2SP4 | 14.89 \* 2048 / 8 = 3811 tokens/s | 49.46\*8 GB |
| A100单机8卡（1x8） | config_TP2PP4SH1SP1A10080Gx1x8 | fp16 | GAS=256(GBS=1024=2M tokens) | TP2PP4SH1SP1 | 14.81 \* 2048 / 8 = 3791 tokens/s | 46.77\*2 + 36.59\*2 + 30.09\*2 + 27.78\*2 GB |
| **gpt3_13B** | | | | | | |
| A100单机8卡（1x8） | config_TP1PP1SH2SP8A10080Gx1x8 | fp16 | LBS=2, GAS=64(GBS=1024=2M tokens) | TP1PP1SH2SP8 | 6.97 \* 2048 / 8 = 1784 tokens/s | 76.29\*8 GB |
| A100单机8卡（1x8） | config_TP2PP1SH1SP4A10080Gx1x8 | fp16 | LBS=2, GAS=128(GBS=1024=2M tokens) | TP2PP1SH1SP4 | 6.44 \* 2048 / 8 = 1648 tokens/s | 50.72\*8 GB |
| A100单机8卡（1x8） | config_TP2PP1SH2SP4A10080Gx1x8 | fp16 | LBS=2, GAS=128(GBS=1024=2M tokens) | TP2PP1SH2SP4 | 5.93 \* 2048 / 8 = 1518 tokens/s | 48.54\*8 GB |
| A100单机8卡（1x8） | config_TP2PP4SH1SP1A10080Gx1x8 | fp16 | GAS=256(GBS=1024=2M tokens) | TP2PP4SH1SP1 | 6.42 \* 2048 / 8 = 1643 tokens/s | 35.84\*2 + 34.71\*2 + 32.80\*2 + 32.04\*2 GB |
END

llama7 | told_is "$(job_of llama2-7b-s4000 1)" 0 \
	"llama2-7b is started with three samples of 4096"
table_is "${SWEEPS[llama2-7b-s4000]}" \
	"its memory and loss stand in their own columns" <<'END'
| 配置 | fix_hp | token/p/s | loss | mem | MFU |
| --- | --- | --- | --- | --- | --- |
| S4000单机8卡（1x8） | / | 1.00 | 3.20 | 44.2/48.0 | 0.04% |
END
is "$(cli report "${SWEEPS[llama2-7b-s4000]}" --format json |
	jq -r '.rows[0].setup | "\(.micro_batch) \(.global_batch) \(.sequence)"')" \
	"3 24 4096" "its batch is the published one"
like "$(cli report "${SWEEPS[gpt3-a100]}" --style reference)" simulated \
	"no page hides that the cards were simulated"

mapfile -t jobs < <(cli jobs --all --format json | jq -r '.jobs[].job')
run cli verify "${jobs[@]}"
is "$rc" 0 "every result comes out again from its stored log"

# An argument that is not as published is not replayed.
must reference_submit llama2-7b-s4000 -s sweep=wrong -s batch.micro=4
must wait_sweep "$SWEEP" 60
wrong=$(jobs_get "$SWEEP" '.[0].job')
is "$(job_get "$wrong" .state)" failed "another batch is not the published run"
like "$(cli logs "$wrong")" 'llama2-7b needs ""?"train_micro_batch_size_per_gpu": 3' \
	"and the stand-in says what it misses"

ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
