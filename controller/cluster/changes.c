/* changes.c - marks what changed in a turn, for clients that wait.
 */
#include "controller/cluster/changes.h"

bool changes_of_job(const struct changes *changes, uint64_t job)
{
	if (changes->all)
		return true;
	for (size_t i = 0; i < changes->count; i++)
		if (changes->jobs[i] == job)
			return true;
	return false;
}

void changes_add_job(struct changes *changes, uint64_t job)
{
	if (changes_of_job(changes, job))
		return;
	if (changes->count == CHANGES_JOBS_MAX)
		changes->all = true;
	else
		changes->jobs[changes->count++] = job;
}

uint64_t changes_progress(struct changes *changes)
{
	changes->events = true;
	return ++changes->progress_seq;
}

bool changes_any(const struct changes *changes)
{
	return changes->events || changes->tick || changes->all ||
	       changes->count;
}

void changes_clear(struct changes *changes)
{
	changes->events = changes->tick = changes->all = false;
	changes->count = 0;
}
