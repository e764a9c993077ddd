# flagperf.sh - what a round of a FlagPerf case takes beside its task.
# shellcheck shell=bash
#
# For run, after lib.sh. A case of the framework pytorch, with FlagPerf's layout
# and steps (a container, prepare_in_container.py, one process), whose script
# sleeps 2 s. FlagPerf's own runner needs 66 s for such a round: it waits 60 s
# after each start, and looks every 10 s whether all is over. Beside it `docker
# run` of the same script in the same image.
# shellcheck source=tests/lab/python.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lab/python.sh"

FLAGPERF_ROUNDS=$((${QUICK:-0} ? 3 : 11))

flagperf_tree()
{
	local training=$1/training file

	for file in run_benchmarks/prepare_in_container.py \
		cpu/m-pytorch/{config/config_Xx1x1.py,extern/.gitkeep} \
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
	flagperf_tree "$BED/FlagPerf" && python_copy "$image" || return
	tar -C "$image" --owner=0 --group=0 -c . |
		dk bench import - flagperf-cpu-pytorch_1.13:t_v0.1 >/dev/null ||
		return
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
}
