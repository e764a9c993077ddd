#!/bin/bash
# flagscale.t - FlagPerf's FlagScale case on four nodes: FlagScale's own runner
# goes from the first to all by ssh, where there is none.
#
# FLAGPERF_TREE and FLAGSCALE_TREE are checkouts of FlagOpen/FlagPerf at 1b5a0303
# and FlagOpen/FlagScale at a44556c; neither is part of this project. Scripts of
# both are run as they are, by this machine's Python, which needs the module
# omegaconf. torchrun, pip3 and what reads run.py's configuration (hydra) are
# stand-ins; the four nodes share a folder, as FlagPerf demands.
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
machine=$BED/machine
must "$ROOT/tests/lab/machine" "$machine" metax 8
AGENT_ARGS=(--device-root "$machine/dev" --sysfs-root "$machine/sys"
	--proc-root "$machine/proc" --file-root "$machine/files"
	--tools "$machine/bin")
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
                            folder + "/" + group + "/" + name + ".yaml")
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
host, port = words[words.index("--rdzv_endpoint") + 1].split(":")
meeting = "/share/project/FlagPerf/FlagScale/build/metax_C500/" + port
os.makedirs(meeting, exist_ok=True)
addresses = os.popen("/usr/bin/python3 -c 'import socket; s = socket.socket("
    "socket.AF_INET, socket.SOCK_DGRAM); s.connect((\"10.77.0.1\", 9)); "
    "print(s.getsockname()[0])'").read().strip()
with open(meeting + "/" + node, "w") as out:
    out.write(addresses + " " + os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] + "\n")
while len(os.listdir(meeting)) < 4:
    time.sleep(0.05)
for step in range(1, 501 if node == "3" else 0):
    print("[default7]: iteration %d/ 500 | consumed samples: 8 | elapsed time per "
        "iteration (ms): 50.0 | learning rate: 1.0E-04 | global batch size: 1024 | "
        "lm loss: 2.0E+00 | loss scale: 1.0 | grad norm: 1.0 | number of skipped "
        "iterations: 0 | number of nan iterations: 0 |" % step)
END
printf '#!/bin/bash\n' >"$image/usr/bin/pip3"
chmod +x "$image/usr/bin/"{torchrun,pip3}
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must dk "$(node_engine 1)" import "$BED/image.tar" \
	flagperf-metax-flagscale:t_v0.1 >/dev/null
for engine in $(cluster_engines); do
	must copy_image "$(node_engine 1)" "$engine" \
		flagperf-metax-flagscale:t_v0.1
done

# ---- the trees -----------------------------------------------------------

tree=$BED/FlagPerf model=llama3_70B_continuetrain
mkdir -p "$tree/training/"{benchmarks,metax} "$BED/data" "$BED/scale"
cp -r "$FLAGPERF_TREE/training/"{run_benchmarks,utils} "$tree/training"
cp -r "$FLAGPERF_TREE/utils" "$tree"
cp -r "$FLAGPERF_TREE/training/benchmarks/$model" "$tree/training/benchmarks"
cp -r "$FLAGPERF_TREE/training/metax/$model-flagscale" "$tree/training/metax"
mkdir "$BED/scale/FlagScale"
(cd "$FLAGSCALE_TREE" && cp -r run.py flagscale examples "$BED/scale/FlagScale")

cat >"$BED/sweep.yaml" <<END
sweep: flagscale
vendor: metax
timeout: 3m
shm: 64M
ulimits: {memlock: 65536, stack: 8388608}
mounts:
  - {host: $BED/scale, container: /share/project/FlagPerf/FlagScale/build/metax_C500}
flagperf:
  tree: $tree
  cases:
    $model:flagscale:C500:4:8:1: $BED/data
END
must submit "$BED/sweep.yaml"
if ! wait_for '[[ $(job_get $JOB .state) == @(completed|failed) ]]' 60; then
	diag "$(find "$tree/training/result" -name '*.log.txt' -exec tail {} +)"
	must cli cancel job "$JOB"
fi
must wait_sweep "$SWEEP" 30
is "$(job_get "$JOB" '"\(.state) \(.text)"')" "completed null" \
	"the case completed on four nodes"
is "$(cat "$BED"/scale/[0-9]*/? | LC_ALL=C sort)" \
	"10.77.0.11 1
10.77.0.12 1
10.77.0.13 1
10.77.0.14 1" "FlagScale started torchrun on each of them"
is "$(job_get "$JOB" .result.steps)" 500 "its steps are counted"
like "$(cli logs "$JOB" --rank 0)" 'MFU: ' \
	"FlagPerf's script ended with its figures"
ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
