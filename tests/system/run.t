#!/bin/bash
# run.t - regatta run: one machine, nothing set up, nothing left behind.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need docker dockerd containerd jq "$REGATTA_BUILD"/{regatta,lab/tool}

must engine_up one
must tool_image one
unset REGATTA_CONFIG
export HOME=$BED XDG_CONFIG_HOME=$BED/config
export DOCKER_HOST
DOCKER_HOST=$(engine_host one)
cd "$BED" || exit 1
mkdir host

# daemons FOLDER: the controller and agent that work there
daemons()
{
	grep -lszF "$BED/$1/" /proc/[0-9]*/cmdline | while read -r file; do
		[[ $({ tr '\0' ' ' <"$file"; } 2>/dev/null) =~ regatta-(agent|controller) ]] &&
			echo "${file//[!0-9]/}"
	done
}
gone()
{
	is "$(daemons "$1")$(containers one)" "" \
		"$2: no daemon and no container is left"
	is "$(find "$1"/agent/spool -mindepth 1 -maxdepth 1 2>&1)" "" \
		"nor a spool"
}
states()
{
	jq -c '[.rows[].state]' "$1/report.json"
}

# The real thing, to its end.
cat >good.yaml <<'END'
sweep: good
framework: cpu
steps: 20
matrix: {batch.micro: [1, 2]}
END
run regatta run good.yaml --state good
is $rc 0 "a sweep runs to its end"
is "$(grep -c '| completed *|$' "$BED/out")" 2 "and prints the table"
ok 'cmp "$BED/out" good/report.md' "which is also in report.md"
is "$(states good)" '["completed","completed"]' "report.json has a row each"
is "$(wc -l <good/report.csv)" 3 "report.csv has a line each"
ok '[[ $(cat good/controller/logs/1/1/rank-0.log) == *finished* ]]' \
	"the log is where the manual says"
is "$(stat -c %a good/keys/*.key | sort -u)" 600 "keys are for their owner"
gone good "after a good run"

# What is in the folder can be read without a controller.
run regatta jobs --state good --format json
is "$rc $(jq -c '[.jobs[].state]' "$BED/out")" '0 ["completed","completed"]' \
	"jobs --state reads the folder of a run"
run regatta logs --state good 1
ok 'cmp "$BED/out" good/controller/logs/1/1/rank-0.log' "so does logs"
run regatta logs --state good -f 2
like "$rc $err" '^0 job 2 completed after ' "logs -f ends with the job's end"
run regatta show --state good job 2
like "$rc $out" '^0 .*state: completed' "so does show"
run regatta report --state good 1
ok '((rc == 0)) && cmp "$BED/out" good/report.md' "so does report"
run regatta compare --state good 1 1
is $rc 0 "so does compare"
run regatta jobs --state .
like "$rc $err" "^2 .*no regatta run in this folder" \
	"another folder is refused"
gone good "after reading"
run regatta run --resume good
is $rc 0 "nothing is missing: resume is good"
is "$(ls good/controller/logs/1)" 1 "and runs nothing again"

# Some work, some does not.
cat >mixed.yaml <<END
sweep: mixed
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
matrix: {code: [0, 3]}
command: [/tool, print, "1000", ",", exit, "\${code}"]
END
run regatta run mixed.yaml --format json
is $rc 1 "a job fails: exit 1"
is "$(jq -c '[.rows[].state]' "$BED/out")" '["completed","failed"]' \
	"and the table says which"
folder=$(echo regatta-run-mixed-*)
ok '[[ -d $folder ]]' "the folder is named after sweep and time"
gone "$folder" "after a bad run"

# Ctrl-C while the first of two jobs runs. In a session of its own, as all of
# that gets the signal.
cat >long.yaml <<END
sweep: long
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
matrix: {file: [a, b]}
command: [/tool, print, "1000", ",", touch, "/host/\${file}", ",", wait,
  "/host/go-\${file}"]
END
spawn ctrl-c env --default-signal=INT regatta run long.yaml --state long
must wait_for '[[ -e host/a ]]' 20
touch host/go-a
must wait_for '[[ -e host/b ]]' 20
mine=$(nice)
is "$(daemons long | xargs -I{} cut -d' ' -f2,19 /proc/{}/stat | grep agent)" \
	"(regatta-agent) $((mine > 5 ? mine : 5))" "its agent runs below the benchmark"
is "$(grep -lszxF /host/b /proc/[0-9]*/cmdline | head -1 | xargs dirname |
	xargs -I{} cut -d' ' -f19 {}/stat)" "$mine" "which has the engine's nice value"
kill -INT -- "-$(pid_of ctrl-c)"
is "$(code_of ctrl-c)" 130 "Ctrl-C ends it"
like "$(log_of ctrl-c)" "regatta run --resume" "it says how to go on"
gone long "after Ctrl-C"
# Before there is a sweep.
spawn soon env --default-signal=INT regatta run long.yaml --state soon
must wait_for '[[ -e soon/sweep.yaml ]]' 20
kill -INT "$(pid_of soon)"
code_of soon >/dev/null
like "$(log_of soon)" 'continue with: regatta run --resume .*/soon' \
	"however soon it is, what comes next is told"
ok 'wait_for "[[ ! \$(daemons soon) ]]" 30' "and no daemon stays"
touch host/go-b
run regatta run --resume long
is $rc 0 "resume completes the rest"
is "$(states long)" '["completed","completed"]' "and has all rows"
is "$(ls long/controller/logs/1) $(ls -x long/controller/logs/2)" "1 1  2" \
	"only what was missing ran again"
gone long "after resume"

# The command line killed: controller and agent clean up by themselves.
rm host/*
spawn killed regatta run long.yaml --state killed
must wait_for '[[ -e host/a ]]' 20
end killed KILL
ok 'wait_for "[[ ! \$(daemons killed) ]]" 30' \
	"kill -9: controller and agent end by themselves"
gone killed "after kill -9"
touch host/go-a host/go-b
run regatta run --resume killed
is $rc 0 "and it can be resumed"
gone killed "after that"

# A daemon killed: it is started again, and the job goes on.
rm host/*
spawn restart regatta run long.yaml --state restart
must wait_for '[[ -e host/a ]]' 20
is "$(daemons restart | wc -l)" 2 "a controller and an agent run"
run regatta jobs --state restart
like "$rc $out" "^0 .*running" "a run at work answers by itself"
is "$(daemons restart | wc -l)" 2 "with its own controller"
for pid in $(daemons restart); do
	kill -KILL "$pid"
done
touch host/go-a host/go-b
is "$(code_of restart)" 0 "killed daemons are started again: exit 0"
is "$(states restart)" '["completed","completed"]' "and no job is lost"
gone restart "after that"

# What the run began with counts again. Cells are not told to wait for a node
# that is only about to come.
cp -r "$REGATTA_BUILD/images" own
cat >own/frameworks/rower.yaml <<'END'
framework: rower
image: regatta-test/tool:1
launch: [/tool, error, "stroke 1 split 2.5"]
log: {rules: [{match: 'stroke (?<step>\d+) split (?<iteration_ms>\S+)'}]}
END
echo '{sweep: rows, framework: rower}' >rows.yaml
run regatta run rows.yaml --state rows --images own
is "$rc $(states rows)" '0 ["completed"]' "a framework of one's own is a file"
ok '[[ $err != *waits* ]]' "no cell is said to wait"
run env -u DOCKER_HOST regatta run --resume rows
is $rc 0 "resume knows engine and images folder of the run"
run regatta run --resume rows --images "$REGATTA_BUILD/images"
like "$rc $err" '^2 .*unknown framework "rower"; expected .*, \.\.\.; to add one: .*' \
	"unless another is given"

# A preflight measures this machine first; resume knows which sweep is the run's.
cat >measured.yaml <<'END'
{sweep: measured, framework: cpu, steps: 20, preflight: quick}
END
run regatta run measured.yaml --state measured
like "$rc $err" '^0 (.|\n)*sweep 1: validate-quick(.|\n)*preflight: 1 node is accepted(.|\n)*sweep 2: 1 of 1 jobs completed' \
	"a preflight measures this machine before"
run regatta run --resume measured
like "$rc $err" '^0 (.|\n)*sweep 2 continues: 0 jobs' "resume goes on with the sweep, not with it"
cat >slow.yaml <<END
sweep: slow
nodes: each
image: regatta-test/tool:1
mounts: [{host: $BED/host, container: /host}]
command: [/tool, touch, /host/measuring, ",", wait, /host/measured]
END
cat >careful.yaml <<'END'
{sweep: careful, image: "regatta-test/tool:1", command: [/tool, print, "1"],
 preflight: {set: slow.yaml}}
END
spawn careful regatta run careful.yaml --state careful
must wait_for '[[ -e host/measuring ]]' 60
end careful KILL
must wait_for '[[ ! $(daemons careful) ]]' 60
gone careful "after kill -9 within a preflight"
touch host/measured
run regatta run --resume careful
like "$rc $err" '^0 (.|\n)*preflight: 1 node is accepted(.|\n)*sweep 3: 1 of 1 jobs completed' \
	"resume measures again"
rm host/measur*
spawn crashed regatta run careful.yaml --state crashed
must wait_for '[[ -e host/measuring ]]' 60
left=$(daemons crashed)
# shellcheck disable=SC2086 # several
kill -STOP $left && end crashed KILL && kill -KILL $left
rm host/measuring
spawn again regatta run --resume crashed
must wait_for '[[ -e host/measuring ]]' 60
touch host/measured
must wait_for "[[ -s again.code ]]" 60
is "$(code_of again) $(regatta jobs --all --state crashed --format json | jq -c '[.jobs[].state]')" \
	'0 ["cancelled","completed","completed"]' \
	"if the daemons are killed, too, what is still being measured is cancelled"
gone crashed "after that"
sed 's/measured,/rack, labels: [rack=a],/' measured.yaml >rack.yaml
run regatta run rack.yaml
like "$rc $err" "^2 .*labels: 'rack=a'.*has no labels" "labels of its own are refused as ever"

# What this machine is not.
echo '{sweep: far, framework: cpu, labels: [rack=a]}' >labels.yaml
run regatta run labels.yaml
like "$rc $err" "^2 .*labels: 'rack=a'.*has no labels" \
	"a cell that asks for labels is refused"
echo '{sweep: wide, framework: cpu, devices: 4}' >wide.yaml
run regatta run wide.yaml --devices 2
like "$rc $err" "^2 .*devices: the sweep needs 4; expected at most 2 \(--devices\)" \
	"and one that asks for more devices than --devices says"
cat >none.yaml <<'END'
{sweep: none, vendor: gaudi, image: "regatta-test/tool:1",
 command: [/tool, error, hello]}
END
run regatta run none.yaml --state none
like "$err" "no device of gaudi was found on this machine" \
	"devices that are not there are told"
like "$rc $out" "^1 .*no gaudi device on" \
	"and fail preflight"
run regatta run none.yaml --state none-of-them --only-devices 5
like "$err" "only-devices .*names 5, but this machine has 0 devices" \
	"a device of --only-devices that is not there is named"

must small_disk full 16
run regatta run good.yaml --state full/good
like "$rc $err" "^1 .*full/good: 1[0-9] MiB free on this disk; expected at least" \
	"nor does a run begin where there is no room for it"

# Wrong, or out of reach.
run regatta run good.yaml --state good
is $rc 2 "a folder that is there is not taken for a new run"
like "$err" "resume" "in words"
run regatta run --resume nowhere
like "$rc $err" "^2 .*nowhere" "nor is one that is not there resumed"
run regatta run good.yaml --engine "unix://$BED/nobody"
is $rc 3 "no engine: exit 3"
like "$err" "$BED/nobody" "and its socket is named"
is "$(echo regatta-run-good*)" "regatta-run-good*" "and no folder is made"
must engine_stop one
run regatta run good.yaml
is $rc 3 "an engine that is stopped: exit 3"
must engine_start one
run env -u DOCKER_HOST regatta run good.yaml --engine ftp://x
is $rc 2 "an engine of another kind is a wrong request"
done_testing
