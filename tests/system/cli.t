#!/bin/bash
# cli.t - every command of regatta: its help, output, JSON and exit code.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need

# What needs no controller.
run regatta --help
is $rc 0 "regatta --help is fine"
commands=$(awk 'NR > 5 && /^$/ {exit} /^  [a-z]/ {print $1}' "$BED/out")
ok '(($(wc -w <<<"$commands") >= 13))' "it lists the commands"
for command in $commands; do
	run regatta "$command" --help
	like "$rc $out" "^0 regatta $command - .*usage: .*example:" \
		"$command has a help with an example"
done
# words of a wrong request, and what is said of it
while IFS='|' read -r words said; do
	# shellcheck disable=SC2086 # they are words
	run regatta $words
	like "$rc $out$err" "^2 regatta: .*$said" "wrong: regatta $words"
done <<'END'
frobnicate|no command 'frobnicate'
jbos|did you mean 'jobs'
logs --attempt x|--attempt.*'x'
jobs 3 4|'4' is not valid here
show|missing argument .expected regatta show sweep.job.node .ID
show boat 1|boat
logs zero|'zero'
logs 1 --frobnicate|frobnicate
cancel|missing
cancel job|missing
report 1 --format pdf|pdf.*markdown
report 1 --style reference --format csv|--format csv
report 1 --language zh|--style reference
report 1 --style reference --language xx|'xx'.*en.*zh
compare 1|missing
key new|missing argument FILE .expected regatta key new FILE
extract --framework nobody /dev/null|nobody
diagnose /dev/null|/dev/null is empty
plan /nowhere.yaml|/nowhere.yaml
END
run regatta
is $rc 2 "no command is a wrong request"

# Out of reach: nobody listens, nobody answers to this key, no settings.
must cluster_up 2 one
spawn nobody script -qec "regatta nodes --controller tcp://127.0.0.1:1" /dev/null
run regatta key new "$BED/stranger.key" --name stranger --role operator
run regatta nodes --key "$BED/stranger.key"
is $rc 3 "a key that is not on the list: exit 3"
like "$err" key "in words"
run env -u REGATTA_CONTROLLER regatta nodes
is $rc 2 "without an address of the controller: exit 2"
like "$err" REGATTA_CONTROLLER "and what to do"

# Two nodes, and sweeps on them.
run regatta nodes
like "$rc $out" "^0 .*n1 .*up.*n2 .*up" "nodes are listed"
run regatta show node n1
like "$rc $out" "^0 .*n1" "a node is shown"
run regatta show node n9
is "$rc" 2 "a node that is not there: exit 2"
run regatta validate quick --nodes n1,n9
like "$rc $err" "^2 .*no node 'n9'" "nor does a misspelt name leave a node out"
mkdir -p "$BED/host"
cat >"$BED/three.yaml" <<END
sweep: three
framework: cpu
image: $TOOL_IMAGE
mounts: [{host: $BED/host, container: /host}]
matrix:
  code: [0, 3]
command: [/tool, steps, "30", "1", ",", exit, "\${code}"]
include:
  - code: 0
    nodes: 2
END
run regatta plan "$BED/three.yaml"
like "$rc $out" "^0 .*3 cells, 3 kept" "a plan shows the cells"
run regatta submit "$BED/three.yaml"
is "$rc $out" "0 1" "submit prints the number of the sweep"
must wait_sweep 1 30
run regatta submit "$BED/three.yaml" --wait
is $rc 1 "submit --wait of a sweep in which a job failed: exit 1"
like "$out" "code=3.*failed" "it prints the table"
like "$err" "job 5 .*failed.*sweep 2: 2 of 3 jobs completed" \
	"and a line for each change"
run regatta sweeps
like "$rc $out" "^0 .*1 .*three.*2 completed.*1 failed" "sweeps are listed"
run regatta cancel job 1
like "$rc $err" "^2 .*job 1 has ended: completed" "a job that has ended stays"
run regatta cancel job 99
like "$rc $err" "^2 .*no job 99" "and one that is not there is named"
run regatta jobs --sweep 1
like "$rc $out" "^0 .*code=0.*completed.*code=3.*failed.*exit" \
	"jobs are listed"
run regatta show job 2
like "$rc $out" "^0 .*failed.*exit" "a job is shown"
# Some 38 lines, and four of the hosts, if a sample was taken in its time.
ok '(($(wc -l <<<"$out") <= 45)) && [[ $err == *"show job 2 --all"* ]]' \
	"on one screen, which says where the rest is"
run regatta show job 2 --all
like "$rc $out" "^0 .*spec:.*provenance:.*streams:" "which is all"
run regatta show sweep 1
like "$rc $out" "^0 .*three" "a sweep is shown"
run regatta show sweep three
like "$rc $out" "^0 .*id: 2.*three" "the last one of a name, too"
run regatta cancel three
like "$rc $err" "^2 .*'three'.*expected the number.*regatta sweeps" \
	"what ends or removes sweeps takes numbers, and says where they are"
run regatta jobs --sweep 999
like "$rc $err" "^2 .*999" "those of a sweep that is not there are none"
run regatta show job 999
like "$rc $err" "^2 .*999" "a job that is not there: exit 2, and named"
run regatta logs 999
like "$rc $err" "^2 .*999" "nor has it logs"
run regatta report 999
like "$rc $err" "^2 .*999" "nor a sweep that is not there a report"

# JSON on standard output, and nothing else there.
for words in nodes sweeps jobs "jobs --sweep 1" "show sweep 1" "show job 1" \
	"show node n1" "report 1" "compare 1 2" "plan $BED/three.yaml" "cancel 1" \
	"key show $BED/stranger.key" \
	"extract --framework cpu $(log_file 1)"; do
	# shellcheck disable=SC2086 # they are words
	run regatta $words --format json
	ok '((rc == 0)) && [[ $out ]] && jq -e . "$BED/out" >/dev/null' \
		"JSON: regatta ${words%%/*}"
done

# Reports.
run regatta report 1
is "$(grep -c '| completed *|$' "$BED/out")" 2 "Markdown: two lines completed"
like "$out" "failed.*exit" "and one that failed, with its class"
run regatta report 1 --format csv
is "$(head -1 "$BED/out" | cut -d, -f1-5)" job,cell,repeat,state,failure \
	"CSV has a head"
is "$(wc -l <"$BED/out")" 4 "and a line for each job"
is "$(python3 - "$BED/out" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
print(len(rows), {r["vendor"] for r in rows}, {r["schema"] for r in rows},
      sorted(r["cell.code"] for r in rows), all(None not in r for r in rows))
END
)" "3 {'cpu'} {'3'} ['0', '0', '3'] True" \
	"a reader of CSV finds each key of the matrix in a column"
run regatta report 1 --format json
is "$(jq -c '[.rows[].state]' "$BED/out")" '["completed","failed","completed"]' \
	"JSON has a row for each job"
ok 'jq -e ".rows[0].result" "$BED/out" >/dev/null' "with its result"
is "$(jq -c '[.version, (.table | length), .table[0].vendor]' "$BED/out")" \
	'[3,3,"cpu"]' "and the same table as CSV"

run regatta report 1 --format html
is "$(grep -c '<tr><td>' "$BED/out")" 3 "HTML has a line for each job"
is "$(grep -c '<path class="l0"' "$BED/out")" 8 \
	"and curves: loss and rate, of each job, and of all"
run regatta report 1 --style reference --language zh
like "$rc $out" "^0 .*环境配置.*Docker 版本: $(jq -r '.. | .engine? // empty' \
	<(regatta show node n1 --format json) | head -1).*| cpu 2机2卡（2x1） |" \
	"a reference page is filled from what the node and the row say"
run regatta report 1 --style reference --language zh --format html
like "$rc $out" "^0 .*<html lang=.zh..*<h4>环境配置</h4>.*<td>cpu 2机2卡" \
	"the same page as HTML"
run regatta compare 1 2
like "$rc $out" "^0 .*code=0.*code=3.*no result" "two sweeps side by side"
ok '(($(wc -L <"$BED/out") <= 80))' "fit 80 columns where cells are short"
like "$err" "same: the difference is within the spread" "and are explained"
run script -qc 'stty cols 50; regatta compare 1 2' /dev/null
like "$out" "^[^)]*CELL[^)]*VERDICT[^)]*no result.*wider terminal" \
	"on a narrow terminal the verdict stays, and rates go"
is "$(regatta compare 1 2 --format json | jq -c 'map(.a.n)')" '[1,0,1]' \
	"what completed is counted"
run regatta trend code=0
like "$rc $out" "^0 .*code=0.*CHANGE" "the same cell over all sweeps"
is "$(regatta trend code=0 --format json | jq -c 'map(.points | length)')" \
	'[2,2]' "with a point for each"
run regatta trend code=77
is "$rc" 1 "a cell that never completed: exit 1"
run regatta compare 1 2 1
is "$rc $(grep -c '1.000' "$BED/out")" "0 4" "three sweeps, a line for each"

name=$(regatta show sweep 1 --format json | jq -r .sweep.name)
is "$(regatta jobs --sweep "$name" --format json | jq -c '.jobs | map(.sweep) | unique')" \
	"$(regatta jobs "$name" --format json | jq -c '.jobs | map(.sweep) | unique')" \
	"jobs --sweep takes a name, too"

# Logs.
run regatta logs 1
ok 'cmp "$BED/out" "$(log_file 1)"' "a log of one rank comes byte for byte"
run regatta logs 1 --tail 3
is "$out" "$(tail -3 "$(log_file 1)")" "--tail shows the last lines"
run regatta logs 1 --timestamps
is "$(sed -E 's/^[0-9T:.+Z -]+ //' "$BED/out" | cmp - "$(log_file 1)" 2>&1)" \
	"" "--timestamps puts a time before each line"
ok '! grep -vE "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+" "$BED/out"' \
	"and before each"
run regatta logs 3 --rank 1
ok 'cmp "$BED/out" "$(log_file 3 1 1)"' "--rank takes one rank"
run regatta logs 3
is "$(sed -n 's/^\[rank-1\] //p' "$BED/out" | cmp - "$(log_file 3 1 1)" 2>&1)" \
	"" "of several ranks each line says whose it is"

# Follow: from the beginning, and as it comes; ends with the job.
for code in 0 3; do
	must submit_tool "follow$code" print 1000 , wait /host/go , \
		longline 300000 , exit $code
	spawn "follow$code" regatta logs "$JOB" -f
	must wait_for "(( \$(stat -c %s $BED/follow$code.log) == 1000 ))" 20
	touch "$BED/host/follow$code/go"
	is "$(code_of "follow$code")" $((code ? 1 : 0)) \
		"logs -f ends with the job: exit code $code"
	ok 'cmp <(head -c 301001 "$BED/follow$code.log") "$(log_file "$JOB")"' \
		"and printed what the job did"
done

# Cancel and retry.
run regatta retry $((SWEEP - 1))
like "$rc $err" "^0 .*0 jobs queued again.*no job of it has failed or was cancelled" \
	"a sweep whose jobs completed has none to retry, which is said"
run regatta compare 1 3
like "$rc $err" "^1 .*sweep 1 has no cell in common with the other" \
	"sweeps that share no cell cannot be compared: exit 1"
must submit_tool long print 1000 , sleep 1000
must wait_job "$JOB" running 20
engine_freeze e1
run regatta cancel job "$JOB"
is $rc 0 "a job is cancelled"
run regatta retry "$SWEEP"
like "$rc $err" "^0 .*0 jobs queued again.*1 job still ends; retry again after" \
	"one that still ends is not queued again, which is said"
engine_thaw e1
must wait_sweep "$SWEEP" 20
is "$(job_get "$JOB" .state)" cancelled "and ends as that"
must submit_tool long2 sleep 1000
run regatta cancel "$SWEEP"
is $rc 0 "a sweep is cancelled"
must wait_sweep "$SWEEP" 20
run regatta cancel 999
like "$rc $err" "^2 .*999" "a sweep that is not there is not"
long=()
for name in long3 long4; do
	must submit_tool $name sleep 1000
	must wait_job "$JOB" running 20
	long+=("$JOB")
done
run regatta retry 1
like "$rc $err" "^0 .*1 jobs? queued" "retry queues what failed"
is "$(job_get 2 '"\(.state) \(.waits)"')" "queued waits to start attempt 2" \
	"and says which attempt waits"
for job in "${long[@]}"; do
	run regatta cancel job "$job"
done
must wait_for '[[ $(jobs_get 1 "map(.attempt)" | jq -c .) == "[1,2,1]" ]]' 10
must wait_sweep 1 20
is "$(jobs_get 1 'map(.state)' | jq -c .)" '["completed","failed","completed"]' \
	"and only that runs again"
run regatta logs 2 --attempt 1
ok 'cmp "$BED/out" "$(log_file 2 1)"' "the log of the first attempt is there"

# Long reasons at a terminal: tables fit, and a wide one has all.
at_width() # COLUMNS COMMAND...
{
	local width=$1

	shift
	NO_COLOR=1 script -qec "stty cols $width; $* 2>/dev/null" /dev/null |
		tr -d '\r' >"$BED/out"
}
error_text="ValueError: the tensor of shape (1024, 4096) on device cuda:3 does not match the shape of layer decoder.17.mlp"
must submit_tool reasons log=auto \
	"matrix={env.VARIANT: [\"a value of several words\", the-second-of-two-long-names]}" \
	error "$error_text" , steps 20 50 , exit 3
must wait_sweep "$SWEEP" 60
reasons=$SWEEP reason=$JOB
for width in 40 80 250; do
	at_width $width regatta jobs --sweep "$reasons"
	ok "((\$(wc -L <\$BED/out) <= $width))" "jobs: $width columns hold its rows" ||
		diag "$(<"$BED/out")"
	is "$(grep -c 'exit: ' "$BED/out")" 2 "with their reasons"
	at_width $width regatta report "$reasons"
	sed '/^without a result/,$d' "$BED/out" >"$BED/table"
	ok "((\$(wc -L <\$BED/table) <= $width))" "report: so they do" ||
		diag "$(<"$BED/table")"
	at_width $width regatta show job "$reason"
	sed -n '/^\(ends\|hosts.*\|events\):$/,/^$/p' "$BED/out" \
		>"$BED/table"
	ok "((\$(wc -L <\$BED/table) <= $width && \$(wc -l <\$BED/table) > 8))" \
		"show job: so do those of its tables" || diag "$(<"$BED/table")"
	for command in sweeps nodes "user list" "image list" \
		"plan $BED/host/reasons.yaml"; do
		at_width $width regatta "$command"
		sed '/^reasons:/,$d' "$BED/out" >"$BED/table"
		ok "((\$(wc -L <\$BED/table) <= $width && \$(wc -l <\$BED/table) > 1))" \
			"$command: so does its table" || diag "$(<"$BED/out")"
	done
done
at_width 80 regatta audit
ok '(($(wc -L <"$BED/out") <= 80))' "80 columns hold an audit" ||
	diag "$(<"$BED/out")"
like "$(<"$BED/out")" "operator.*retry.*refused: .*wider terminal shows FROM, REQUEST" \
	"with who, what and its outcome"
for command in vendors "vendors probe"; do
	at_width 80 regatta "$command"
	ok "((\$(wc -L <\$BED/out) <= 80))" "$command: a long last text folds" ||
		diag "$(<"$BED/out")"
	# shellcheck disable=SC2086 # the words of a command
	is "$(tr -s ' \n' '\n' <"$BED/out")" "$(regatta $command | tr -s ' \n' '\n')" \
		"and no word of it is lost"
done
at_width 250 regatta jobs --sweep "$reasons"
ok "finds -F -- '$error_text' <\$BED/out" "a wide terminal shows a reason to its end"
run regatta jobs --sweep "$reasons"
like "$out" "decoder.17.mlp" "so does a pipe"

# Long names and figures at a terminal.
wide=()
for name in wide1 wide2; do
	must submit_tool $name log=auto repeat=2 \
		"matrix={env.VARIANT: [the-first-of-two-long-names, the-second-of-two-long-names], env.LAYOUT: [tensor-parallel-8-pipeline-4, data-parallel-32]}" \
		steps 20 5
	wide+=("$SWEEP")
	must wait_sweep "$SWEEP" 60
done
for width in 80 100; do
	for sweeps in "${wide[*]}" "${wide[*]} ${wide[0]}"; do
		at_width $width regatta compare "$sweeps"
		ok "((\$(wc -L <\$BED/out) <= $width))" \
			"compare $sweeps: no line is longer than $width columns" ||
			diag "$(<"$BED/out")"
		is "$(grep -oE '^[^ ]*the-[^ ]* [^ ]*' "$BED/out" | sort -u | wc -l)" \
			4 "each cell has another name"
		like "$(<"$BED/out")" "RATIO" "and the ratio is there"
	done
done

is "$(code_of nobody)" 3 "a controller not reachable: exit 3"
like "$(log_of nobody)" "waiting for the controller tcp://127.0.0.1:1 .*not reachable" \
	"and named, at a terminal as soon as somebody waits"
ok cluster_clean "nothing is left on the nodes"
# A command line becomes a sweep.
regatta init -- docker run --rm -it --gpus '"device=0,2"' -v /data:/data:ro \
	-e A=1 --cpus 4 --shm-size=16g --name mine my/train:1 python train.py \
	>"$BED/init.yaml"
is "$(tr '\n' ' ' <"$BED/init.yaml")" \
	'sweep: "mine" vendor: "nvidia" devices: 2 cpus: 4 shm: "16g" image: "my/train:1" command: ["python","train.py"] env: {"A":"1"} mounts: [{"host":"/data","container":"/data","read_only":true}] ' \
	"init turns a command line of docker run into a sweep"
run regatta plan "$BED/init.yaml"
like "$rc $out" "^0 (.|\n)*my/train:1" "which can be planned"
given() # OPTION... : the lines of the devices
{
	regatta init -- docker run "$@" x 2>"$BED/err" |
		grep -E '^(vendor|devices|ulimits|env):' | tr '\n' ' '
}
is "$(given --gpus all --ulimit memlock=-1)" \
	'vendor: "nvidia" ulimits: {"memlock":"-1"} ' "all devices are the default"
is "$(given --device=nvidia.com/gpu=0 --device nvidia.com/gpu=1)" \
	'vendor: "nvidia" devices: 2 ' "devices by their names of CDI"
is "$(given --device /dev/davinci2 --device /dev/davinci_manager)" \
	'vendor: "ascend" devices: 1 ' "by their paths"
is "$(given --device /dev/kfd --device /dev/dri)" 'vendor: "amd" ' \
	"or folders of these"
is "$(given --runtime ascend -e ASCEND_VISIBLE_DEVICES=0,1 -e A=1)" \
	'vendor: "ascend" devices: 2 env: {"A":"1"} ' "or by a variable"
run regatta init -- docker run --device /dev/fuse x
like "$rc $err" "^2 .*/dev/fuse" "a device of no vendor is refused"
regatta init -- docker run x:1 sh -c 'echo ${HOME} $$' >"$BED/init.yaml"
run regatta plan "$BED/init.yaml"
is "$rc $(sed -n 's/^command: //p' "$BED/init.yaml")" \
	'0 ["sh","-c","echo $${HOME} $$$$"]' "and keeps each \$ of its shell"
run regatta init -- docker run --privileged x
like "$rc $err" "^2 .*--privileged" "what a sweep has no key for is refused"
run regatta init -- python train.py
like "$rc $err" "^2 .*'python'.*docker run" "as is another program"
done_testing
