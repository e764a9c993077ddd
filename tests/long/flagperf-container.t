#!/bin/bash
# flagperf-container.t - what a container of the engine has that run.py of the
# real FlagPerf tree starts, and what ours has otherwise, for each vendor.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, which is not part
# of this project. The options come from the code of its run.py; the engine
# creates a container with them. Mounts are compared in flagperf-launchers.t;
# devices are those of the vendor's profile. Its limits are more than a
# machine of tests may set.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
need_root
cluster_need
[[ ${FLAGPERF_TREE-} ]] ||
	skip_all "FLAGPERF_TREE names no checkout of FlagOpen/FlagPerf"

vendors=(ascend cambricon hygon iluvatar kunlunxin metax mthreads nvidia)
must cluster_up ${#vendors[@]} one
image=$BED/image
must python_copy "$image" /usr/bin/{cat,sleep,chmod,touch}
ln -s bash "$image/bin/sh"
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must dk e1 import "$BED/image.tar" test/python:1 >/dev/null

tree=$BED/FlagPerf
training=$tree/training
mkdir -p "$training/benchmarks/m/pytorch" "$training/run_benchmarks"
touch "$training/run_benchmarks/prepare_in_container.py"
cat >"$training/benchmarks/m/pytorch/run_pretraining.py" <<END
import os, time
while not os.path.exists("$tree/go"):
    time.sleep(0.05)
END

# What run.py says, of a case whose data are in $BED.
cat >"$BED/options.py" <<'END'
import ast, os, sys, types
with open(sys.argv[1]) as file:
    tree = ast.parse(file.read())
value = next(node.value for node in ast.walk(tree)
             if isinstance(node, ast.Assign)
             and ast.unparse(node.targets[0]) == "container_start_args")
options = eval(compile(ast.Expression(value), "run.py", "eval"), {
    "os": os, "dp_path": sys.argv[2],
    "tc": types.SimpleNamespace(FLAGPERF_PATH=sys.argv[2], SHM_SIZE="64M"),
    "case_config": {"data_dir_host": sys.argv[3],
                    "data_dir_container": sys.argv[3]}})
print(options.replace(" --rm", "").replace(" --detach", ""))
END
run python3 "$BED/options.py" "$FLAGPERF_TREE/training/run_benchmarks/run.py" \
	"$training" "$BED"
# shellcheck disable=SC2086 # options
must dk e1 create $out --name theirs test/python:1 sleep infinity \
	>/dev/null

for ((i = 1; i <= ${#vendors[@]}; i++)); do
	vendor=${vendors[i - 1]} word=${vendors[i - 1]/hygon/dcu}
	machine=$BED/machine-$vendor
	must "$ROOT/tests/lab/machine" "$machine" "$vendor" 2
	AGENT_ARGS=(--device-root "$machine/dev" --sysfs-root "$machine/sys"
		--proc-root "$machine/proc" --file-root "$machine/files"
		--tools "$machine/bin")
	agent_stop "$i"
	rm -rf "$CLUSTER/n$i"
	must agent_up "$i"
	dk e1 tag test/python:1 "flagperf-$word-pytorch:t_v0.1"
	mkdir -p "$training/$word/m-pytorch/"{config,extern}
	touch "$training/$word/m-pytorch/config/config_Xx1x2.py"
	cat >"$BED/$vendor.yaml" <<END
sweep: $vendor
vendor: $vendor
timeout: 2m
shm: 64M
ulimits: {memlock: 65536, stack: 8388608}
flagperf:
  vendor: $word
  tree: $tree
  cases: {"m:pytorch:X:1:2:1": $BED}
END
done
must wait_for "[[ \$(nodes_get '[.[].vendor] | sort | join(\" \")') == '${vendors[*]}' ]]" 20

# Of the options, those that ours has otherwise. What only follows from
# --privileged, and what a profile says of devices, is left out.
# shellcheck disable=SC2016 # of jq
differs='[.[0].HostConfig, .[1].HostConfig] as [$theirs, $ours]
	| $theirs | keys - ["Binds", "Mounts", "Devices", "Tmpfs", "GroupAdd",
		"DeviceRequests", "LogConfig", "RestartPolicy", "CgroupParent",
		"Ulimits", "MaskedPaths", "ReadonlyPaths", "PortBindings"]
	| .[] | select(($theirs[.] // [] | tojson) != ($ours[.] // [] | tojson))
	| "\(.) \($theirs[.] | tojson) \($ours[.] | tojson)"'
for vendor in "${vendors[@]}"; do
	must submit "$BED/$vendor.yaml"
	must wait_for "mine=\$(dk e1 ps -q --filter label=regatta.job=$JOB) && [[ \$mine ]]" 30
	# shellcheck disable=SC2154 # mine is of wait_for
	dk e1 inspect theirs "$mine" >"$BED/both"
	capability='' security=',"seccomp=unconfined"'
	case $vendor in
	ascend | nvidia) security= ;;
	metax) security+=',"apparmor=unconfined"' ;;
	cambricon | hygon | kunlunxin | mthreads)
		capability='CapAdd null ["SYS_PTRACE"]'$'\n'
		;;
	esac
	is "$(jq -r "$differs" "$BED/both")" "${capability}CapDrop null [\"ALL\"]
Init true false
IpcMode \"host\" \"private\"
PidsLimit null 32768
Privileged true false
SecurityOpt [\"seccomp=unconfined\",\"label=disable\"] [\"no-new-privileges\"$security]
UTSMode \"host\" \"\"" "$vendor: ours differs as regatta-flagperf(7) says"
done
touch "$tree/go"
must dk e1 rm theirs >/dev/null
for ((i = 1; i <= ${#vendors[@]}; i++)); do
	must wait_sweep "$i" 30
done
ok 'cluster_clean' "nothing is left on the nodes"
done_testing
