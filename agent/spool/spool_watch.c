/* spool_watch.c - limits what a container writes to its folder on the host.
 */
#include "agent/spool/spool_watch.h"
#include "protocol/base/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct spool_watch {
	sd_event *loop;
	struct spool *spool;
	struct task_id id;
	uint64_t limit;
	spool_over_fn *over;
	void *arg;
	sd_event_source *timer;
};

static int look(sd_event_source *source, uint64_t usec, void *arg)
{
	struct spool_watch *watch = arg;
	struct spool_usage usage;
	char why[160];

	spool_measure(watch->spool, &watch->id, SPOOL_NAMES_MAX, &usage);
	if (usage.names > SPOOL_NAMES_MAX)
		snprintf(why, sizeof(why),
			 "the output folder contains more than %d files",
			 SPOOL_NAMES_MAX);
	else if (usage.bytes > watch->limit)
		snprintf(why, sizeof(why),
			 "the output folder contains %" PRIu64
			 " MiB; the limit is %" PRIu64 " MiB",
			 usage.bytes >> 20, watch->limit >> 20);
	else
		*why = 0;
	if (*why)
		watch->over(watch->arg, why);
	else
		loop_timer(watch->loop, &watch->timer, SPOOL_LOOK_MS, look,
			   watch, NULL);
	return 0;
}

struct spool_watch *spool_watch_new(sd_event *loop, struct spool *spool,
				    const struct task_id *id,
				    uint64_t output_bytes, spool_over_fn *over,
				    void *arg, struct error *err)
{
	struct spool_watch *watch = error_calloc(sizeof(*watch), "spool", err);

	if (!watch)
		return NULL;
	watch->loop = loop;
	watch->spool = spool;
	watch->id = *id;
	watch->limit = output_bytes + SPOOL_SLACK_BYTES;
	watch->over = over;
	watch->arg = arg;
	if (loop_timer(loop, &watch->timer, SPOOL_LOOK_MS, look, watch, err) <
	    0) {
		free(watch);
		return NULL;
	}
	return watch;
}

void spool_watch_free(struct spool_watch *watch)
{
	if (!watch)
		return;
	loop_source_free(&watch->timer);
	free(watch);
}
