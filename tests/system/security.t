#!/bin/bash
# security.t - nothing in clear on the wire, no role beyond its table, no peer
# for another, and every file for its owner's eyes only.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need "$REGATTA_BUILD"/lab/{peer,sniff}
must cluster_up 2 one
port=${REGATTA_CONTROLLER##*:}
hello='{"type":"hello","version":3,"software":"peer"}'

# peer KEY TEXT...
peer()
{
	run "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
		"$CLUSTER/controller.key" "$1" 1 "${@:2}"
}

# Connections that begin to shake hands, and never end.
slow=()
for i in {1..100}; do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port" && slow+=("$fd")
	printf '\xff\0\0\0\0\0\0\0' >&"$fd"
done

# The wire, while a sweep goes over it and its output comes back.
spawn sniff "$REGATTA_BUILD/lab/sniff" "$port" "$BED/wire"
must wait_for 'log_of sniff | finds ready' 10
must submit_tool plainword 'env={CLEARNAME: clearvalue}' append /host/runs clearword , \
	lines 2000 0 , wait /host/go
steady=$JOB
must wait_job "$steady" running 20
must wait_for '(($(log_size "$steady") > 100000))' 20
# shellcheck disable=SC2034 # in a condition
token=$(regatta node token 2>/dev/null)
run regatta logs "$steady" --tail 3
like "$out" 0000001999 "(a job prints)"
must end sniff
ok '(($(stat -c %s "$BED/wire") > 100000))' "the wire was listened to"
ok 'grep -qa CURVE "$BED/wire"' "what was heard is this channel"
ok '! grep -qaE "plainword|clearword|CLEARNAME|clearvalue|\"type\"|sweep:" \
	"$BED/wire"' "of sweeps and orders nothing is to be read"
head -c 60 "$(log_file "$steady")" | head -1 >"$BED/line"
ok '! grep -qaF -f "$BED/line" "$BED/wire"' "nor of what jobs print"
ok '! grep -qaF "${token##*,}" "$BED/wire"' "nor of a token's secret"

# A controller that is another one.
must regatta key new "$BED/false.key" --name false --role controller \
	>/dev/null 2>&1
run regatta nodes --controller-key "$BED/false.key"
is $rc 3 "a controller with another key is none"

# All that a viewer may not do, by the table of roles.
must make_key "$CLUSTER/viewer.key" watcher viewer 2>/dev/null
must wait_for 'regatta nodes --key "$CLUSTER/viewer.key"' 10
mkdir "$BED/tree" && echo x >"$BED/tree/x"
printf 'sweep: w\nimage: %s\nworkspace: %s\ncommand: [/tool, print, "1"]\n' \
	"$TOOL_IMAGE" "$BED/tree" >"$BED/w.yaml"
public=$(sed -n 's/^public: "\(.*\)"/\1/p' "$BED/false.key")
sweep=$SWEEP
must submit_tool short print 1
must wait_job "$JOB" completed 30
ended=$SWEEP SWEEP=$sweep
tried=() tries=()
try()
{
	tries+=("$(printf '%q ' "$@")")
	run regatta "$@" --key "$CLUSTER/viewer.key"
	[[ $rc == 2 && $err =~ viewer\ may\ not\ ([a-z,\'\ ]+)\; ]] &&
		tried+=("${BASH_REMATCH[1]}")
}
try submit "$BED/host/plainword.yaml"
try submit "$BED/w.yaml"
try cancel job "$steady"
try retry 1
try image save "$TOOL_IMAGE" "$BED/image.tar"
try node token
try user add eve --role operator --public "$public"
try node remove n1
try node drain n1
try node label n1 a=b
try backup "$BED/backup.tar.gz"
try bundle "$ended" -o "$BED/sweep.tar.zst"
try gc
try key rotate-controller --keep 30d
try stacks "$steady"
timeout 20 regatta stacks "$steady" >/dev/null 2>&1
# Only regatta k8s sends it.
note="{\"type\":\"note\",\"request\":1,\"job\":$steady,\"text\":\"x\"}"
peer "$CLUSTER/viewer.key" "$hello" "$note"
[[ $out =~ viewer\ may\ not\ ([a-z,\'\ ]+) ]] && tried+=("${BASH_REMATCH[1]}")
peer "$CLUSTER/operator.key" "$hello" "$note"
regatta user roles --format json >"$BED/roles"
is "$(printf '%s\n' "${tried[@]}" | sort | tr '\n' ';')" \
	"$(jq -r '.roles[] | select(.operator and (.viewer | not)) | .may' \
		"$BED/roles" | sort | tr '\n' ';')" \
	"a viewer is refused each order that the table does not give"
is "$(nodes_get 'sort_by(.name) | [.[] | "\(.name) \(.drained) \(.labels | length)"] | join(" ")')" \
	"n1 false 0 n2 false 0" "nothing of it was done"
ok '[[ ! -e $BED/backup.tar.gz && ! -e $BED/backup.tar.gz.part ]]' \
	"no backup is left of it"

# A joiner, and an agent, that want more.
must make_key "$CLUSTER/n9.key" n9 agent 2>/dev/null
must wait_for 'regatta nodes' 10
agent='{"type":"hello","version":3,"software":"peer","instance":"x","cluster":"regatta","address":"127.0.0.1","vendor":"cpu","devices":1}'
peer "$CLUSTER/n9.key" "$agent" \
	'{"type":"cancel","request":1,"kind":"sweep","id":1}'
like "$out" "agent may not cancel" "an agent gives no orders"
must wait_for '[[ $("$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
	"$CLUSTER/controller.key" "$CLUSTER/n9.key" 1 "$agent") == *welcome* ]]' 20
peer "$CLUSTER/n9.key" "$agent" '{"type":"report","tasks":[]}' \
	"{\"type\":\"task\",\"task\":{\"job\":$steady,\"attempt\":1,\"rank\":0,\"state\":\"ended\",\"failure\":\"exit\",\"exit_code\":1,\"started_ms\":1,\"ended_ms\":2,\"memory_peak_bytes\":0,\"streams\":[]}}" \
	"{\"type\":\"discarded\",\"job\":$steady,\"attempt\":1,\"rank\":0}"
like "$out" welcome "(it was heard)"
is "$(job_get "$steady" '"\(.state) \(.attempt)"')" "running 1" \
	"an agent ends no task of another"
must regatta node remove n9 2>/dev/null
peer "$CLUSTER/viewer.key" "$hello" @3000000
is "$(regatta nodes >/dev/null 2>&1; echo $?)" 0 \
	"a frame that is too large harms nobody"
ok 'wait_for \
	"regatta nodes --key $CLUSTER/viewer.key" 20' "nor its sender for long"

# Those who were slow are gone by now; the job has not noticed.
left()
{
	local fd n=0

	for fd in "${slow[@]}"; do
		# The greeting is there; then the end, or nothing for now.
		timeout 0.1 cat <&"$fd" >/dev/null || ((n++))
	done
	echo "$n"
}
ok 'wait_for "[[ \$(left) == 0 ]]" 60' \
	"who does not end the handshake is hung up on"
for fd in "${slow[@]}"; do
	exec {fd}>&-
done

# Another operator's work is not ended by accident.
must make_key "$CLUSTER/other.key" other operator 2>/dev/null
must wait_for 'regatta nodes --key "$CLUSTER/other.key"' 10
for words in "cancel job $steady" "cancel $SWEEP" "retry $SWEEP"; do
	# shellcheck disable=SC2086 # several words
	run regatta $words --key "$CLUSTER/other.key"
	like "$rc $err" "^2 .*sweep $SWEEP belongs to operator; --force" \
		"${words% *} of another operator's sweep needs --force"
done
is "$(job_get "$steady" '"\(.state) \(.attempt)"')" "running 1" \
	"all the while the job runs"
touch "$BED/host/plainword/go"
must wait_sweep "$SWEEP" 20
run regatta retry "$SWEEP" --force --key "$CLUSTER/other.key"
is $rc 0 "with it another operator retries it"
run regatta cancel "$SWEEP" --force --key "$CLUSTER/other.key"
is $rc 0 "and cancels it"
is "$(regatta audit --format json | jq -c '[.audit[] |
	select(.who == "other" and (.act | test("cancel|retry"))) |
	.refusal == null and .request.force]')" \
	'[false,false,false,true,true]' "all of which is in the audit log"

# Files.
is "$(find "$CLUSTER/controller" \( -type f ! -perm 600 \) -o \
	\( -type d ! -perm 700 \) -o ! -user root)" "" \
	"what the controller writes is for its own eyes only"
is "$(find "$CLUSTER" -name '*.key' ! -perm 600)" "" "so is every key"
is "$(find "$CLUSTER"/n[12] -type f -perm /022 -o -type d -perm /022 \
	! -path '*/spool/*')" "" "nobody else writes into an agent's folder"
# All of it again by one who may, and what everybody may.
must regatta key rotate "$CLUSTER/other.key" 2>/dev/null
for words in "${tries[@]}"; do
	eval "timeout 20 regatta $words" >/dev/null 2>&1
done
is "$(regatta audit --format json | jq -r '.audit[].act' | sort -u |
	comm -13 - <(jq -r '.roles[] | select(.operator and .audit) | .message' \
		"$BED/roles" | sort))" "" \
	"each order that the table says is in the audit log"
is "$(regatta audit --format json | jq '[.audit[].act |
	select(. == "backup" or . == "gc")] | length')" 2 \
	"and each once, however long it takes"
done_testing
