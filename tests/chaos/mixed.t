#!/bin/bash
# mixed.t - all that a sweep can ask for, and all that can happen, at random.
#
# Rounds of three sweeps: chains with workspace, followed and collected files;
# gangs; a cell that is repeated until its rate is known. Meanwhile parts are
# killed, stopped and frozen, the disk is full, people drain nodes, load images,
# back up and clean up. RANDOM_SEED repeats a run, ROUNDS makes it longer,
# MIXED_KIND=hosts has an engine for each node, and wires that are cut.
# Long: minutes of random faults; random.t has a short run in make check.
TEST_LIMIT=${MIXED_LIMIT:-240}
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/../system/cluster.sh"
need_root
cluster_need
seed=${RANDOM_SEED:-$((${EPOCHREALTIME/[^0-9]/} % 32768))}
RANDOM=$seed
diag "RANDOM_SEED=$seed"
must small_disk cluster/controller/logs 64
must cluster_up 2 "${MIXED_KIND=one}"

rounds=${ROUNDS:-2} strikes=${STRIKES:-5} lines=4
tree=$BED/tree host=$BED/host/mixed
mkdir -p "$tree" "$host/steps"
for i in {1..10}; do
	echo "step $i/10 | loss 1.0 | iteration 10.0 ms | 10.0 tokens/s |" \
		"memory 1.0 MiB"
done >"$host/log"
echo "training finished | steps 10 | final loss 1.0 | 10.0 tokens/s" \
	>>"$host/log"

# What each job of a chain prints, follows and collects.
chain_words=(print 20000 "," show "$tree/data")
followed_words=(print 30000)
collected_words=(print 40000)

chains()
{
	cat <<-END
		sweep: chains-$1
		image: $TOOL_IMAGE
		workspace: ./tree
		follow: [/out/notes]
		collect: [/out/kept]
		mounts: [{host: $host, container: /host}]
		matrix:
		  line: [$(seq -s ', ' "$lines")]
		  step:
		    - {step: one}
		    - {step: two, after: {step: one}}
		command: [/tool, append, /host/runs, "$1/\${line}/\${step}/", ",",
		  folder, /out, ",", print, "20000", ",", into, /out/notes, ",",
		  print, "30000", ",", into, /out/kept, ",", print, "40000", ",",
		  into, "-", ",", sleep, "0.1", ",", show, /workspace/data]
	END
}

gangs()
{
	cat <<-END
		sweep: gangs-$1
		image: $TOOL_IMAGE
		nodes: 2
		mounts: [{host: $host, container: /host}]
		matrix: {n: [1, 2]}
		command: [/tool, append, /host/runs,
		  "$1/gang\${n}/\${NODE_RANK}/", ",", print, "5000", ",", sleep,
		  "0.1", ",", lines, "50", "500"]
	END
}

repeats()
{
	cat <<-END
		sweep: repeats-$1
		framework: cpu
		image: $TOOL_IMAGE
		until: {width: 10%, max: 6}
		mounts: [{host: $host, container: /host}]
		command: [/tool, append, /host/runs, "$1/repeat/", ",", show,
		  /host/log]
	END
}

all_kill()
{
	kill -KILL "$(pid_of cluster/controller)" \
		"$(pid_of cluster/agent1)" "$(pid_of cluster/agent2)" 2>/dev/null
	controller_kill && agent_kill 1 && agent_kill 2 &&
		controller_up && agent_up 1 && agent_up 2
}

# pause NAME: it stands still, longer than the wire waits for it
pause()
{
	kill -STOP "$(pid_of "$1")"
	sleep "${2:-0.5}"
	kill -CONT "$(pid_of "$1")"
}

disk_fill()
{
	head -c 1G /dev/zero >"$CLUSTER/controller/logs/fill" 2>/dev/null
	sleep 0.7
	rm "$CLUSTER/controller/logs/fill"
}

drain()
{
	cli node drain "$1" --reason test && sleep 0.3 && cli node undrain "$1"
}

image_load()
{
	dk "$(node_engine 1)" save "$TOOL_IMAGE" -o "$BED/image.tar" ||
		return 1
	# Whoever waits for it may lose its controller; the order goes on.
	spawn load regatta image load "$BED/image.tar"
}

backup()
{
	rm -f "$BED/b.tar.gz"
	cli backup "$BED/b.tar.gz"
}

# The words of each; the last ones take long, and are rarer.
kinds=(
	"controller_kill" "controller_up"
	"agent_kill 1" "agent_up 1"
	"agent_kill 2" "agent_up 2"
	"all_kill" :
	'engine_kill $engine dockerd' 'engine_start $engine'
	'engine_kill $engine' 'engine_start $engine'
	'engine_freeze $engine; sleep 0.5; engine_thaw $engine' :
	"pause cluster/controller" :
	'pause cluster/agent$node' :
	"backup" :
	"cli gc --older 1d" :
	'drain n$node' :
	"disk_fill" :
	"image_load" :
	"cli node token --uses 1" :
)

[[ $MIXED_KIND != hosts ]] || kinds+=(
	'link_cut $node; sleep 0.5' 'link_restore $node'
	'link_cut $node; sleep 4' 'link_restore $node'
	'link_mute $node; sleep 1' 'link_unmute $node'
	'link_mute $node; sleep 7' 'link_unmute $node'
)

strike()
{
	local kind=$((RANDOM % (${#kinds[@]} / 2) * 2))
	local node=$((1 + RANDOM % 2)) engine

	engine=$(node_engine "$node")
	diag "strike at $node: ${kinds[kind]}"
	eval "${kinds[kind]} && ${kinds[kind + 1]}" >"$BED/said" 2>&1 && return
	diag "$(<"$BED/said")"
	return 1
}

story()
{
	diag "$(job_get "$1" '.events[] | "\(.time_ms) \(.kind) \(.data)"')"
	diag "$(cd "$CLUSTER" && grep -H "job=$1 " ./*.log)"
	return 1
}

# stream JOB ATTEMPT NAME WORD...
stream_is()
{
	local file=$CLUSTER/controller/logs/$1/$2/$3.log

	shift 3
	"$REGATTA_BUILD/lab/tool" "$@" >"$BED/want"
	cmp "$BED/want" "$file" >"$BED/difference" 2>&1 && return
	diag "$(<"$BED/difference")"
	return 1
}

kept()
{
	rm -rf "$BED/back"
	cli fetch "$1" -o "$BED/back" 2>"$BED/words" &&
		"$REGATTA_BUILD/lab/tool" "${collected_words[@]}" |
		cmp - "$(find "$BED/back" -type f)" && return
	diag "$(<"$BED/words") $(cli files "$1" --format json)"
	return 1
}

# ran_once TEXT [ATTEMPTS]
ran_once()
{
	local found

	found=$(runs mixed "$1")
	((found >= 1 && found <= ${2:-1})) && return
	diag "$1 ran $found times"
	return 1
}

# A node without its engine may fail a job before it runs; then it runs later.
completed()
{
	attempt=$(job_get "$1" .attempt)
	[[ $(job_get "$1" .state) == completed ]] && return
	diag "job $1: $(job_get "$1" '"\(.state) \(.text)"')"
	return 1
}

chains_whole()
{
	local bad=0 line step job=$2

	for ((line = 1; line <= lines; line++)); do
		for step in one two; do
			completed "$job" &&
				log_is "$job" "$attempt" 0 "${chain_words[@]}" &&
				stream_is "$job" "$attempt" node-0.out-notes \
					"${followed_words[@]}" &&
				kept "$job" && ran_once "$1/$line/$step/" ||
				story "$job" || bad=1
			job=$((job + 1))
		done
	done
	((!bad))
}

# One rank that cannot be started ends the others, too.
gangs_whole()
{
	local bad=0 n rank

	for n in 1 2; do
		for rank in 0 1; do
			completed $(($2 + n - 1)) && log_is $(($2 + n - 1)) \
				"$attempt" "$rank" print 5000 , lines 50 &&
				ran_once "$1/gang$n/$rank/" "$attempt" ||
				story $(($2 + n - 1)) || bad=1
		done
	done
	((!bad))
}

# Two equal rates are enough; a third one would be one too many.
repeats_whole()
{
	local states

	states=$(jobs_get "$2" '[.[] | .state] | join(" ")')
	[[ $states == "completed completed" &&
		$(runs mixed "$1/repeat/") == 2 ]] && return
	diag "repeats: $states; ran $(runs mixed "$1/repeat/") times"
	diag "$(jobs_get "$2" .)"
	return 1
}

for ((round = 1; round <= rounds; round++)); do
	head -c 100000 /dev/urandom | base64 >"$tree/data"
	sweeps=() first=()
	for kind in chains gangs repeats; do
		"$kind" $round >"$BED/$kind.yaml"
		must submit "$BED/$kind.yaml"
		sweeps+=("$SWEEP") first+=("$JOB")
	done
	for ((k = 0; k < strikes; k++)); do
		# Only to spread the strikes: no result depends on it.
		sleep "0.$((RANDOM % 60 + 10))"
		must strike
	done
	bad=0
	for sweep in "${sweeps[@]}"; do
		wait_sweep "$sweep" 60 || bad=1
	done
	ok '((!bad))' "round $round: the sweeps end" || {
		diag "$(log_of cluster/controller | tail -20)"
		diag "$(log_of cluster/agent1 | tail -20)"
		diag "$(log_of cluster/agent2 | tail -20)"
		break
	}
	ok 'chains_whole $round ${first[0]}' \
		"round $round: jobs of chains ran once, all they left is whole"
	ok 'gangs_whole $round ${first[1]}' \
		"round $round: gangs ran once, their logs are whole"
	ok 'repeats_whole $round ${sweeps[2]}' \
		"round $round: a cell was repeated as often as needed"
done
ok 'wait_for cluster_clean 10' "nothing is left on the nodes"
done_testing
