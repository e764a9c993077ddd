/* news_test.c - who is woken by what.
 */
#include "controller/cluster/news.h"

#include "tests/tap.h"

int main(void)
{
	struct news news = { 0 };

	tap_begin(30);
	ok(!news_any(&news), "at first there is nothing new");
	news_add_job(&news, 7);
	ok(news_any(&news) && news_of_job(&news, 7) && !news_of_job(&news, 8),
	   "output of a job is news of that job alone");
	ok(!news.events, "and no event");
	for (int i = 0; i < 2 * NEWS_JOBS_MAX; i++)
		news_add_job(&news, 7);
	ok(!news_of_job(&news, 8), "however much of it there is");
	for (uint64_t i = 0; i <= NEWS_JOBS_MAX; i++)
		news_add_job(&news, 100 + i);
	ok(news_of_job(&news, 8), "of very many jobs it is news of all");
	news_clear(&news);
	ok(!news_any(&news) && !news_of_job(&news, 7), "once told, it is old");
	news.events = true;
	ok(news_any(&news) && !news_of_job(&news, 7),
	   "an event alone is no news of any job's output");
	return tap_done();
}
