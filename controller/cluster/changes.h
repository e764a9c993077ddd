/* changes.h - marks what changed in a turn, for clients that wait.
 *
 * A client that follows one job's output is not woken by another job's output.
 * A client that waits for events is not woken by output at all.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANGES_JOBS_MAX 64 /* jobs that are listed in one turn */

struct changes {
	bool events;           /* an event, a state of a node, or progress */
	bool tick;             /* half a second has passed */
	bool all;              /* more jobs than CHANGES_JOBS_MAX */
	uint64_t progress_seq; /* number of changes that are no events */
	size_t count;
	uint64_t jobs[CHANGES_JOBS_MAX]; /* that changed */
};

/* The job has more output, or is in another state. */
void changes_add_job(struct changes *changes, uint64_t job);
/* Something changed that is no event; returns the new progress_seq. */
uint64_t changes_progress(struct changes *changes);
/* Did anything change since changes_clear(); did this job? */
bool changes_any(const struct changes *changes);
bool changes_of_job(const struct changes *changes, uint64_t job);
void changes_clear(struct changes *changes);
