#!/bin/bash
# join.t - nodes and people join by token, are drained, and removed at once.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 1

# joined NAME [ARGUMENT...]: the agent of the settings that join wrote
joined()
{
	spawn "$1" "$REGATTA_BUILD/regatta-agent" \
		--config "$BED/$1/agent.yaml" --state "$CLUSTER/$1" \
		--engine "$(engine_host e1)" --policy any \
		--images "$REGATTA_BUILD/images" \
		--init "$REGATTA_BUILD/regatta-init" "${@:2}"
}
# join NAME TOKEN [FOLDER]
join()
{
	run regatta-agent join "$2" --name "$1" \
		--config "$BED/${3-$1}/agent.yaml" --no-start
}
node_state()
{
	nodes_get ".[] | select(.name == \"$1\") | .state"
}

# A machine.
token=$(regatta node token --expires 10m 2>/dev/null)
like "$token" "^tcp://127\.0\.0\.1:[0-9]+,[A-Za-z0-9_-]{43},[A-Za-z0-9_-]{43}\$" \
	"a token is one line that needs no quotes"
run setpriv --reuid 65534 --regid 65534 --clear-groups "$REGATTA_BUILD/regatta-agent" \
	join "$token" --config "$BED/n2/agent.yaml" --no-start
like "$rc $err" "^3 .*/n2: you may not write there; run it as root, or name another file" \
	"who may not write the settings is told so, and the token is not used"
join n2 "$token"
is $rc 0 "a machine joins by it"
is "$(stat -c '%a %U' "$BED/n2/agent.key" "$BED/n2/agent.yaml" |
	tr '\n' ' ')" "600 root 644 root " "its key is its own"
joined n2
ok '[[ $(wait_for "[[ \$(node_state n2) == up ]]" 20; node_state n2) == up ]]' \
	"its agent needs nothing more"
ok '[[ $(nodes_get ".[] | select(.name == \"n2\") | .facts.cpu_model") ]]' \
	"the node is there, with its hardware"
join n3 "$token"
like "$rc $err" "no uses left" "the token lets nobody else in"
ok '! grep -qr "${token##*,}" "$CLUSTER/controller"' \
	"its secret is nowhere in the controller's state"
ok '! grep -qr --include="*.log" "${token##*,}" "$BED"' "nor in any log"
join n3 "${token%,*}"
like "$rc $err" "^2 .*the token is not whole; expected the line that" \
	"one that was cut is told from one that is missing"
join n3 "tcp://host.invalid:7117,${token#*,}"
like "$rc $err" "^3 .*host.invalid: " "a name that is none is out of reach"
run regatta-agent join "tcp://127.0.0.1:1,${token#*,}" --name n3 --timeout 1 \
	--config "$BED/n3/agent.yaml" --no-start
like "$rc $err" "^3 .*no controller at tcp://127.0.0.1:1; check the address" \
	"so is a port where nobody listens, with what to look at"
join n3 "${token%?????}AAAAA"
like "$rc $err" "^3? ?.*(does not know this token|key)" \
	"nor does one that nobody made"

regatta node token --from 192.0.2.0/24 2>/dev/null >"$BED/token"
run regatta-agent join --token-file "$BED/token" --name n3 \
	--config "$BED/n3/agent.yaml" --no-start
like "$rc $err" "is valid from 192\.0\.2\.0/24, but not from 127\.0\.0\.1" \
	"a token of another network lets nobody in"
like "$(regatta audit)" "\(joiner\) +127\.0\.0\.1 +enrol .*refused: this token is valid from" \
	"which is audited"

# Work, and none.
must regatta node drain n1 --reason 'new disk' 2>/dev/null
like "$(regatta nodes)" "n1 +up, drained .*new disk" "a node is drained"
must submit_tool first print 1000 , wait /host/go
must wait_job "$JOB" running 20
first=$JOB
is "$(job_get "$first" '.allocation[0]')" n2 "the job runs on the other"
must regatta node undrain n1 2>/dev/null
must regatta node maintain n1 --from 1h --until 2h 2>/dev/null
like "$(regatta nodes)" "n1 +up +.*drained from" \
	"maintenance to come is shown, and drains nothing yet"
must regatta node label n1 rack=a disk=nvme 2>/dev/null
must regatta node label n1 disk- 2>/dev/null
is "$(nodes_get '.[] | select(.name == "n1") | .labels | tojson')" \
	'{"rack":"a"}' "labels are set and removed"
printf 'sweep: chosen\nimage: %s\nlabels: rack=a\ncommand: [/tool, print, "1"]\n' \
	"$TOOL_IMAGE" >"$BED/chosen.yaml"
must submit "$BED/chosen.yaml"
must wait_job "$JOB" completed 20
is "$(job_get "$JOB" '.allocation[0]')" n1 "a sweep chooses nodes by them"
sed -i s/rack=a/rack=c/ "$BED/chosen.yaml"
like "$(regatta plan "$BED/chosen.yaml" 2>&1)" "labels rack=c" \
	"and is told when there are none"
controller_kill
must controller_up
must nodes_up 2 20
is "$(nodes_get '.[] | select(.name == "n1") | "\(.labels.rack) \(.drain.reason)"')" \
	"a maintenance" "a new controller knows all of that"

# Another machine with the same key.
echo 0123456789abcdef0123456789abcdef >"$BED/machine-id"
must end n2
spawn thief unshare -m bash -c "mount --bind $BED/machine-id /etc/machine-id
	exec $REGATTA_BUILD/regatta-agent --config $BED/n2/agent.yaml \
	--state $BED/thief --engine $(engine_host e1) --policy any \
	--images $REGATTA_BUILD/images --init $REGATTA_BUILD/regatta-init"
ok 'wait_for "log_of cluster/controller | finds \"enrolled on another\"" 20' \
	"a key that comes from another machine is refused, in words"
must end thief
joined n2
must nodes_up 2 20
must agent_stop 1
must controller_kill
must controller_up
spawn thief unshare -m bash -c "mount --bind $BED/machine-id /etc/machine-id
	exec $REGATTA_BUILD/regatta-agent --controller $REGATTA_CONTROLLER \
	--controller-key $CLUSTER/controller.key --key $CLUSTER/n1.key \
	--state $BED/thief --engine $(engine_host e1) --policy any \
	--images $REGATTA_BUILD/images --init $REGATTA_BUILD/regatta-init"
ok 'wait_for "log_of cluster/controller | finds \"n1 is in use on another\"" 20' \
	"so is one of the list of keys, also after a restart"
must end thief
must agent_up 1
must nodes_up 2 20

# A new key; the old one is refused while its agent speaks.
token=$(regatta node rekey n2 2>/dev/null)
cp "$BED/n2/agent.key" "$BED/old.key"
join n2 "$token"
is $rc 0 "a node gets a new key"
ok 'wait_for "log_of cluster/controller | finds \"refused n2: its key\"" 5' \
	"the session of the old one ends"
must end n2
joined n2
must nodes_up 2 20
run "$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" \
	"$CLUSTER/controller.key" "$BED/old.key" 1 '{"type":"heartbeat"}'
is "$out" "" "the old key is refused"
touch "$BED/host/first/go"
must wait_job "$first" completed 20
ok 'intact "$first" print 1000 , wait "$BED/host/first/go"' \
	"the job has not noticed any of this"

# A key is rotated, and the agent restarted.
cp "$BED/n2/agent.key" "$BED/before.key"
run regatta key rotate "$BED/n2/agent.key"
like "$rc $err" "^0 .*new key of n2; the old key is valid until .*restart" \
	"an agent's key is rotated without joining again"
is "$(cmp -s "$BED/before.key" "$BED/n2/agent.key"; echo $?
	node_state n2)" "1
up" "its agent has not noticed"
must end n2
joined n2
must nodes_up 2 20
run regatta key rotate "$BED/n2/agent.key"
like "$rc $err" "^1 .*the previous key is still valid for" \
	"two keys are enough"
# Killed at any moment, one of the two is good, and the same command goes on.
survived=0 finished=0
for i in {1..12}; do
	key=$BED/rotated-$i.key
	must make_key "$key" "rotated$i" viewer 2>/dev/null
	must wait_for 'regatta nodes --key "$key"' 10
	(timeout -s KILL "0.0$((i * 4 + 7))" \
		"$REGATTA_BUILD/regatta" key rotate "$key") >/dev/null 2>&1
	regatta nodes --key "$key" >/dev/null && ((survived++))
	regatta key rotate "$key" >/dev/null 2>"$BED/rotate.err" ||
		grep -q 'is still valid for' "$BED/rotate.err"
	regatta nodes --key "$key" >/dev/null && [[ ! -e $key.next ]] &&
		((finished++))
done
is "$survived $finished" "12 12" "a rotation may be killed at any moment"
must regatta key new "$BED/lost.key" --name rotated1 --role viewer \
	>/dev/null 2>&1
cp "$BED/rotated-1.key" "$BED/lost.key.next"
run regatta key rotate "$BED/lost.key"
ok '[[ $rc == 0 ]] && cmp -s "$BED/lost.key" "$BED/rotated-1.key"' \
	"also when the old key ended meanwhile"

# Gone.
must submit_tool second print 10 , sleep 100
must wait_job "$JOB" running 20
must regatta node drain n1 2>/dev/null
must submit_tool third append /host/runs x , wait /host/go
must wait_job "$JOB" running 20
# shellcheck disable=SC2034 # in a condition
container=$(task_container "$JOB")
run regatta node remove n2
like "$rc $err" "^2 .*n2 runs tasks of job.* $JOB; .*--force" \
	"a node that has tasks is not removed by accident"
is "$(node_state n2)" up "(it is there)"
run regatta node remove n2 --force
is $rc 0 "a node is removed"
is "$(nodes_get '[.[].name] | join(" ")')" n1 "it is gone from the list"
echo "{sweep: pair, image: \"$TOOL_IMAGE\", nodes: 2}" >"$BED/pair.yaml"
like "$(regatta plan "$BED/pair.yaml")" "needs 2 nodes of cpu; 1 is known" \
	"no job waits for it to come back"
ok 'wait_for "log_of n2 | finds \"no longer in the list\"" 10' \
	"its agent is told"
ok 'wait_for "! containers e1 | finds $container" 20' "and ends what it ran"
end n2
must regatta node undrain n1 2>/dev/null
must regatta cancel job "$((JOB - 1))" 2>/dev/null
ok 'wait_for "[[ \$(job_get $JOB .attempt) == 2 ]]" 20' \
	"its job begins again elsewhere, without waiting for it"
must wait_job "$JOB" running 20
touch "$BED/host/third/go"
must wait_job "$JOB" completed 20

# Gone while nobody could tell it.
regatta node token 2>/dev/null >"$BED/token"
run regatta-agent join --token-file "$BED/token" --name n4 \
	--config "$BED/n4/agent.yaml" --no-start
is $rc 0 "a token may come in a file, which no list of processes shows"
joined n4
must nodes_up 2 20
must regatta node drain n1 2>/dev/null
must submit_tool fourth retries=0 print 10 , sleep 100
must wait_job "$JOB" running 20
# shellcheck disable=SC2034 # in a condition
container=$(task_container "$JOB")
end n4 KILL
must wait_for '[[ $(node_state n4) == down ]]' 20
run regatta node remove n4 --force
like "$rc $err" "^0 .*not reachable" "a node that hears nothing of it is removed"
must wait_job "$JOB" failed 20
is "$(job_get "$JOB" '"\(.failure) \(.text)"')" "node-lost n4 was removed" \
	"its tasks are lost"
joined n4 --refused-limit 2
ok 'wait_for "! dk e1 ps -q --no-trunc | finds $container" 30' \
	"its agent ends them, once its key was refused long enough"
end n4
must regatta node undrain n1 2>/dev/null

# People.
token=$(regatta user add ann --role viewer 2>/dev/null)
ann()
{
	run env -u REGATTA_KEY -u REGATTA_CONTROLLER -u REGATTA_CONTROLLER_KEY \
		REGATTA_CONFIG="$BED/ann/config.yaml" regatta "$@"
}
# By standard input, where there is one.
ann_reads()
{
	env -u REGATTA_KEY -u REGATTA_CONTROLLER -u REGATTA_CONTROLLER_KEY \
		REGATTA_CONFIG="$BED/ann/config.yaml" \
		timeout 60 regatta join - <<<"$token"
}
run ann_reads
is $rc 0 "a person joins"
is "$(stat -c %a "$BED/ann" "$BED/ann/key" | tr '\n' ' ')" "700 600 " \
	"the key is for the person's eyes only"
ann nodes
like "$rc $out" "^0 .*n1 +up" "and looks"
ann node drain n1
like "$rc $err" "^2 .*viewer may not drain and resume nodes" "and may do no more"
# The only copy of a key.
cp -r "$BED/ann" "$BED/ann.here"
sed -i 's|^controller: .*|controller: "tcp://192.0.2.1:7117"|
	s|^controller_key: .*|controller_key: "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"|' \
	"$BED/ann/config.yaml"
token=$(regatta user add ann2 --role viewer 2>/dev/null)
run ann_reads
like "$rc $err" "^2 .*ann/config.yaml is of the controller tcp://192.0.2.1:7117; .*--replace" \
	"whoever has the key of another cluster keeps it"
ok 'cmp "$BED/ann/key" "$BED/ann.here/key"' "as it was"
rm -r "$BED/ann" && mv "$BED/ann.here" "$BED/ann"
# A key from a token of one network comes from no other: in a network of the
# test's own, with two addresses.
cat >"$BED/bound" <<-END
	ip link set lo up && ip addr add 10.99.0.1/32 dev lo
	regatta-controller --listen tcp://0.0.0.0:7117 --state "$BED/bound.state" \\
		--key "$CLUSTER/controller.key" --keys "$CLUSTER/authorized" \\
		--images "$REGATTA_BUILD/images" &
	trap 'kill \$!; wait \$!' EXIT
	export REGATTA_CONTROLLER=tcp://127.0.0.1:7117
	token=\$(regatta user add bob --role viewer --from 127.0.0.1 \\
		--address tcp://127.0.0.1:7117)
	unset REGATTA_KEY REGATTA_CONTROLLER REGATTA_CONTROLLER_KEY
	export REGATTA_CONFIG=$BED/bob/config.yaml
	regatta join - <<<"\${token##* }" || exit 3
	regatta nodes || exit 4
	sed -i 's/127.0.0.1/10.99.0.1/' "\$REGATTA_CONFIG"
	regatta nodes
END
run unshare -n bash "$BED/bound"
like "$rc $err" "^3 .*regatta: .*bob is valid from 127\.0\.0\.1, but not from 10\.99\.0\.1" \
	"a key that is bound to a network is refused from elsewhere, in words"

spawn watching env -u REGATTA_KEY -u REGATTA_CONTROLLER_KEY \
	-u REGATTA_CONTROLLER REGATTA_CONFIG="$BED/ann/config.yaml" \
	regatta nodes --watch
must wait_for 'log_of watching | finds n1' 10
must regatta node label n1 rack=b 2>/dev/null
ok 'wait_for "log_of watching | finds rack=b" 10' \
	"--watch shows what changes"
must regatta user remove ann 2>/dev/null
ok '[[ $(code_of watching) == 3 ]]' "a removed user's open session ends"
ann nodes
is $rc 3 "and there is no other"
run regatta user remove operator
like "$rc $err" "^2 .*cannot remove your own key operator" "nobody locks themselves out"

# Who did all that.
regatta audit >"$BED/audit"
like "$(<"$BED/audit")" "operator \(operator\) +127\.0\.0\.1 +drain .*new disk.* done" \
	"the audit log knows who, from where and what"
like "$(<"$BED/audit")" "\(joiner\) .*enrol .*refused: this token has no uses left" \
	"also what was refused"
is "$(regatta audit --format json | jq -r '.audit[].act' |
	grep -v connect | tail -2 | tr '\n' ' ')" "revoke revoke " \
	"and in which order"
"$REGATTA_BUILD/lab/peer" "$REGATTA_CONTROLLER" "$CLUSTER/controller.key" \
	"$CLUSTER/operator.key" 1 '{"type":"hello","version":3,"software":"x"}' \
	'{"type":"cancel","request":1,"id":1,"kind":"'"$(head -c 5000 /dev/zero |
	tr '\0' x)"'"}' >/dev/null
like "$(regatta audit --format json | jq -c '.audit[] | select(.act == "cancel").request')" \
	'"left_out":.*"type":"cancel","bytes":[5-9][0-9]{3},"sha256":"[0-9a-f]{64}"' \
	"of a long request it keeps the hash"
ann nodes
ok 'wait_for "regatta audit | finds \"connect .*refused: key\"" 15' \
	"and that a removed key was turned away"

# Each row holds the one before.
run regatta audit --verify
like "$rc $out" "^0 [0-9]+ rows are unchanged; row [0-9]+ has " \
	"the log proves itself"
head=$(regatta audit --format jsonl | grep -v '"connect"' | tail -1 | jq -r .chain)
like "$(log_of cluster/controller)" "chain=$head" \
	"the controller's log has its newest hash"
must sqlite3 "$CLUSTER/controller/regatta.db" \
	"UPDATE audit SET who = 'bob' WHERE seq = 3"
run regatta audit --verify
like "$rc $err" "^1 .*row 3 of the audit log, or one before it, was changed" \
	"a changed row is found"
done_testing
