/* expected_time.h - the expected duration of a job, from similar jobs.
 */
#pragma once

#include "controller/cluster/active_job.h"

struct store;

/* The median duration of the last runs of a cell, in any sweep; *runs: their
 * number. Reads committed rows.
 */
int cell_time(struct store *store, const char *key, uint32_t *runs,
	      int64_t *median_ms, struct error *err);

/* The expected duration of a queued job in ms: that of its cell, else of jobs
 * of its sweep; 0: unknown.
 */
int64_t expected_time(const struct job *job);

/* Does it wait because the nodes leave too early? text: a sentence about that.
 */
bool expected_late(const struct job *job, const struct slot *slots,
		   size_t count, char *text, size_t size);
