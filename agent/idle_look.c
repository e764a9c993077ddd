/* idle_look.c - looks, while no task runs, whether others use the devices.
 */
#include "agent/idle_look.h"

#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/base/strings.h"

#include <stdlib.h>
#include <string.h>

struct idle_look {
	sd_event *loop;
	const struct preflight_services *services;
	const struct task_table *tasks;
	uint32_t pause_ms;
	idle_look_fn *changed;
	void *arg;
	sd_event_source *timer;
	struct foreign_processes *foreign;
	int64_t begun_ms; /* the last look, monotonic */
	char *found;
};

static void idle_look_later(struct idle_look *look, int64_t took_ms);

static void idle_look_told(void *arg, const char *text)
{
	struct idle_look *look = arg;
	int64_t took_ms = clock_mono_ms() - look->begun_ms;
	bool news;

	look->foreign = NULL;
	if (text) /* it looked twice */
		took_ms -= FOREIGN_PROCESSES_PAUSE_MS;
	if (task_table_count(look->tasks))
		text = NULL;
	news = !text != !look->found;
	string_set(&look->found, text, NULL);
	idle_look_later(look, took_ms);
	if (news)
		look->changed(look->arg);
}

static int idle_look_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct idle_look *look = arg;

	look->begun_ms = clock_mono_ms();
	if (!task_table_count(look->tasks))
		look->foreign =
			preflight_look_for_others(look->services, UINT64_MAX,
						  idle_look_told, look);
	if (!look->foreign)
		idle_look_told(look, NULL);
	return 0;
}

static void idle_look_later(struct idle_look *look, int64_t took_ms)
{
	int64_t pause_ms = look->pause_ms;

	if (!pause_ms)
		pause_ms = took_ms * IDLE_LOOK_SHARE > IDLE_LOOK_MS
				   ? took_ms * IDLE_LOOK_SHARE
				   : IDLE_LOOK_MS;
	loop_timer(look->loop, &look->timer, (uint64_t)pause_ms, idle_look_run,
		   look, NULL);
}

struct idle_look *idle_look_new(sd_event *loop,
				const struct preflight_services *services,
				const struct task_table *tasks,
				uint32_t pause_ms, idle_look_fn *changed,
				void *arg, struct error *err)
{
	struct idle_look *look = error_calloc(sizeof(*look), "idle look", err);

	if (!look)
		return NULL;
	look->loop = loop;
	look->services = services;
	look->tasks = tasks;
	look->pause_ms = pause_ms;
	look->changed = changed;
	look->arg = arg;
	idle_look_later(look, 0);
	return look;
}

void idle_look_free(struct idle_look *look)
{
	if (!look)
		return;
	foreign_processes_cancel(look->foreign);
	loop_source_free(&look->timer);
	free(look->found);
	free(look);
}

const char *idle_look_found(const struct idle_look *look)
{
	return look->found;
}
