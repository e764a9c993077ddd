#!/bin/bash
# preload.t - images of jobs to come are brought while another one runs, if it
# allows that: once, at a bounded rate, seen, told, and given up when nobody
# wants them.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need

must cluster_up 1
must registry_up
open=$REGISTRY
engine=$(node_engine 1)
for image in a=6 b=6 c=6 d=100 e=6 f=6; do
	name=${image%=*}
	must random_image "$engine" "$open/$name:1" "${image#*=}"
	must dk "$engine" push -q "$open/$name:1" >/dev/null
	must dk "$engine" rmi -f "$open/$name:1" >/dev/null
done
mkdir -p "$BED/host" "$BED/tree"
head -c 100000 /dev/urandom >"$BED/tree/code"

# sweep_of NAME REGISTRY IMAGE... [LINE...]: a cell for each image, which waits
# for /host/NAME-IMAGE
sweep_of()
{
	local name=$1 registry=$2 images=$3

	shift 3
	printf '%s\n' "sweep: $name" "image: $registry/\${part}:1" \
		"mounts: [{host: $BED/host, container: /host}]" \
		"matrix: {part: [$images]}" "$@" \
		"command: [/tool, wait, '/host/$name-\${part}', print, '1000']" |
		sed "s/, print,/, ',', print,/" >"$BED/$name.yaml"
	submit "$BED/$name.yaml"
}

preload() # FILTER, of the first thing that the node brings
{
	nodes_get ".[0].preload[0] | $1"
}

moves() # more than a MB of it has come
{
	[[ $(preload 'select(.phase == "pulling") | .done_bytes') -gt 1000000 ]]
}

job_of() # N: the N-th of the sweep
{
	jobs_get "$SWEEP" "sort_by(.job) | .[$1 - 1].job"
}

# Off unless it is asked for.
must sweep_of plain "$open" 'a, b'
must wait_job "$JOB" running 60
second=$(job_of 2)
touch "$BED/host/plain-a"
must wait_job "$second" running 60
is "$(job_get "$second" '[.events[] | select(.kind == "image")] | length')" 1 \
	"a job's image comes when it is its turn"
touch "$BED/host/plain-b"
must wait_sweep "$SWEEP" 60
is "$(job_get "$JOB" '[.events[] | select(.kind == "preload")] | length')" 0 \
	"nothing comes beside a job that does not allow it"

# Asked for: while the first one runs; said in the result that it was so.
must sweep_of ahead "$open" 'a, c' 'preload: true' 'retries: 0' \
	"workspace: $BED/tree"
second=$(job_of 2)
ok 'wait_for "[[ \$(preload .phase) == ready ]]" 60' \
	"with preload the next job's image comes while this one runs"
is "$(preload .job)" "$second" "the node says for which job"
ok 'dk "$engine" image inspect "$open/c:1" >/dev/null' "it is there"
is "$(job_get "$JOB" .state)" running "the first one still runs"
like "$(cli show node n1)" "preload:.*$open/c:1 .*ready" "show node shows it"
like "$(job_get "$JOB" '.events[] | select(.kind == "preload") | .data |
	"\(.node) \(.what) \(.for)"')" "n1 $open/c:1 $second" "an event tells it"
touch "$BED/host/ahead-a"
must wait_job "$second" running 60
is "$(job_get "$second" '[.events[] | select(.kind == "image")] | length')" 0 \
	"the second one has its image already"
is "$(job_get "$second" '.events[] | select(.kind == "pin") | .kind')" '' \
	"what its name means was found out, too"
touch "$BED/host/ahead-c"
must wait_sweep "$SWEEP" 60
like "$(job_get "$JOB" '.result.flags | join(" ")')" \
	"n1: $open/c:1 for job $second was brought while it ran: 6.* MiB in " \
	"the result of the first says what came beside it"
is "$(job_get "$second" '.result.flags | map(select(test("brought"))) | length')" \
	0 "that of the second says no such thing"

# At a low rate: seen, given up when its job goes, joined by it, which lifts the
# bound: at 1 MiB a second the image would take longer than we wait.
must sweep_of slow "$open" 'a, d' 'preload: true' 'preload_rate: 1M' \
	'retries: 0'
second=$(job_of 2)
ok 'wait_for "moves" 60' "a slow one is seen"
like "$(cli nodes)" "brings $open/d:1 for job $second: pulling [0-9]+ %" \
	"in the table of nodes, too"
must cli cancel job "$second"
ok 'wait_for "[[ \$(preload .phase) == null ]]" 20' \
	"nobody wants it any more: it is given up"
ok 'wait_for "log_of cluster/agent1 | grep -q \"no longer brought ahead\"" 20' \
	"on the node, too"
must cli retry "$SWEEP"
ok 'wait_for "[[ \$(preload .phase) == pulling ]]" 60' "wanted again it begins again"
agent_kill 1
must agent_up 1
controller_kill
must controller_up
must nodes_up 1 30
ok 'wait_for "moves" 60' \
	"a new agent and a new controller go on with it"
touch "$BED/host/slow-a"
must wait_job "$second" running 60
ok 'log_of cluster/agent1 | grep -c "no longer brought ahead" | grep -qx 1' \
	"the job joins the pull that is under way, which is bounded no more"
touch "$BED/host/slow-d"
must wait_sweep "$SWEEP" 60
ok 'wait_for "[[ \$(nodes_get \".[0].preload | length\") == 0 ]]" 20' \
	"in the end nothing is brought"

# The rate is kept: 6 MiB at 2 MiB a second take some three seconds.
must sweep_of rated "$open" 'a, e' 'preload: true' 'preload_rate: 2M'
ok 'wait_for "[[ \$(preload .phase) == ready ]]" 60' "at a bounded rate it comes"
seconds=$(job_get "$JOB" '.events[] | select(.kind == "preload") |
	.data.seconds // empty')
ok '[[ ${seconds%.*} -ge 2 ]]' "in its time: $seconds s"
is "$(dk "$engine" image inspect "$open/e:1" \
	--format '{{len .RootFS.Layers}}')" 1 "all of it is there by its name"
relayed() # the names that relays left
{
	dk "$engine" image ls --digests --format '{{.Repository}}' |
		grep regatta-relay
}
ok 'wait_for "! relayed" 30' "and by no other"
touch "$BED/host/rated-a" "$BED/host/rated-e"
must wait_sweep "$SWEEP" 60

# Cut in the middle it goes on; and an agent that is killed while the engine has
# the name of its relay leaves it to the next one. The agent stands still while
# we look, so that we do not miss it.
must proxy_up cut "$open" cut 3000000
must sweep_of named "$PROXY" 'a, f' 'preload: true' 'preload_rate: 4M'
caught()
{
	kill -STOP "$(pid_of cluster/agent1)"
	relayed && return
	kill -CONT "$(pid_of cluster/agent1)"
	sleep 0.1
	return 1
}
ok 'wait_for caught 100' "one whose registry is cut comes all the same"
is "$(log_of proxy-cut | tail -1)" cut "(it was)"
must agent_kill 1
ok 'relayed >/dev/null' "the relay of a killed agent leaves its name"
must agent_up 1
ok 'wait_for "! relayed" 30' "until there is an agent again"
ok 'wait_for "[[ \$(preload .phase) == ready ]]" 60' "which has the image"
touch "$BED/host/named-a" "$BED/host/named-f"
must wait_sweep "$SWEEP" 60

# A registry that does not answer: the job may have more luck.
cat >"$BED/gone.yaml" <<END
sweep: gone
image: \${from}
preload: true
mounts: [{host: $BED/host, container: /host}]
matrix: {from: ["$open/a:1", "127.0.0.1:1/none:1"]}
command: [/tool, wait, /host/gone]
END
must submit "$BED/gone.yaml"
ok 'wait_for "[[ \$(preload .phase) == failed ]]" 60' "one that cannot come fails"
like "$(preload .text)" \
	'after 3 tries: .*127.0.0.1:1.*refused .preload_rate: 0 leaves it' \
	"and the node says why, and what could help"
must cli cancel sweep "$SWEEP"
must wait_sweep "$SWEEP" 60

cat >"$BED/refused.yaml" <<END
sweep: refused
image: $open/a:1
preload: true
preload_rate: 100
command: [/tool, print, "1"]
END
run cli submit "$BED/refused.yaml"
like "$err" "refused.yaml:4: preload_rate: found 100, allowed are 1M" \
	"a rate that nobody can mean is refused in words"
ok 'cluster_clean' "nothing is left on the nodes"
done_testing
