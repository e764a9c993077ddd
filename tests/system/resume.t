#!/bin/bash
# resume.t - what completed is not run again, what cannot run says why.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 1

# sweep_file NAME CODES: a cell for each exit code, which counts its runs
sweep_file()
{
	mkdir -p "$BED/host/$1"
	cat <<-END
		sweep: $1
		image: $TOOL_IMAGE
		mounts: [{host: $BED/host/$1, container: /host}]
		matrix: {code: [$2]}
		command: [/tool, append, /host/runs, "\${code}", ",", print,
		  1000, ",", exit, "\${code}"]
	END
}

sweep_file again "0, 3" >"$BED/first.yaml"
must submit "$BED/first.yaml"
must wait_sweep "$SWEEP" 60
first=$SWEEP
is "$(jobs_get "$first" '[.[].state] | join(" ")')" "completed failed" \
	"one cell completes, one fails"

run cli submit --resume --wait "$BED/first.yaml"
is "$rc" 1 "a sweep that is resumed fails as long as a cell does"
like "$err" "sweep 2: again, 2 jobs, 1 of them taken over" \
	"and says what it takes over"
is "$(runs again 0) $(runs again 3)" "1 2" "only the failed cell ran again"
is "$(job_get 3 '"\(.state) \(.from.job) \(.from.sweep)"')" "completed 1 1" \
	"a job that was taken over says from where"
run cli jobs --sweep 2
like "$out" "completed .*from job 1 of sweep 1" "also in the list"
cli logs 3 >"$BED/three"
cli logs 1 >"$BED/one"
ok '[[ -s $BED/one ]] && cmp "$BED/one" "$BED/three"' \
	"its output is that of the job that ran"
is "$(cli report 2 --format json |
	jq -c '[.rows[] | [.job, .state, .from.job]]')" \
	'[[3,"completed",1],[4,"failed",null]]' "and the report has both"

sweep_file again "0, 3, 4" >"$BED/more.yaml"
run cli submit --resume --wait "$BED/more.yaml"
like "$err" "sweep 3: again, 3 jobs, 1 of them" "a changed sweep is resumed"
is "$(job_get 5 .from.job)" 1 "from the job that ran, however often"
is "$(runs again 0) $(runs again 3) $(runs again 4)" "1 3 1" \
	"and new cells run"
sweep_file other "0" | sed 's|host/other|host/again|' >"$BED/other.yaml"
run cli submit --resume --wait "$BED/other.yaml"
is "$rc $(runs again 0)" "0 2" "nothing is taken from sweeps of another name"
must submit "$BED/first.yaml"
must wait_sweep "$SWEEP" 60
is "$(runs again 0)" 3 "without --resume all runs"

must controller_kill
must controller_up
must nodes_up 1 20
is "$(job_get 3 .from.job)" 1 "after a restart all is as it was"
run cli submit --resume --wait "$BED/other.yaml"
is "$rc $(runs again 0)" "0 3" "a sweep of nothing new completes at once"

# An image that is nowhere: what another node may mend is tried again.
cat >"$BED/image.yaml" <<END
sweep: image
image: 127.0.0.1:1/nothing:1
retries: 1
END
must submit "$BED/image.yaml"
must wait_sweep "$SWEEP" 120
before=$(job_get "$JOB" .attempt)
run cli retry "$SWEEP"
must wait_sweep "$SWEEP" 120
is "$before $(job_get "$JOB" .attempt)" "2 4" \
	"a job that is retried by hand has all its retries again"

# What no node can run.
cat >"$BED/wide.yaml" <<END
sweep: wide
image: $TOOL_IMAGE
command: [/tool, exit, 0]
matrix: {nodes: [1, 3]}
END
run cli submit "$BED/wide.yaml"
is "$rc" 0 "a sweep that needs more nodes is taken"
like "$err" "waits: nodes=3: needs 3 nodes of cpu; 1 is known" \
	"and told what it waits for"
wide=$out
must wait_for "[[ \$(jobs_get $wide '.[0].state') == completed ]]" 30
like "$(jobs_get "$wide" '.[1].waits')" "needs 3 nodes of cpu; 1 is known" \
	"so does the job"
run cli jobs
like "$err" "jobs of sweep $wide, the last sweep" "jobs lists the last sweep"
like "$out" "queued .*needs 3 nodes of cpu; 1 is known" "with the reason"
must agent_stop 1
wait_for "[[ \$(nodes_get '.[0].state') == down ]]" 20
run cli submit "$BED/wide.yaml"
like "$(jobs_get "$out" '.[0].waits')" \
	"needs 1 node of cpu; 1 is known; down, drained or without a device: 1" \
	"a node that is down is told from one that is not there"
run cli cancel "$wide" "$out"
run cli jobs --all --format json
ok '(($(jq ".jobs | length" <<<"$out") > 10))' "jobs --all lists all"
must agent_up 1
must nodes_up 1 20
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
