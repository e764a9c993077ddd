# flagperf.sh - what a round of a FlagPerf case takes beside its task.
# shellcheck shell=bash
#
# For run, after lib.sh. A case of the framework pytorch, with FlagPerf's layout
# and steps (a container, prepare_in_container.py, one process), whose script
# sleeps 2 s. FlagPerf's own runner needs 66 s for such a round: it waits 60 s
# after each start, and looks every 10 s whether all is over. Beside it `docker
# run` of the same script in the same image.
#
# With FLAGPERF_TREE, a checkout of FlagOpen/FlagPerf, its own run.py runs such a
# case, too, on one node and on two; ssh is a local shell there.
# shellcheck source=tests/lab/python.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lab/python.sh"
# shellcheck source=tests/lab/flagperf.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lab/flagperf.sh"

FLAGPERF_ROUNDS=$((${QUICK:-0} ? 2 : 11))

flagperf_tree()
{
	local training=$1/training file

	for file in run_benchmarks/prepare_in_container.py \
		cpu/m-pytorch/{config/config_Xx{1,2}x1.py,extern/.gitkeep} \
		benchmarks/m/pytorch/run_pretraining.py; do
		mkdir -p "$(dirname "$training/$file")" &&
			touch "$training/$file" || return
	done
	cat >"$training/benchmarks/m/pytorch/run_pretraining.py" <<-'END'
		import time
		for step in range(1, 21):
		    print('[PerfLog] {"event": "STEP_END", "value": {"global_steps": %d, '
		          '"loss": 2.0, "seq/s": 10.0}, "metadata": {"rank": 0}}' % step)
		    time.sleep(0.1)
	END
}

# flagperf_time COMMAND...: seconds
flagperf_time()
{
	local began=${EPOCHREALTIME/[^0-9]/}

	"$@" >>"$BED/flagperf.log" 2>&1 || {
		tail -5 "$BED/flagperf.log" >&2
		return 1
	}
	awk -v us=$((${EPOCHREALTIME/[^0-9]/} - began)) \
		'BEGIN { printf "%.3f\n", us / 1000000 }'
}

# flagperf_rounds N: seconds of `regatta run` for so many
flagperf_rounds()
{
	cat >"$BED/flagperf.yaml" <<-END
		sweep: bench
		vendor: cpu
		flagperf:
		  tree: $BED/FlagPerf
		  cases: {"m:pytorch_1.13:X:1:1:$1": $BED/FlagPerf}
	END
	flagperf_time regatta run "$BED/flagperf.yaml" \
		--engine "$(engine_host bench)" --state "$BED/flagperf-$1"
}

flagperf_run()
{
	local image=$BED/python script one many bare=0 n s

	export REGATTA_IMAGES=$REGATTA_BUILD/images
	flagperf_tree "$BED/FlagPerf" && python_copy "$image" /usr/bin/{tee,ps,cat,sleep,ls} || return
	[[ ! ${FLAGPERF_TREE-} ]] ||
		python_modules "$image" '
sys.path.insert(0, sys.argv[1] + "/training")
from utils import flagperf_logger, start_task_helper
import shutil' "$FLAGPERF_TREE" || return
	ln -s bash "$image/bin/sh"
	tar -C "$image" --owner=0 --group=0 -c . >"$BED/python.tar" &&
		dk bench import "$BED/python.tar" \
			flagperf-cpu-pytorch_1.13:t_v0.1 >/dev/null || return
	script=$BED/FlagPerf/training/benchmarks/m/pytorch/run_pretraining.py
	one=$(flagperf_rounds 1) && many=$(flagperf_rounds "$FLAGPERF_ROUNDS") ||
		return
	for ((n = 1; n < FLAGPERF_ROUNDS; n++)); do
		s=$(flagperf_time dk bench run --rm --network host \
			-v "$BED/FlagPerf:$BED/FlagPerf" \
			flagperf-cpu-pytorch_1.13:t_v0.1 python3 -u "$script") ||
			return
		bare=$(awk -v a="$bare" -v b="$s" 'BEGIN { print a + b }')
	done
	awk -v one="$one" -v many="$many" -v n=$((FLAGPERF_ROUNDS - 1)) \
		-v bare="$bare" -v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		round = (many - one) / n
		printf "  %-44s %8s\n", "", "s"
		printf "  %-44s %8.2f\n", "regatta, a round", round
		printf "  %-44s %8.2f\n", "docker run of the script alone", bare / n
		printf "  %-44s %8.2f\n", "regatta run, its start and end", one - round
		printf "  %-44s %8.2f\n", "FlagPerf (60 s + task, in steps of 10)", 66
		printf "{\"benchmark\":\"flagperf\",\"way\":\"regatta\"," \
			"\"round_s\":%.3f}\n", round >>results
		printf "{\"benchmark\":\"flagperf\",\"way\":\"docker run\"," \
			"\"round_s\":%.3f}\n", bare / n >>results
	}'
	flagperf_beside
}

# flagperf_ours NODES: seconds of a round, from the order to its end
flagperf_ours()
{
	printf '%s\n' "sweep: beside" "vendor: cpu" "shm: 64M" "flagperf:" \
		"  tree: $BED/FlagPerf" \
		"  cases: {'m:pytorch_1.13:X:$1:1:1': $BED/data}" \
		>"$BED/beside.yaml"
	flagperf_time cli submit "$BED/beside.yaml" --wait
}

# flagperf_theirs NODES STUBS: the same of run.py, which has no exit code of it
flagperf_theirs()
{
	local log training=$BED/FlagPerf/training

	run_py_conf "$BED/FlagPerf" cpu CUDA_VISIBLE_DEVICES "" "$BED/data" \
		"m:pytorch_1.13:X:$1:1:1"
	rm -rf "$training"/result
	PATH=$2:$PATH flagperf_time \
		python3 "$training/run_benchmarks/run.py" || return
	for log in "$training"/result/run*/m:*/round1/*/rank*.out.log; do
		grep -q '"global_steps": 20' "$log" 2>/dev/null || {
			tail -20 "$training"/result/run*/flagperf_run.log >&2
			return 1
		}
	done
}

# Both do all their steps: containers, preparation, the script, its end.
flagperf_beside()
{
	local stubs=$BED/run.py nodes ours theirs host

	[[ ${FLAGPERF_TREE-} ]] || {
		echo "  FlagPerf's own run.py was not measured: FLAGPERF_TREE" \
			"names no checkout"
		return
	}
	if ((${QUICK:-0})); then
		echo "  FlagPerf's own run.py takes minutes: not with QUICK=1"
		return
	fi
	# shellcheck source=tests/system/cluster.sh
	. "$(dirname "${BASH_SOURCE[0]}")/../system/cluster.sh"
	mkdir -p "$stubs" "$BED/data" && local_ssh "$stubs" && cluster_up 2 hosts &&
		cp -r "$FLAGPERF_TREE"/{training,utils} "$BED/FlagPerf" &&
		flagperf_tree "$BED/FlagPerf" || return
	# Rights that the engine here cannot give are left out.
	stub "$stubs" docker <<-END
		words=()
		for word; do
			case \$word in
			--privileged=* | --ulimit=*) ;;
			*) words+=("\$word") ;;
			esac
		done
		PATH=$PATH exec docker -H unix://$BED/engines/host\${HOST##*.1}/docker.sock \
			"\${words[@]}"
	END
	for host in host1 host2; do
		dk "$host" import "$BED/python.tar" \
			flagperf-cpu-pytorch_1.13:t_v0.1 >/dev/null || return
	done
	printf '  %-34s %8s %8s %8s\n' "a round, in s" regatta run.py ratio
	for nodes in 1 2; do
		ours=$(flagperf_ours "$nodes") &&
			theirs=$(flagperf_theirs "$nodes" "$stubs") || return
		awk -v n="$nodes" -v a="$ours" -v b="$theirs" \
			-v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
			form = "{\"benchmark\":\"flagperf-beside\",\"way\":\"%s\"," \
				"\"nodes\":%d,\"round_s\":%.3f}\n"
			printf "  %-34s %8.2f %8.2f %8.3f\n", n " node(s)", a, b, a / b
			printf form, "regatta", n, a >>results
			printf form, "run.py", n, b >>results
		}'
	done
	cluster_down
}
