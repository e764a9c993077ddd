#!/bin/bash
# verify.t - results come out of their stored logs again; what made them is told.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 2 one

cat >"$BED/train.yaml" <<END
sweep: train
framework: cpu
model: gpt-nano
steps: 20
stage: pretrain
include:
  - {nodes: 1, batch: {micro: 4, accumulate: 1}}
  - {nodes: 2, batch: {micro: 2, accumulate: 1}}
END
must submit "$BED/train.yaml"
must wait_sweep "$SWEEP" 60
is "$(jobs_get "$SWEEP" 'map(.state) | unique | .[]')" completed \
	"two jobs train"

# What made it.
must run cli report "$SWEEP" --format json
cp "$BED/out" "$BED/rows.json"
row() { jq -r ".rows[1].$1" "$BED/rows.json"; }
is "$(row result.complete)" true "the last step is there"
is "$(row 'result.inputs.devices')" 2 "the result says what it follows from"
is "$(row 'result.inputs.parameters')" 124672 "the parameters, too"
is "$(row 'provenance.rules')" \
	"$(sha256sum "$REGATTA_IMAGES/frameworks/cpu.yaml" | cut -d' ' -f1)" \
	"provenance has the hash of the rules"
is "$(row 'provenance.streams | join(" ")')" rank-0 "what was read"
is "$(row 'provenance.hosts[0].nodes | sort | join(" ")')" "n1 n2" \
	"nodes that are alike share an entry"
is "$(row 'provenance.hosts[0].kernel')" "$(uname -r)" "with their kernel"
is "$(row 'provenance.hosts[0].engine')" "$(row provenance.environment.engine)" \
	"and engine"
is "$(row 'provenance.simulated')" false "nothing was simulated"
like "$(row 'provenance.image')" '^sha256:[0-9a-f]{64}$' "the image's id"

# Again, from the log.
run cli verify 1 2
is "$rc" 0 "results come out of their logs again"
is "$(grep -c 'the log gives the stored result' "$BED/out")" 2 \
	"and each is told"
run cli report "$SWEEP" --recompute --format json
ok 'grep -q "2 results recomputed, 0 differ" "$BED/err"' \
	"a report can be computed again"
ok 'cmp "$BED/out" "$BED/rows.json"' "and is the same"
run cli verify 77
is "$rc" 2 "there is no job 77"
ok 'grep -q "job 77" "$BED/err"' "which is told"

# Without a controller.
must cp "$(log_file 2)" "$BED/two.log"
run regatta verify --result "$BED/rows.json" --log "$BED/two.log" 2
is "$rc" 0 "a result and its log are enough"
jq '.rows[1] | .result.loss.last += 0.5' "$BED/rows.json" >"$BED/better.json"
run regatta verify --result "$BED/better.json" --log "$BED/two.log" \
	--format json
is "$rc" 1 "a figure that was changed is seen"
is "$(jq -c '[.[0].same, [.[0].differences[].field]]' "$BED/out")" \
	'[false,["loss.last"]]' "and named"
run regatta verify --result "$BED/rows.json" --log "$BED/two.log"
is "$rc" 2 "of two rows one must be named"

# Other rules: the figures are those that they find, and the stored ones stay.
must cp -r "$REGATTA_IMAGES" "$BED/other"
must sed -i 's/ .. memory (?<memory_mib>[^)]*) MiB//' \
	"$BED/other/frameworks/cpu.yaml"
ok '! grep -q "<memory_mib>" "$BED/other/frameworks/cpu.yaml"' \
	"rules that find no memory"
run cli report "$SWEEP" --recompute --format json --images "$BED/other"
ok 'grep -q "^job 1: memory_source: stored \"reported\", now \"cgroup\"" \
	"$BED/err"' "what differs by other rules is told"
is "$(jq -r '.rows[0].result.memory_source' "$BED/out")" cgroup \
	"and shown in the report"
run cli verify 1 --images "$BED/other"
is "$rc" 1 "so verify fails"
ok 'grep -q "log rules (.*, now .*)" "$BED/out"' "and says that the rules are others"
run cli verify 1
is "$rc" 0 "the stored result is as it was"

# A log that somebody changed on the controller's disk.
must sed 's/step 20\/20 | loss ./step 20\/20 | loss 9/' "$(log_file 1)" \
	>"$BED/changed.log"
cat "$BED/changed.log" >"$(log_file 1)"
run cli verify 1 2 --format json
is "$rc" 1 "a log that was changed is seen"
is "$(jq -c 'map(.same)' "$BED/out")" '[false,true]' "in its job only"

# An exit code of 0 before the last step.
line()
{
	printf 'step %d/9 | loss 2.5 | iteration 10.0 ms | 100.0 tokens/s | %s' \
		"$1" 'memory 1.0 MiB'
}
cat >"$BED/early.yaml" <<END
sweep: early
framework: cpu
image: $TOOL_IMAGE
retries: 0
processes: 1
matrix: {last: [8, 9]}
command: [/tool, error, "$(line 7)", ",", error, "$(line 8)", ",",
  error, "$(line 8 | sed 's/^step 8/step ${last}/')"]
END
must submit "$BED/early.yaml"
must wait_sweep "$SWEEP" 30
is "$(jobs_get "$SWEEP" 'map(.failure // .state) | join(" ")')" \
	"incomplete completed" "a training that ends early has failed"
is "$(job_get "$((JOB + 1))" '.result.flags | last.code')" \
	end-unreported \
	"one whose log lacks its last line is suspect"
is "$(job_get "$JOB" .text)" "the log ends at step 8 of 9" "and why is told"

# What a container reads and writes fills the page cache, and is no memory of its.
must submit_tool cold into /file , print 150000000 , into - , eat 40000000 , \
	steps 20 20
must wait_job "$JOB" completed 30
memory=$(job_get "$JOB" '.result.host_memory_mib | floor')
ok '((memory >= 38 && memory < 60))' "the page cache is left out of ${memory:-no} MiB"

# A log without an end of its own, that of a sweep with more steps.
steps()
{
	printf 'pull %s: drag 9.5 in 20 ms\n' 1 2 3
}
mkdir -p "$BED/host/asked" "$BED/host/enough"
steps >"$BED/host/asked/log"
cp "$BED/host/asked/log" "$BED/host/enough/log"
RULE='pull (?<step>\d+): drag (?<loss>\S+) in (?<iteration_ms>\d+) ms'
must submit_tool asked "log={rules: [{match: '$RULE'}]}" steps=7 \
	"env={STEPS: '\${steps}'}" retries=0 show /host/log
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" '"\(.failure): \(.text)"')" \
	"incomplete: the log ends at step 3 of 7" "the sweep asks for more steps"
must submit_tool enough "log={rules: [{match: '$RULE'}]}" steps=3 \
	"env={STEPS: '\${steps}'}" show /host/log
must wait_job "$JOB" completed 30
is "$(job_get "$JOB" '.result.flags | length')" 0 "those that it asks for are enough"

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
