#!/bin/bash
# wire.t - messages that no honest party would send, thousands of them, to a
# controller and to an agent, by every role; and an agent that speaks of another
# node's job and contents. The count of attempts is printed.
# Programs with sanitizers are taken where `make asan` built them.
TEST_LIMIT=1500
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
need "$REGATTA_BUILD/lab/evil"
TOKENS=500
programs=$REGATTA_BUILD
[[ -x $ROOT/build/asan/regatta-agent ]] && programs=$ROOT/build/asan
diag "programs of $programs"
# A fault of memory is a line of this kind in their logs.
# shellcheck disable=SC2034 # in conditions
FAULT='AddressSanitizer|runtime error:|LeakSanitizer|core dumped|Assertion'

controller()
{
	spawn evil/controller "$programs/regatta-controller" \
		--images "$REGATTA_BUILD/images" --key "$CLUSTER/c.key" \
		--keys "$CLUSTER/authorized" --state "$BED/evil/state" \
		--listen tcp://127.0.0.1:0
	must wait_for 'log_of evil/controller | finds "listening at"' 60
	REGATTA_CONTROLLER=$(log_of evil/controller |
		sed -n 's/.*listening at //p' | tail -1)
}
mkdir -p "$CLUSTER" "$BED/evil"
export REGATTA_CONTROLLER REGATTA_CONTROLLER_KEY=$CLUSTER/c.public
must regatta key new "$CLUSTER/c.key" --name c --role controller \
	>"$CLUSTER/c.public" 2>/dev/null
must make_key "$CLUSTER/operator.key" operator operator
must make_key "$CLUSTER/n1.key" n1 agent
must make_key "$CLUSTER/n8.key" n8 agent
controller

# ---- a job of another node -----------------------------------------------

must engine_up e1
must tool_image e1 "$TOOL_IMAGE"
agent() # NAME ARGUMENT...: an agent of n1
{
	spawn "evil/$1" "$programs/regatta-agent" --key "$CLUSTER/n1.key" \
		--state "$BED/evil/n1" --engine "$(engine_host e1)" \
		--images "$REGATTA_BUILD/images" \
		--init "$REGATTA_BUILD/regatta-init" --address 127.0.0.1 "${@:2}"
}
agent worker --controller "$REGATTA_CONTROLLER" \
	--controller-key "$CLUSTER/c.public"
must nodes_up 1 30
for name in first second; do
	mkdir -p "$BED/host/$name-code"
	echo "code of $name" >"$BED/host/$name-code/file"
done
must submit_tool first workspace=first-code print 10 , wait /host/go
must wait_job "$JOB" running 60
first=$JOB
must wait_for '(($(cli logs "$first" | wc -c) == 10))' 20
# n8 TEXT...: another agent, that is where nobody listens, says this
n8()
{
	"$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" "$CLUSTER/c.public" \
		"$CLUSTER/n8.key" 1 '{"type":"hello","version":3,
		"software":"peer","instance":"x","vendor":"none","devices":0,
		"address":"127.0.0.1","peers":"tcp://127.0.0.1:9"}' "$@"
}
task='"job":'$first',"attempt":1,"rank":0'
seen() # what there is of the job
{
	job_get "$first" '[.state, .attempt, (.tasks | tostring), .progress.text]' |
		jq -c .
	cli logs "$first"
}
before=$(seen)
for state in preparing ready running stopping ended; do
	n8 '{"type":"report","tasks":[{'"$task"',"state":"'$state'"}]}' \
		'{"type":"task",'"$task"',"state":"'$state'","code":3}' \
		"+{\"type\":\"log\",$task,\"stream\":\"0\",\"offset\":10,\"turn\":0}" \
		"forged output" "{\"type\":\"discarded\",$task}" \
		"{\"type\":\"command-answer\",$task,\"id\":1,\"text\":\"x\"}" \
		>>"$BED/n8"
done
like "$(<"$BED/n8")" '"discard".*"job":'"$first" \
	"an agent that reports on another node's job is told to discard it"
is "$(seen)" "$before" "and nothing of the job has changed"

# ---- messages that are none ----------------------------------------------

# sends ROLE FILE: all of them, and the controller lives
sends()
{
	# shellcheck disable=SC2034 # in a condition
	local pid

	pid=$(pid_of evil/controller)
	run -t 600 "$REGATTA_BUILD/lab/evil" send "$REGATTA_CONTROLLER" \
		"$CLUSTER/c.public" "$2" "$1"
	is "$rc" 0 "a controller survives a hostile $1"
	diag "$1: $out"
	diag "$err"
	ok '[[ $(pid_of evil/controller) == "$pid" ]] && alive evil/controller' \
		"$1: it is the same controller"
	ok '! log_of evil/controller | grep -E "$FAULT"' \
		"$1: and it found no fault in itself"
}
known() # what an operator sees of others' things
{
	regatta user list --format json |
		jq -c '[.keys[] | select(.name | startswith("evil") | not)]'
	regatta sweeps --format json | jq -c '.sweeps | length'
	regatta node tokens --format json | jq -c '.tokens | length'
	nodes_get '[.[] | select(.name | startswith("evil") | not)] | length'
}
must "$REGATTA_BUILD/lab/evil" tokens "$REGATTA_CONTROLLER" \
	"$CLUSTER/c.public" "$CLUSTER/operator.key" "$TOKENS" >"$BED/tokens"
before=$(known)
sends joiner "$BED/tokens"
sends viewer "$CLUSTER/authorized"
sends agent "$CLUSTER/authorized"
is "$(known)" "$before" "none of them changed what is not theirs"
is "$(job_state "$first"; echo "$state") $(cli logs "$first" | wc -c)" \
	"running 10" "the job of n1 still runs, and has its output"
touch "$BED/host/first/go"
must wait_job "$first" completed 60

# A content is known by its hash. Who needs it for nothing is no source of it.
must submit_tool never workspace=second-code 'labels=[there=none]' exit 0
hash=$(job_get "$JOB" .spec.container.workspace)
export -f n8
export REGATTA_BUILD CLUSTER
spawn offers bash -c "while :; do n8 '{\"type\":\"blob-want\",\"hash\":\"$hash\",
	\"length\":$(stat -c %s "$BED/evil/state/content/kept/$hash"),
	\"source\":\"\"}'; done"
must wait_for 'log_of offers | finds welcome' 20
must submit_tool second workspace=second-code exit 0
must wait_job "$JOB" completed 60
ok '! log_of evil/worker | grep "cannot be fetched from n8"' \
	"and no other agent is sent to it for contents"
end offers KILL

must wait_for '[[ ! $(dk e1 ps -aq) ]]' 30
must end evil/worker
sends operator "$CLUSTER/authorized"
is "$(timeout 60 regatta audit --verify >/dev/null; echo $?)" 0 \
	"the audit log holds together"

# One use is one use.
token=$(regatta node token 2>/dev/null)
for i in {1..20}; do
	regatta-agent join "$token" --name "race$i" \
		--config "$BED/race$i/agent.yaml" --no-start >/dev/null 2>&1 &
	racers+=($!)
done
won=0
for pid in "${racers[@]}"; do
	wait "$pid" && ((++won))
done
is "$won" 1 "of twenty that race for a token one wins"
must end evil/controller

# A controller that sends an agent all that it has. The image that it names is
# there: nothing but the policy refuses it.
tar -C "$REGATTA_BUILD/lab" --owner=0 --group=0 -c tool | dk e1 import \
	--change 'ENTRYPOINT ["/tool", "print", "1"]' - x:latest >/dev/null
# shellcheck disable=SC2034 # in a condition
images=$(dk e1 images -q | sort)
must regatta key new "$BED/other.key" --name other --role controller \
	>"$BED/other.public" 2>/dev/null
echo 'images: [docker.io/library/y]' >"$BED/policy.yaml"
spawn orders "$REGATTA_BUILD/lab/evil" order tcp://127.0.0.1:17119 \
	"$BED/other.key"
agent agent --controller tcp://127.0.0.1:17119 \
	--controller-key "$BED/other.public" --policy "$BED/policy.yaml"
wait_for '! alive orders' 900
is "$(code_of orders)" 0 "an agent survives a hostile controller"
diag "controller: $(log_of orders)"
ok 'alive evil/agent' "it is the same agent"
ok '! log_of evil/agent | grep -E "$FAULT"' "and it found no fault in itself"
ok 'log_of evil/agent | finds "images: x is not allowed"' \
	"its policy refuses what it is told to run"
is "$(dk e1 ps -aq)" "" "no container was made"
is "$(dk e1 images -q | sort)" "$images" "nor any image"
must end evil/agent
done_testing
