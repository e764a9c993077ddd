#!/bin/bash
# flagperf-cases.t - single cases of the real FlagPerf tree that need more than a
# look at how they are started: base cases that name no chip, qwen1.5_MoE with its
# result, dev.py, and two vendors beside each other on one tree.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, which is not part
# of this project. In a copy of it the programs that train are replaced by one
# that writes down what it was given; FlagPerf's container_main.py, its scripts of
# qwen1.5_MoE and dev.py run as they are.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
# shellcheck source=tests/lab/flagperf.sh
. "$(dirname "$0")/../lab/flagperf.sh"
need_root
cluster_need
[[ ${FLAGPERF_TREE-} ]] ||
	skip_all "FLAGPERF_TREE names no checkout of FlagOpen/FlagPerf"

tree=$BED/FlagPerf data=$BED/data stubs=$BED/stubs
record=$tree/base/record # in all that is mounted
mkdir -p "$tree" "$data" "$stubs/site"
cp -r "$FLAGPERF_TREE/"{training,base,utils} "$tree"
mkdir "$record"
cat >"$record.py" <<END
import json, os, sys, time
config = None
for word in sys.argv:
    if word.endswith("ds_config_tmp.json"):
        # Both are there before one is read.
        open("$record/met-%d" % time.time_ns(), "w").close()
        while sum(name.startswith("met-") for name in os.listdir("$record")) < 2:
            time.sleep(0.05)
        config = json.load(open(word))
with open("$record/%d-%d" % (time.time_ns(), os.getpid()), "w") as out:
    json.dump({"argv": sys.argv, "cwd": os.getcwd(), "config": config}, out)
END

image=$BED/image
must python_copy "$image" /usr/bin/{tee,cat,chmod,touch,ps}
ln -s bash "$image/bin/sh"
must python_modules "$image" 'import importlib, tempfile
sys.path.insert(0, sys.argv[1] + "/training")
from utils import flagperf_logger, start_task_helper' "$FLAGPERF_TREE"
# The steps of a Megatron where that is asked for.
cat >"$image/usr/bin/torchrun" <<END
#!/bin/bash
if [[ " \$* " == *" --train-iters 100 "* ]]; then
	for ((step = 1; step <= 100; step++)); do
		echo " iteration \$step/ 100 | consumed samples: \$((step * 512)) | elapsed time per iteration (ms): 2000.0 | learning rate: 1.0E-05 | global batch size: 512 | lm loss: 2.5E+00 | grad norm: 1.0 |"
	done
	exit
fi
exec python3 "$record.py" "\$@"
END
printf "#!/bin/bash\n" >"$image/usr/bin/pip3"
chmod +x "$image/usr/bin/"{torchrun,pip3}
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must cluster_up 2 hosts
must dk host1 import "$BED/image.tar" test/python:1 >/dev/null
must copy_image host1 host2 test/python:1

# node_is NODE VENDOR: its agent has eight devices of that vendor
node_is()
{
	local machine=$BED/machine-$2

	must "$ROOT/tests/lab/machine" "$machine" "$2" 8
	AGENT_ARGS=(--device-root "$machine/dev" --sysfs-root "$machine/sys"
		--proc-root "$machine/proc" --file-root "$machine/files"
		--tools "$machine/bin")
	agent_stop "$1"
	rm -rf "$CLUSTER/n$1"
	must agent_up "$1"
	must wait_for "[[ \$(nodes_get '[.[] | select(.name == \"n$1\") | .vendor] | join(\" \")') == $2 ]]" 20
	must nodes_up 2 20
}
# images NAME...: they are on both nodes
images()
{
	local name

	for name; do
		dk host1 tag test/python:1 "$name"
		dk host2 tag test/python:1 "$name"
	done
}
# sweep_of VENDOR LINE...: a sweep, with lines of its block
sweep_of()
{
	printf '%s\n' "sweep: case" "vendor: $1" "timeout: 2m" "shm: 64M" \
		"ulimits: {memlock: 65536, stack: 8388608}" "flagperf:" \
		"  tree: $tree" "  pip_source: http://pip.example/simple"
	shift
	printf '%s\n' "$@"
}
# told SIDE: argv and folder of what was started since the last call
told()
{
	jq -r '(.argv | join(" ")) + " in " + .cwd' "$record"/[0-9]* |
		sed -E 's/--master_(port|addr)=[^ ]*/--master_\1=X/g'
	rm -f "$record"/*
}
node_is 1 nvidia
node_is 2 metax

# ---- base cases without a chip ----------------------------------------------

mkdir -p "$stubs/site/loguru"
cat >"$stubs/site/loguru/__init__.py" <<'END'
class Logger:
    def __getattr__(self, name):
        return lambda *words, **options: None
logger = Logger()
END
stub "$stubs" torchrun <<<"exec python3 '$record.py' \"\$@\""
toolkit=$tree/base/toolkits/computation-FP32/nvidia/A100
must mkdir -p "$toolkit"
echo "exec python3 '$record.py' toolkit" >"$toolkit/main.sh"
images flagperf-base-nvidia-own:t_v0.1
for kind in benchmark toolkit; do
	mkdir -p "$BED/logs/computation-FP32/host_noderank0"
	run env PATH="$stubs:/usr/bin:/bin" PYTHONPATH="$stubs/site" python3 \
		"$tree/base/container_main.py" --case_name computation-FP32 \
		--nnodes 1 --nproc_per_node 8 --log_dir "$BED/logs" \
		--vendor nvidia --log_level info --master_port 1 \
		--master_addr a --host_addr host --node_rank 0 \
		--bench_or_tool "${kind^^}" --perf_path "$tree/base"
	is $rc 0 "FlagPerf's container_main.py starts a $kind: $err"
	theirs=$(told)
	sweep_of nvidia "  base: {kind: $kind, processes: 8, cases: {computation-FP32: own}}" \
		>"$BED/base.yaml"
	must submit "$BED/base.yaml"
	must wait_sweep "$SWEEP" 60
	is "$(told)" "$theirs" "and so do we, of the same chip" ||
		diag "$(job_get "$JOB" .text)"
	like "$theirs" "A100|^toolkit in $toolkit" "which is the default one"
done

# ---- qwen1.5_MoE --------------------------------------------------------------

case=qwen1.5_MoE:megatron_pai:C500:1:8:1
images flagperf-metax-megatron_pai:t_v0.1
sweep_of metax "  visible: CUDA_VISIBLE_DEVICES" "  cases: {'$case': $data/}" \
	>"$BED/qwen.yaml"
must submit "$BED/qwen.yaml"
must wait_sweep "$SWEEP" 60
is "$(job_get "$JOB" '"\(.state) \(.text) \(.result.steps) \(.result.iteration_ms.median)"')" \
	"completed null 100 2000" "qwen1.5_MoE ends with a result"
# 512 samples of 8192 tokens in 2 s, on 8 devices.
is "$(job_get "$JOB" .result.tokens_per_second_per_device)" 262144 \
	"whose rate is that of its log"
like "$(cli logs "$JOB" --rank 0)" 'Tokens/p/s: +262144' "and of its script"

# ---- two vendors on one tree ----------------------------------------------------

images flagperf-{nvidia,metax}-deepspeed:t_v0.1
model=chatglm3_6b
echo "exec(open('$record.py').read())" \
	>"$tree/training/benchmarks/$model/deepspeed/run_pretraining.py"
sweeps=()
for pair in nvidia:H100 metax:C500; do
	vendor=${pair%:*}
	sweep_of "$vendor" "  visible: CUDA_VISIBLE_DEVICES" \
		"  cases: {'$model:deepspeed:${pair#*:}:1:8:1': $data}" \
		>"$BED/$vendor.yaml"
	must submit "$BED/$vendor.yaml"
	sweeps+=("$SWEEP")
done
for sweep in "${sweeps[@]}"; do
	must wait_sweep "$sweep" 60
done
python3 - "$tree" >"$BED/merged" <<'END'
import glob, json, sys
tree = sys.argv[1]
def load(path):
    return json.load(open(path))
for vendor in "metax", "nvidia":
    want = load(tree + "/training/benchmarks/chatglm3_6b/deepspeed/ds_config.json")
    want.update(load(tree + "/training/%s/chatglm3_6b-deepspeed/config/ds_config.json" % vendor))
    print(vendor, sum(load(path)["config"] == want
                      for path in glob.glob(tree + "/base/record/[0-9]*")))
END
is "$(<"$BED/merged")" "metax 1
nvidia 1" "two vendors at once on one tree have a merged configuration each" ||
	for sweep in "${sweeps[@]}"; do
		diag "$(cli jobs --sweep "$sweep")"
	done

# ---- dev.py ---------------------------------------------------------------------

# What it would do on the hosts it is told of; the rest is left out.
stub "$stubs" docker <<END
[[ \$1 != images ]] || cat "$BED/images"
[[ \$1 != run ]] || printf '%s\n' "\$*" >>"$BED/runs"
END
local_ssh "$stubs"
for case in nvidia:glm:pytorch:A100:1:8:1 metax:bert_hf:pytorch_2.0:C500:1:8:1; do
	vendor=${case%%:*} case=${case#*:}
	IFS=: read -r _ framework _ <<<"$case"
	echo "flagperf-$vendor-$framework t_v0.1" >"$BED/images"
	: >"$BED/runs"
	run_py_conf "$tree" "$vendor" CUDA_VISIBLE_DEVICES " --device=/dev/null" "$data" "$case"
	run -t 60 env PATH="$stubs:/usr/bin:/bin:/usr/sbin:/sbin" \
		PYTHONPATH="$stubs/site" python3 "$tree/training/run_benchmarks/dev.py"
	sweep_of "$vendor" "  visible: CUDA_VISIBLE_DEVICES" \
		"  options: ' --device=/dev/null'" "  cases: {'$case': $data}" \
		>"$BED/dev.yaml"
	is "$(regatta plan "$BED/dev.yaml" --commands |
		sed -n 's/^sudo docker  *//p' | tr -d '"' | tr -s ' ' | sort -u)" \
		"$(tr -s ' ' <"$BED/runs" | sort -u)" "$case: plan shows the docker run of dev.py"
	ok '[[ -s $BED/runs ]]' "which is one" || diag "$out$err"
done
ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
