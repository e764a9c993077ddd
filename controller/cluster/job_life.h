/* job_life.h - what the modules below the life of jobs ask of it.
 *
 * Log ingest, nodes, collected files, repeats and dependencies learn things
 * that change a job. They know a job's data (active_job.h), not its life; this
 * is the way up. Every job carries it (job->life); jobs.c fills it.
 */
#ifndef CONTROLLER_CLUSTER_JOB_LIFE_H
#define CONTROLLER_CLUSTER_JOB_LIFE_H

#include "controller/cluster/active_job.h"

struct job_life {
	/* All streams and files of the task are here, or not. */
	void (*collected)(struct task *task, bool here);
	/* Something may have become true that the job waits for. */
	void (*advance)(struct job *job);
	/* job_event() */
	int (*event)(struct job *job, enum job_event event, cJSON *data,
		     struct error *err);
	/* job_submit() */
	int (*submit)(struct jobs *jobs, uint64_t sweep, uint64_t cell_index,
		      const struct job_spec *spec, struct error *err);
	/* gang_exception() */
	void (*exception)(struct job *job, enum failure failure, int64_t code,
			  const char *text);
};

#endif
