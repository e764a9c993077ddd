# cluster.sh - a controller, agents and what a test asks them; after lib.sh.
# shellcheck shell=bash
#
#	. "$(dirname "$0")/lib.sh"
#	. "$(dirname "$0")/cluster.sh"
#	need_root
#	cluster_need
#	must cluster_up 2
#	must submit_tool hello print 1000 , exit 3
#	must wait_sweep "$SWEEP" 30
#	is "$(job_get 1 .state)" failed "a command that exits 3 fails its job"
#	ok 'log_is 1 1 0 print 1000' "and its output is here"
#	ok 'cluster_clean' "nothing is left on the nodes"
#	done_testing
#
# All of it lies below $BED/cluster; done_testing takes it down too.
#
# Bringing up
#	cluster_need		the programs that this library needs
#	cluster_up N		engines e1 ... eN with tool_image, keys,
#				controller, agents n1 ... nN (one device each),
#				and waits until all nodes are up
#	cluster_up N one	one engine, e1, for all nodes
#	cluster_up N hosts	node i on host i of hosts_up, controller and
#				command line on the switch: for cutting wires
#	cluster_down		agents and controller; lib.sh takes the engines
#	Before cluster_up a test may set (arrays, more arguments):
#	CONTROLLER_ARGS AGENT_ARGS ENGINE_ARGS; AGENT_WITH, the words of a
#	command that runs the agent
#
# Ending and starting parts
#	controller_up, controller_stop, controller_kill (SIGKILL)
#	agent_up I, agent_stop I, agent_kill I
#	nodes_up N SECONDS	waits until N nodes are up
#	node_engine I		the engine's name, for dk and engine_*
#	log_of cluster/controller, log_of cluster/agentI
#	web_at cluster/controller	the address of its pages
#
# Asking
#	cli ARGUMENT...		the regatta command, as an operator
#	submit FILE|-		sets $SWEEP, and $JOB to its first job
#	submit_tool NAME [KEY=VALUE...] WORD...	a sweep of one cell that runs
#				the tool; KEY=VALUE: lines of the sweep file
#				(nodes=2, retries=0 ...), before the words.
#				/host in the container is $BED/host/NAME
#	job_get JOB FILTER	jq -r over the job's object
#	jobs_get SWEEP FILTER	jq -r over the list of the sweep's jobs
#	nodes_get FILTER	jq -r over the list of nodes
#	wait_job JOB STATE SECONDS	waits for the state, or for a final one
#				and fails when it is another
#	wait_sweep SWEEP SECONDS	all jobs are final, nothing of them is
#				left on the nodes
#	task_container JOB	id of a running container of it, on any engine
#
# Logs and leftovers
#	log_file JOB [ATTEMPT [RANK]]	where the controller keeps it (1, 0)
#	log_size JOB [ATTEMPT [RANK]]	its length, 0 before there is one
#	log_is JOB ATTEMPT RANK WORD...	it is byte for byte what the tool
#				prints when given these words
#	runs NAME [TEXT]	how often `append /host/runs TEXT` was run in
#				the sweep of that name
#	intact JOB WORD...	for a job of submit_tool: it completed in its
#				first attempt, and its log is what the tool
#				prints when given these words
#	cluster_clean		no container on any engine, no spool folder of
#				a task, no network that Docker did not make

SWEEP='' JOB=''
CLUSTER=$BED/cluster
CLUSTER_NODES=0 CLUSTER_KIND=''
CONTROLLER_ARGS=() AGENT_ARGS=() ENGINE_ARGS=() AGENT_WITH=()
TOOL_IMAGE=regatta-test/tool:1

# Nobody's settings but ours.
unset REGATTA_CONFIG NO_COLOR
export XDG_CONFIG_HOME=$BED/config REGATTA_IMAGES=$REGATTA_BUILD/images
export REGATTA_CONTROLLER_KEY=$CLUSTER/controller.key
export REGATTA_KEY=$CLUSTER/operator.key

cluster_need()
{
	need docker dockerd containerd docker-registry ip jq \
		"$REGATTA_BUILD"/{regatta,regatta-controller,regatta-agent} \
		"$REGATTA_BUILD"/{regatta-init,lab/tool}
}

# ---- parts ---------------------------------------------------------------

node_engine()
{
	case $CLUSTER_KIND in
	one) echo e1 ;;
	hosts) echo "host$1" ;;
	*) echo "e$1" ;;
	esac
}

cluster_engines()
{
	local i

	for ((i = 1; i <= CLUSTER_NODES; i++)); do
		node_engine "$i"
	done | sort -u
}

# make_key FILE NAME ROLE: and let its holder in
make_key()
{
	regatta key new "$1" --name "$2" --role "$3" \
		>>"$CLUSTER/authorized" 2>"$BED/words" && return
	diag "$(<"$BED/words")"
	return 1
}

cluster_keys()
{
	local i

	mkdir -p "$CLUSTER" &&
		make_key "$CLUSTER/controller.key" controller controller &&
		make_key "$CLUSTER/operator.key" operator operator || return 1
	for ((i = 1; i <= CLUSTER_NODES; i++)); do
		make_key "$CLUSTER/n$i.key" "n$i" agent || return 1
	done
}

# The switch, with hosts; here, without.
cluster_netns()
{
	if [[ $CLUSTER_KIND == hosts ]]; then
		switch_netns
	else
		echo -
	fi
}

# A controller that comes back listens where the first one did.
controller_up()
{
	local listen="tcp://127.0.0.1:*"

	[[ $CLUSTER_KIND != hosts ]] || listen=tcp://10.77.0.1:7117
	[[ ! -s $CLUSTER/endpoint ]] || listen=$(<"$CLUSTER/endpoint")
	rm -f "$CLUSTER/listens"
	spawn -n "$(cluster_netns)" cluster/controller \
		"$REGATTA_BUILD/regatta-controller" --listen "$listen" \
		--key "$CLUSTER/controller.key" --keys "$CLUSTER/authorized" \
		--state "$CLUSTER/controller" \
		--images "$REGATTA_BUILD/images" \
		--endpoint-file "$CLUSTER/listens" "${CONTROLLER_ARGS[@]}"
	wait_for "[[ -s $CLUSTER/listens ]] || ! alive cluster/controller" 20
	if ! alive cluster/controller; then
		diag "$(log_of cluster/controller | tail -5)"
		return 1
	fi
	cp "$CLUSTER/listens" "$CLUSTER/endpoint"
	REGATTA_CONTROLLER=$(<"$CLUSTER/endpoint")
	export REGATTA_CONTROLLER
}

# web_at PROCESS: the address of its pages
web_at()
{
	log_of "$1" | sed -n 's/.*web at \(http[^ ]*\).*/\1/p' | tail -1
}

controller_stop()
{
	end cluster/controller
}

# Killed and gone: until the last thread has ended, its locks hold.
part_kill()
{
	end "$1" KILL && code_of "$1" >/dev/null
}

controller_kill()
{
	part_kill cluster/controller
}

agent_up()
{
	local netns=- address=127.0.0.1

	if [[ $CLUSTER_KIND == hosts ]]; then
		netns=$(host_netns "$1")
		address=$(host_address "$1")
	fi
	spawn -n "$netns" "cluster/agent$1" "${AGENT_WITH[@]}" \
		"$REGATTA_BUILD/regatta-agent" \
		--controller "$REGATTA_CONTROLLER" \
		--controller-key "$CLUSTER/controller.key" \
		--key "$CLUSTER/n$1.key" --state "$CLUSTER/n$1" \
		--engine "$(engine_host "$(node_engine "$1")")" \
		--images "$REGATTA_BUILD/images" \
		--init "$REGATTA_BUILD/regatta-init" \
		--address "$address" "${AGENT_ARGS[@]}"
}

agent_stop()
{
	end "cluster/agent$1"
}

agent_kill()
{
	part_kill "cluster/agent$1"
}

cluster_up()
{
	local i engine

	CLUSTER_NODES=$1 CLUSTER_KIND=${2-}
	if [[ $CLUSTER_KIND == hosts ]]; then
		hosts_up "$1" "${ENGINE_ARGS[@]}" || return 1
	else
		for engine in $(cluster_engines); do
			engine_up "$engine" - "${ENGINE_ARGS[@]}" || return 1
		done
	fi
	tool_image "$(node_engine 1)" "$TOOL_IMAGE" || return 1
	for engine in $(cluster_engines); do
		copy_image "$(node_engine 1)" "$engine" "$TOOL_IMAGE" ||
			return 1
	done
	cluster_keys && controller_up || return 1
	for ((i = 1; i <= CLUSTER_NODES; i++)); do
		agent_up "$i"
	done
	nodes_up "$CLUSTER_NODES" 20
}

cluster_down()
{
	local i bad=0

	for ((i = 1; i <= CLUSTER_NODES; i++)); do
		agent_stop "$i" || bad=1
	done
	controller_stop || bad=1
	return $bad
}

# ---- asking --------------------------------------------------------------

cli()
{
	if [[ $CLUSTER_KIND == hosts ]]; then
		on_switch timeout -k 5 "${RUN_LIMIT:-60}" regatta "$@"
	else
		timeout -k 5 "${RUN_LIMIT:-60}" regatta "$@"
	fi
}

nodes_get()
{
	cli nodes --format json | jq -r ".nodes | $1"
}

# What is asked again and again is looked up by bash: jq takes 35 ms to start.

# Nodes, not their network interfaces.
nodes_up()
{
	wait_for "(( \$(cli nodes --format json |
		grep -o '\"state\":\"up\",\"drained\"' | wc -l) == $1 ))" "$2"
}

submit()
{
	local answer

	SWEEP='' JOB=''
	if ! answer=$(cli submit "$1" --format json 2>"$BED/words"); then
		diag "$(<"$BED/words")"
		return 1
	fi
	SWEEP=$(jq -r .sweep <<<"$answer")
	JOB=$(jobs_get "$SWEEP" '.[0].job')
	[[ $SWEEP && $JOB ]]
}

submit_tool()
{
	local name=$1 word file=$BED/host/$1.yaml

	shift
	mkdir -p "$BED/host/$name"
	{
		echo "sweep: $name"
		echo "image: $TOOL_IMAGE"
		echo "mounts: [{host: $BED/host/$name, container: /host}]"
		while [[ ${1-} == *=* ]]; do
			echo "${1%%=*}: ${1#*=}"
			shift
		done
		echo "command:"
		for word in /tool "$@"; do
			echo "  - '${word//\'/\'\'}'"
		done
	} >"$file"
	submit "$file"
}

job_get()
{
	cli show job "$1" --format json | jq -r ".job | $2"
}

jobs_get()
{
	cli jobs --sweep "$1" --format json | jq -r ".jobs | $2"
}

# job_state JOB: sets $state; its reply begins with the job's own fields
job_state()
{
	[[ $(cli show job "$1" --format json) =~ \"state\":\"([a-z]+)\" ]] &&
		state=${BASH_REMATCH[1]}
}

wait_job()
{
	local state=''

	wait_for "job_state $1
		[[ \$state == $2 || \$state =~ ^(completed|failed|cancelled)$ ]]" \
		"$3" || return 1
	[[ $state == "$2" ]] && return
	diag "job $1 is $state: $(job_get "$1" .text)"
	return 1
}

# All of its jobs are removed from their nodes, and there are some.
sweep_over()
{
	local jobs

	jobs=$(cli jobs --sweep "$1" --format json) &&
		[[ $jobs == *'"removed":true'* && $jobs != *'"removed":false'* ]]
}

wait_sweep()
{
	wait_for "sweep_over $1" "$2" && return
	diag "$(jobs_get "$1" '.[] | select(.removed | not) |
		"job \(.job) attempt \(.attempt) \(.state): \(.text)"')"
	return 1
}

task_container()
{
	local engine

	for engine in $(cluster_engines); do
		dk "$engine" ps -q --no-trunc --filter "label=regatta.job=$1"
	done | head -1
}

# ---- logs and leftovers --------------------------------------------------

log_file()
{
	echo "$CLUSTER/controller/logs/$1/${2-1}/rank-${3-0}.log"
}

log_size()
{
	stat -c %s "$(log_file "$@")" 2>/dev/null || echo 0
}

log_is()
{
	local file

	file=$(log_file "$1" "$2" "$3")
	shift 3
	"$REGATTA_BUILD/lab/tool" "$@" >"$BED/want" 2>/dev/null
	cmp "$BED/want" "$file" >"$BED/difference" 2>&1 && return
	diag "$(<"$BED/difference")"
	diag "$(stat -c '%n: %s bytes' "$BED/want" "$file" 2>&1)"
	return 1
}

runs()
{
	grep -c "^${2-}" "$BED/host/$1/runs" 2>/dev/null
}

intact()
{
	local job=$1 found

	shift
	found=$(job_get "$job" '"\(.state) \(.attempt) \(.text)"')
	# The tool prints no figures, which is told.
	if [[ $found != "completed 1 "@(null|"no format matches the log"*) ]]; then
		diag "job $job: $found"
		return 1
	fi
	log_is "$job" 1 0 "$@"
}

cluster_clean()
{
	local engine left

	left=$(
		for engine in $(cluster_engines); do
			dk "$engine" ps -a \
				--format "container $engine {{.Names}} {{.Status}}"
			dk "$engine" network ls --format '{{.Name}}' |
				grep -vxE 'bridge|host|none|podman' |
				sed "s/^/network $engine /"
		done
		find "$CLUSTER"/n[0-9]*/spool -mindepth 1 -maxdepth 1 \
			-printf 'spool %p\n' 2>/dev/null
	)
	[[ ! $left ]] && return
	diag "$left"
	return 1
}
