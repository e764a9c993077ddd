/* expected_time.h - how long a job is going to take, by those like it.
 */
#ifndef CONTROLLER_JOBS_EXPECTED_TIME_H
#define CONTROLLER_JOBS_EXPECTED_TIME_H

#include "controller/cluster/active_job.h"

struct store;

/* The median of the last runs of a cell, in whatever sweep, in ms; *runs: of
 * how many, 0: of none. Reads what is committed.
 */
int cell_time(struct store *store, const char *key, uint32_t *runs,
	      int64_t *median_ms, struct error *err);

/* Of a queued job: that of its cell, else of jobs of its sweep; 0: nobody
 * knows.
 */
int64_t expected_time(const struct job *job);

/* It waits for nodes that stay long enough: why, in words. */
bool expected_late(const struct job *job, const struct slot *slots,
		   size_t count, char *text, size_t size);

#endif
