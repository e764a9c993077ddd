#!/bin/bash
# faults.t - each failure of a training has its class, its rank and its line.
#
# Two ranks of the CPU trainer, the second of which fails on purpose: all are
# cells of one sweep.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/system/cluster.sh
. "$(dirname "$0")/cluster.sh"
need_root
cluster_need
must cluster_up 2 hosts


# faults NODES FAULT,...: the sweep of these
faults()
{
	cat >"$BED/faults.yaml" <<-END
		sweep: faults
		framework: cpu
		model: gpt-nano
		steps: 1000
		nodes: $1
		processes: 2
		retries: 0
		grace: 2s
		hang: 6s
		shm: 1m
		memory: 64m
		command: [/trainer, --steps, '\${steps}', --fail, '\${fault}',
		  --fail-rank, '1']
		matrix: {fault: [$2]}
	END
	must submit "$BED/faults.yaml"
}

# told FAULT CLASS KIND RANK TEXT: of the sweep's cell
told()
{
	local job

	job=$(jq ".jobs[] | select(.cell == \"fault=$1\") | .job" "$BED/jobs")
	like "$(job_get "$job" '"\(.failure) \(.reason.class) \(.reason.rank)"')" \
		"^$2 $3 $4\$" "$1: class, kind and rank"
	like "$(job_get "$job" .text)" "$5" "$1: $(job_get "$job" .text)"
}

finish()
{
	must wait_sweep "$SWEEP" 240
	run cli jobs --sweep "$SWEEP" --format json
	cp "$BED/out" "$BED/jobs"
}

faults 1 "error, segv, kill, memory, device-memory, sleep, spin, deadlock,
  leave, early, nan, port, worker, shared-memory, missing"
finish
said="exited with code 1: trainer: rank"
told error exit error 1 "rank 1 $said 1: bad batch 17 in shard 3$"
told segv exit signal 1 "rank 1 was ended by signal 11 \(Segmentation fault\)$"
told kill exit signal 1 "rank 1 was ended by signal 9"
told memory oom host-oom 1 "rank 1: the kernel killed 1 process"
told device-memory oom device-oom 1 "rank 1 $said 1: CUDA out of memory"
told sleep hang other 1 ": n[12]: rank 1 .*; 1 rank: waiting for the network"
told spin hang other 1 ": n[12]: rank 1 computing; 1 rank: waiting"
told deadlock hang other null ": no rank differs: 2 ranks: "
told leave exit communication 1 "rank 0 $said 0: rank 1 went away"
told early incomplete null null "5 of 1000"
told nan exit nan "[01]" "$said [01]: the loss is nan"
told port exit communication 0 "$said 0: cannot listen .*already in use$"
told worker exit signal 1 "$said 1: data worker [0-9]+ was killed by SIGKILL$"
told shared-memory exit data 1 "$said 1: cannot write .*No space left on device$"
told missing exit data 1 "$said 1: cannot open .*No such file or directory$"

faults 2 "error, segv"
finish
told error exit error 1 "rank 1 $said 1: bad batch 17 in shard 3$"
told segv exit signal 1 "rank 1 was ended by signal 11 \(Segmentation fault\)$"

ok 'wait_for cluster_clean 20' "nothing is left on the nodes"
done_testing
