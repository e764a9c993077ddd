#!/bin/bash
# flood.t - viewers, agents and joiners that send what they can: what it costs
# others is printed, the controller's memory is held against its limit.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need "$REGATTA_BUILD/lab/peer"
must cluster_up 1
# shellcheck disable=SC2034 # in conditions
LIMIT_MIB=80 # 64 of unread messages, and what the controller itself may grow
SECONDS_EACH=6
hello='{"type":"hello","version":3,"software":"peer"}'
agent='{"type":"hello","version":3,"software":"peer","instance":"x",
"cluster":"regatta","address":"127.0.0.1","vendor":"cpu","devices":1}'
task='{"type":"task","task":{"job":1,"attempt":1,"rank":0,"state":"ended",
"failure":"exit","exit_code":1,"started_ms":1,"ended_ms":2,
"memory_peak_bytes":0,"streams":[]}}'
query='{"type":"query","request":1,"what":3,"id":0}'

for i in {1..6}; do
	must make_key "$CLUSTER/viewer$i.key" "viewer$i" viewer
done
for i in {1..11}; do
	must make_key "$CLUSTER/agent$i.key" "flood$i" agent
done
must wait_for 'regatta nodes --key "$CLUSTER/viewer6.key"' 10

memory() # VmRSS or VmHWM, in MiB
{
	awk -v what="$1:" '$1 == what { print int($2 / 1024) }' \
		"/proc/$(pid_of cluster/controller)/status"
}
# cost NAME: how long an operator's command takes, and a job until it runs
cost()
{
	local i start all=()

	for i in {1..15}; do
		start=$(date +%s%N)
		regatta nodes >/dev/null || all+=(99999)
		all+=($((($(date +%s%N) - start) / 1000000)))
	done
	mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -n)
	start=$(date +%s%N)
	must submit_tool "job$((++jobs))" print 10
	must wait_job "$JOB" completed 30
	diag "$1: regatta nodes ${all[7]} ms, at most ${all[-1]} ms;" \
		"a job $((($(date +%s%N) - start) / 1000000)) ms"
}
# flood NAME ROLE KEYS CONNECTIONS TEXT...: all of them send meanwhile
flood()
{
	local name=$1 role=$2 keys=$3 connections=$4 i before pids=()

	echo 5 >"/proc/$(pid_of cluster/controller)/clear_refs"
	before=$(memory VmRSS)
	for ((i = 1; i <= keys; i++)); do
		# Theirs are other machines' processors.
		chrt --idle 0 "$REGATTA_BUILD/lab/peer" --flood "$connections" \
			$SECONDS_EACH "$REGATTA_CONTROLLER" \
			"$CLUSTER/controller.key" "$CLUSTER/$role$i.key" \
			"${@:5}" >"$BED/flood$i" &
		pids+=($!)
	done
	cost "$name"
	wait "${pids[@]}"
	diag "$name: $((keys * connections)) connections at a time," \
		"each sender: $(sort -n "$BED/flood1")"
	diag "$name: memory $before MiB, at most $(memory VmHWM) MiB," \
		"then $(memory VmRSS) MiB"
	ok '(($(memory VmHWM) - before < LIMIT_MIB))' \
		"$name: the controller's memory keeps its limit"
	ok 'wait_for "((\$(memory VmRSS) - before < LIMIT_MIB / 4))" 10' \
		"$name: and is given back"
	is "$(nodes_get '.[] | select(.name == "n1") | .state')" up \
		"$name: the node that works is there"
}

jobs=0
cost quiet
flood "hellos of a megabyte" viewer 6 10 @1000000 @1000000
flood "requests of a megabyte" viewer 6 10 "$hello" @1000000
flood "messages of many frames" viewer 6 10 "$hello" \
	+@900000 +@900000 +@900000 +@900000 +@900000 +@900000 +@900000 \
	+@900000 +@900000 +@900000 +@900000 +@900000 +@900000 @1
flood "good questions" viewer 6 10 "$hello" "$query"
flood "status messages" agent 10 1 "$agent" "$task"
flood "a megabyte for a status" agent 10 1 "$agent" @1000000

# One message that does not end.
endless=()
for i in {1..300}; do
	endless+=(+@1000000)
done
echo 5 >"/proc/$(pid_of cluster/controller)/clear_refs"
before=$(memory VmRSS)
spawn endless "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
	"$CLUSTER/controller.key" "$CLUSTER/agent11.key" 1 "$agent" \
	"${endless[@]}" @1
ok 'wait_for "log_of cluster/controller |
	finds \"refused flood11: .* MiB of unread messages\"" 30' \
	"a message that does not end is cut"
ok '(($(memory VmHWM) - before < LIMIT_MIB))' \
	"its memory is limited: $before, $(memory VmHWM) MiB"
ok 'wait_for "((\$(memory VmRSS) - before < LIMIT_MIB / 4))" 10' \
	"and given back"
end endless
done_testing
