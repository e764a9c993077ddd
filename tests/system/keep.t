#!/bin/bash
# keep.t - too much output loses its middle, old output goes, results stay.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need sqlite3
CONTROLLER_ARGS=(--job-logs 4M --audit-rows 5 --audit-days 0)
must cluster_up 2 one

# disk JOB: KiB that its output has
disk() { du -sk "$CLUSTER/controller/logs/$1" 2>/dev/null | cut -f1; }

# ends JOB BYTES WORD...: that many bytes of both ends of what the tool prints
# are there, and between them the word on the rest.
ends()
{
	local bytes=$2

	regatta logs "$1" --rank 0 >"$BED/got"
	shift 2
	"$REGATTA_BUILD/lab/tool" "$@" >"$BED/want" 2>/dev/null
	cmp -n "$bytes" "$BED/got" "$BED/want" &&
		cmp <(tail -c "$bytes" "$BED/got") \
			<(tail -c "$bytes" "$BED/want") &&
		[[ $(grep -c '^\[regatta: [0-9]* bytes were removed here\]$' \
			"$BED/got") == 1 ]] &&
		(($(stat -c %s "$BED/want") == $(stat -c %s "$BED/got") -
			$(grep '^\[regatta' "$BED/got" | wc -c) +
			$(grep -o 'regatta: [0-9]*' "$BED/got" | cut -c10-)))
}

# While it is written, over a controller that is killed meanwhile.
words=(print 30000000 "," wait /host/half "," print 30000000)
must submit_tool much "${words[@]}" , wait /host/go
much=$JOB
must wait_job "$much" running 20
must wait_for '(($(log_size "$much") > 9000000))' 30
must controller_kill
must controller_up
must wait_for '(($(log_size "$much") == 30000000))' 30
ok '(($(disk "$much") < 8000))' "a job that prints too much has its quota"
touch "$BED/host/much/half"
must wait_for '(($(log_size "$much") == 60000000))' 30
ok '(($(disk "$much") < 8000))' "which holds"
ok 'ends "$much" 500000 print 30000000 , print 30000000' \
	"beginning and end are there, and a word on the rest"
run regatta logs "$much" --tail 3 --rank 0
is "$out" "$(tail -3 "$BED/want")" "so are the last lines"
run regatta show job "$much"
like "$out" 'rank-0 .*57.2 MiB .*5[0-9]\.[0-9] MiB of it removed on 20' \
	"show tells of it"
ok '[[ $(log_of cluster/controller | grep -c "too much\|job has more than") \
	== 2 ]]' "each controller says it once"

# A controller that has to read a training again says what is not there.
must submit_tool cut framework=cpu model=gpt-nano print 6000000 , \
	wait /host/go , steps 20 0
cut=$JOB
must wait_job "$cut" running 20
must wait_for '(($(disk "$cut") < 4900 && $(log_size "$cut") == 6000000))' 20
must controller_kill
must controller_up
touch "$BED/host/cut/go"
must wait_job "$cut" completed 30
must wait_sweep "$SWEEP" 20
like "$(job_get "$cut" '.result | tojson')" \
	"rank-0: [0-9]+ bytes of it were removed before they were read" \
	"a result whose log had lost its middle says so"

# Ended jobs: an order, and what is computed from the log.
must submit_tool steps framework=cpu model=gpt-nano 'collect=[/kept]' \
	into /kept , print 1000 , into - , steps 4000 0
steps=$JOB
must wait_sweep "$SWEEP" 30
is "$(job_get "$steps" .state)" completed "(a training)"
run regatta verify "$steps"
is "$rc" 0 "its result comes out of its log"
run regatta gc --older 0 --keep 8K --format json
ok '[[ $(jq .jobs <<<"$out") == 2 ]]' "an order shortens it, and the other"
ok '(($(disk "$steps") < 100))' "to its ends"
like "$(cli files "$steps")" "/kept +- +removed with the old output" \
	"what it collected goes with that"
is "$(find "$CLUSTER"/controller/content/{kept,users} -type f)" '' \
	"from the disk"
like "$(cli show job "$steps")" files-removed "it is an event of the job"
run cli verify "$steps"
is "$rc" 1 "now it does not"
ok 'grep -q "job $steps: its log was shortened on 20..-..-..: .* are missing" \
	"$BED/out"' "for the log was shortened, it says"
run cli report "$SWEEP" --recompute
ok 'grep -q "job $steps stays as stored: its log was shortened on" \
	"$BED/err"' "and a report takes what is stored"

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
CONTROLLER_ARGS+=(--logs "$((total - 200))K" --log-ends 100K)
must controller_up
ok 'wait_for "((\$(disk $old) < 300))" 20' "old output is shortened"
ok 'ends "$old" 90000 print 900000' "to its ends"
ok 'log_is "$young" 1 0 print 400000' "and no more than has to be"
must controller_stop
CONTROLLER_ARGS+=(--logs 100K)
must controller_up
ok 'wait_for "[[ ! -d \$CLUSTER/controller/logs/$old ]]" 20' \
	"or removed, when that is not enough"
run regatta logs "$old"
like "$rc $err" "^2 .*the output of job $old was removed on 20" \
	"which is told to whom asks for it"
run regatta verify "$steps"
like "$rc $err" "^2 .*was removed" "who verifies is told"
like "$(job_get "$steps" '.result | type')" object "results stay"
like "$(regatta show job "$old")" "output-removed" "it is an event of the job"
ok 'wait_for "log_of cluster/controller | grep -q \"too much is stored\"" 20' \
	"what cannot be helped is said"
ok 'ends "$much" 500000 print 30000000 , print 30000000' \
	"a job that runs loses nothing by that"
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
ok 'wait_for "regatta audit | grep -q audit-trim" 20' \
	"that old orders are forgotten is one"
ok '(($(regatta audit --format json | jq ".audit | length") <= 6))' \
	"the last ones are kept"
is "$(regatta audit --format json |
	jq '[.audit[].act | select(. == "audit-trim")] | length')" 1 "once"
ok 'wait_for "regatta files $old | grep -q \"removed with\"" 20' \
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
ok 'wait_for "regatta audit | grep -q sweep-forget" 20' \
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
done_testing
