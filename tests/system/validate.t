#!/bin/bash
# validate.t - regatta validate on four or eight nodes, each with an engine and a
# network of its own: a node with little processor time, one that computes something
# else, a slow link between two good nodes, a node with a slow network.
#
# Longer: a throttled node, one with a slow disk; pairs of nodes, in all rounds
#
# VALIDATE_CLEAN=20 runs as many validations of good nodes (1), VALIDATE_KEEP=1 says
# what each found.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
need tc

# The last one computes something else.
NODES=4
if ((${REGATTA_LONG:-0})); then
	NODES=8
fi
SET=$BED/set.yaml CORPUS=$BED/corpus
REPORT=$BED/report.json

# Engines whose containers may write as many bytes a second to the disk of our files as
# $BED/rate/host1 ... say; no such file: any. Source: runtime-spec, config-linux.md,
# blockIO.
disk_limits()
{
	local device

	device=$(findmnt -no MAJ:MIN -T "$BED") || return 1
	mkdir -p "$BED/rate"
	cat >"$BED/bin/limited-runc" <<-END
		#!/bin/bash
		bundle=\$(sed -nE 's/.*--bundle ([^ ]+).*/\1/p' <<<"\$*")
		host=\$(sed -nE 's/.*\/engines\/(host[0-9]+)\/.*/\1/p' <<<"\$bundle")
		if [[ \$bundle && -e $BED/rate/\$host ]]; then
			jq --argjson rate "\$(<"$BED/rate/\$host")" \\
				'.linux.resources.blockIO.throttleWriteBpsDevice =
				[{major: ${device%:*}, minor: ${device#*:}, \$rate}]' \\
				"\$bundle/config.json" >"\$bundle/limited.json" &&
				mv "\$bundle/limited.json" "\$bundle/config.json"
		fi
		exec $(command -v runc) "\$@"
	END
	chmod +x "$BED/bin/limited-runc"
}

# A host's mounts are its own: what is bound over the corpus there, is there alone.
private_mounts()
{
	cat >"$BED/bin/containerd" <<-END
		#!/bin/bash
		[[ "\$*" == */engines/host$NODES/* ]] ||
			exec $(command -v containerd) "\$@"
		echo \$\$ >"$BED/bin/pid"
		exec unshare --mount --propagation private bash -c \\
			'mount --bind "$CORPUS.wrong" "$CORPUS/corpus.txt"; exec "\$@"' \\
			- $(command -v containerd) "\$@"
	END
	cat >"$BED/bin/dockerd" <<-END
		#!/bin/bash
		set -- "\$@" --add-runtime limited="$BED/bin/limited-runc" \\
			--default-runtime limited
		[[ "\$*" == */engines/host$NODES/* ]] ||
			exec $(command -v dockerd) "\$@"
		exec nsenter --mount="/proc/\$(<"$BED/bin/pid")/ns/mnt" -- \\
			$(command -v dockerd) "\$@"
	END
	chmod +x "$BED/bin"/{containerd,dockerd}
	PATH=$BED/bin:$PATH
}

# The corpus, and one with a wrong letter in each line.
corpora()
{
	mkdir -p "$CORPUS" "$BED/scratch"
	cp "$REGATTA_BUILD/images/cpu/corpus.txt" "$CORPUS/corpus.txt"
	cp "$CORPUS/corpus.txt" "$CORPUS/right.txt"
	sed 's/e/d/' "$CORPUS/corpus.txt" >"$CORPUS.wrong"
}

# set_file NODES CORPUS WORD...: a set of the trainer
set_file()
{
	local nodes=$1 corpus=$2

	shift 2
	cat >"$SET" <<-END
		sweep: fit
		nodes: $nodes
		framework: cpu
		model: gpt-nano
		batch: {micro: 1, sequence: 64}
		mounts:
		  - {host: $CORPUS, container: /data, read_only: true}
		  - {host: $BED/scratch, container: /scratch}
		command: [/trainer, --corpus, /data/$corpus.txt, --micro-batch, "1",
		  --sequence, "64", --layers, "1", --hidden, "128", --heads, "2",
		  $(printf '"%s", ' "$@")--scratch, /scratch]
		repeat: 2
		retries: 0
		timeout: 5m
		hang: off
		stop_after: off
	END
}

# validate ARGUMENT...: sets $code; the report is in $REPORT
validate()
{
	code=0
	on_switch timeout -k 5 300 regatta validate "$SET" --again 1s \
		--format json "$@" >"$REPORT" 2>"$BED/words" || code=$?
	((code < 2)) || diag "$(tail -5 "$BED/words")"
	[[ ! ${VALIDATE_KEEP-} ]] || diag "$(jq -c '.units[] | [.name, .verdict,
		([.checks[] | [.test, .value, .percent, .chance, .text]])]' "$REPORT")"
}

# verdict_of UNIT
verdict_of()
{
	jq -r --arg unit "$1" '.units[] | select(.name == $unit) | .verdict' \
		"$REPORT"
}

# Units that are bad, by name.
bad_ones()
{
	jq -r '[.units[] | select(.verdict == "bad") | .name] | sort | join(" ")' \
		"$REPORT"
}

# Lets containers of a host have so many milliseconds of each second of a processor;
# -1: all. A folder in their group keeps it when the last one ends.
processor_limit() # HOST MS
{
	local group=/sys/fs/cgroup/cpu/regatta-$BED_ID-host$1

	mkdir -p "$group/kept" && echo 1000000 >"$group/cpu.cfs_period_us" &&
		echo $(($2 < 0 ? -1 : $2 * 1000)) >"$group/cpu.cfs_quota_us"
	(($2 >= 0)) || rmdir "$group/kept"
}

# A host's wire, and a slow wire of their own between two hosts.
network_limit() # HOST RATE
{
	tc -n "$(host_netns "$1")" qdisc add dev eth0 root tbf rate "$2" \
		burst 16k latency 50ms
}

network_free() # HOST
{
	tc -n "$(host_netns "$1")" qdisc delete dev eth0 root
}

wire_slow() # HOST OTHER RATE
{
	local host

	ip -n "$(host_netns "$1")" link add wire type veth peer name wire \
		netns "$(host_netns "$2")" || return 1
	for host in "$1 $2" "$2 $1"; do
		ip -n "$(host_netns "${host% *}")" link set wire up &&
			ip -n "$(host_netns "${host% *}")" route add \
				"$(host_address "${host#* }")/32" dev wire \
				src "$(host_address "${host% *}")" &&
			tc -n "$(host_netns "${host% *}")" qdisc add dev wire root tbf \
				rate "$3" burst 16k latency 50ms || return 1
	done
}

wire_cut() # HOST
{
	ip -n "$(host_netns "$1")" link delete wire
}

corpora
mkdir -p "$BED/bin"
must disk_limits
private_mounts
must cluster_up $NODES hosts

# ---- clean ----------------------------------------------------------------

set_file each right --measure 100 --steps 20
alarms=0 runs=${VALIDATE_CLEAN:-1}
for ((i = 1; i <= runs; i++)); do
	validate
	[[ $code == 0 && ! $(bad_ones) ]] || alarms=$((alarms + 1))
	[[ $(jq '.units | length' "$REPORT") == "$NODES" ]] || alarms=999
done
diag "$alarms false alarms in $runs clean validations of $NODES nodes"
is $alarms 0 "of good nodes none is bad, whatever else the machine does"
is "$(cli report "$(jq '.sweeps[0]' "$REPORT")" --format json | jq '[.rows[].result.metrics |
	select(.engine_start_ms > 0 and .engine_start_ms < 60000)] | length')" \
	$((2 * NODES)) "each measurement tells how long the engine took to start it"

# ---- each -----------------------------------------------------------------

# What is slow shows beside nothing else only: not in a short run, in which good
# nodes may be suspect, too.
bad=(n4) drained=n4
if ((${REGATTA_LONG:-0})); then
	bad=(n3 n8) drained=n3
	processor_limit 3 30
fi
set_file each corpus --measure 100 --steps 20
validate --drain --accept --nodes-file "$BED/good.txt" --junit "$BED/junit.xml" \
	--html "$BED/page.html"
is "$code $(bad_ones)" "1 ${bad[*]}" \
	"a node that computes something else is bad, and a throttled one"
is "$(jq -r '.units[] | select(.name == "n'$NODES'") | .checks[] |
	select(.test == "losses") | .text' "$REPORT")" \
	"losses differ from those of $((NODES - 1)) of $NODES like it, with one seed: it computes something else" \
	"a wrong result is told by the majority"
good="n1 n2 n4 n5 n6 n7"
((${REGATTA_LONG:-0})) || good=$(jq -r '[.units[] | select(.verdict == "good") |
	.name] | sort | join(" ")' "$REPORT")
is "$(paste -sd' ' "$BED/good.txt")" "$good" "the good ones are a file"
ok 'grep -q "tests=\"$NODES\" failures=\"${#bad[@]}\"" "$BED/junit.xml"' "JUnit counts them"
is "$(grep -o '<rect' "$BED/page.html" | wc -l)" $NODES "the page has a square of each"
is "$(nodes_get '[.[] | select(.drained) | .name] | join(" ")')" $drained \
	"at most a tenth of all is drained, rounded up"
is "$(nodes_get '[.[] | select(.labels.accepted) | .name] | join(" ")')" \
	"$good" "good ones are accepted, bad ones not"
if ((${REGATTA_LONG:-0})); then
	processor_limit 3 -1
fi
set_file each right --steps 2
validate --nodes $drained,n1
is "$(jq -rc '[.units[].name], .notes' "$REPORT" | paste -sd' ')" \
	"[\"n1\"] [\"$drained is drained: not measured\"]" "a drained node is left out"
accepted=false
[[ " $good " == *" n1 "* ]] && accepted=true
is "$(cli report "$(jq '.sweeps[0]' "$REPORT")" --format json |
	jq '.rows[0].provenance.accepted_ms > 0')" $accepted \
	"a result names when its node was accepted"
cli node undrain $drained 2>/dev/null

# ---- disk -----------------------------------------------------------------

# All share one disk, so all are limited: what is measured is the same for the others.
if ((${REGATTA_LONG:-0})); then
	for host in $(seq $NODES); do
		echo 40000000 >"$BED/rate/host$host"
	done
	echo 20000000 >"$BED/rate/host5"
	set_file each right --measure 500 --steps 2
	validate
	is "$code $(bad_ones)" "1 n5" "a node with half a disk is bad"
	is "$(jq -rc '[.units[] | select(.name == "n5") | .checks[] | select(.text) | .test]' \
		"$REPORT")" '["disk_mib_per_s"]' "for its disk"
	rm "$BED/rate"/*
fi

# ---- history --------------------------------------------------------------

node_get() # NODE FILTER
{
	cli show node "$1" --format json | jq -c ".node | $2"
}

set_file each right --measure 100 --steps 20
for ((i = 0; i < 2; i++)); do
	validate --nodes n1
done
like "$(node_get n1 '[.tests[] | [.test, .runs >= 1, .before > 0]]')" \
	'\["rate",true,true\],\["[a-z_0-9]+",true,true\]' \
	"a node's last validation stands beside those before it"
like "$(cli show node n1)" "last validation:.TEST +LAST +BEFORE +BETTER %" \
	"in words, too"
is "$(node_get n1 '.lemon | .attempts > 2 and .failures == 0 and (.lemon | not)')" \
	true "and how many attempts of jobs it had, and how many failed"

# ---- preflight ------------------------------------------------------------

# One good node is known, all others are measured again; which good ones are accepted
# beside others is not certain, but n4 never is.
set_file each corpus --steps 20
cp "$SET" "$BED/set-each.yaml"
sed -e 's/^sweep: .*/sweep: after/' -e "s/^nodes: .*/nodes: 1/" -e '/^repeat:/d' \
	-e '$a preflight: {set: set-each.yaml, max_age: 1h}' "$SET" >"$BED/after.yaml"
for host in $(seq $NODES); do
	cli node label "n$host" accepted- rejected- >/dev/null 2>&1
done
after=$(on_switch timeout -k 5 400 regatta submit "$BED/after.yaml" 2>"$BED/words")
ok 'finds "preflight: n$NODES is " <"$BED/words"' \
	"a sweep with a preflight measures the nodes, and says which failed"
is "$(nodes_get '[.[] | select(.labels.rejected) | .name] |
	index("n'$NODES'") != null')" true "which the node has as a label"
wait_for '[[ $(jobs_get "$after" ".[0].state") == completed ]]' 60
is "$(cli report "$after" --format json | jq -r --arg node "n$NODES" \
	'.rows[0] | (.provenance.nodes[0] != $node)')" true \
	"another node of its kind runs the job"
ok 'cli report "$after" --format json | finds "n$NODES.* failed the preflight"' \
	"and its result says so"
sweeps=$(cli sweeps --format json | jq '.sweeps | length')
must on_switch timeout -k 5 100 regatta submit "$BED/after.yaml" >"$BED/again" 2>"$BED/words"
is "$(cli sweeps --format json | jq '.sweeps | length')" $((sweeps + 1)) \
	"within max_age nothing is measured again"
wait_for '[[ $(jobs_get "$(<"$BED/again")" ".[0].state") == completed ]]' 60

# A gang waits until enough of its kind are accepted, and takes no other; what was
# accepted too long ago is measured again.
labels_set() # NODES LABEL...
{
	local node

	for node in $1; do
		cli node label "$node" "${@:2}" >/dev/null 2>&1
	done
}

now=$(date +%s)
labels_set "n1 n2 n3 n$NODES" accepted- rejected="$now"
sed -e 's/^sweep: .*/sweep: gang/' -e 's/^nodes: .*/nodes: 2/' "$BED/after.yaml" \
	>"$BED/gang.yaml"
for ((i = 4; i < NODES; i++)); do
	labels_set "n$i" accepted- rejected="$now"
done
gang=$(on_switch timeout -k 5 100 regatta submit "$BED/gang.yaml" 2>"$BED/words")
like "$(jobs_get "$gang" '.[0].waits')" \
	"^needs 2 nodes of cpu accepted since 20[0-9-]+T[0-9:]+Z; 0 are known" \
	"a gang without accepted nodes waits for them"
labels_set "n2 n3" rejected- accepted="$now"
ok 'wait_for "[[ \$(jobs_get $gang .[0].state) == completed ]]" 60' "then it runs"
is "$(cli report "$gang" --format json | jq -rc '.rows[0].provenance.nodes | sort')" \
	'["n2","n3"]' "on these, not on those that failed"
labels_set "n1 n2 n3" rejected- accepted=$((now - 7200))
sweeps=$(cli sweeps --format json | jq '.sweeps | length')
old=$(on_switch timeout -k 5 200 regatta submit "$BED/after.yaml" 2>"$BED/words")
ok '(($(cli sweeps --format json | jq ".sweeps | length") >= sweeps + 2))' \
	"what was accepted longer ago than max_age is measured again"
cli cancel sweep "$old" >/dev/null 2>&1

# ---- pairs ----------------------------------------------------------------

if ((${REGATTA_LONG:-0})); then
	network_limit 8 4mbit
	must wire_slow 1 2 4mbit
	set_file pairs right --steps 6
	validate --all-pairs
	is "$code $(bad_ones)" "1 n1+n2 n8" \
		"all pairs tell a slow node, and a slow link between two good ones"
	wire_cut 1
	validate
	is "$code $(bad_ones)" "1 n8" "five rounds tell the slow node"
	is "$(jq '.sweeps | length <= 5' "$REPORT")" true "or fewer"
	network_free 8
fi

ok 'wait_for cluster_clean 30' "nothing is left on the nodes"
done_testing
