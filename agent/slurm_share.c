/* slurm_share.c - the share of this machine that Slurm gave to this step.
 */
#include "agent/slurm_share.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WARN_MS 120000
#define MIB ((uint64_t)1 << 20)

static const char *variable(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

/* A count, or 0. */
static uint64_t slurm_share_read_number(const char *name)
{
	const char *text = variable(name);
	char *end = NULL;
	unsigned long long value = text ? strtoull(text, &end, 10) : 0;

	return end && !*end ? value : 0;
}

/* The processors of the step, at most those where this process may run. */
static double count_cpus(void)
{
	uint64_t told = slurm_share_read_number("SLURM_CPUS_ON_NODE");
	cpu_set_t set;
	int bound;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return (double)told;
	bound = CPU_COUNT(&set);
	if (!told)
		return bound < sysconf(_SC_NPROCESSORS_ONLN) ? bound : 0;
	return told < (uint64_t)bound ? (double)told : bound;
}

static uint64_t count_memory(void)
{
	uint64_t node = slurm_share_read_number("SLURM_MEM_PER_NODE");

	if (!node)
		node = slurm_share_read_number("SLURM_MEM_PER_CPU") *
		       slurm_share_read_number("SLURM_CPUS_ON_NODE");
	return node * MIB;
}

/* The first two number the node's devices. The last one is used where a step
 * sees only its own devices.
 */
static const char *find_devices(void)
{
	static const char *const names[] = { "SLURM_STEP_GPUS",
					     "SLURM_JOB_GPUS",
					     "CUDA_VISIBLE_DEVICES" };
	const char *found = NULL;

	for (size_t i = 0; !found && i < sizeof(names) / sizeof(names[0]); i++)
		found = variable(names[i]);
	return found;
}

int slurm_share_read(struct slurm_share *share, struct error *err)
{
	const char *job = variable("SLURM_JOB_ID");
	const char *node = variable("SLURMD_NODENAME");
	struct error why;

	*share = (struct slurm_share){ 0 };
	if (!job || !node || strlen(job) >= sizeof(share->job) ||
	    !name_valid(job) || !name_valid(node))
		return error_set(err, EINVAL,
				 "for-allocation: SLURM_JOB_ID and "
				 "SLURMD_NODENAME do not name a job and a "
				 "node; expected a step of Slurm: srun "
				 "regatta-agent --for-allocation ...");
	snprintf(share->job, sizeof(share->job), "%s", job);
	snprintf(share->node, sizeof(share->node), "%s", node);
	if (scontrol_field("node", node, "NodeAddr", share->address, &why) <
	    0) {
		log_warning("address: %s", why.text);
		snprintf(share->address, sizeof(share->address), "%s", node);
	}
	if (scontrol_job_end(job, &share->end_ms, &why) < 0)
		log_warning("the end of the allocation is not known: %s",
			    why.text);
	share->begin_ms = clock_wall_ms();
	share->devices = find_devices();
	share->cpus = count_cpus();
	share->memory_bytes = count_memory();
	return 0;
}

int64_t slurm_share_leave_ms(const struct slurm_share *share)
{
	int64_t left = share->end_ms - share->begin_ms;

	if (!share->end_ms)
		return 0;
	return share->end_ms - (left / 4 < WARN_MS ? left / 4 : WARN_MS);
}

int slurm_share_limit(const struct slurm_share *share,
		      struct container_spec *container, struct error *err)
{
	if (share->cpus > 0 && container->cpus > share->cpus)
		return error_set(err, EINVAL,
				 "cpus: the job asks for %g; expected at most "
				 "the %g of the allocation",
				 container->cpus, share->cpus);
	if (share->memory_bytes &&
	    container->memory_bytes > share->memory_bytes)
		return error_set(err, EINVAL,
				 "memory: the job asks for %" PRIu64
				 " MiB; expected at most the %" PRIu64
				 " of the allocation",
				 container->memory_bytes / MIB,
				 share->memory_bytes / MIB);
	if (container->cpus == 0)
		container->cpus = share->cpus;
	if (!container->memory_bytes)
		container->memory_bytes = share->memory_bytes;
	return 0;
}

static void slurm_share_set_number(cJSON *facts, const char *name, double value)
{
	if (value <= 0)
		return;
	cJSON_DeleteItemFromObjectCaseSensitive(facts, name);
	cJSON_AddNumberToObject(facts, name, value);
}

void slurm_share_facts(const struct slurm_share *share, cJSON *facts)
{
	slurm_share_set_number(facts, "cpus", share->cpus);
	slurm_share_set_number(facts, "memory_bytes",
			       (double)share->memory_bytes);
}

int slurm_share_make_state(const struct slurm_share *share, const char *tmpdir,
			   const char *cluster, char path[PATH_MAX],
			   struct error *err)
{
	struct stat info;

	if (snprintf(path, PATH_MAX, "%s/regatta-%s-%s",
		     tmpdir && *tmpdir ? tmpdir : "/tmp", cluster,
		     share->node) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG,
				 "TMPDIR: the path is too long");
	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno != EEXIST || lstat(path, &info) < 0)
		return error_errno(err, "%s", path);
	if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
	    (info.st_mode & 022))
		return error_set(err, EACCES,
				 "%.150s: others own this folder or may write "
				 "to it; remove it, or set TMPDIR",
				 path);
	return 0;
}
