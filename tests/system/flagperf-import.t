#!/bin/bash
# flagperf-import.t - the configuration of a FlagPerf tree becomes sweeps.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need "$REGATTA_BUILD/regatta" jq
mkdir -p "$BED"
export REGATTA_IMAGES=$REGATTA_BUILD/images XDG_CONFIG_HOME=$BED
unset REGATTA_CONTROLLER
tree=$BED/FlagPerf

for file in run_benchmarks/{config/test_conf.py,config/cluster_conf.py} \
	run_benchmarks/prepare_in_container.py \
	benchmarks/{bert/pytorch,llama2_7b/deepspeed}/run_pretraining.py \
	benchmarks/llama2_7b/deepspeed/ds_config.json \
	dcu/llama2_7b-deepspeed/config/{ds_config.json,config_K100x2x8.py} \
	dcu/bert-pytorch/{extern/.gitkeep,config/config_K100x1x8.py}; do
	mkdir -p "$(dirname "$tree/training/$file")"
	touch "$tree/training/$file"
done
mkdir -p "$tree"/base/{configs,benchmarks/computation-FP32}
touch "$tree/base/benchmarks/computation-FP32/main.py"
conf=$tree/training/run_benchmarks/config/test_conf.py
cat >"$conf" <<END
'''Test Configs'''
# -*-coding:utf-8 -*-
VENDOR = "dcu"
ACCE_CONTAINER_OPT = "-v /opt/hyhal/:/opt/hyhal/ --device=/dev/kfd" + \\
    " --device=/dev/dri/ --group-add video"
ACCE_VISIBLE_DEVICE_ENV_NAME = "HIP_VISIBLE_DEVICES"
PIP_SOURCE = "http://pip.example/simple"
FLAGPERF_PATH = "/home/FlagPerf/training"
FLAGPERF_LOG_PATH = FLAGPERF_PATH + "/result/"
FLAGPERF_LOG_LEVEL = 'debug'
SHM_SIZE = "48G"
CLEAR_CACHES = True
'''
A comment with "model:framework" in it
'''
CASES = {
    #"bert:pytorch_1.8:A100:1:8:1": "/no/",
    "bert:pytorch_1.13:K100:1:8:2": "/raid/it's here",
    "llama2_7b:deepspeed:K100:2:8:1": "/raid/llama",
}
END
cat >"$tree/training/run_benchmarks/config/cluster_conf.py" <<'END'
HOSTS = ["10.1.2.2", "10.1.2.3"]
HOSTS_PORTS = [" ", " "]
SSH_PORT = "22"
END
printf 'seqlength = 4096\nbatchsize = 2\naccumulate_steps = 2 * 4\n' \
	>"$tree/training/dcu/llama2_7b-deepspeed/config/config_K100x2x8.py"
cat >"$tree/base/configs/host.yaml" <<'END'
FLAGPERF_PATH: "/home/FlagPerf/base"
FLAGPERF_LOG_PATH: "result"
VENDOR: "nvidia"
BENCHMARKS_OR_TOOLKITS: "BENCHMARK"
HOSTS: ["10.1.2.3", "10.1.2.9"]
NPROC_PER_NODE: 8
ACCE_CONTAINER_OPT: " --gpus all"
CASES:
    "computation-FP32": "pytorch_2.3"
END

run regatta import flagperf "$tree" "$BED/folder"
is $rc 0 "a tree is imported"
is "$out" "$BED/folder/flagperf-training.yaml
$BED/folder/flagperf-base.yaml
$BED/folder/flagperf-nodes" "sweeps of its suites, and a list of nodes"
like "$err" 'CLEAR_CACHES: caches of the host are not dropped' \
	"what could not be carried over is told"
like "$err" '--device /dev/kfd: the vendor.s profile gives' \
	"and what the profile does instead"
like "$err" "next: regatta plan $BED/folder/flagperf-training.yaml;" \
	"and what to type next"
is "$(grep -v '^#' "$BED/folder/flagperf-nodes")" "n1 10.1.2.2
n2 10.1.2.3
n3 10.1.2.9" "the nodes of all suites, once each"

run regatta plan "$BED/folder/flagperf-training.yaml" --format json
is $rc 0 "what is written is a sweep"
plan=$out
is "$(jq -r '.kept[] | "\(.cell) \(.repeats) \(.nodes) \(.vendor) \(.image)"' \
	<<<"$plan")" \
	"bert:pytorch_1.13:K100:1:8:2 2 1 hygon flagperf-dcu-pytorch_1.13:t_v0.1
llama2_7b:deepspeed:K100:2:8:1 1 2 hygon flagperf-dcu-deepspeed:t_v0.1" \
	"of the cases, as they are"
is "$(grep llama "$BED/folder/flagperf-training.yaml")" \
	'    "llama2_7b:deepspeed:K100:2:8:1": {data: "/raid/llama", batch: {sequence: 4096, micro: 2}}' \
	"with what a case's configuration says in literals"
like "$(<"$BED/folder/flagperf-training.yaml")" $'\nshm: 48G\n' "shared memory"
like "$(<"$BED/folder/flagperf-training.yaml")" "\"/raid/it's here\"" "a quote"
like "$(<"$BED/folder/flagperf-training.yaml")" $'used.\n# chip: K100\n' \
	"the chip that all cases name, as a comment"
ok '! grep -q "^chip:" "$BED/folder/flagperf-training.yaml"' \
	"since it is only the name of a configuration"
run regatta plan "$BED/folder/flagperf-base.yaml" --format json
is "$(jq -r '.kept[] | "\(.cell) \(.nodes) \(.devices) \(.image)"' <<<"$out")" \
	"computation-FP32 2 8 flagperf-base-nvidia-pytorch_2.3:t_v0.1" \
	"the base suite on all its hosts"
run regatta import flagperf "$tree" "$BED/folder"
is $rc 2 "a file that is there is left alone"

# What is wrong.
sed -i 's/^}/    "x:pytorch:K100:1:8:1": "\/d",\n    "bert:pytorch": "\/d",\n}/' "$conf"
run regatta import flagperf "$tree" "$BED/second"
is $rc 1 "cases that cannot run are an error"
like "$err" 'test_conf.py:20: x:pytorch:K100:1:8:1: no training/benchmarks/x/pytorch in ' \
	"one without its folder, with file and line"
like "$err" 'test_conf.py:21: bert:pytorch: a case of 2 fields' \
	"one with too few fields"
like "$err" '2 of 4 cases cannot run' "all are told"
is "$out" "$BED/second/flagperf-training.yaml
$BED/second/flagperf-base.yaml
$BED/second/flagperf-nodes" "what can be imported is"
is "$(grep -c '^    "' "$BED/second/flagperf-training.yaml")" 2 "without those"
run regatta import flagperf "$tree" "$BED/kept" --keep-going
is $rc 0 "with --keep-going that is no error"
sed -i 's/^VENDOR.*/import os\nVENDOR = os.environ["V"]/' "$conf"
run regatta import flagperf "$tree" "$BED/third" --keep-going
like "$err" 'test_conf.py:4: VENDOR: "os.environ.*" is not a literal' \
	"more than literals is told, with file and line"
is $rc 1 "and an error where it is needed"
is "$out" "$BED/third/flagperf-base.yaml
$BED/third/flagperf-nodes" "which does not keep the other suites"
rm -r "$BED/third"
sed -i 's/^VENDOR.*/VENDOR = "dcu"/; s/^CASES = {/CASES = {\n  1: "a",/' "$conf"
run regatta import flagperf "$tree" "$BED/third"
rm -r "$BED/third"
like "$err" 'test_conf.py:18: CASES: : expected strings' "no strings"
sed -i '/^  1: "a"/d' "$conf"
sed -i "s|: \"/raid/llama\"|: os.path.join('/raid', \"llama\")|" "$conf"
run regatta import flagperf "$tree" "$BED/fourth" --keep-going
is $rc 0 "a case whose path is computed does not keep the others"
like "$err" 'test_conf.py:20: CASES: llama2_7b:deepspeed:K100:2:8:1: "os.path.join.* is not a literal' \
	"and is told"
is "$(grep -c '^    "' "$BED/fourth/flagperf-training.yaml")" 1 "without it"
sed -i 's/^CASES = {/CASES = dict(**{/; s/^}/})/' "$conf"
run regatta import flagperf "$tree" "$BED/third"
like "$err" 'test_conf.py:17: CASES: "dict.* is not a literal' \
	"a call instead of a dict"
is $rc 1 "is refused"
rm -r "$BED/third"
sed -i 's/^})/}/' "$conf"
run regatta import flagperf "$tree" "$BED/third"
like "$err" 'test_conf.py:[0-9]*: this is not valid Python' "and what is no Python"
rm -r "$BED/third"
mkdir "$BED/bin"
run env PATH="$BED/bin" "$(command -v regatta)" import flagperf "$tree" "$BED/third"
is $rc 2 "without python3 nothing is imported"
like "$err" 'install the package python3' "and its package is named"
run regatta import flagperf "$BED/nowhere"
is $rc 2 "a tree that is not there"
mkdir "$BED/empty"
run regatta import flagperf "$BED/empty"
like "$err" 'no cases in training/run_benchmarks' "and an empty one"
run regatta import slurm "$tree"
is $rc 2 "nothing else is imported"
done_testing
