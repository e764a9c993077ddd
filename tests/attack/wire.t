#!/bin/bash
# wire.t - messages that no honest party would send, thousands of them, to a
# controller and to an agent, by every role. The count of attempts is printed.
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
controller

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

# A controller that sends an agent all that it has.
must engine_up e1
must regatta key new "$BED/other.key" --name other --role controller \
	>"$BED/other.public" 2>/dev/null
echo '{}' >"$BED/policy.yaml"
spawn orders "$REGATTA_BUILD/lab/evil" order tcp://127.0.0.1:17119 \
	"$BED/other.key"
spawn evil/agent "$programs/regatta-agent" --key "$CLUSTER/n1.key" \
	--controller tcp://127.0.0.1:17119 \
	--controller-key "$BED/other.public" --state "$BED/evil/n1" \
	--engine "$(engine_host e1)" --policy "$BED/policy.yaml" \
	--images "$REGATTA_BUILD/images" \
	--init "$REGATTA_BUILD/regatta-init"
wait_for '! alive orders' 900
is "$(code_of orders)" 0 "an agent survives a hostile controller"
diag "controller: $(log_of orders)"
ok 'alive evil/agent' "it is the same agent"
ok '! log_of evil/agent | grep -E "$FAULT"' "and it found no fault in itself"
is "$(dk e1 ps -aq)" "" "no container was made"
is "$(dk e1 images -q)" "" "nor any image"
must end evil/agent
done_testing
