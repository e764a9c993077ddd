/* changes.h - marks what changed in a turn, for clients that wait.
 *
 * A client that follows one job's output is not woken by another job's; one
 * that waits for events is not woken by output at all.
 */
#ifndef CONTROLLER_CLUSTER_CHANGES_H
#define CONTROLLER_CLUSTER_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANGES_JOBS_MAX 64 /* told apart in one turn */

struct changes {
	bool events;           /* an event, a state of a node, or progress */
	bool tick;             /* half a second passed */
	bool all;              /* more jobs than are told apart */
	uint64_t progress_seq; /* counts changes that are no events */
	size_t count;
	uint64_t
		jobs[CHANGES_JOBS_MAX]; /* with more output, or in another state
					 */
};

/* The job has more output, or is in another state. */
void changes_add_job(struct changes *changes, uint64_t job);
/* Something changed that is no event; its number. */
uint64_t changes_progress(struct changes *changes);
/* Since changes_clear(): anything at all; of this job. */
bool changes_any(const struct changes *changes);
bool changes_of_job(const struct changes *changes, uint64_t job);
void changes_clear(struct changes *changes);

#endif
