/* news.h - marks what changed in a turn, for clients that wait.
 *
 * A client that follows one job's output is not woken by another job's; one
 * that waits for events is not woken by output at all.
 */
#ifndef CONTROLLER_CLUSTER_NEWS_H
#define CONTROLLER_CLUSTER_NEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEWS_JOBS_MAX 64 /* told apart in one turn */

struct news {
	bool events;           /* an event, a state of a node, or progress */
	bool tick;             /* half a second passed */
	bool all;              /* more jobs than are told apart */
	uint64_t progress_seq; /* counts changes that are no events */
	size_t count;
	uint64_t jobs[NEWS_JOBS_MAX]; /* with more output, or in another state
				       */
};

/* The job has more output, or is in another state. */
void news_add_job(struct news *news, uint64_t job);
/* Something changed that is no event; its number. */
uint64_t news_progress(struct news *news);
/* Since news_clear(): anything at all; of this job. */
bool news_any(const struct news *news);
bool news_of_job(const struct news *news, uint64_t job);
void news_clear(struct news *news);

#endif
