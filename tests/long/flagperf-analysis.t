#!/bin/bash
# flagperf-analysis.t - FlagPerf's own analysis reads what is exported: of the
# base suite for eight vendors, of operation for five, of inference for four.
#
# FLAGPERF_TREE is a checkout of FlagOpen/FlagPerf at 1b5a0303, which is not part
# of this project. In a copy of it the programs that measure are replaced by ones
# that print a result and last until their devices were sampled. What run.py does
# with the logs at its end, summary_logs() or compilation_result() with the
# vendor's _analysis.py, is FlagPerf's.
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

# ---- the tree --------------------------------------------------------------

tree=$BED/FlagPerf
mkdir -p "$tree"
cp -r "$FLAGPERF_TREE/"{base,operation,inference} "$tree"
# program SUITE FILE: which waits, and says what else is read from stdin
program()
{
	{
		printf 'import os, sys, time\n'
		printf 'while not os.path.exists("%s/%s/sampled"):\n' "$tree" "$1"
		printf '    time.sleep(0.05)\n'
		cat
	} >"$tree/$1/$2"
}
program base benchmarks/computation-FP32/main.py \
	<<<'print("[FlagPerf Result]Rank 0'"'"'s computation-FP32=19.5TFLOPS")'
program operation benchmarks/mm/main.py \
	<<<'print("[FlagPerf Result]Rank 0'"'"'s mm-FP32=19.5TFLOPS")'
program inference run_inference.py <<'END'
logs = sys.argv[sys.argv.index("--log_dir") + 1]
with open(logs + "/container.out.log", "w") as out:
    out.write("INFO - Finish Info : {'precision': 'fp16', 'flops': 1.2e13}\n")
END
: >"$tree/inference/tools/prepare_in_container.py"

image=$BED/image
must python_copy "$image"
ln -s bash "$image/bin/sh"
# shellcheck disable=SC2016 # for the script
printf '#!/bin/bash\nexec python3 main.py\n' >"$image/usr/bin/torchrun"
chmod +x "$image/usr/bin/torchrun"
tar -C "$image" --owner=0 --group=0 -c . >"$BED/image.tar"
must cluster_up 1
must dk e1 import "$BED/image.tar" test/python:1 >/dev/null

# ---- theirs ----------------------------------------------------------------

# Of run.py only this one function: the rest wants a cluster.
cat >"$BED/analyse.py" <<'END'
import ast, glob, importlib, os, sys, types
suite, vendor, folder = sys.argv[1:]
sys.path.insert(0, os.getcwd())
place, = glob.glob(folder + "/*_noderank0")
host = os.path.basename(place).removesuffix("_noderank0")
lines = []
names = {"ast": ast, "importlib": importlib, "os": os, "logger":
         types.SimpleNamespace(info=lines.append, error=sys.exit)}
config = types.SimpleNamespace(VENDOR=vendor, HOSTS=[host], NPROC_PER_NODE=8,
                               BENCHMARKS_OR_TOOLKITS="BENCHMARK")
wanted = "compilation_result" if suite == "inference" else "summary_logs"
for part in ast.parse(open("run.py").read()).body:
    if isinstance(part, ast.FunctionDef) and part.name == wanted:
        exec(compile(ast.Module([part], []), "run.py", "exec"), names)
sys.stdout = sys.stderr # some vendors' analysis prints each line
if suite != "inference":
    found = names[wanted](config, folder)[host]
    told = [sum(map(bool, found["vendor"][what].values()))
            for what in ("temp", "power", "mem")]
    told += [len(found["mem"]) > 0] + found["flagperf"]
else:
    try:
        names[wanted](place, config)
    except ZeroDivisionError: # no peak stands there for kunlunxin
        lines.append("vendor: no peak")
    module = importlib.import_module("docker_images.%s.%s_analysis" % (vendor, vendor))
    usage, most, *_ = module.analysis_log("%s/%s_monitor.log" % (place, vendor))
    told = 0 < usage <= most, len(lines) > 0
print(*told, file=sys.__stdout__)
END

# ---- ours ------------------------------------------------------------------

# analysed VENDOR CASE SUITE JOB
analysed()
{
	local want="8 8 8 True [FlagPerf Result]Rank 0's ${2%%:*}"

	want=${want/%mm/mm-FP32}=19.5TFLOPS
	[[ $3 != inference ]] || want="True True"
	run env -C "$FLAGPERF_TREE/$3" PYTHONDONTWRITEBYTECODE=1 python3 \
		"$BED/analyse.py" "$3" "$1" "$exported/$2"
	is "$out" "$want" "$1: its analysis reads the log of $3" ||
		diag "$err" "$(job_get "$4" '"\(.state) \(.text)"')" \
			"$(find "$exported/$2" -name "$1_monitor.log" -exec head {} +)"
}

count=0
for vendor in ascend cambricon dcu iluvatar kunlunxin metax mthreads nvidia; do
	# The word that FlagPerf has for a vendor, and ours.
	own=${vendor/dcu/hygon}
	machine=$BED/machine-$own
	must "$ROOT/tests/lab/machine" "$machine" "$own" 8
	AGENT_ARGS=(--device-root "$machine/dev" --sysfs-root "$machine/sys"
		--proc-root "$machine/proc" --file-root "$machine/files"
		--tools "$machine/bin")
	agent_stop 1
	rm -rf "$CLUSTER/n1" "$tree"/*/sampled
	must agent_up 1
	must wait_for "[[ \$(nodes_get '.[].vendor') == $own ]]" 20
	must nodes_up 1 20

	suites=() cases=()
	{
		printf '%s\n' "sweep: all" "vendor: $own" "timeout: 1m" "shm: 64M" \
			"ulimits: {memlock: 65536, stack: 8388608}" "flagperf:" \
			"  vendor: $vendor" "  tree: $tree"
		for suite in base operation inference; do
			folder=$FLAGPERF_TREE/$suite/vendors
			[[ $suite != inference ]] ||
				folder=$FLAGPERF_TREE/inference/docker_images
			[[ -e $folder/$vendor/${vendor}_analysis.py ]] ||
				continue
			case $suite in
			base)
				case=computation-FP32:X
				echo "  base: {kind: benchmark, processes: 8, cases: {'$case': own}}"
				;;
			operation)
				case=mm:FP32:19.5:nativetorch:X
				echo "  operation: {processes: 8, cases: {'$case': own}}"
				;;
			inference)
				case=resnet50:own
				echo "  inference: {processes: 8, cases: {'$case': $tree}}"
				;;
			esac
			suites+=("$suite") cases+=("$case")
		done
	} >"$BED/all.yaml"
	for suite in "${suites[@]}"; do
		name=flagperf-$suite-$vendor-own:t_v0.1
		must dk e1 tag test/python:1 "$name"
	done
	must submit "$BED/all.yaml"
	mapfile -t jobs < <(jobs_get "$SWEEP" '.[].job')
	for i in "${!jobs[@]}"; do
		samples=$CLUSTER/controller/logs/${jobs[i]}/1/samples-0.log
		wait_for "[[ \$(grep -c '\"d\":' $samples) -ge 1 ]]" 40
		touch "$tree/${suites[i]}/sampled"
	done
	must wait_sweep "$SWEEP" 60
	run cli export flagperf "$SWEEP" "$BED/exported-$vendor"
	exported=$out
	for i in "${!jobs[@]}"; do
		analysed "$vendor" "${cases[i]}" "${suites[i]}" "${jobs[i]}"
		count=$((count + 1))
	done
done
is $count 17 "these are all that the tree has of these vendors"
done_testing
