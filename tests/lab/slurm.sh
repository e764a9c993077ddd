# slurm.sh - a Slurm of a test's own: munged, slurmctld, slurmd for each node.
# shellcheck shell=bash disable=SC2034,SC2154 # for tests, and of lib.sh
#
# To be read after lib.sh, inside a network namespace of the test (unshare -n),
# as its ports are fixed. All lies below $BED/slurm; the nodes are this machine.
#
#	slurm_network		an address beside the loopback's: names resolve
#				only where there is one
#	slurm_bed		what it needs of the namespace, and engine "one"
#				for all of its nodes; cleared at the end
#	slurm_up NODE...	start it, and wait until all nodes are idle
#	slurm_node_kill NODE	SIGKILL of its slurmd
#	slurm_again JOB		a job that was requeued starts now
#	slurm_down		end it
#	slurm_state JOB		RUNNING, COMPLETED ...; empty: forgotten

SLURM_PROGRAMS=(munged slurmctld slurmd sbatch srun scontrol squeue scancel)

slurm_network()
{
	ip link set lo up &&
		ip link add slurm0 type veth peer name slurm1 &&
		ip address add 10.99.0.1/24 dev slurm0 &&
		ip link set slurm0 up && ip link set slurm1 up
}

slurm_bed()
{
	slurm_network && engine_up one && tool_image one || return 1
	trap 'bed_exit slurm_down' EXIT
	unset REGATTA_CONFIG
	export HOME=$BED XDG_CONFIG_HOME=$BED/config TMPDIR=$BED/nodes
	DOCKER_HOST=$(engine_host one)
	export DOCKER_HOST PATH=$REGATTA_BUILD:$PATH
	mkdir -p "$BED/nodes" "$BED/host"
	cd "$BED" || return 1
}

# submit FOLDER WORDS...: the number of the job in $job
submit()
{
	local folder=$1
	shift
	run regatta slurm --state "$BED/$folder" "$@"
	job=${out##* }
	[[ $rc == 0 && $job =~ ^[0-9]+$ ]] || die "submit: $out $err"
}
over()
{
	wait_for "[[ \$(slurm_state $job) =~ ^($1)\$ ]]" 60
}
states()
{
	jq -c '[.rows[].state]' "$1/report.json"
}

# nothing FOLDER WHAT: neither processes nor containers nor files on the nodes
nothing()
{
	wait_for '[[ ! $(pgrep -f "regatta-(agent|controller).*$BED/'"$1"'") ]]' 20
	is "$(pgrep -af "regatta-(agent|controller).*$BED/$1")$(containers one)" \
		"" "$2: no daemon and no container is left"
	is "$(ls -A "$BED/nodes")" "" "nor a folder on a node"
}

slurm_conf()
{
	local node port=17001 host
	host=$(hostname)
	cat <<-END
	ClusterName=test
	SlurmctldHost=$host(127.0.0.1)
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$BED/slurm/munge.sock
	StateSaveLocation=$BED/slurm/state
	SlurmdSpoolDir=$BED/slurm/spool-%n
	SlurmctldPidFile=$BED/slurm/slurmctld.pid
	SlurmdPidFile=$BED/slurm/slurmd-%n.pid
	SlurmctldLogFile=$BED/slurm/slurmctld.log
	SlurmdLogFile=$BED/slurm/slurmd-%n.log
	SlurmctldPort=16817
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU_Memory
	DefMemPerCPU=100
	SlurmdTimeout=10
	PreemptType=preempt/partition_prio
	PreemptMode=REQUEUE
	GresTypes=gpu
	ReturnToService=2
	MpiDefault=none
	KillWait=30
	OverTimeLimit=0
	SlurmdParameters=config_overrides
	SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
	END
	for node; do
		echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1" \
			"Port=$((port++)) CPUs=8 RealMemory=1000 Gres=gpu:4"
	done
	echo "PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP" \
		"PriorityTier=1"
	echo "PartitionName=first Nodes=ALL MaxTime=60 State=UP" \
		"PriorityTier=10 PreemptMode=OFF"
}

slurm_up()
{
	local node folder=$BED/slurm
	mkdir -p "$folder/state"
	chmod 755 "$folder"
	dd if=/dev/urandom of="$folder/munge.key" bs=1024 count=1 status=none
	chmod 400 "$folder/munge.key"
	slurm_conf "$@" >"$folder/slurm.conf"
	for node in 0 1 2 3; do
		mknod "$folder/gpu$node" c 1 3 || touch "$folder/gpu$node"
	done
	echo "Name=gpu File=$folder/gpu[0-3]" >"$folder/gres.conf"
	export SLURM_CONF=$folder/slurm.conf
	munged --force --socket="$folder/munge.sock" \
		--key-file="$folder/munge.key" --pid-file="$folder/munged.pid" \
		--log-file="$folder/munged.log" --seed-file="$folder/seed" \
		2>>"$folder/start.log" || return 1
	slurmctld -c 2>>"$folder/start.log" || return 1
	for node; do
		mkdir -p "$folder/spool-$node"
		slurmd -N "$node" 2>>"$folder/start.log" || return 1
	done
	wait_for "[[ \$(sinfo -h -o %t:%D) == idle:$# ]]" 30
}

slurm_node_kill()
{
	kill -9 "$(cat "$BED/slurm/slurmd-$1.pid")"
}

slurm_state()
{
	scontrol show job "$1" --oneliner 2>/dev/null |
		sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p'
}

# It could start in the second in which slurmd revoked its start before, which
# is taken for the same one; else Slurm would wait two minutes.
slurm_again()
{
	wait_for "[[ \$(slurm_state $1) == PENDING ]]" 60 && sleep 2 &&
		scontrol update "jobid=$1" StartTime=now
}

slurm_down()
{
	local pid
	for pid in "$BED"/slurm/{slurmd-*,slurmctld,munged}.pid; do
		[[ -e $pid ]] && kill "$(cat "$pid")" 2>/dev/null
	done
	wait_for '! pgrep -f "$BED/slurm" >/dev/null' 20 ||
		pkill -9 -f "$BED/slurm"
	return 0
}
