/* job_life.h - functions through which lower modules change a job.
 *
 * Log ingest, nodes, collected files, repeats and dependencies may read a job
 * (active_job.h), but not include the modules that change it. job_life() gives
 * them these functions, which jobs.c fills in.
 */
#ifndef CONTROLLER_CLUSTER_JOB_LIFE_H
#define CONTROLLER_CLUSTER_JOB_LIFE_H

#include "controller/cluster/active_job.h"

struct job_life {
	/* gang_advance() */
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
