#!/bin/bash
# answers.t - what a sweep says at its end, of a program that counts samples.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need curl python3
CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_up 2 one
web=$(web_at cluster/controller)

# lines FROM TO RATE: steps at so many samples a second, of both devices
lines()
{
	seq -f "step %.0f/40 | loss 2.5000 | $3 samples/s" "$1" "$2"
}

# One rate, the same number everywhere.
mkdir -p "$BED/host/counts"
lines 1 40 80.0 >"$BED/host/counts/log"
must submit_tool counts nodes=2 log=auto show /host/log , wait /host/end
must wait_for "[[ \$(job_get $JOB .rate) == 40 ]]" 30
is "$(job_get "$JOB" '"\(.rate) \(.rate_unit)"')" "40 sample/p/s" \
	"a job that runs has the rate of its last step, of each device"
run curl -sf "$web/metrics"
like "$out" "regatta_job_rate\{job=\"$JOB\",sweep=\"1\",unit=\"sample/p/s\"\} 40" \
	"Prometheus gets the same number, with its unit"
touch "$BED/host/counts/end"
must wait_sweep 1 30
is "$(job_get "$JOB" '"\(.rate) \(.rate_unit)"')" "40 sample/p/s" \
	"so has one that completed"
run cli jobs
like "$out" "40.0? sample/p/s \(!\), step 40, loss 2.5" \
	"in lists, marked where the report marks it"
run cli report 1
like "$out" '\| sample/p/s \|(.|\n)* 40.0 ' "in the report, named in its heading"
run cli report 1 --format csv
like "$out" ',40,sample/p/s,' "in CSV"
must submit_tool counts nodes=2 log=auto show /host/log
must wait_sweep 2 30
run cli compare 1 2
like "$out" 'sample/p/s 1 +sample/p/s 2(.|\n)*40.0(.|\n)*40.0' "in a comparison"
run cli trend counts
like "$out" 'SWEEP .*sample/p/s(.|\n)* 40.0 ' "and in a trend"

# A row of a cell: two repeats of each, of which one fails.
mkdir -p "$BED/host/cells"
for rate in 10 20; do
	lines 1 40 $rate.0 >"$BED/host/cells/$rate-1"
	lines 1 40 $((rate + 1)).0 >"$BED/host/cells/$rate-2"
done
rm "$BED/host/cells/10-2"
must submit - <<END
sweep: cells
image: $TOOL_IMAGE
log: auto
retries: 0
repeat: 2
matrix: {rate: [10, 20]}
mounts: [{host: $BED/host/cells, container: /host}]
command: [/tool, show, "/host/\${rate}-\${ROUND}"]
END
must wait_sweep 3 60
run cli report 3
like "$out" '\| rate=20 .*\| 20\.5 ± 6\.4 .*\| +2 \|.*20\.0-21\.0.*best' \
	"a cell is a row: mean, interval, runs, range"
like "$out" '\| rate=10 .* 10\.0 .*1 of 2, 1 failed .*2\.05 × slower' \
	"also one of which a run failed, compared with the best"
run cli report 3 --runs
is "$(grep -c '| rate=' <<<"$out")" 4 "single runs are rows, if asked for"
run cli report 3 --baseline rate=10
like "$out" 'rate=20 .*2\.05 × faster(.|\n)*Relative to rate=10' \
	"another cell can be the baseline"
cli report 3 --format json >"$BED/last.json"
run cli report 3 --baseline "$BED/last.json"
like "$out" 'rate=20 .*1\.00 ± [0-9.]+, same(.|\n)*Relative to .*last\.json' \
	"or an earlier report"
echo '{"rows": [{"cell": 3}]}' >"$BED/bad.json"
run cli report 3 --baseline "$BED/bad.json"
is "$rc" 2 "a file that is no report is refused"
like "$err" 'bad.json: row 1: cell: ' "with the fault"
echo '{"version": 1, "table": []}' >"$BED/bad.json"
run cli report 3 --baseline "$BED/bad.json"
like "$rc $err" '^2 .*no rows are in it' "or one without rows"
run cli bundle 3 -o "$BED/cells.tar.zst"
run cli report 3 --baseline "$BED/cells.tar.zst"
like "$out" 'rate=20 .*1\.00 ± [0-9.]+, same' "a bundle is read, too"
run cli report 3 --baseline cells
like "$out" 'Relative to Sweep 3: cells' "and a sweep by its name"
run cli report 3 --baseline counts
like "$rc $err" "^2 .*'counts' has no cell of this sweep" \
	"one that shares no cell is refused"
run cli report 3 --baseline rate=30
like "$rc $err" "^2 .*no cell has 'rate=30'" "as are words that no cell has"

# The report of a full disk.
run bash -c 'timeout -k 5 60 regatta report 3 >/dev/full'
like "$rc $err" "^1 .*cannot write all of the output" \
	"a report that is not written whole is an error"

# A gate: requirements, their verdicts, their exit status.
run cli report 3 --require 'rate >= 5' --junit "$BED/good.xml"
is "$rc" 0 "what is met exits with 0"
like "$err" 'pass +rate >= 5: 2 of 2 cells' "each requirement has its line"
run cli report 3 --junit "$BED/none.xml"
like "$rc $err" "^0 .*none.xml has no verdict: give --require" \
	"without a requirement there is no verdict, which is told"
run cli report 3 --require 'rate >= 15' --require 'cv <= 1%' --junit "$BED/j.xml"
is "$rc" 1 "what is not exits with 1"
like "$err" 'fail +rate >= 15: rate=10: 10 \(a single run\)' "and says so"
like "$err" 'cannot tell +cv <= 1%: rate=10: .*2 runs would tell' \
	"or how many runs would tell"
like "$(<"$BED/j.xml")" '<testsuite name="cells" tests="4" failures="2" errors="2">' \
	"JUnit XML has a test for each"
run cli report 3 --require 'rate = 5'
is "$rc" 2 "what is no requirement is refused"
run cli report 3 --baseline "$BED/last.json" --require 'rate >= 50% of baseline'
like "$err" 'pass +rate >= 50% of baseline: 2 of 2 cells' \
	"an earlier report can be the baseline"

# fall RATE: a sweep whose rate falls, as in a nightly run
fall()
{
	mkdir -p "$BED/host/fall"
	lines 1 40 "$1" >"$BED/host/fall/log"
	cat >"$BED/fall.yaml" <<-END
		sweep: fall
		image: $TOOL_IMAGE
		log: auto
		model: gpt-nano
		require: [rate >= 50]
		mounts: [{host: $BED/host/fall, container: /host}]
		command: [/tool, show, /host/log]
	END
	run cli submit "$BED/fall.yaml" --wait
}
fall 80.0
is "$rc" 0 "a sweep that meets its requirements"
run cli trend gpt-nano
is "$rc" 0 "a trend of one sweep is none"
fall 40.0
is "$rc" 1 "one that does not"
like "$err" 'fail +rate >= 50: .*40 ' "says which"
run cli compare
like "$rc $out" '^1 .*p/s 4 .*p/s 5(.|\n)*0\.500' \
	"what is not named is the last sweep and the one of its name before it"
run cli show job
like "$out" "sweep: 5" "the last job is meant where none is named"
run cli trend gpt-nano --require 'rate >= 97% of baseline'
is "$rc" 1 "a trend exits with 1 on a regression"
like "$err" 'regression: .*-50\.0 % in sweep 5' "and names it"
like "$err" 'fail +rate >= 97% of baseline: .*50\.00 %' \
	"its baseline are the earlier sweeps"
run cli compare 4 5 --require 'rate >= 97% of baseline'
is "$rc" 1 "so does a comparison"

# Notices: to a command, and to a web hook.
run cli submit "$BED/fall.yaml" --wait --notify "cat >>$BED/notices"
like "$(<"$BED/notices")" \
	'"text":"sweep 6, fall: not met: rate >= 50: .*","event":"regression"' \
	"what is not met is told, in place of the end"
timeout 60 python3 - "$BED/hook" <<'END' &
import http.server, sys
class Hook(http.server.BaseHTTPRequestHandler):
	def do_POST(self):
		body = self.rfile.read(int(self.headers['Content-Length']))
		open(sys.argv[1], 'ab').write(body + b'\n')
		self.send_response(204)
		self.end_headers()
	def log_message(self, *words):
		pass
server = http.server.HTTPServer(('127.0.0.1', 0), Hook)
open(sys.argv[1] + '.port', 'w').write(str(server.server_port))
server.handle_request()
server.handle_request()
END
hook=$!
must wait_for "[[ -s '$BED/hook.port' ]]" 30
sed 's/require:.*/retries: 0/; s/\[.tool.*/[\/tool, exit, "3"]/' "$BED/fall.yaml" \
	>"$BED/fails.yaml"
run cli submit "$BED/fails.yaml" --wait \
	--notify "http://127.0.0.1:$(<"$BED/hook.port")/"
wait "$hook"
like "$(head -1 "$BED/hook")" '"text":"sweep 7: job [0-9]+ .*: failed, exit' \
	"the first failure is told to a web hook"
is "$(tail -1 "$BED/hook" | jq -r '"\(.event): \(.text)"')" \
	"end: sweep 7: 0 of 1 jobs completed" "and the end"
run cli trend gpt-nano --notify "exit 7"
like "$err" '--notify: exit status 7' "what cannot be told is said"
sed -i 's/rate >= 50/rate => 50/' "$BED/fall.yaml"
run cli submit "$BED/fall.yaml"
is "$rc" 2 "a sweep with a requirement that is none is refused"
like "$err" "fall.yaml:5: require.*'rate => 50' is not valid here" "with its line"

# Nodes against each other: two runs of a cell, side by side.
mkdir -p "$BED/host/apart"
lines 1 40 80.0 >"$BED/host/apart/1"
lines 1 40 60.0 >"$BED/host/apart/2"
must submit_tool apart repeat=2 log=auto show '/host/${ROUND}' , wait /host/end
must wait_for "[[ \$(jobs_get $SWEEP '[.[].state] | join(\" \")') == 'running running' ]]" 30
touch "$BED/host/apart/end"
must wait_sweep "$SWEEP" 30
run cli report "$SWEEP"
like "$out" 'Nodes against each other:(.|\n)*\| n[12] +\| +\+33\.3 \|' \
	"a report says which node is faster"
like "$out" '\| n[12] +\| +-25\.0 \(!\) \|' "and which is slower, marked"
run cli nodes
like "$out" 'RATE %(.|\n)*n2 +up +cpu +1 +1 +[-+][0-9.]+ ± [0-9.]+ ' \
	"so does the list of nodes, of all cells"

# Hold-outs: of all runs of a cell, and of a seed that never differs.
must submit_tool apart repeat=2 log=auto show '/host/${ROUND}' , wait /host/end
must wait_sweep "$SWEEP" 30
run cli report "$SWEEP" --runs
like "$out" ' run 3 of 4: 80\.0 / 70\.0 / 60\.0 ' \
	"a run says how fast the other runs of its cell were"
run cli report "$SWEEP"
like "$out" ' 2 of 4: 80\.0 / 70\.0 / 60\.0 ' "a cell says how many there are"
mkdir -p "$BED/host/seeds"
lines 1 40 80.0 >"$BED/host/seeds/log"
must submit_tool seeds repeat=2 log=auto env='{SEED: "7"}' show /host/log
must wait_sweep "$SWEEP" 30
run cli report "$SWEEP"
like "$out" 'the 2 repeats have one seed, 7' "equal seeds in repeats are told"
sed 's/"7"/"${REPEAT}"/' "$BED/host/seeds.yaml" >"$BED/seeds.yaml"
run cli submit "$BED/seeds.yaml"
like "$err" 'REPEAT\} is not defined; \$\{ROUND\} is the number of the repeat' \
	"the number of the repeat is offered"

# Why a job is queued.
mkdir -p "$BED/host/holds"
touch "$BED/host/holds/end" "$BED/host/holds/log"
must submit_tool holds nodes=2 show /host/log , wait /host/end
must wait_sweep "$SWEEP" 30
rm "$BED/host/holds/end"
must submit_tool holds nodes=2 show /host/log , wait /host/end
holder=$JOB
must wait_job "$holder" running 30
must submit_tool waits show /host/log
run cli show job "$JOB"
like "$out" 'queue: place 1 of 1, starts in about [0-9]' \
	"a queued job has a place, and a time by which it will start"
like "$out" "held by:
 *JOB +SWEEP +OF +CELL +NODES +LEFT
 *$holder +$((SWEEP - 1)) +operator [0-9a-f]+ +holds +n[12],n[12] " "who holds what it needs is named"
run curl -sfL -c "$BED/jar" -b "$BED/jar" "$(cli web)"
run curl -sf -b "$BED/jar" "$web/job/$JOB"
like "$out" 'In the queue: place 1 of 1' "also on its page"
like "$out" 'The job has no nodes yet(.|\n)*Rank 0 has printed nothing so far' \
	"which says what is not there yet"
is "$(grep -c 'Differences from' <<<"$out")" 0 \
	"and compares it with no job of another sweep"
run curl -sf -b "$BED/jar" "$web/sweep/$SWEEP"
is "$(grep -c 'Stronger colours' <<<"$out")" 0 \
	"a board without a rate has no word on its colours"
like "$out" 'A square shows the progress of a job, or how it failed\.<' \
	"but on what a square shows"
run curl -sf -b "$BED/jar" "$web/nodes"
is "$(grep -o '>n[12]<' <<<"$out" | tr '\n' ' ')" ">n1< >n2< " \
	"the page of nodes has them by name"
code() { curl -s -o /dev/null -w '%{http_code}' -b "$BED/jar" "$web$1"; }
is "$(code /log/1/1) $(code /log/1/7)" "200 404" "a rank that is not there has no page"
run curl -sf -b "$BED/jar" "$web/log/$JOB/0"
like "$out" 'Rank 0 has printed nothing so far' "one that has not printed yet says so"

# A terminal that shows no screen gets lines.
run env TERM=dumb script -qec "regatta watch 1" /dev/null
like "$out" 'sweep 1: 1 of 1 jobs completed' "a dumb terminal gets lines"
is "$(grep -c $'\e' <<<"$out")" 0 "without a screen"

# Two jobs against each other.
run cli compare job 1 3
like "$out" 'WHAT +JOB 1 +JOB 3(.|\n)*rate +40\.?0? sample/p/s.* 10(.|\n)*container.argv +.*/host/log' \
	"what two jobs differ in is told"
is "$(grep -c 'container.image\|environment.kernel' <<<"$out")" 0 \
	"and no more"
is "$(grep -cE ' - +-$' <<<"$out")" 0 "nor what neither has"
run cli show job 1
is "$(grep -c '[]{}[]' <<<"$out")" 0 "no answer has braces for a reader to parse"
like "$out" 'ends:.*
.*CODE +SIGNAL(.|\n)* 0 +- ' "nor a signal that was none"
run curl -sf -b "$BED/jar" "$web/job/3/1"
like "$out" 'Differences from .*container.argv' "also on a page"
run cli compare job 1 99
like "$rc $err" '^2 .*no job 99' "a job that is not there is named"
touch "$BED/host/holds/end"
for minor in 1 2; do
	mkdir -p "$BED/host/has$minor"/{bin,lib/python3.11/site-packages/{torch-2.$minor.0,numpy-1.26}.dist-info}
	must submit_tool has$minor env='{PATH: /host/bin}' exit 0
	must wait_sweep "$SWEEP" 30
done
run cli compare job "$((JOB - 1))" "$JOB"
like "$out" 'package torch +2\.1\.0 +2\.2\.0' "also in their Python packages"
is "$(grep -c numpy <<<"$out")" 0 "if these differ"
run curl -sf -b "$BED/jar" "$web/job/$JOB/$((JOB - 1))"
like "$out" 'package torch.*2\.1\.0.*2\.2\.0' "on the page, too"
# A job that runs beside the last runs of its cell.
mkdir -p "$BED/host/usual"
lines 1 40 80.0 >"$BED/host/usual/log"
touch "$BED/host/usual/end"
must submit_tool usual log=auto show /host/log , wait /host/end
must wait_sweep "$SWEEP" 30
rm "$BED/host/usual/end"
lines 1 20 60.0 >"$BED/host/usual/log"
must submit_tool usual log=auto show /host/log , wait /host/end
must wait_for "[[ \$(job_get $JOB .progress.gain_runs) == 1 ]]" 30
run cli jobs
like "$out" ' 60.0? sample/p/s \(25 % below the last run of this cell\), step 20/40, .*loss 2.5' \
	"a running job is compared with the last runs of its cell"
touch "$BED/host/usual/end"
must submit - <<END
sweep: grid
image: $TOOL_IMAGE
matrix: {a: [1, 2], b: [1, 2]}
command: [/tool, print, "\${a}\${b}"]
END
run cli report "$SWEEP" --baseline a=1
like "$rc $err" "^2 .*2 cells have 'a=1'" "or several"
# Every link of every page leads to one.
declare -A seen=()
todo=(/ /nodes)
lost=''
while ((${#todo[@]})); do
	path=${todo[0]}
	todo=("${todo[@]:1}")
	[[ ! ${seen[$path]-} ]] || continue
	seen[$path]=1
	status=$(curl -s -o "$BED/page" -w '%{http_code}' -b "$BED/jar" "$web$path")
	[[ $status == 200 ]] || lost+=" $path"
	mapfile -t links < <(grep -o 'href="/[a-z0-9/.]*' "$BED/page" |
		sed 's/^href="//' | sort -u)
	todo+=("${links[@]}")
done
is "${lost:-none of ${#seen[@]}}" "none of ${#seen[@]}" "no link leads nowhere"
ok '((${#seen[@]} > 30))' "of all pages"
run cli gc --older 0
run curl -sf -b "$BED/jar" "$web/job/1"
like "$out" 'the output of job 1 was removed to make room' \
	"the page of a job says that its output was removed"
is "$(grep -c 'Full output' <<<"$out")" 0 "and does not offer it"
done_testing
