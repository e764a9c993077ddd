#!/bin/bash
# formats.t - a sweep names the format of its log, or has it found.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
# shellcheck source=tests/lab/python.sh
. "$(dirname "$0")/../lab/python.sh"
need_root
cluster_need
must cluster_up 1

FORMATS=$ROOT/tests/samples/formats
# give NAME FORMAT: the log of that format, where the sweep NAME prints it
give()
{
	mkdir -p "$BED/host/$1"
	cp "$FORMATS/$2.log" "$BED/host/$1/log"
}

must give named nanogpt
must submit_tool named log=nanogpt show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.result.steps) \(.result.loss.first) \(.result.loss.last)"')" \
	'20 4.5 3.25' "the log is read by the format that the sweep names"
is "$(job_get "$JOB" '.provenance | "\(.framework) \(.log)"')" 'null nanogpt' \
	"which the result tells"

must give found torchtitan
must submit_tool found log=auto show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.provenance.log) \(.result.steps) \(.result.loss.last)"')" \
	'torchtitan 20 3.25' "the format of a log is found"
is "$(job_get "$JOB" '.result.flags | map(select(.code == "formats-tied")) | length')" 0 \
	"and no other fits as well"
run cli report "$SWEEP" --recompute --format json
ok 'grep -q "1 results\? recomputed, 0 differ" "$BED/err"' \
	"and the same is found when it is computed again"

# Of a log with lines of two programs nobody knows which is meant.
mkdir "$BED/host/tied"
{
	for step in 1 2 3; do
		sed "s/^step    1/step    $step/; q" "$FORMATS/llmc.log"
	done
	for step in 10 20 30; do
		sed "s/^1: //; s/step: 10/step: $step/; s/3.5000/9.$step/; q" \
			"$FORMATS/torchtitan.log"
	done
} >"$BED/host/tied/log"
must submit_tool tied log=auto show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '.result.flags | map(select(.code == "formats-tied")) | length')" 1 \
	"two formats that read as much, but not the same, are told"

mkdir "$BED/host/own"
printf 'pull %s of 3: drag %s.5 in 20 ms\n' 1 9 2 8 3 7 >"$BED/host/own/log"
RULE='pull (?<step>\d+) of (?<steps>\d+): drag (?<loss>\S+) in (?<iteration_ms>\d+) ms'
must submit_tool own "log={rules: [{match: '$RULE'}]}" show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '.result | "\(.steps) \(.loss.last) \(.iteration_ms.median)"')" \
	'3 7.5 20' "rules that stand in the sweep read the log"
is "$(job_get "$JOB" '.provenance | .log as $log |
	"\($log | test("^rules-[0-9a-f]{8}$")) \(.described.frameworks[$log] == .rules)"')" \
	'true true' "and the provenance names them by their content"
controller_kill
controller_up
run cli report "$SWEEP" --recompute --format json
ok 'grep -q "1 results\? recomputed, 0 differ" "$BED/err"' \
	"which the controller has kept for a second reading"

# A folder of one's own has what the controller's has not, or otherwise.
cp -r "$REGATTA_BUILD/images" "$BED/mine"
cat >"$BED/mine/frameworks/rower.yaml" <<END
framework: rower
log: {like: [nanogpt], rules: [{match: '$RULE'}]}
END
sed -i 's/^title:.*/title: changed/' "$BED/mine/frameworks/nanogpt.yaml"
export REGATTA_IMAGES=$BED/mine
mkdir "$BED/host/sent"
cp "$BED/host/own/log" "$BED/host/sent/log"
must submit_tool sent framework=rower_2 show /host/log
is "$(grep -o 'sending frameworks/.*' "$BED/words")" \
	"sending frameworks/nanogpt: the controller has another
sending frameworks/rower: the controller has none" \
	"submit sends along what the controller lacks or has otherwise"
unset REGATTA_IMAGES
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.result.steps) \(.result.loss.last) \(.provenance.framework)"')" \
	'3 7.5 rower' "and the job's log is read by it"
is "$(job_get "$JOB" '.provenance.described.frameworks | keys | join(" ")')" \
	'nanogpt rower' "which the provenance names"
run cli report "$SWEEP" --recompute --format json
ok 'grep -q "1 results\? recomputed, 0 differ" "$BED/err"' \
	"and a second reading finds with the sweep"
ok '! submit_tool unsent framework=rower show /host/log &&
	grep -q "unknown framework .rower.; .* --images DIR" "$BED/words"' \
	"a framework that is nowhere is an error that says how it comes along"

must give other timm
must submit_tool other log=nanogpt show /host/log
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" .failure)" no-metric \
	"a log that is not in the named format gives no figures"
is "$(job_get "$JOB" '.result.flags | map(select(.code == "line-unread" and (.words[0] | test("[0-9]")))) | length > 0')" \
	true "but the lines that look most like them"
is "$(job_get "$JOB" '.result.flags | last.code')" learn "and what to try"
# A framework says how a program starts; its log may be of any format.
must submit_tool other framework=pytorch show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.provenance.framework) \(.provenance.log)"')" \
	'pytorch timm' "if the framework's own rules read nothing, the format is found"
mkdir "$BED/host/unseen"
printf 'iter [%s/3] loss: 2.%s (0.5 s/it, 640 samples/s)\n' 1 5 2 4 3 3 \
	>"$BED/host/unseen/log"
must submit_tool unseen framework=pytorch show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.provenance.log) \(.result.steps) \(.result.iteration_ms.median) \(.result.samples_per_second)"')" \
	'generic 3 500 640' "a log that no format knows is read by the meaning of its names"
is "$(job_get "$JOB" '.result.flags | map(select(.code == "by-meaning")) | length')" 1 \
	"which the result tells"
run cli report "$SWEEP" --recompute --format json
ok 'grep -q "1 results\? recomputed, 0 differ" "$BED/err"' \
	"and it is read again in the same way"
run cli show job "$JOB"
ok 'grep -q "by their meaning" "$BED/out" && ! grep -q "metrics:" "$BED/out"' \
	"show job says so"
printf ':::MLLOG {"key": "%s", "value": %s, "time_ms": 1, "metadata": {}}\n' \
	eval_accuracy 0.75 run_stop null >"$BED/host/unseen/log"
must submit_tool unseen log=auto show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.provenance.log) \(.result.metrics.eval_accuracy)"')" \
	'mlperf 0.75' "a log with figures of the whole run alone has a format, too"
run cli show job "$JOB"
ok 'grep -q "metrics: .*eval_accuracy.*0.75" "$BED/out"' "and show job has them"
cp "$FORMATS/../log-variants/hf-summary-block.log" "$BED/host/unseen/log"
must submit_tool unseen framework=pytorch show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.provenance.log) \(.result.steps) \(.result.samples_per_second) \(.result.metrics.train_loss)"')" \
	'hf-trainer null 3.264 1.2345' \
	"such a log is found where the framework's own rules read nothing"
run cli show job "$JOB"
ok 'grep -q "metrics: .*train_runtime_s.*920.5" "$BED/out"' "and shown"
run cli extract "$BED/host/unseen/log" --format text
ok 'grep -q "^metrics: .*train_runtime_s 920.5" "$BED/out"' "as by extract"
must submit_tool nothing log=auto print 1000
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" .failure)" no-metric "nor does one that is in none"
like "$(job_get "$JOB" .result.text)" '^no format matches the log; ' "which is told"

mkdir "$BED/host/strange"
printf 'stroke %s: lost 2.%s in time 3.5, 88 tokens\n' 1 1 2 2 >"$BED/host/strange/log"
must submit_tool strange log=auto show /host/log
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" '.result.flags | map(select(.code == "line-unread" and (.words[0] | test("stroke 1")))) | length')" 1 \
	"with the lines that look most like figures"

give default torchtitan
must submit_tool default show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.provenance.log) \(.result.steps)"')" 'torchtitan 20' \
	"where no framework is named, the format is found as well"
must submit_tool plain print 1000
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.result.measured) \(.result.flags | length)"')" 'false 0' \
	"and a command that prints no figures is fine"

mkdir "$BED/host/long"
{
	head -c 3000000 /dev/zero | tr '\0' x | fold -w 100
	cat "$FORMATS/torchtitan.log"
} >"$BED/host/long/log"
must submit_tool long show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '"\(.provenance.log) \(.result.steps)"')" 'torchtitan 20' \
	"so it is behind 3 MB of other output"

# The example of regatta-sweep(5), as it stands, in an image of that name.
must mkdir -p "$BED/train/bin"
must program_copy "$BED/train" /bin/bash /bin/{sleep,mkdir,cat}
must cp "$FORMATS/nanogpt.log" "$BED/train"
cat >"$BED/train/bin/torchrun" <<'END'
#!/bin/bash
# torchrun ... train.py --steps N --batch MICRO
[[ $1 != --log-dir=* ]] || {
	# As it does with --redirects 3: a folder for each rank.
	for rank in 2 0 1 3; do
		mkdir -p "${1#*=}/none_x/attempt_0/$rank"
		cat /nanogpt.log >"${1#*=}/none_x/attempt_0/$rank/stdout.log"
		echo "a warning" >"${1#*=}/none_x/attempt_0/$rank/stderr.log"
	done
	exit
}
steps=${*: -3:1} micro=${*: -1}
for ((i = 1; i <= steps; i++)); do
	sleep 0.0$((micro * 2))
	echo "step $i/$steps loss $((9 - i / 4)).5 $((micro * 20)).0 ms"
done
END
must chmod +x "$BED/train/bin/torchrun"
tar -C "$BED/train" -c . | dk e1 import - registry.example/train:1 >/dev/null
sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$ROOT/controller/cli/regatta-sweep.5" |
	sed '1,/^\.Bd/d; /^\.Ed/d; s/\\e/\\/g' >"$BED/scaling.yaml"
must submit "$BED/scaling.yaml"
ok 'wait_sweep "$SWEEP" 30' "the example of regatta-sweep(5) runs as it stands"
is "$(for job in $((JOB)) $((JOB + 1)); do
	job_get "$job" '.result | "\(.steps) \(.loss.last) \(.iteration_ms.median)
		\(.tokens_per_second_per_device | round)"'
done | xargs)" '20 4.5 40 6400 20 4.5 80 6400' "and ends with figures"

# Where launchers write files, one of them has the log.
for log in nanogpt auto; do
	printf '%s\n' 'sweep: redirected' 'image: registry.example/train:1' \
		"log: $log" 'follow: ["/tmp/logs/*/attempt_*/*/std*.log"]' \
		'command: [torchrun, --log-dir=/tmp/logs, train.py]' \
		>"$BED/redirected.yaml"
	must submit "$BED/redirected.yaml"
	ok 'wait_sweep "$SWEEP" 30' "a launcher that redirects output, with log: $log"
	is "$(job_get "$JOB" '"\(.result.steps) \(.result.loss.last) \(.provenance.streams[])"')" \
		'20 3.25 node-0.tmp-logs-none_x-attempt_0-0-stdout.log' \
		"is read from the file of its first rank"
done

printf '%s\n' 'sweep: wrong' 'image: x' 'command: [x]' 'log: nanogtp' \
	>"$BED/wrong.yaml"
is "$(cli plan "$BED/wrong.yaml" 2>&1 | grep -c 'nanogtp.*nanogpt')" 1 \
	"an unknown format is an error that says what is near"
must cluster_clean
done_testing
