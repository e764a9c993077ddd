/* news.c - marks what changed in a turn, for clients that wait.
 */
#include "controller/cluster/news.h"

bool news_of_job(const struct news *news, uint64_t job)
{
	if (news->all)
		return true;
	for (size_t i = 0; i < news->count; i++)
		if (news->jobs[i] == job)
			return true;
	return false;
}

void news_add_job(struct news *news, uint64_t job)
{
	if (news_of_job(news, job))
		return;
	if (news->count == NEWS_JOBS_MAX)
		news->all = true;
	else
		news->jobs[news->count++] = job;
}

uint64_t news_progress(struct news *news)
{
	news->events = true;
	return ++news->progress_seq;
}

bool news_any(const struct news *news)
{
	return news->events || news->tick || news->all || news->count;
}

void news_clear(struct news *news)
{
	news->events = news->tick = news->all = false;
	news->count = 0;
}
