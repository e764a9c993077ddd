#!/bin/bash
# slurm.sh - 40 short jobs of an ordinary user through one Slurm of three nodes:
# by `regatta slurm`, by an array of sbatch, and by srun in a loop.
#
# For run. Each job is a container of rootless Podman that writes one training
# step and ends; all three ways use the same image and user. Where Slurm or
# rootless Podman cannot be used nothing is measured, which is said.
if [[ ! ${SLURM_ALONE-} ]]; then
	exec env SLURM_ALONE=1 unshare -n -m "$0" "$@"
fi
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/lab/users.sh
. "$ROOT/tests/lab/users.sh"
# shellcheck source=tests/lab/slurm.sh
. "$ROOT/tests/lab/slurm.sh"

JOBS=40

for program in podman newuidmap "${SLURM_PROGRAMS[@]}"; do
	command -v "$program" >/dev/null && continue
	echo "  not measured: $program is missing (deploy/setup long)"
	exit 0
done

# now: microseconds
now()
{
	echo "${EPOCHREALTIME/[^0-9]/}"
}

# The container's words say when: it and what measures have one clock.
container="podman run --rm --network host -v $BED/sailor/host:/host \
regatta-test/tool:1 /tool steps 1 1 , touch"

slurm_prepare()
{
	slurm_network || return 1
	mkdir -p /var/run
	[[ ! -e /var/run/docker.sock ]] ||
		mount --bind /dev/null /var/run/docker.sock || return 1
	users_up sailor && tar -C "$BED/opt" -c tool >"$BED/sailor/tool.tar" &&
		mkdir "$BED/sailor/host" && chown -R sailor "$BED/sailor" &&
		slurm_up a1 a2 a3 || return 1
	as sailor podman import -q tool.tar regatta-test/tool:1 >/dev/null 2>&1 || {
		echo "  not measured: rootless Podman does not work here"
		exit 0
	}
	# What a Slurm that has just started gets first waits up to 3 s.
	as sailor sbatch --wait -o /dev/null --wrap true >/dev/null
}

# All files are there. To look seldom, and by the shell alone, takes no CPU from
# what is measured, whose times are the files' own.
arrived()
{
	local files looks=0

	shopt -s nullglob
	while files=("$BED"/sailor/host/*) && ((${#files[@]} < JOBS)); do
		((++looks < 900)) || return 1
		sleep 0.2
	done
}

# measure WAY COMMAND...: from that command to the first and to the last job.
# What it starts writes when it began into $BED/sailor/began, microseconds.
measure()
{
	local way=$1 begun first last allocated

	shift
	rm -rf "$BED"/sailor/host/* "$BED/sailor/began"
	begun=$(now)
	"$@" >>"$BED/slurm-bench.log" 2>&1 || {
		tail -n 20 "$BED/slurm-bench.log" >&2
		return 1
	}
	arrived || return 1
	first=$(find "$BED/sailor/host" -type f -printf '%T@\n' | sort | head -n 1)
	last=$(find "$BED/sailor/host" -type f -printf '%T@\n' | sort | tail -n 1)
	allocated=$(sort "$BED/sailor/began" | head -n 1)
	wait_for '[[ ! $(squeue -h) ]]' 60 || return 1
	awk -v way="$way" -v jobs="$JOBS" -v begun="$begun" -v first="$first" \
		-v last="$last" -v allocated="$allocated" \
		-v results="$REGATTA_BENCH_RESULTS" 'BEGIN {
		all = last - begun / 1e6
		step = first - begun / 1e6
		inside = first - allocated / 1e6
		steady = (jobs - 1) / (last - first)
		printf "  %-34s %8.2f %8.2f %8.2f %12.2f %14.2f\n", way, all,
			jobs / all, steady, step, inside
		printf "{\"benchmark\":\"slurm\",\"way\":\"%s\",\"jobs\":%d," \
			"\"jobs_per_s\":%.3f,\"steady_jobs_per_s\":%.3f," \
			"\"first_step_s\":%.3f," \
			"\"first_step_in_allocation_s\":%.3f}\n", way, jobs,
			jobs / all, steady, step, inside >>results
	}'
}

by_regatta()
{
	cat >"$BED/sailor/bench.yaml" <<-END
		sweep: bench
		vendor: cpu
		framework: cpu
		devices: 1
		shared: true
		image: regatta-test/tool:1
		mounts: [{host: $BED/sailor/host, container: /host}]
		command: [/tool, steps, "1", "1", ",", touch, "/host/\${n}"]
		matrix: {n: [$(seq -s, "$JOBS")]}
	END
	echo 'echo ${EPOCHREALTIME/[^0-9]/} >>'"$BED/sailor/began" \
		>"$BED/sailor/site"
	as sailor regatta slurm --site site --state "$BED/sailor/state" \
		bench.yaml -- -N 3 -c 8 -t 5
}

by_array()
{
	as sailor sbatch --array="1-$JOBS" -o /dev/null --wrap \
		"date +%s%6N >>$BED/sailor/began; exec $container /host/\$SLURM_ARRAY_TASK_ID"
}

by_srun()
{
	local i

	for ((i = 1; i <= JOBS; i++)); do
		as sailor srun -n 1 sh -c \
			"date +%s%6N >>$BED/sailor/began; exec $container /host/$i" ||
			return 1
	done
}

trap 'bed_exit slurm_down' EXIT
: "${REGATTA_BENCH_RESULTS:=/dev/null}"
slurm_prepare || exit 1
printf '  %-34s %8s %8s %8s %12s %14s\n' "$JOBS jobs" seconds jobs/s \
	'then on' 'first step' 'in allocation'
measure 'regatta slurm' by_regatta &&
	measure 'sbatch --array, podman run' by_array &&
	measure 'srun in a loop, podman run' by_srun
