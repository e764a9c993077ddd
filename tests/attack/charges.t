#!/bin/bash
# charges.t - viewers that let answers lie, wait for what others have to look
# up, or load pages all the time: what it costs the controller's memory, and
# everybody else: what the controller does before it answers them. What the key
# pays for, tests/unit/server_test.c counts.
TEST_LIMIT=600
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need "$REGATTA_BUILD/lab/peer"
need curl
# shellcheck disable=SC2034 # for cluster_up
CONTROLLER_ARGS=(--web 127.0.0.1:0)
must cluster_up 2 one
# shellcheck disable=SC2034 # in a condition
LIMIT_MIB=64
SECONDS_EACH=10
hello='{"type":"hello","version":3,"software":"peer"}'

for i in {1..3}; do
	must make_key "$CLUSTER/viewer$i.key" "viewer$i" viewer
done
must wait_for 'regatta nodes --key "$CLUSTER/viewer3.key"' 10

memory() # VmRSS or VmHWM, in MiB
{
	awk -v what="$1:" '$1 == what { print int($2 / 1024) }' \
		"/proc/$(pid_of cluster/controller)/status"
}
processor() # time that it used, in ms
{
	awk '{ print ($14 + $15) * 10 }' \
		"/proc/$(pid_of cluster/controller)/stat"
}
# work of its loop, in us; a busy machine makes it later, not more
work()
{
	local ns

	read -r ns _ <"/proc/$(pid_of cluster/controller)/schedstat"
	echo $((ns / 1000))
}
# cost NAME MS: until an operator's command is answered, the controller works no more than
# that, and a job starts
cost()
{
	# shellcheck disable=SC2034 # in a condition
	local i start before most=$2 all=() works=()

	for i in {1..15}; do
		start=$(date +%s%N)
		before=$(work)
		regatta nodes >/dev/null || works+=(99999999)
		works+=($(($(work) - before)))
		all+=($((($(date +%s%N) - start) / 1000000)))
	done
	mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -n)
	mapfile -t works < <(printf '%s\n' "${works[@]}" | sort -n)
	start=$(date +%s%N)
	must submit_tool "job$((++jobs))" print 10
	must wait_job "$JOB" completed 30
	# shellcheck disable=SC2034 # in a condition
	median=$((works[7] / 1000))
	diag "$1: regatta nodes ${all[7]} ms, at most ${all[-1]} ms," \
		"in which the controller works $median ms," \
		"at most $((works[-1] / 1000)) ms;" \
		"a job $((($(date +%s%N) - start) / 1000000)) ms"
	ok '((median < most))' \
		"$1: others are answered after less than $2 ms of work"
}
# deaf NAME KEY CONNECTIONS RATE TEXT...
deaf()
{
	local name=$1 before

	used=$(processor)
	echo 5 >"/proc/$(pid_of cluster/controller)/clear_refs"
	before=$(memory VmRSS)
	# Theirs are other machines' processors.
	spawn "deaf-$2" nice -n 5 "$REGATTA_BUILD/lab/peer" --deaf "$3" \
		$SECONDS_EACH "$4" "$REGATTA_CONTROLLER" \
		"$CLUSTER/controller.key" "$CLUSTER/$2.key" "$hello" "${@:5}"
	cost "$name" 200
	must wait_for "! alive 'deaf-$2'" $((3 * SECONDS_EACH))
	diag "$name: $(log_of "deaf-$2" | tail -1);" \
		"memory $before MiB, at most $(memory VmHWM) MiB," \
		"then $(memory VmRSS) MiB; $((used = $(processor) - used)) ms of CPU"
	ok '(($(memory VmHWM) - before < LIMIT_MIB))' \
		"$name: the controller's memory keeps its limit"
	is "$(nodes_get '.[0].state')" up "$name: the node that works is there"
}

jobs=0
must submit_tool long print 4000000
must wait_job "$JOB" completed 60
long=$JOB
read='"stream":"rank-0","wait_ms":30000,"timestamps":false'
# shellcheck disable=SC2034 # in a condition
size=$(log_size "$JOB")
must eval '((size > 1 << 20))'
cost quiet 200

deaf "answers that nobody reads" viewer1 64 1500 \
	"{\"type\":\"log-read\",\"request\":#,\"job\":$long,\"attempt\":0,
	\"offset\":0,\"tail_lines\":0,${read/30000/0}}"
ok 'log_of cluster/controller | finds "refused viewer1: .*did not read"' \
	"who does not read is cut, in words"

# A job that says something all the time, and has many streams.
must submit_tool active 'follow=["/dev/shm/f*"]' files /dev/shm 400 , steps 600000 1
must wait_job "$JOB" running 30
active=$JOB sweep=$SWEEP
deaf "requests that wait" viewer2 62 500 \
	"{\"type\":\"log-read\",\"request\":#,\"job\":$active,\"attempt\":0,
	\"offset\":1000000#,\"tail_lines\":0,${read/rank-0/none}}"
deaf "the same one" viewer3 62 500 \
	"{\"type\":\"log-read\",\"request\":#,\"job\":$active,\"attempt\":0,
	\"offset\":0,\"tail_lines\":0,$read}"
must cli cancel "$sweep"
must wait_job "$active" cancelled 30

# Files whose figures would fill the memory of the controller.
words=(into /dev/shm/log1 ',' steps 65001 0)
for i in {2..12}; do
	words+=(',' into "/dev/shm/log$i" ',' steps 65000 0)
done
must submit_tool figures shm=1g 'log=auto' 'follow=["/dev/shm/log*"]' "${words[@]}"
must wait_job "$JOB" completed 300
like "$(cli show job "$JOB")" '[1-4] of them, the smallest, were not read' \
	"of many large files with figures some are given up, in words"
is "$(job_get "$JOB" .result.steps)" 65001 "the longest gives the result"

# Pages. 16 browsers of a viewer load them without a pause; others see theirs.
must make_key "$CLUSTER/viewer4.key" viewer4 viewer
# shellcheck disable=SC2016 # of the sweep
printf '%s\n' "sweep: wide" "image: $TOOL_IMAGE" "command: [/tool, print, '\${a}']" \
	"labels: [there=none]" "matrix:" >"$BED/wide.yaml"
printf '  a: [%s]\n' "$(seq -s, 400)" >>"$BED/wide.yaml"
must submit "$BED/wide.yaml"
login() # NAME
{
	curl -s -o /dev/null -c "$BED/$1.cookie" "$(cli web --key "$CLUSTER/$1.key")"
}
must wait_for 'login viewer4' 10
must login operator
web=$(web_at cluster/controller)
used=$(processor) begun=$(date +%s%N)
for i in {1..16}; do
	spawn "browser$i" bash -c "while :; do curl -s -b '$BED/viewer4.cookie' \
		-w '%{http_code}\\n' -o '$BED/page$i' '$web/sweep/$SWEEP'
		done >'$BED/codes$i'"
done
cost "pages of a viewer" 200
is "$(curl -s -b "$BED/operator.cookie" -o /dev/null -w '%{http_code}' \
	"$web/sweep/$SWEEP")" 200 "an operator's pages are there meanwhile"
# On a busy machine they may not come so far: then they take less than their key may.
refused()
{
	cat "$BED"/page* | finds "viewer4 used more processor time"
}
wait_for refused 20 >/dev/null
# shellcheck disable=SC2034 # in conditions
spent=$(($(processor) - used)) elapsed=$((($(date +%s%N) - begun) / 1000000))
for i in {1..16}; do
	end "browser$i"
done
sort "$BED"/codes* | uniq -c | sed 's/^/# /'
ok 'refused || (($(sort "$BED"/codes* | grep -c 503) > 0 || 2 * spent < elapsed))' \
	"beyond its key's time a viewer is refused in words"
diag "$((used = $(processor) - used)) ms of CPU"
done_testing
