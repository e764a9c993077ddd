#!/bin/bash
# flagperf.t - a tree with FlagPerf's layout runs unchanged, on one node and two.
#
# What each program in the container is given is printed by it, comes as output,
# and is compared with what FlagPerf's own launchers give. Python is this
# machine's; torchrun and pip are scripts that tell what they are told.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
need_root
cluster_need
need /usr/bin/python3
AGENT_ARGS=(--devices 2)
must cluster_up 2 hosts

# ---- the image -----------------------------------------------------------

image=$BED/image
must python_copy "$image" /usr/bin/{tee,cat,chmod,sleep,cp,grep,ls,mktemp,paste,sed,tail,wc}
ln -s bash "$image/bin/sh"
# Telling: SEEN and a line of JSON, in one write: two may tell at once.
cat >"$image/usr/bin/seen.py" <<'END'
import json, os, sys
sys.stdout.write("SEEN " + json.dumps({"argv": sys.argv, "cwd": os.getcwd(),
    "env": dict(os.environ), "config": next((json.load(open(word))
    for word in sys.argv if word.endswith("/ds_config_tmp.json")
    and os.path.exists(word)), None)}) + "\n")
sys.stdout.flush()
END
# torchrun starts its script on each device.
cat >"$image/usr/bin/torchrun" <<'END'
#!/usr/bin/python3
import os, subprocess, sys
sys.path.insert(0, "/usr/bin")
import seen
options = dict(word[2:].split("=") for word in sys.argv[1:] if "=" in word
               and word.startswith("--n") or word.startswith("--master"))
script = next(i for i, word in enumerate(sys.argv) if word.endswith(".py"))
count, node = int(options["nproc_per_node"]), int(options["node_rank"])
running = [subprocess.Popen(["/usr/bin/python3"] + sys.argv[script:],
    env=dict(os.environ, RANK=str(node * count + i), LOCAL_RANK=str(i)))
    for i in range(count)]
sys.exit(max([process.wait() for process in running]))
END
printf '#!/usr/bin/python3\nimport sys\nsys.path.insert(0, "/usr/bin")\nimport seen\n' \
	>"$image/usr/bin/pip"
cp "$image/usr/bin/pip" "$image/usr/bin/pip3"
chmod +x "$image/usr/bin/"{torchrun,pip,pip3}
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must dk "$(node_engine 1)" import "$BED/image.tar" test/python:1 >/dev/null
for engine in $(cluster_engines); do
	must copy_image "$(node_engine 1)" "$engine" test/python:1
	for name in cpu-{pytorch_1.13,paddle_2.5.1,deepspeed,megatron_core060,megatron_pai,flagscale} \
		base-cpu-pytorch_2.3 inference-cpu-pytorch_2.1; do
		must dk "$engine" tag test/python:1 "flagperf-$name:t_v0.1"
	done
done

# ---- the tree ------------------------------------------------------------

tree="$BED/a FlagPerf"
training=$tree/training
data="$BED/it's \"the\" data \$1"
mkdir -p "$training"/run_benchmarks "$data" "$BED/fail"
cat >"$training/run_benchmarks/prepare_in_container.py" <<'END'
import sys
sys.path.insert(0, "/usr/bin")
import seen
END
# case FRAMEWORK CONFIG: what FlagPerf has of it; its script is read from stdin
case_of()
{
	local bench=$training/benchmarks/m/$1 config=$training/cpu/m-$1/config

	mkdir -p "$bench" "$config" "$training/cpu/m-$1/extern"
	touch "$config/config_$2.py"
	{
		printf 'import os, sys\nsys.path.insert(0, "/usr/bin")\nimport seen\n'
		printf 'if "fail" in " ".join(sys.argv) and os.environ["RANK"] == "1":\n'
		printf '    sys.exit(1)\n'
		cat
	} >"$bench/run_pretraining.py"
}
case_of pytorch Xx2x2 <<'END'
for step in range(1, 30):
    print('[PerfLog] {"event": "STEP_END", "value": {"global_steps": %d, '
          '"loss": 2.0, "seq/s": 10.0}, "metadata": {"rank": 0}}' % step)
END
touch "$training/cpu/m-pytorch/config/config_Xx1x2.py"
echo 'export FROM_FILE="a b" PARAMETERS=$#' \
	>"$training/cpu/m-pytorch/config/environment_variables.sh"
# It runs until it was sampled.
case_of paddle TP2PP1SH1SP1Xx1x2 <<'END'
import time
data = sys.argv[sys.argv.index("--data_dir") + 1]
while not os.path.exists(data + "/sampled"):
    time.sleep(0.05)
for step in range(1, 30):
    print("- loss: 10.0, learning_rate: 1e-06, global_step: %d, "
          "interval_runtime: 1.0, interval_samples_per_second: 4" % step)
END
case_of deepspeed Xx2x2 <<'END'
for step in range(1, 30):
    print("epoch=0/micro_step=%d/global_step=%d, RunningAvgSamplesPerSec=8.0, "
          "CurrSamplesPerSec=8.0, MemAllocated=1.0GB, MaxMemAllocated=2.0GB"
          % (step, step))
END
touch "$training/cpu/m-deepspeed/config/config_Xx1x2.py"
echo '{"a": 1, "b": {"x": 1, "y": 2}, "c": 3}' \
	>"$training/benchmarks/m/deepspeed/ds_config.json"
echo '{"b": {"z": 9}, "d": "own"}' \
	>"$training/cpu/m-deepspeed/config/ds_config.json"
printf 'export NET_A="1 2";NET_B=3;\nexport NET_C=4\n' \
	>"$training/cpu/m-deepspeed/config/net.sh"
# Its figures stand in a file only, as those of Megatron's shell scripts do.
case_of megatron Xx2x2 <<'END'
logs = next(w.split("=", 1)[1] for w in sys.argv if w.startswith("--log_dir="))
name = "megatron_pai" if "Xx1x2" in sys.argv[-1] else "megatron"
with open(logs + "/" + name + ".log.txt", "w") as out:
    for step in range(1, 30):
        out.write(" iteration %d/ 29 | consumed samples: 8 | elapsed time per "
            "iteration (ms): 50.0 | learning rate: 1.0E-04 | global batch "
            "size: 8 | lm loss: 2.0E+00 | loss scale: 1.0 | grad norm: 1.0 | "
            "number of skipped iterations: 0 | number of nan iterations: 0 |\n"
            % step)
END
touch "$training/cpu/m-megatron/config/config_Xx1x2.py"
# FlagScale's own runner writes what each host prints into a folder of logs.
case_of flagscale Xx1x2 <<'END'
import subprocess
logs = next(w.split("=", 1)[1] for w in sys.argv if w.startswith("--log_dir="))
hosts = next(w.split("=", 1)[1] for w in sys.argv if w.startswith("--hosts="))
hosts = hosts.split(",")
if "_noderank0" not in logs:
    sys.exit(0)
logs += "/outputs_m/logs"
os.makedirs(logs)
def tell(name, *words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    print("SSH", name, done.returncode, done.stdout + done.stderr, flush=True)
last = "%s/host_%d_here.output" % (logs, len(hosts) - 1)
if len(hosts) > 1:
    tell("far", "ssh", "-n", "-p", "1234", "root@" + hosts[1],
         "echo $NODE_RANK is here; echo oh >&2; exit 7")
    tell("own", "ssh", "-n", "localhost", "echo $NODE_RANK")
    tell("input", "ssh", hosts[1], "cat", input="some words")
    tell("nobody", "ssh", "-n", "10.77.0.99", "true")
    tell("copy", "scp", "-P", "1234", sys.argv[0], hosts[1] + ":/tmp")
    tell("there", "ssh", "-n", hosts[1], "cat /tmp/run_pretraining.py")
    # One that waits for the next: both in the background.
    meet = next(w.split("=", 1)[1] for w in sys.argv if w.startswith("--data_dir="))
    for host in hosts[::-1]:
        subprocess.run("ssh -f -n %s 'while [ ! -e %s/go ]; do sleep 0.1; done; "
            "echo >%s/went$NODE_RANK'" % (host, meet, meet), shell=True, check=True)
    open(meet + "/go", "w").close()
    while not all(os.path.exists(meet + "/went%d" % i) for i in (0, 1)):
        os.sched_yield()
with open(last, "w") as out:
    for step in range(1, 20):
        out.write("[default1]: iteration %d/ 19 | consumed samples: 8 | elapsed "
            "time per iteration (ms): 50.0 | learning rate: 1.0E-04 | global "
            "batch size: 8 | lm loss: 2.0E+00 | loss scale: 1.0 | grad norm: "
            "1.0 | number of skipped iterations: 0 | number of nan "
            "iterations: 0 |\n" % step)
END
touch "$training/cpu/m-flagscale/config/config_Xx2x2.py"
# The tree's own launcher: shell, tee, and no exit code.
mkdir -p "$training/run_benchmarks/pytorch"
cat >"$training/run_benchmarks/pytorch/start_pytorch_task.py" <<'END'
import argparse, os, subprocess, sys
sys.path.insert(0, "/usr/bin")
import seen
parser = argparse.ArgumentParser()
for name in ["data_dir", "log_dir", "case_name", "round", "host_addr",
             "node_rank", "extern_config_file"]:
    parser.add_argument("--" + name)
args, rest = parser.parse_known_args()
folder = "%s/%s/round%s/%s_noderank%s" % (args.log_dir, args.case_name,
    args.round, args.host_addr, args.node_rank)
subprocess.Popen("python3 -u '%s/benchmarks/m/pytorch/run_pretraining.py' "
    "--data_dir %s 2>&1 | tee '%s/rank0.out.log' >/dev/null" % (os.getcwd(),
    args.data_dir, folder), shell=True, executable="/bin/bash").wait()
END
# base
mkdir -p "$tree/base/benchmarks/computation-FP32/cpu/Y" \
	"$tree/base/toolkits/memory/cpu/A100"
echo requests >"$tree/base/benchmarks/computation-FP32/cpu/Y/requirements.txt"
echo 'export BASE_ENV=yes' >"$tree/base/benchmarks/computation-FP32/cpu/Y/env.sh"
cat >"$tree/base/benchmarks/computation-FP32/main.py" <<'END'
import os, sys
sys.path.insert(0, "/usr/bin")
import seen
# In one write: ranks share the output.
sys.stdout.write("[FlagPerf Result]Rank %s's computation-FP32=19.5TFLOPS\n"
                 % os.environ["RANK"])
END
cat >"$tree/base/toolkits/memory/cpu/A100/main.sh" <<'END'
echo "in ${PWD##*/toolkits} as $NODERANK"
echo "[FlagPerf Result]memory=12.5GB/s"
END
# inference
mkdir -p "$tree"/inference/{tools,benchmarks/m,configs/m}
cp "$training/run_benchmarks/prepare_in_container.py" "$tree/inference/tools"
cat >"$tree/inference/run_inference.py" <<'END'
import sys
sys.path.insert(0, "/usr/bin")
import seen
print("INFO - Finish Info : {'precision': 'fp16', 'flops': 1.2e13, "
      "'p_val_core(qps)': 12.5, 'acc': '76.1%'}")
END

cat >"$BED/flagperf.yaml" <<END
sweep: flagperf
vendor: cpu
timeout: 2m
flagperf:
  tree: $tree
  visible: CUDA_VISIBLE_DEVICES
  pip_source: http://pip.example/simple
  cases:
    m:pytorch_1.13:X:2:2:2: '${data//\'/\'\'}'
    m:deepspeed:X:2:2:1: '${data//\'/\'\'}'
    m:deepspeed:X:1:2:1: $BED
    m:megatron_core060:X:2:2:1: $BED
    m:megatron_pai:X:1:2:1: $BED
    m:flagscale:X:1:2:1: $BED
    m:flagscale:X:2:2:1: $BED
    m:paddle_2.5.1:TP2PP1SH1SP1X:1:2:1: $BED
    m:pytorch_1.13:X:1:2:1: $BED/fail
  base:
    kind: benchmark
    nodes: 2
    processes: 2
    cases: {"computation-FP32:Y": pytorch_2.3}
END
must submit "$BED/flagperf.yaml"
# job_of CASE [ROUND]
job_of()
{
	jobs_get "$SWEEP" "[.[] | select(.cell == \"$1\")][$((${2-1} - 1))].job"
}
job=$(job_of m:paddle_2.5.1:TP2PP1SH1SP1X:1:2:1)
must wait_for 'grep -q "\"h\":" "$CLUSTER/controller/logs/$job/1/samples-0.log"' 60
touch "$BED/sampled"
must wait_sweep "$SWEEP" 180

# ---- checking ------------------------------------------------------------

# seen JOB RANK N FILTER: the Nth telling of that output
seen()
{
	cli logs "$1" --rank "$2" | sed -n 's/^SEEN //p' | sed -n "$3p" |
		jq -r "$4"
}
# completed CASE [ROUND]: sets $job
completed()
{
	job=$(job_of "$@")
	is "$(job_get "$job" '"\(.state) \(.text)"')" "completed null" \
		"$1 completed"
}
# told RANK N NAME WANT: a variable
told()
{
	is "$(seen "$job" "$1" "$2" ".env.$3")" "$4" "rank $1: $3"
}
first=$(host_address 1) second=$(host_address 2)
# The nodes may have the ranks in any order.
master()
{
	seen "$job" 0 "$1" .env.MASTER_ADDR
}

completed m:pytorch_1.13:X:2:2:2 2
config=$training/cpu/m-pytorch
master=$(master 1)
# shellcheck disable=SC2034 # ok evaluates it
other=$([[ $master == "$first" ]] && echo "$second" || echo "$first")
is "$(seen "$job" 0 1 '.argv | join("|")')" \
	"$training/run_benchmarks/prepare_in_container.py|--framework|pytorch_1.13|--model|m|--vendor|cpu|--pipsource|http://pip.example/simple" \
	"it is prepared, once on each node"
is "$(seen "$job" 2 1 .cwd)" "$training" "in the tree"
is "$(cli logs "$job" --rank 1 | grep -c ^SEEN)" 1 \
	"and not by the second process of a node"
for rank in 0 1 2 3; do
	n=$((rank % 2 ? 1 : 2))
	is "$(seen "$job" $rank $n '.argv | join("|")')" \
		"$training/benchmarks/m/pytorch/run_pretraining.py|--extern_config_dir|$config/config|--extern_config_file|config_Xx2x2.py|--vendor|cpu|--data_dir|$data|--enable_extern_config|--extern_module_dir|$config/extern" \
		"rank $rank has each argument, with blank, quotes and dollar"
	told $rank $n RANK $rank
	told $rank $n LOCAL_RANK $((rank % 2))
	told $rank $n WORLD_SIZE 4
	told $rank $n NODE_RANK $((rank / 2))
	told $rank $n MASTER_ADDR "$master"
	told $rank $n CUDA_VISIBLE_DEVICES 0,1
	told $rank $n FROM_FILE "a b"
	told $rank $n PARAMETERS 0
	is "$(seen "$job" $rank $n .cwd)" "$training" "rank $rank: the folder"
done
is "$(job_get "$job" .result.steps)" 29 "its steps are counted"
ok '[[ -d $(echo "$training"/result/run*/m:pytorch_1.13:X:2:2:2/round2/"$other"_noderank1) ]]' \
	"the folder of logs has FlagPerf's name"
run dk host1 ps -aq
is "$out" "" "no container is left"

completed m:deepspeed:X:2:2:1
bench=$training/benchmarks/m/deepspeed config=$training/cpu/m-deepspeed/config
port=$(seen "$job" 0 2 .env.MASTER_PORT) master=$(master 2)
for node in 0 1; do
	words=$(seen "$job" $node 2 '.argv | join("|")')
	merged=$(sed 's/.*--deepspeed_config|//; s/|.*//' <<<"$words")
	like "$merged" \
		"^$training/result/run[0-9]{14}/m:deepspeed:X:2:2:1/round1/10.77.0.1[12]_noderank$node/ds_config_tmp.json\$" \
		"deepspeed, node $node: its own merged configuration"
	is "$words" \
		"/usr/bin/torchrun|--nproc_per_node=2|--nnodes=2|--node_rank=$node|--master_addr=$master|--master_port=$port|run_pretraining.py|--flagperf_config|$config/config_Xx2x2.py|--node_rank|$node|--nproc_per_node|2|--nnodes|2|--deepspeed|--deepspeed_config|$merged|--data_dir|$data" \
		"deepspeed, node $node: each argument"
	is "$(seen "$job" $node 3 '.argv | join("|")')" \
		"run_pretraining.py|--flagperf_config|$config/config_Xx2x2.py|--node_rank|$node|--nproc_per_node|2|--nnodes|2|--deepspeed|--deepspeed_config|$merged|--data_dir|$data" \
		"and those of the script"
	is "$(seen "$job" $node 3 .cwd)" "$bench" "in its own folder"
	is "$(seen "$job" $node 3 '.config | tojson')" \
		'{"a":1,"b":{"z":9},"c":3,"d":"own"}' \
		"its ds_config.json is merged, not deeply"
	told $node 3 NET_A "1 2"
	told $node 3 NET_B 3
	told $node 3 NET_C null
done
completed m:deepspeed:X:1:2:1
like "$(seen "$job" 0 2 '.argv | join("|")')" \
	'--nnodes=1\|--node_rank=0\|' "deepspeed on one node"

for nodes in 2 1; do
	name=$([[ $nodes == 1 ]] && echo megatron_pai || echo megatron_core060)
	completed "m:$name:X:$nodes:2:1"
	config=$training/cpu/m-megatron/config
	port=$(seen "$job" 0 2 .env.MASTER_PORT) master=$(master 2)
	for ((node = 0; node < nodes; node++)); do
		words=$(seen "$job" $node 2 '.argv | join("|")')
		logs=$(sed 's/.*--log_dir=//; s/|.*//' <<<"$words")
		is "$words" \
			"run_pretraining.py|--nproc_per_node=2|--nnodes=$nodes|--node_rank=$node|--master_addr=$master|--master_port=$port|--vendor=cpu|--data_dir=$BED|--log_dir=$logs|--flagperf_config_file=$config/config_Xx${nodes}x2.py" \
			"megatron, node $node of $nodes: each argument"
		like "$logs" \
			"^$training/result/run[0-9]{14}/m:$name:X:$nodes:2:1/round1/10.77.0.1[12]_noderank$node\$" \
			"its folder of logs"
		is "$(seen "$job" $node 2 .cwd)" \
			"$training/benchmarks/m/megatron" "its folder"
	done
	is "$(job_get "$job" .result.steps)" 29 \
		"figures come from megatron.log.txt, or megatron_pai.log.txt"
done
completed m:flagscale:X:2:2:1
is "$(job_get "$job" .result.steps)" 19 \
	"those of flagscale on two nodes from the last host's file"
is "$(cli logs "$job" --rank 0 | grep -A1 -E '^SSH|^oh' | sed '/^SSH there/,$d')" \
	"SSH far 7 1 is here
oh

SSH own 0 0

SSH input 0 some words
SSH nobody 255 ssh: 10.77.0.99 is not a node of this job (expected its address or name)

SSH copy 0 " "ssh runs commands on the other node, with input, output and exit code"
is "$(cli logs "$job" --rank 0 | sed -n '/^SSH there/,$p')" "SSH there 0 $(<"$training/benchmarks/m/flagscale/run_pretraining.py")" \
	"scp copies a file there"
completed m:flagscale:X:1:2:1
is "$(job_get "$job" .result.steps)" 19 \
	"those of flagscale from its host's file"

completed m:paddle_2.5.1:TP2PP1SH1SP1X:1:2:1
port=$(seen "$job" 0 2 .env.MASTER_PORT) master=$(master 2)
for rank in 0 1; do
	n=$((rank ? 1 : 2))
	told $rank $n PADDLE_TRAINERS_NUM 2
	told $rank $n PADDLE_TRAINER_ID $rank
	told $rank $n PADDLE_RANK_IN_NODE 0
	told $rank $n PADDLE_WORLD_DEVICE_IDS 0,1
	told $rank $n PADDLE_LOCAL_DEVICE_IDS $rank
	told $rank $n FLAGS_selected_gpus $rank
	told $rank $n FLAGS_selected_accelerators $rank
	told $rank $n PADDLE_CURRENT_ENDPOINT "$master:$port"
	told $rank $n PADDLE_TRAINER_ENDPOINTS \
		"$master:$port,$master:$((port + 1)),$master:$((port + 1))"
	told $rank $n CUDA_VISIBLE_DEVICES 0,1
done
run cli report "$SWEEP" --format json
is "$(jq -r ".rows[] | select(.job == $job).values.parallel |
	\"\(.tp) \(.pp) \(.sharding) \(.stage)\"" "$BED/out")" "2 1 1 1" \
	"the layout is that of the case's name"

completed computation-FP32:Y
like "$(seen "$job" 1 1 '.argv | join("|")')" '/pip\|install\|-r\|' \
	"base: its requirements are installed on each node"
port=$(seen "$job" 0 2 .env.MASTER_PORT) master=$(master 2)
is "$(seen "$job" 1 2 '.argv | join("|")')" \
	"/usr/bin/torchrun|--nproc_per_node=2|--nnodes=2|--node_rank=1|--master_addr=$master|--master_port=$port|main.py|--vendor=cpu/Y|--node_size=2" \
	"and torchrun is told each argument"
told 1 2 BASE_ENV yes
is "$(seen "$job" 1 2 .cwd)" "$tree/base/benchmarks/computation-FP32" \
	"in the case's folder"

job=$(job_of m:pytorch_1.13:X:1:2:1)
like "$(job_get "$job" '"\(.state) \(.failure) \(.text)"')" \
	'^failed exit n[12]: rank 1 exited with code 1$' \
	"a rank that exits 1 fails the case"

# As FlagPerf leaves it.
run cli export flagperf "$SWEEP" "$BED/results"
is $rc 0 "the results are written as FlagPerf leaves them"
like "$out" "^$BED/results/run[0-9]{14}\$" "in a folder of the run"
results=$out
case=$results/m:pytorch_1.13:X:2:2:2
is "$(cd "$case" && find . -type f -name 'rank*' | sed 's/10.77.0.1[12]_//' | sort)" \
	"./round1/noderank0/rank0.out.log
./round1/noderank0/rank1.out.log
./round1/noderank1/rank2.out.log
./round1/noderank1/rank3.out.log
./round2/noderank0/rank0.out.log
./round2/noderank0/rank1.out.log
./round2/noderank1/rank2.out.log
./round2/noderank1/rank3.out.log" "rank by rank, round by round, for each node"
job=$(job_of m:pytorch_1.13:X:2:2:2 2)
ok 'cmp "$(log_file "$job" 1 3)" "$case"/round2/*_noderank1/rank3.out.log' \
	"with what the rank printed"
ok '[[ -s $(echo "$results"/m:deepspeed:X:2:2:1/round1/*_noderank1/rank0.log.txt) ]]' \
	"deepspeed: rank0.log.txt"
like "$(tail -1 "$results"/m:megatron_pai:X:1:2:1/round1/*_noderank0/megatron_pai.log.txt)" \
	'iteration 29/' "megatron: its own file, too"
ok '[[ -s $(echo "$results"/computation-FP32:Y/*_noderank0/benchmark.log.txt) ]]' \
	"base: benchmark.log.txt, without rounds"
like "$(<"$results/flagperf_run.log")" "  Rank 1's computation-FP32=19.5TFLOPS" \
	"the run's log has the results of the base suite"
like "$(<"$results/flagperf_run.log")" \
	'\[ERROR\].*m:pytorch_1.13:X:1:2:1: failed: .*exited with code 1' \
	"and what failed"
like "$(head -1 "$results"/m:paddle*/round1/*_noderank0/mem_monitor.log)" \
	$'^[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9:]{8}\t[0-9.e-]+$' \
	"what was sampled is in the form of FlagPerf's monitors"
is "$(jq -c '[.[] | keys] | flatten | unique' "$results/detail_result.json")" \
	'["cpu","flagperf","mem","pwr","vendor"]' \
	"base: its detail_result.json has what FlagPerf finds in the logs"
run cli export flagperf "$SWEEP" "$BED/results"
is $rc 2 "a folder that is there is left alone"

# The tree's own launcher, and a toolkit.
cat >"$BED/own.yaml" <<END
sweep: own
vendor: cpu
flagperf:
  tree: $tree
  launcher: tree
  hosts_ports: "2222"
  cases: {m:pytorch_1.13:X:1:2:1: '${data//\'/\'\'}'}
  base: {launcher: direct, kind: toolkit, cases: {memory: pytorch_2.3}}
  inference: {cases: {"m:pytorch_2.1": "$BED"}}
END
must submit "$BED/own.yaml"
must wait_sweep "$SWEEP" 60
completed m:pytorch_1.13:X:1:2:1
words=$(seen "$job" 0 2 '.argv | join("|")') master=$(master 2)
port=$(seen "$job" 0 2 .env.MASTER_PORT)
# shellcheck disable=SC2001 # a pattern of digits
is "$(sed "s|$training/result/run[0-9]*|RUN|" <<<"$words")" \
	"$training/run_benchmarks/pytorch/start_pytorch_task.py|--vendor|cpu|--case_name|m:pytorch_1.13:X:1:2:1|--model_name|m|--train_script|run_pretraining.py|--nnodes|1|--nproc|2|--hosts|$master|--hosts_ports|2222|--data_dir|'${data//\'/\'\\\'\'}'|--log_dir|RUN|--log_level|debug|--extern_config_file|config_Xx1x2.py|--enable_extern_config|--master_port|$port|--round|1|--master_addr|$master|--node_rank|0|--host_addr|$master" \
	"the tree's own launcher has all that run.py gives it"
is "$(cli logs "$job" --stream '*rank0.out.log' | sed -n 's/^SEEN //p' |
	jq -r '.argv[2]')" "$data" "and the script the data, through a shell"
is "$(job_get "$job" .result.steps)" 29 "figures come from its rank0.out.log"
completed memory
run cli logs "$job"
is "$(head -1 <<<"$out")" "in /memory/cpu/A100 as 0" "a toolkit knows its node"

completed m:pytorch_2.1
is "$(seen "$job" 0 2 '.argv | join("|")' | sed 's|--log_dir.*||')" \
	"run_inference.py|--perf_dir|$tree/inference|--loglevel|debug|--vendor|cpu|--case|m|--data_dir|$BED|--framework|pytorch_2.1|" \
	"inference: each argument"
is "$(job_get "$job" '.result.metrics | tojson')" \
	'{"flops":12000000000000,"p_val_core(qps)":12.5}' \
	"and the figures of its last words"

# A tree that no node has comes with the sweep.
cat >"$BED/sent.yaml" <<END
sweep: sent
vendor: cpu
workspace: {path: a FlagPerf, container: /code/FlagPerf, ignore: [result]}
flagperf:
  cases: {m:pytorch_1.13:X:1:2:1: $BED}
END
must submit "$BED/sent.yaml"
must wait_sweep "$SWEEP" 60
completed m:pytorch_1.13:X:1:2:1
is "$(seen "$job" 1 1 '"\(.cwd) \(.argv[0])"')" \
	"/code/FlagPerf/training /code/FlagPerf/training/benchmarks/m/pytorch/run_pretraining.py" \
	"a tree in the workspace is found there"

# What is wrong is told, and the others go on.
cat >"$BED/wrong.yaml" <<END
sweep: wrong
vendor: cpu
flagperf:
  tree: $tree
  cases:
    m:pytorch_1.13:X:1:2:1: $BED
    m:pytorch_1.13:Z:1:2:1: $BED
    x:pytorch_1.13:X:1:2:1: $BED
    m:pytorch_1.13:X:1:2: $BED
END
run cli submit "$BED/wrong.yaml"
is $rc 2 "a case with too few fields is refused"
like "$err" 'wrong.yaml:9: .* a case of 5 fields' "with file and line"
sed -i '$d' "$BED/wrong.yaml"
run cli submit "$BED/wrong.yaml"
is $rc 2 "and one without its files"
like "$err" 'wrong.yaml:7: .*no training/cpu/m-pytorch/config/config_Zx1x2.py' \
	"a config that is not there"
like "$err" 'wrong.yaml:8: .*no training/benchmarks/x/pytorch in ' \
	"a benchmark that is not there"
run cli submit "$BED/wrong.yaml" --keep-going --wait --format json
is $rc 0 "the others go on with --keep-going"
like "$err" 'dropped: x:pytorch_1.13:X:1:2:1: .*wrong.yaml:8' "which tells"
# Where nobody could look before, the node does.
sed "s|tree: .*|tree: $BED/no|" "$BED/wrong.yaml" | sed '7,$d' >"$BED/no.yaml"
must submit "$BED/no.yaml"
must wait_sweep "$SWEEP" 60
like "$(job_get "$JOB" '"\(.failure) \(.text)"')" 'preflight .*/no' \
	"a tree that is not on the node is a failure of preflight"

# The base suite as a validation: node by node, in a copy of the workspace.
for case in computation-{FP32,TF32,FP16,BF16} main_memory-bandwidth \
	interconnect-{h2d,P2P_intraserver,MPI_intraserver}; do
	mkdir -p "$tree/base/benchmarks/$case/cpu/"{X,Y}
	printf 'M: 64\nITERS: 5000' >"$tree/base/benchmarks/$case/case_config.yaml"
	echo 'DIST_BACKEND: "gloo"' >"$tree/base/benchmarks/$case/cpu/X/case_config.yaml"
	printf 'ITERS: 400' >"$tree/base/benchmarks/$case/cpu/Y/case_config.yaml"
	cat >"$tree/base/benchmarks/$case/main.py" <<-END
		import os, sys
		with open("case_config.yaml") as all, open("cpu/Y/case_config.yaml") as own:
		    last = (all.read() + "\\n" + own.read()).split()[-1]
		if not os.path.isdir("../drivers"):
		    sys.exit("not in a copy")
		sys.stdout.write("[FlagPerf Result]Rank %s's $case=%sTFLOPS\\n"
		                 % (os.environ["RANK"], last))
	END
done
mkdir -p "$tree/base/benchmarks/drivers"
run on_switch regatta validate flagperf --set workspace="$tree" --set image=test/python:1 \
	--set env.CHIP=Y --again 1s --format json
is "$rc" 0 "validate flagperf measures the nodes by the base suite"
is "$(jq -c '[.units[] | select(.name == "n2") | .checks[] |
	select(.test == "computation-FP32") | [.value, .median, .peers]]' <<<"$out")" \
	'[[8,8,2]]' "with a fiftieth of the chip's iterations, and compares their rates"
run on_switch regatta validate flagperf --set workspace="$tree" --set image=test/python:1 \
	--set 'matrix.case=[interconnect-h2d]' --again 1s --format json
is "$(jq -r '[.units[] | select(.name == "n1") | .checks[].text] | first' <<<"$out")" \
	'run failed: exit: n1: task 0 exited with code 1: error: for vendor cpu and CHIP "" interconnect-h2d of FlagPerf has 2 of cpu/X/ cpu/Y/; expected one: --set env.CHIP=NAME' \
	"which of several chips is asked"

ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
