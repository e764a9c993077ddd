#!/bin/bash
# flagscale.t - FlagPerf's 16 cases of FlagScale on four nodes: FlagScale's own
# runner goes from the first to all by ssh, where there is none.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, FLAGSCALE_TREE a
# clone of FlagOpen/FlagScale; neither is part of this project. Each case has
# FlagScale as of the commit that its configuration names, or a44556c. Scripts of
# both are run as they are, by this machine's Python, which needs the module
# omegaconf. torchrun, pip3 and what reads run.py's configuration (hydra) are
# stand-ins; a sleep of FlagPerf's, of five minutes, takes a second. The four
# nodes share a folder, as FlagPerf demands.
TEST_LIMIT=600
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
need_root
cluster_need
for tree in FLAGPERF_TREE FLAGSCALE_TREE; do
	[[ ${!tree-} ]] || skip_all "$tree names no checkout"
done
/usr/bin/python3 -c 'import omegaconf, yaml' 2>/dev/null ||
	skip_all "python3 has no module omegaconf"
must cluster_up 4 hosts

# ---- the image -----------------------------------------------------------

image=$BED/image
must python_copy "$image" /usr/bin/{tee,nohup,cat,chmod,sync}
ln -s bash "$image/bin/sh"
/usr/bin/python3 -c 'import asyncio, ctypes, http.client, logging.handlers, omegaconf, shutil, sys, uuid, yaml
for module in list(sys.modules.values()):
    if getattr(module, "__file__", None):
        print(module.__file__)' | while read -r module; do
	cp -L --parents "$module" "$image"
	[[ $module != *.so ]] || program_copy "$image" "$module"
done
# Its grammar is read as it is needed.
packages=$image/usr/lib/python3/dist-packages
/usr/bin/python3 -c 'import antlr4, omegaconf
for module in antlr4, omegaconf:
    print(module.__path__[0])' | while read -r module; do
	cp -rL "$module" "$packages"
done
mkdir "$packages/hydra"
cat >"$packages/hydra/__init__.py" <<'END'
import sys
from omegaconf import OmegaConf
def main(**options):
    def decorate(function):
        def run():
            words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
            folder = words["--config-path"]
            config = OmegaConf.load(folder + "/" + words["--config-name"] + ".yaml")
            for part in config.pop("defaults"):
                if part != "_self_":
                    for group, name in part.items():
                        config[group] = OmegaConf.load(
                            folder + "/" + group + "/" +
                            name.removesuffix(".yaml") + ".yaml")
            function(config)
        return run
    return decorate
END
# It trains when all four have met.
cat >"$image/usr/bin/torchrun" <<'END'
#!/usr/bin/python3
import os, socket, sys, time
words = sys.argv[1:]
node = words[words.index("--node_rank") + 1]
meeting = "/meeting/of"
own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
own.connect(("10.77.0.1", 9))
with open(meeting + "/" + node, "w") as out:
    out.write(own.getsockname()[0] + "\n")
while len(os.listdir(meeting)) < 4:
    time.sleep(0.05)
steps = int(open("/meeting/steps").read())
for step in range(1, steps + 1 if node == "3" else 0):
    print("[default7]: iteration %d/ %d | consumed samples: 8 | elapsed time per "
        "iteration (ms): 50.0 | learning rate: 1.0E-04 | global batch size: 1024 | "
        "lm loss: 2.0E+00 | loss scale: 1.0 | grad norm: 1.0 | number of skipped "
        "iterations: 0 | number of nan iterations: 0 |" % (step, steps))
END
# Debian's own comes before one of the packages.
rm -f "$image"/usr/lib/python3*/sitecustomize.py
cat >"$packages/sitecustomize.py" <<'END'
import time
sleep = time.sleep
time.sleep = lambda seconds: sleep(min(seconds, 1))
END
# What configurations source before they begin.
mkdir -p "$image/root/miniconda3/bin"
touch "$image/root/miniconda3/bin/activate" "$image/root/.bashrc"
printf '#!/bin/bash\n' >"$image/usr/bin/pip3"
chmod +x "$image/usr/bin/"{torchrun,pip3}
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must dk "$(node_engine 1)" import "$BED/image.tar" test/flagscale:1 >/dev/null
for engine in $(cluster_engines); do
	must copy_image "$(node_engine 1)" "$engine" test/flagscale:1
done

# ---- the cases -----------------------------------------------------------

tree=$BED/FlagPerf
mkdir -p "$tree/training" "$BED/data"
cp -r "$FLAGPERF_TREE/training/"{run_benchmarks,utils} "$tree/training"
cp -r "$FLAGPERF_TREE/utils" "$tree"
# A figure that one vendor does not publish: its configurations ask for it.
echo "MLU_FP16_FLOPS=1.0" >"$tree/MLU_FP16_FLOPS.py"

# of_config FILE NAME: what a configuration says
of_config()
{
	(cd "$tree/training/benchmarks/$model/flagscale" && python3 -c \
		'import runpy, sys; print(runpy.run_path(sys.argv[1])[sys.argv[2]])' \
		"$1" "$2")
}
# vendor_up VENDOR: four nodes with eight devices of it
vendor_up()
{
	local machine=$BED/machine-$1

	must "$ROOT/tests/lab/machine" "$machine" "$1" 8
	AGENT_ARGS=(--device-root "$machine/dev" --sysfs-root "$machine/sys"
		--proc-root "$machine/proc" --file-root "$machine/files"
		--tools "$machine/bin")
	for node in 1 2 3 4; do
		agent_stop $node
		rm -rf "$CLUSTER/n$node"
		must agent_up $node
		dk "$(node_engine $node)" tag test/flagscale:1 \
			"flagperf-$1-flagscale:t_v0.1"
	done
	must nodes_up 4 20
	must wait_for "[[ \$(nodes_get '[.[].vendor] | unique | join(\" \")') == $1 ]]" 20
}
# completes VENDOR MODEL CHIP
completes()
{
	local vendor=$1 model=$2 chip=$3 config home commit steps

	rm -rf "$BED/meeting" "$BED/scale"
	mkdir -p "$BED/meeting/of" "$BED/scale/FlagScale" \
		"$tree/training/"{benchmarks,"$vendor"}
	cp -r "$FLAGPERF_TREE/training/benchmarks/$model" "$tree/training/benchmarks"
	cp -r "$FLAGPERF_TREE/training/$vendor/$model-flagscale" "$tree/training/$vendor"
	config=$tree/training/$vendor/$model-flagscale/config/config_${chip}x4x8.py
	home=$(of_config "$config" scale_home)
	steps=$(of_config "$config" steps)
	echo "$steps" >"$BED/meeting/steps"
	commit=$(grep -oE 'git checkout [0-9a-f]+' "$config" | sed 's/.* //')
	git -C "$FLAGSCALE_TREE" archive "${commit:-a44556c}" run.py flagscale \
		examples/{llama,llava,mixtral} megatron/examples/multimodal \
		2>>"$BED/git.log" |
		tar -C "$BED/scale/FlagScale" -x
	cat >"$BED/sweep.yaml" <<-END
		sweep: flagscale
		vendor: $vendor
		timeout: 3m
		shm: 64M
		ulimits: {memlock: 65536, stack: 8388608}
		mounts:
		  - {host: $BED/scale, container: $(dirname "$home")}
		  - {host: $BED/meeting, container: /meeting}
		flagperf:
		  tree: $tree
		  cases:
		    $model:flagscale:$chip:4:8:1: $BED/data
	END
	must submit "$BED/sweep.yaml"
	if ! wait_for '[[ $(job_get $JOB .state) == @(completed|failed) ]]' 60; then
		diag "$(find "$tree/training/result" -name '*.log.txt' -exec tail {} +)"
		must cli cancel job "$JOB"
	fi
	must wait_sweep "$SWEEP" 30
	is "$(job_get "$JOB" '"\(.state) \(.text) \(.result.steps)"')" \
		"completed null $steps" \
		"$vendor, $model: completed on four nodes, its $steps steps counted"
	is "$(cat "$BED"/meeting/of/? | LC_ALL=C sort | xargs)" \
		"10.77.0.11 10.77.0.12 10.77.0.13 10.77.0.14" \
		"FlagScale started torchrun on each of them"
	like "$(cli logs "$JOB" --rank 0)" 'MFU: ' \
		"FlagPerf's script ended with its figures"
	rm -rf "$tree/training/result"
}

count=0
for vendor in cambricon kunlunxin metax nvidia; do
	vendor_up $vendor
	for config in "$FLAGPERF_TREE/training/$vendor"/*-flagscale/config/config_*x4x8.py; do
		model=${config#"$FLAGPERF_TREE/training/$vendor/"}
		chip=${config##*/config_}
		completes $vendor "${model%-flagscale/*}" "${chip%x4x8.py}"
		count=$((count + 1))
	done
done
is $count 16 "these are the 16"
ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
