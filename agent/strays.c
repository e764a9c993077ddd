/* strays.c - removes containers with our labels that belong to no task.
 */
#include "agent/strays.h"
#include "agent/agent_config.h"
#include "agent/docker/create_body.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/message/json_get.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STRAYS_MS 10000 /* after a task; an engine may be as late */

struct strays {
	sd_event *loop;
	struct engine *engine;
	const struct task_table *tasks;
	const char *cluster, *node;
	sd_event_source *timer;
	bool session;
};

static bool label_number(const cJSON *labels, const char *name, uint64_t *value)
{
	const char *text = json_get_text_or_empty(labels, name);
	char *end;

	*value = strtoull(text, &end, 10);
	return *text && !*end;
}

bool container_task_id(const cJSON *container, struct task_id *id)
{
	const cJSON *labels = json_get(container, "Labels");
	uint64_t attempt, rank;
	char end[80];

	if (!label_number(labels, LABEL_JOB, &id->job) ||
	    !label_number(labels, LABEL_ATTEMPT, &attempt) ||
	    !label_number(labels, LABEL_RANK, &rank))
		return false;
	id->attempt = (uint32_t)attempt;
	id->rank = (uint32_t)rank;
	snprintf(end, sizeof(end), "-%" PRIu64 "-%u-%u", id->job, id->attempt,
		 id->rank);
	return container_is_named(container, CONTAINER_NAMES, end);
}

static void stray_done(void *arg, const struct error *err, cJSON *answer)
{
	if (err)
		log_warning("stray container not removed: %s", err->text);
}

static void strays_remove(struct strays *strays, const cJSON *containers)
{
	const cJSON *container;
	struct task_id id;

	cJSON_ArrayForEach(container, containers) {
		const char *name = json_get_text(container, "Id");

		if (!name || !container_task_id(container, &id) ||
		    task_table_find(strays->tasks, &id))
			continue;
		log_warning("stray container removed id=%.12s", name);
		engine_container_remove(strays->engine, name, AGENT_CALL_MS,
					stray_done, strays, NULL);
	}
}

static void strays_listed(void *arg, const struct error *err, cJSON *answer)
{
	if (err)
		log_warning("stray containers are removed in the next session: "
			    "%s",
			    err->text);
	else
		strays_remove(arg, answer);
}

static void strays_list(struct strays *strays)
{
	owned(strings_clear) struct strings labels = { 0 };
	struct error err;

	if (container_filter(strays->cluster, strays->node, &labels, &err) <
		    0 ||
	    !engine_container_list(strays->engine, true, &labels, AGENT_CALL_MS,
				   strays_listed, strays, &err))
		strays_listed(strays, &err, NULL);
}

void strays_session(struct strays *strays, bool open)
{
	strays->session = open;
	if (open)
		strays_list(strays);
}

static int strays_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct strays *strays = arg;

	loop_source_free(&strays->timer);
	if (strays->session)
		strays_list(strays);
	return 0;
}

void strays_later(struct strays *strays)
{
	if (!strays->timer)
		loop_timer(strays->loop, &strays->timer, STRAYS_MS, strays_run,
			   strays, NULL);
}

struct strays *strays_new(sd_event *loop, struct engine *engine,
			  const struct task_table *tasks, const char *cluster,
			  const char *node, struct error *err)
{
	struct strays *strays = malloc(sizeof(*strays));

	if (!strays)
		return error_null(error_nomem(err, "agent"));
	*strays = (struct strays){
		.loop = loop,
		.engine = engine,
		.tasks = tasks,
		.cluster = cluster,
		.node = node,
	};
	return strays;
}

void strays_free(struct strays *strays)
{
	if (!strays)
		return;
	loop_source_free(&strays->timer);
	free(strays);
}
