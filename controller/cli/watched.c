/* watched.c - what a follower of a sweep knows of its jobs.
 */
#include "controller/cli/watched.h"

static const unsigned places[JOB_STATES] = {
	[JOB_FAILED] = 1,
	[JOB_QUEUED] = 2,
	[JOB_CANCELLED] = 3,
	[JOB_COMPLETED] = 4,
};

int watched_by_place(const void *a, const void *b)
{
	const struct watched *x = *(const struct watched *const *)a;
	const struct watched *y = *(const struct watched *const *)b;

	if (places[x->state] != places[y->state])
		return places[x->state] < places[y->state] ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}
