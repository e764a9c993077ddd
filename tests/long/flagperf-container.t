#!/bin/bash
# flagperf-container.t - what a container of the engine has that run.py of the
# real FlagPerf tree starts, and what ours has otherwise, for each vendor: what
# regatta-flagperf(7) says, no more and no less.
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

# What a run.py says, of a case whose data are in $BED.
cat >"$BED/options.py" <<'END'
import ast, os, sys, types
run_py, path, data = sys.argv[1:]
with open(run_py) as file:
    tree = ast.parse(file.read())
value = next(node.value for node in ast.walk(tree)
             if isinstance(node, ast.Assign)
             and ast.unparse(node.targets[0]) == "container_start_args")
config = types.SimpleNamespace(FLAGPERF_PATH=path, SHM_SIZE="64M")
print(eval(compile(ast.Expression(value), run_py, "eval"), {
    "os": os, "dp_path": path, "tc": config, "config": config,
    "case_config": {"data_dir_host": data, "data_dir_container": data}}))
END
run python3 "$BED/options.py" "$FLAGPERF_TREE/training/run_benchmarks/run.py" \
	"$training" "$BED"
out=${out/ --rm/} out=${out/ --detach/}
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

# Of the other suites, the line that plan shows.
for suite in base operation inference; do
	case $suite in
	base) cases='kind: benchmark, cases: {"computation-FP32:A100": f}' ;;
	operation) cases='cases: {"abs:FP32:19.5:nativetorch:A100_40_SXM": f}' ;;
	inference) cases="cases: {\"resnet50:f\": $BED}" ;;
	esac
	printf '%s\n' "sweep: lines" "vendor: nvidia" "shm: 64M" "flagperf:" \
		"  tree: $FLAGPERF_TREE" "  $suite: {options: --gpus all, $cases}" \
		>"$BED/$suite.yaml"
	run python3 "$BED/options.py" "$FLAGPERF_TREE/$suite/run.py" \
		"$FLAGPERF_TREE/$suite" "$BED"
	name=flagperf-$suite-nvidia-f
	is "$(regatta plan "$BED/$suite.yaml" --commands | tail -n +2 | tr -s ' ')" \
		"sudo docker run$out --gpus all --name=$name-t_v0.1-container \"$name:t_v0.1\" sleep infinity" \
		"$suite: plan shows the docker run of run.py"
done

# What ours has otherwise, by the names of regatta-flagperf(7). Left out are mounts,
# limits, and what a client asks of output; empty is as good as null.
cat >"$BED/differs.jq" <<'END'
{
	Privileged: "capabilities", CapAdd: "capabilities", CapDrop: "capabilities",
	SecurityOpt: "security", MaskedPaths: "proc", ReadonlyPaths: "proc",
	PidsLimit: "processes", Init: "init", Cmd: "init", Entrypoint: "init",
	Healthcheck: "init", IpcMode: "ipc", UTSMode: "uts", LogConfig: "log",
	StopSignal: "stop", StopTimeout: "stop", Name: "name", Labels: "name",
	Devices: "profile", GroupAdd: "profile"
} as $names
| def plain: if . == null or length == 0 then null else . end;
map(.HostConfig + .Config + {Name, Image}) as [$theirs, $ours]
| $theirs + $ours | keys - ["Binds", "Mounts", "Ulimits", "AttachStdout",
	"AttachStderr"]
| .[] | . as $key
| [$theirs[$key], $ours[$key]] | map(if type == "boolean" then . else plain end)
| select(.[0] != .[1])
| "\($names[$key] // "unknown") \($key) \(map(tojson) | join(" "))"
END
for vendor in "${vendors[@]}"; do
	must submit "$BED/$vendor.yaml"
	must wait_for "mine=\$(dk e1 ps -q --filter label=regatta.job=$JOB) && [[ \$mine ]]" 30
	# shellcheck disable=SC2154 # mine is of wait_for
	dk e1 inspect theirs "$mine" >"$BED/both"
	run jq -rf "$BED/differs.jq" "$BED/both"
	cat "$BED/out" >>"$BED/found"
	capability='' security=',"seccomp=unconfined"'
	case $vendor in
	ascend | nvidia) security= ;;
	metax) security+=',"apparmor=unconfined"' ;;
	cambricon | hygon | kunlunxin | mthreads)
		capability='capabilities CapAdd null ["SYS_PTRACE"]'$'\n'
		;;
	esac
	is "$(grep -vE '^(log|name|proc|profile|stop) ' <<<"$out" |
		sed -E 's|/regatta-[0-9a-f]{32}|/regatta-ID|')" \
		"${capability}capabilities CapDrop null [\"ALL\"]
init Cmd [\"sleep\",\"infinity\"] null
init Entrypoint null [\"/regatta-ID\"]
init Healthcheck null {\"Test\":[\"NONE\"]}
init Init true false
ipc IpcMode \"host\" \"private\"
processes PidsLimit null 32768
capabilities Privileged true false
security SecurityOpt [\"seccomp=unconfined\",\"label=disable\"] [\"no-new-privileges\"$security]
uts UTSMode \"host\" null" "$vendor: ours differs as regatta-flagperf(7) says"
done
is "$(cut -d' ' -f1 "$BED/found" | sort -u | grep -v profile)" \
	"$(python3 "$ROOT/tests/lab/flagperf_differences.py" container \
		"$ROOT/controller/cli/regatta-flagperf.7")" \
	"the page has these differences, and no others"
is "$(grep -E '^(log|stop) ' "$BED/found" | sort -u)" \
	'log LogConfig {"Type":"json-file","Config":{}} {"Type":"none","Config":{}}
stop StopSignal null "SIGTERM"
stop StopTimeout null 20' "and says what they are"
touch "$tree/go"
must dk e1 rm theirs >/dev/null
for ((i = 1; i <= ${#vendors[@]}; i++)); do
	must wait_sweep "$i" 30
done
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
