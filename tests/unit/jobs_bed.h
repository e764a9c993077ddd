/* jobs_bed.h - jobs of sweep 1 with a real store, queue and nodes, without
 * agents.
 */
#pragma once

#include "controller/effects.h"
#include "controller/jobs/core.h"
#include "controller/jobs/jobs.h"
#include "controller/store/store.h"

struct jobs_bed {
	struct world world;
	struct store *store;
	struct changes changes;
	struct jobs *jobs;
	char folder[64];
};

void jobs_bed_open(struct jobs_bed *bed);
/* As after kill -9, but for the rows that were not committed. */
void jobs_bed_restart(struct jobs_bed *bed);
void jobs_bed_close(struct jobs_bed *bed);
