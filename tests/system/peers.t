#!/bin/bash
# peers.t - a peer that misbehaves is dropped with a word, and harms nobody.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need "$REGATTA_BUILD/lab/peer"
must cluster_up 1

port=${REGATTA_CONTROLLER##*:}
hello='{"type":"hello","version":3,"software":"peer"}'
query='{"type":"query","request":1,"what":"sweeps"}'

# peer KEY COUNT [TEXT]
peer()
{
	run "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
		"$CLUSTER/controller.key" "$@"
}
# logged REGEX NAME: the controller's log has, or gets, a line
logged()
{
	ok "wait_for 'log_of cluster/controller | finds -E \"$1\"' 15" "$2"
}

# refused_again REGEX NAME PEER...: the log tells so many refusals a second, and
# those of the wait before may have been as many.
refused_again()
{
	local line=$1 name=$2

	shift 2
	# shellcheck disable=SC2034 # in the condition
	asked=("$@")
	ok "wait_for 'peer \"\${asked[@]}\"; log_of cluster/controller |
		finds -E \"$line\"' 15" "$name"
}

# A job that prints all the while: whom it harms, it harms.
must submit_tool steady lines 100000 500 , exit 0
steady=$JOB
must wait_job "$steady" running 20

# harmed WHO: the log grows, and a question is answered soon
unharmed()
{
	local size

	size=$(log_size "$steady")
	ok "wait_for '((\$(log_size $steady) > $size))' 5" \
		"$1: a job's log grows on"
	run timeout 2 regatta nodes
	like "$rc $out" "^0 .*n1 .*up" "$1: others are answered"
}

# Bytes that are not even ZeroMQ, and connections that say nothing.
for i in {1..20}; do
	head -c 20000 /dev/urandom 2>/dev/null >"/dev/tcp/127.0.0.1/$port"
done 2>/dev/null
echo "GET / HTTP/1.1" >"/dev/tcp/127.0.0.1/$port"
silent=()
for i in {1..100}; do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port" && silent+=("$fd")
done
is ${#silent[@]} 100 "a hundred connections say nothing"
unharmed "garbage"
for fd in "${silent[@]}"; do
	exec {fd}>&-
done
logged "refused 127.0.0.1.*not a Regatta client" "garbage has its line in the log"
logged "refused others: [0-9]+ more" "a hundred do not fill it"

# A key that nobody knows.
must regatta key new "$BED/stranger.key" --name stranger --role operator \
	>/dev/null 2>&1
run regatta nodes --key "$BED/stranger.key"
is $rc 3 "an unknown key is out of reach of everything"
# shellcheck disable=SC2034 # in a condition
public=$(sed -n 's/^public: "\(.*\)"/\1/p' "$BED/stranger.key")
ok 'wait_for "regatta nodes --key \$BED/stranger.key
	log_of cluster/controller | grep -F \"\$public\" | finds \"not in the list\"" 15' \
	"an unknown key has its line, with the key"

# Known keys that want too much.
must make_key "$CLUSTER/viewer.key" watcher viewer 2>/dev/null
must wait_for 'regatta nodes --key "$CLUSTER/viewer.key"' 10
run regatta cancel job "$steady" --key "$CLUSTER/viewer.key"
is $rc 2 "a viewer may not cancel"
like "$err" "viewer may not cancel" "and is told so"
run regatta submit "$BED/host/steady.yaml" --key "$CLUSTER/viewer.key"
like "$rc $err" "^2 .*viewer may not submit sweeps" "nor submit"
run regatta jobs --key "$CLUSTER/viewer.key"
like "$rc $out" "^0 .*steady" "but look"
peer "$CLUSTER/viewer.key" 1 '{"type":"hello","version":99,"software":"x"}'
like "$out" "protocol version 99.*expected 3" "a wrong version is told"
refused_again "watcher.*protocol version 99" "and has its line in the log" \
	"$CLUSTER/viewer.key" 1 '{"type":"hello","version":99,"software":"x"}'
peer "$CLUSTER/viewer.key" 1 "$query"
like "$out" "send hello first" "a question without hello is told"
unharmed "wrong words"

# A known key that speaks garbage, or floods.
must make_key "$CLUSTER/mad.key" mad operator 2>/dev/null
must wait_for 'regatta nodes --key "$CLUSTER/mad.key"' 10
peer "$CLUSTER/mad.key" 50
like "$out" refused "random frames are refused"
refused_again "mad" "and have their line in the log" "$CLUSTER/mad.key" 50
unharmed "random frames"
must make_key "$CLUSTER/flood.key" flood operator 2>/dev/null
must wait_for 'regatta nodes --key "$CLUSTER/flood.key"' 10
spawn flood "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
	"$CLUSTER/controller.key" "$CLUSTER/flood.key" 200000 "$hello"
unharmed "a flood"
logged "flood.*too many messages" "a flood is dropped with a line"
run regatta nodes --key "$CLUSTER/flood.key"
is $rc 3 "and kept out for a moment"
unharmed "after the flood"

# Nothing of all that reached the store, and the job runs as ever.
is "$(cli sweeps --format json | jq '.sweeps | length')" 1 \
	"nothing was submitted"
is "$(job_get "$steady" '"\(.state) \(.attempt)"')" "running 1" \
	"the job runs, in its first attempt"
run cli cancel job "$steady"
must wait_sweep "$SWEEP" 20
# shellcheck disable=SC2034 # in a condition
lines=$(($(log_size "$steady") / 100))
ok '((lines > 100)) && log_is $steady 1 0 lines $lines 0' \
	"and its log is byte for byte what it printed"
done_testing
