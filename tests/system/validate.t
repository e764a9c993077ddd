#!/bin/bash
# validate.t - regatta validate on eight nodes, each with an engine and a network of
# its own: a node with little processor time, one with a slow disk, one that computes
# something else, a slow link between two good nodes, a node with a slow network.
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

NODES=8
SET=$BED/set.yaml CORPUS=$BED/corpus
REPORT=$BED/report.json
declare -A CGROUPS=()

# A host's mounts are its own: what is bound over the corpus there, is there alone.
private_mounts()
{
	mkdir -p "$BED/bin"
	cat >"$BED/bin/containerd" <<-END
		#!/bin/bash
		[[ "\$*" == */engines/host5/* ]] ||
			exec $(command -v containerd) "\$@"
		echo \$\$ >"$BED/bin/pid"
		exec unshare --mount --propagation private bash -c \\
			'mount --bind "$CORPUS.wrong" "$CORPUS/corpus.txt"; exec "\$@"' \\
			- $(command -v containerd) "\$@"
	END
	cat >"$BED/bin/dockerd" <<-END
		#!/bin/bash
		[[ "\$*" == */engines/host5/* ]] ||
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
	cp "$CORPUS/corpus.txt" "$CORPUS.right"
	sed 's/e/d/' "$CORPUS/corpus.txt" >"$CORPUS.wrong"
}

# set_file NODES WORD...: a set of the trainer
set_file()
{
	local nodes=$1

	shift
	cat >"$SET" <<-END
		sweep: fit
		nodes: $nodes
		framework: cpu
		model: gpt-nano
		batch: {micro: 1, sequence: 64}
		mounts:
		  - {host: $CORPUS, container: /data, read_only: true}
		  - {host: $BED/scratch, container: /scratch}
		command: [/trainer, --corpus, /data/corpus.txt, --micro-batch, "1",
		  --sequence, "64", --layers, "1", --hidden, "128", --heads, "2",
		  $(printf '"%s", ' "$@")--scratch, /scratch]
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
# -1: all.
processor_limit() # HOST MS
{
	local group=/sys/fs/cgroup/cpu/regatta-$BED_ID-host$1

	mkdir -p "$group" && echo 1000000 >"$group/cpu.cfs_period_us" &&
		echo $(($2 < 0 ? -1 : $2 * 1000)) >"$group/cpu.cfs_quota_us"
	CGROUPS[$group]=1
}

disk_limit() # HOST BYTES-PER-SECOND
{
	local group=/sys/fs/cgroup/blkio/regatta-$BED_ID-host$1 device

	device=$(stat -c '%Hd:%Ld' "$BED/scratch")
	mkdir -p "$group" &&
		echo "$device $2" >"$group/blkio.throttle.write_bps_device"
}

# All traffic of a host, or that to another host alone.
network_limit() # HOST RATE [OTHER]
{
	local device=(tc -n "$(host_netns "$1")")

	if [[ ! ${3-} ]]; then
		"${device[@]}" qdisc add dev eth0 root tbf rate "$2" burst 16k \
			latency 50ms
		return
	fi
	"${device[@]}" qdisc add dev eth0 root handle 1: prio &&
		"${device[@]}" qdisc add dev eth0 parent 1:3 handle 30: tbf \
			rate "$2" burst 16k latency 50ms &&
		"${device[@]}" filter add dev eth0 parent 1: protocol ip u32 \
			match ip dst "$(host_address "$3")/32" flowid 1:3
}

network_free()
{
	tc -n "$(host_netns "$1")" qdisc delete dev eth0 root
}

corpora
private_mounts
must cluster_up $NODES hosts
must on_switch regatta image list >/dev/null

# ---- each -----------------------------------------------------------------

set_file each --measure 150 --steps 20
validate
is "$(jq -r '.units | length' "$REPORT")" $NODES "each node is measured"
is "$code $(bad_ones)" "1 n5" "a node that computes something else is bad"
is "$(jq -r '.units[] | select(.name == "n5") | .checks[] |
	select(.test == "losses") | .text' "$REPORT")" \
	"losses differ from those of 7 of 8 like it, with one seed: it computes something else" \
	"and is told so"
done_testing
