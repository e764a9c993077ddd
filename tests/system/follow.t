#!/bin/bash
# follow.t - files of the container come live and byte for byte, like output.
#
# Files that appear late, are rotated, cut, written fast, many at once; agent
# and controller killed in the middle; the limit of what is kept.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need cmp

# A framework whose figures stand in a file.
cp -r "$REGATTA_BUILD/images" "$BED/images"
export REGATTA_IMAGES=$BED/images
CONTROLLER_ARGS=(--images "$BED/images")
cat >"$BED/images/frameworks/filed.yaml" <<'END'
framework: filed
title: figures in a file
source: a test
follow: ["/out/rank*.log"]
log: {read: first, stream: ["*/rank0.log"], like: [cpu]}
END
must cluster_up 2 one

# stream JOB NAME: the file in which the controller keeps it
stream()
{
	echo "$CLUSTER/controller/logs/$1/1/$2.log"
}
# stream_is JOB NAME WORD...: it is what the tool prints when given the words
stream_is()
{
	local file

	file=$(stream "$1" "$2")
	shift 2
	"$REGATTA_BUILD/lab/tool" "$@" >"$BED/want"
	cmp "$BED/want" "$file" >"$BED/difference" 2>&1 && return
	diag "$(<"$BED/difference")"
	return 1
}
streams()
{
	job_get "$1" '[.streams[].stream] | join(" ")'
}
size_of()
{
	stat -c %s "$(stream "$1" "$2")" 2>/dev/null || echo 0
}

# Live: in a folder that comes later, while the command still runs.
must submit_tool live 'follow=["/out/*/rank*.log", notes]' \
	wait /host/go , folder /out , folder /out/a , \
	into /out/a/rank0.log , print 1000 , into - , touch /host/written , \
	wait /host/more , into /out/a/rank0.log , print 500 , \
	into /notes , print 300 , into - , print 100
live=$JOB
must wait_job "$live" running 30
touch "$BED/host/live/go"
must wait_for '[[ -e $BED/host/live/written ]]' 20
ok 'wait_for "[[ \$(size_of $live node-0.out-a-rank0.log) == 1000 ]]" 10' \
	"what is in a file that came later is here while the command runs"
is "$(job_get "$live" .state)" running "which it does"
run regatta logs "$live" --stream /out/a/rank0.log
ok 'cmp <("$REGATTA_BUILD/lab/tool" print 1000) "$BED/out"' \
	"logs --stream prints it, by the path of the file"
# shellcheck disable=SC2016 # for the inner shell
spawn tail bash -c 'exec "$@" 2>"$0"' "$BED/tail.err" \
	regatta logs "$live" -f --stream '*rank0*'
must wait_for '[[ $(log_of tail | wc -c) == 1000 ]]' 10
touch "$BED/host/live/more"
must wait_job "$live" completed 30
is "$(code_of tail)" 0 "logs -f --stream ends with the job"
ok 'stream_is $live node-0.out-a-rank0.log print 1000 , print 500' \
	"what was added came too"
ok 'cmp "$BED/tail.log" "$(stream $live node-0.out-a-rank0.log)"' \
	"and was printed as it came"
like "$(<"$BED/tail.err")" "job $live completed" "... and how the job ended"
ok 'stream_is $live node-0.notes print 300' \
	"a file that is written just before the end is not lost"
ok 'log_is $live 1 0 print 100' "the command's own output is as ever"
run regatta logs "$live"
is "$(wc -c <"$BED/out")" 100 "which is what logs prints by itself"
is "$(streams "$live")" "rank-0 node-0.out-a-rank0.log node-0.notes" \
	"show job has the streams"
run regatta logs "$live" --list
like "$out" 'node-0.notes +300 B +/notes' "logs --list too, with the files"
run regatta logs "$live" --stream nothing
is $rc 2 "a stream that is not there is an error"

# Rotated, replaced and cut: parts, each whole.
must submit_tool parts 'follow=["/log*"]' \
	into /log , print 1000 , into - , sleep 1 , rename /log /log.1 , \
	into /log.1 , print 100 , into /log , print 2000 , into - , sleep 1 , \
	cut /log 0 , sleep 0.3 , into /log , print 3000
must wait_job "$JOB" completed 30
ok 'stream_is $JOB node-0.log print 1000 , print 100' \
	"a file that is renamed is read to its end"
ok 'stream_is $JOB node-0.log-2 print 2000' "the new one is the next part"
ok 'stream_is $JOB node-0.log-3 print 3000' \
	"one that is cut goes on in a part of its own"
is "$(job_get "$JOB" '[.streams[] | .part] | @csv')" "1,2,3" \
	"the parts are counted"

# Fast and many; the agent is killed in the middle, and the controller.
words=()
for i in {1..40}; do
	words+=(into "/many-$i" "," print $((i * 10000)) ",")
done
must submit_tool fast 'follow=["/many-*", "/big"]' \
	into /big , print 50000000 , into - , touch /host/half , \
	wait /host/go , into /big , print 50000000 , "${words[@]}" into - , \
	print 1000
fast=$JOB
must wait_for '[[ -e $BED/host/fast/half ]]' 30
agent_kill 1
agent_kill 2
touch "$BED/host/fast/go"
must agent_up 1
must agent_up 2
must nodes_up 2 20
must wait_for '(($(size_of $fast node-0.big) > 1000000))' 20
controller_kill
must controller_up
must wait_job "$fast" completed 60
ok 'stream_is $fast node-0.big print 50000000 , print 50000000' \
	"100 MB are there byte for byte, whatever was killed"
good=0
for i in {1..40}; do
	stream_is "$fast" "node-0.many-$i" print $((i * 10000)) &&
		good=$((good + 1))
done
is $good 40 "and 40 files that were written at once"
ok 'log_is $fast 1 0 print 1000' "and the output"

# The limit: what is kept is a beginning; the command goes on.
must submit_tool full log_limit=100K 'follow=["/file"]' \
	print 5000000 , into /file , print 1000 , into - , sleep 0.7 , \
	print 5000000 , touch /host/done
must wait_job "$JOB" completed 30
ok '[[ -e $BED/host/full/done ]]' "a command beyond its limit goes on"
like "$(job_get "$JOB" .text)" "beyond the limit of 102400 bytes" \
	"the job says so: $(job_get "$JOB" .text)"
like "$(job_get "$JOB" '.provenance.notes[0]')" "beyond the limit" \
	"and so does its result"
kept=$(log_size "$JOB")
ok '((kept >= 102400 && kept < 10000000))' "$kept bytes are kept"
"$REGATTA_BUILD/lab/tool" print 5000000 , print 5000000 >"$BED/want"
ok 'cmp -n "$kept" "$BED/want" "$(log_file "$JOB")"' \
	"which are the first ones"

# > /dev/stderr cuts the output of both.
must submit_tool cut print 1000 , sleep 0.5 , cut /regatta/out/rank-0.log 0 , \
	sleep 0.7 , print 700
must wait_job "$JOB" completed 30
ok 'log_is $JOB 1 0 print 1000 , print 700' \
	"output that its command cut goes on behind what was sent"
like "$(job_get "$JOB" .text)" "truncated its own output" \
	"which the job says: $(job_get "$JOB" .text)"

# Huge, and cancelled while it is collected.
must submit_tool sparse log_limit=1T cut /regatta/out/rank-0.log 4000000000000
sparse=$JOB
must wait_job "$sparse" collecting 20
must wait_for '(($(log_size $sparse) > 1000000))' 20
run regatta cancel job "$sparse"
is $rc 0 "a job is cancelled while its output is collected"
must wait_job "$sparse" cancelled 10
like "$(job_get "$sparse" .text)" "missing output of .* is dropped" \
	"it ends at once: $(job_get "$sparse" .text)"
must submit_tool late timeout=4s log_limit=1T \
	cut /regatta/out/rank-0.log 4000000000000
must wait_job "$JOB" collecting 20
# shellcheck disable=SC2034 # wait_for evaluates it
since=$(date +%s)
must wait_for '(($(date +%s) > since + 4))' 20
is "$(job_get "$JOB" .state)" collecting "its time limit is its command's"
must cli cancel job "$JOB"
must wait_job "$JOB" cancelled 10

# Figures that stand in a file only; the controller is killed in between.
must submit_tool filed framework=filed folder /out , into /out/rank0.log , \
	steps 10 0 , touch /host/half , wait /host/go , steps 40 0
filed=$JOB
must wait_for '[[ -e $BED/host/filed/half ]]' 20
must wait_for '[[ $(job_get $filed .progress.step) == 10 ]]' 20
controller_kill
must controller_up
touch "$BED/host/filed/go"
must wait_job "$filed" completed 30
is "$(job_get "$filed" .result.steps)" 40 \
	"the figures of a followed file are the job's"
must submit_tool other framework=filed folder /out , into /out/rank1.log , \
	steps 10 0
must wait_job "$JOB" failed 20
is "$(job_get "$JOB" .failure)" no-metric "those of another file are not"

# Two nodes: whose file it is stands in the name.
must submit_tool pair nodes=2 'follow=["/f${NODE_RANK}"]' \
	into /f0 , print 100 , into /f1 , print 200
must wait_job "$JOB" completed 30
is "$(streams "$JOB")" "node-0.f0 node-1.f1" \
	"each node's pattern is filled with its rank"

# Launchers write what their ranks print into files alone.
must submit_tool broken nodes=2 retries=0 'follow=["/out*"]' \
	append '/out${NODE_RANK}' \
	'[rank${NODE_RANK}]: Traceback (most recent call last):' , \
	append '/out${NODE_RANK}' \
	'[rank${NODE_RANK}]:   File "/fit.py", line 1, in f' , \
	append '/out${NODE_RANK}' \
	'[rank${NODE_RANK}]: RuntimeError: shard ${NODE_RANK} is corrupt' , \
	exit 1
must wait_job "$JOB" failed 30
like "$(job_get "$JOB" '.reason | "\(.class) \(.stream) \(.task) \(.rank)"')" \
	'^data node-([01])\.out\1 \1 \1$' \
	"a file that was followed says why the job failed"
like "$(job_get "$JOB" .text)" 'RuntimeError: shard [01] is corrupt$' \
	"and its line stands in the reason"

# FlagScale's own runner ends with 0 whatever its ranks do.
must submit_tool runner retries=0 'follow=["/host_*"]' \
	"log={stream: ['*host_1'], rules: [{match: '^step (?<step>\\d+)/(?<steps>\\d+) loss (?<loss>\\S+) time (?<iteration_ms>\\S+)'}]}" \
	append /host_1 '[default0]: step 9/40 loss 2.5 time 100' , \
	append /host_1 '[default0]: step 10/40 loss 2.5 time 100' , \
	append /host_1 \
	'[rank2]: Traceback (most recent call last):' , \
	append /host_1 '[rank2]:   File "/fit.py", line 1, in f' , \
	append /host_1 '[rank2]: RuntimeError: shard 7 is corrupt' , \
	exit 0
must wait_job "$JOB" failed 30
is "$(job_get "$JOB" '"\(.failure) \(.reason.class) \(.reason.rank)"')" \
	"incomplete data 2" "a launcher that ends with 0 hides no error"
like "$(job_get "$JOB" .text)" \
	'10 of 40: rank 2: RuntimeError: shard 7 is corrupt$' \
	"it stands behind the step that was reached"

must wait_sweep "$SWEEP" 20
ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
