#!/bin/bash
# until.t - repeats until the rate is known.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 1

# until_file NAME UNTIL: a cell that prints what stands in a file of the host
until_file()
{
	mkdir -p "$BED/host/$1"
	cat <<-END
		sweep: $1
		framework: cpu
		image: $TOOL_IMAGE
		until: $2
		mounts: [{host: $BED/host/$1, container: /host}]
		command: [/tool, wait, /host/go, ",", rename, /host/go,
		  /host/gone, ",", show, /host/log]
	END
}

# let_go NAME MS: the repeat that waits runs, with steps of MS; 0: it fails
let_go()
{
	local i

	rm -f "$BED/host/$1/log"
	if (($2)); then
		for i in {1..10}; do
			echo "step $i/10 | loss 1.0 | iteration $2.0 ms |" \
				"10.0 tokens/s | memory 1.0 MiB"
		done >"$BED/host/$1/log"
		echo "training finished | steps 10 | final loss 1.0 |" \
			"10.0 tokens/s" >>"$BED/host/$1/log"
	fi
	touch "$BED/host/$1/go"
}

states()
{
	jobs_get "$1" '[.[] | "\(.repeat) \(.state)"] | join(", ")'
}

last_event()
{
	job_get "$1" '[.events[] | select(.kind == "more" or
		.kind == "enough") | "\(.kind) \(.data.job) \(.data.text)"] |
		join("; ")'
}

until_file known "{width: 10%, max: 6}" >"$BED/known.yaml"
must submit "$BED/known.yaml"
must wait_job 1 running 60
let_go known 100
must wait_for "[[ \$(job_get 2 .state) == running ]]" 30
is "$(last_event 1)" "more 2 not known within 10 %: one rate is not enough" \
	"one repeat is never enough"
must controller_kill
let_go known 110
must controller_up
must nodes_up 1 20
must wait_for "[[ \$(job_get 3 .state) == running ]]" 30
is "$(states 1)" "0 completed, 1 completed, 2 running" \
	"a controller that was killed goes on repeating"
like "$(last_event 2)" "more 3 not known within 10 %: mean" \
	"and says how well the rate is known"
let_go known 0
must wait_for "[[ \$(job_get 4 .state) == running ]]" 30
let_go known 105
must wait_for "[[ \$(job_get 4 .state) == completed ]]" 30
must controller_kill
must controller_up
must nodes_up 1 20
must wait_for "[[ \$(job_get 5 .state) == running ]]" 30
let_go known 105
must wait_sweep 1 30
is "$(states 1)" \
	"0 completed, 1 completed, 2 failed, 3 completed, 4 completed" \
	"none is lost, none is run twice, one that fails counts"
like "$(last_event 5)" "enough null known within 10 %: mean .* n 4" \
	"it ends when the rate is known"
run cli show job 5
like "$out" "enough .*known within 10 %" "and show says why"
run cli report 1
like "$out" "4 of 5, 1 failed" "the report has all of them"
is "$(grep -c '^| model=gpt-nano' <<<"$out")" 1 "as one cell"

until_file most "{width: 1%, max: 2}" >"$BED/most.yaml"
cli submit --wait "$BED/most.yaml" >"$BED/waited" 2>&1 &
# shellcheck disable=SC2034 # ok evaluates it
waiting=$!
must wait_for "[[ \$(job_get 6 .state) == running ]]" 30
let_go most 100
must wait_for "[[ \$(job_get 7 .state) == running ]]" 30
let_go most 110
ok 'wait "$waiting"' "submit --wait waits for repeats that come later"
must wait_sweep 2 30
like "$(last_event 7)" "enough null not known within 1 % after 2 repeats" \
	"there is an end to it"
run cli cancel sweep 2
is "$(states 2)" "0 completed, 1 completed" "no more come"

# What completed is taken over, also beyond what was asked for.
run cli submit --resume --wait "$BED/most.yaml"
is "$rc $(states 3)" "0 0 completed, 1 completed" \
	"a sweep that is resumed has its repeats"
like "$(last_event 9)" "enough null not known within 1 % after 2 repeats" \
	"and is judged by them"
sed 's/max: 2/max: 3/' "$BED/most.yaml" >"$BED/three.yaml"
run cli submit --resume "$BED/three.yaml"
must wait_for "[[ \$(states 4) =~ running ]]" 30
is "$(states 4)" "0 completed, 1 completed, 2 running" \
	"more are run where more are allowed"
run cli cancel sweep 4
must wait_sweep 4 30
like "$(last_event 12)" "enough null not repeated further" \
	"what is cancelled is not repeated"
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
