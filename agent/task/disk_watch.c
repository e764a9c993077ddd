/* disk_watch.c - measures how much a container writes to its own disk.
 */
#include "agent/task/disk_watch.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/hardware/container.h"
#include "protocol/message/json_get.h"

#include <stdio.h>
#include <stdlib.h>

#define CALL_MS 600000
#define SHARE 50 /* of the time, that counting does not take */
#define LOOK_MAX_MS 600000

struct disk_watch {
	sd_event *loop;
	struct engine *engine;
	char container[CONTAINER_NAME_MAX];
	uint64_t limit;
	disk_over_fn *over;
	void *arg;
	sd_event_source *timer;
	struct engine_call *call;
	int64_t asked_ms;
	bool complained;
};

static int look_run(sd_event_source *source, uint64_t usec, void *arg);

static void look_later(struct disk_watch *watch, int64_t took_ms)
{
	int64_t pause_ms = took_ms * SHARE;

	if (pause_ms < DISK_LOOK_MS)
		pause_ms = DISK_LOOK_MS;
	if (pause_ms > LOOK_MAX_MS)
		pause_ms = LOOK_MAX_MS;
	loop_timer(watch->loop, &watch->timer, (uint32_t)pause_ms, look_run,
		   watch, NULL);
}

static void counted(void *arg, const struct error *err, cJSON *answer)
{
	struct disk_watch *watch = arg;
	const cJSON *size = json_get(answer, "SizeRw");
	int64_t took_ms = clock_mono_ms() - watch->asked_ms;

	watch->call = NULL;
	if (err && !watch->complained)
		log_warning("container=%s: the size of its disk is unknown: %s",
			    watch->container, err->text);
	watch->complained = err != NULL;
	if (cJSON_IsNumber(size) && size->valuedouble > (double)watch->limit)
		watch->over(watch->arg, (uint64_t)size->valuedouble);
	else
		look_later(watch, took_ms);
}

static int look_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct disk_watch *watch = arg;

	watch->asked_ms = clock_mono_ms();
	watch->call = engine_container_size(watch->engine, watch->container,
					    CALL_MS, counted, watch, NULL);
	if (!watch->call)
		look_later(watch, 0);
	return 0;
}

struct disk_watch *disk_watch_new(sd_event *loop, struct engine *engine,
				  const char *container, uint64_t limit_bytes,
				  disk_over_fn *over, void *arg,
				  struct error *err)
{
	struct disk_watch *watch = error_calloc(sizeof(*watch), "disk", err);

	if (!watch)
		return NULL;
	watch->loop = loop;
	watch->engine = engine;
	snprintf(watch->container, sizeof(watch->container), "%s", container);
	watch->limit = limit_bytes;
	watch->over = over;
	watch->arg = arg;
	look_later(watch, 0);
	return watch;
}

void disk_watch_free(struct disk_watch *watch)
{
	if (!watch)
		return;
	loop_source_free(&watch->timer);
	engine_call_cancel(watch->call);
	free(watch);
}
