#!/bin/bash
# keep.t - old output goes, results stay.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need sqlite3
CONTROLLER_ARGS=(--audit-rows 5 --audit-days 0)
must cluster_up 2 one

# One that runs through all of this.
must submit_tool much print 3000000 , wait /host/go
much=$JOB
must wait_job "$much" running 20
must wait_for '(($(log_size "$much") == 3000000))' 30

# Ended jobs: an order, and what is computed from the log.
must submit_tool steps framework=cpu model=gpt-nano 'collect=[/kept]' \
	into /kept , print 1000 , into - , steps 4000 0
steps=$JOB
must wait_sweep "$SWEEP" 30
is "$(job_get "$steps" .state)" completed "(a training)"
run regatta verify "$steps"
is "$rc" 0 "its result comes out of its log"
run regatta gc --older 1h --format json
is "$out" '{"jobs":0,"bytes":0}' "what is not old is left alone by an order"
run regatta gc --older 0 --format json
ok '[[ $(jq .jobs <<<"$out") == 1 && $(jq .bytes <<<"$out") -gt 100000 ]]' \
	"an order removes the output of one that is over"
ok '[[ ! -e $CLUSTER/controller/logs/$steps ]]' "all of it"
like "$(cli files "$steps")" "/kept +- +removed with the old output" \
	"what it collected goes with that"
is "$(find "$CLUSTER"/controller/content/{kept,users} -type f)" '' \
	"from the disk"
like "$(cli show job "$steps")" files-removed "it is an event of the job"
like "$(cli show job "$steps")" output-removed "and so is that of the output"
is "$(cli audit --format json |
	jq '[.audit[] | select(.act == "gc" and .error == null)] | length')" 2 \
	"an order is one, however long it takes"
run cli verify "$steps"
like "$rc $err" "^2 .*was removed" "who verifies is told"
run cli report "$SWEEP" --recompute
ok 'grep -q "job $steps keeps its stored result: .*was removed" "$BED/err"' \
	"and a report takes what is stored"

# By itself.
must submit_tool old 'collect=[/kept]' into /kept , print 1000 , \
	into - , print 900000
old=$JOB
must wait_sweep "$SWEEP" 20
must submit_tool young print 400000
young=$JOB
must wait_sweep "$SWEEP" 20
total=$(du -sk "$CLUSTER/controller/logs" | cut -f1)
must controller_stop
CONTROLLER_ARGS+=(--logs "$((total - 200))K")
must controller_up
ok 'wait_for "[[ ! -d \$CLUSTER/controller/logs/$old ]]" 20' \
	"old output is removed"
ok 'log_is "$young" 1 0 print 400000' "and no more than has to be"
must controller_stop
CONTROLLER_ARGS+=(--logs 100K)
must controller_up
run regatta logs "$old"
like "$rc $err" "^2 .*the output of job $old was removed on 20" \
	"which is told to whom asks for it"
like "$(job_get "$steps" '.result | type')" object "results stay"
like "$(regatta show job "$old")" "output-removed" "it is an event of the job"
ok 'wait_for "log_of cluster/controller | finds \"too much is stored\"" 20' \
	"what cannot be helped is said"
ok 'wait_for "[[ ! -d \$CLUSTER/controller/logs/$young ]]" 20' \
	"the younger one goes as well, when that is not enough"
ok 'log_is "$much" 1 0 print 3000000' "a job that runs loses nothing by that"
ok 'cli fetch "$old" -o "$BED/files" 2>/dev/null' \
	"collected files are no output: they stay"
touch "$BED/host/much/go"
must wait_job "$much" completed 30

# Orders.
for _ in 1 2 3 4 5 6 7; do
	must regatta node label n1 a=b 2>/dev/null
done
must controller_stop
CONTROLLER_ARGS+=(--disk-free 1000T)
must controller_up
ok 'wait_for "regatta audit | finds audit-trim" 20' \
	"that old orders are forgotten is one"
ok '(($(regatta audit --format json | jq ".audit | length") <= 6))' \
	"the last ones are kept"
is "$(regatta audit --format json |
	jq '[.audit[].act | select(. == "audit-trim")] | length')" 1 "once"
ok 'wait_for "regatta files $old | finds \"removed with\"" 20' \
	"when the disk is full, collected files go, too"

# Sweeps that are over for long, for who wants that.
printf 'sweep: base\nimage: %s\ncommand: [/tool, print, "10"]\n' \
	"$TOOL_IMAGE" >"$BED/base.yaml"
must submit "$BED/base.yaml"
base=$JOB
must wait_sweep "$SWEEP" 20
must cli submit --resume "$BED/base.yaml" >/dev/null 2>&1
must submit_tool last print 10
must wait_sweep "$SWEEP" 20
must controller_stop
must sqlite3 "$CLUSTER/controller/regatta.db" \
	"UPDATE states SET ended_ms = ended_ms - 3 * 86400000
	WHERE job IN ($old, $base, $JOB)"
CONTROLLER_ARGS+=(--sweep-days 2)
must controller_up
ok 'wait_for "regatta audit | finds sweep-forget" 20' \
	"a sweep that is over for long is forgotten"
run regatta show job "$old"
like "$rc $err" "^2 .*no job|not there|no such" "with its jobs"
ok '[[ ! -e $CLUSTER/controller/logs/$old ]]' "and their output"
is "$(job_get "$base" .state) $(job_get "$young" .state) $(job_get "$JOB" .state)" \
	"completed completed completed" \
	"not one that another has its result of, is younger, or the last"
is "$(sqlite3 "$CLUSTER/controller/regatta.db" 'PRAGMA foreign_key_check' \
	"SELECT job FROM events WHERE job = $old UNION
	SELECT job FROM results WHERE job = $old")" "" \
	"nothing is left of it"

# Those that a person names, unless they are needed.
run cli remove "$(job_get "$base" .sweep)"
like "$rc $err" "^1 .*another sweep has the result of job $base, too" \
	"a sweep is not removed that another has a result of"
run cli remove "$SWEEP"
like "$rc $err" "^1 .*sweep $SWEEP is the last one; it can be removed when" \
	"nor the last one"
must submit_tool runs wait /host/never
run cli remove "$SWEEP"
like "$rc $err" "^1 .*is the last one" "nor what runs"
runs=$JOB
must submit_tool after print 10
must wait_sweep "$SWEEP" 20
run cli remove "$(job_get "$runs" .sweep)"
like "$rc $err" "^1 .*job $runs has not ended" "even if it is not the last"
gone=$(job_get "$young" .sweep)
run cli remove "$gone"
like "$rc $err" "^0 .*sweep $gone removed, with 1 job" "others are"
run regatta show job "$young"
like "$rc $err" "^2 .*no job|not there|no such" "with their jobs"
ok '[[ ! -e $CLUSTER/controller/logs/$young ]]' "and their output"
run cli remove "$gone"
like "$rc $err" "^2 .*no sweep $gone" "once"
is "$(sqlite3 "$CLUSTER/controller/regatta.db" 'PRAGMA foreign_key_check')" "" \
	"the store is whole"
must cli cancel job "$runs"
done_testing
