/* task_status.c - what a node says of a task, kept.
 */
#include "controller/jobs/task_status.h"

#include "controller/blobs/artifact_fetch.h"
#include "controller/cluster/active_job.h"
#include "controller/nodes/node.h"

#include <stdlib.h>
#include <string.h>

#define FACTS_MAX 16384 /* bytes of JSON that a task tells of its node */

static void keep_text(char **to, const char *from)
{
	free(*to);
	*to = from ? strdup(from) : NULL;
}

/* Only what is meant to be told: nothing else can grow here. */
static void keep_facts(struct task *task, const cJSON *told)
{
	static const char *const names[] = {
		"driver",  "sdk", "clock", "governor", "memory_available_bytes",
		"warnings"
	};
	char *text = told ? cJSON_PrintUnformatted(told) : NULL;

	if (text && strlen(text) <= FACTS_MAX) {
		cJSON_Delete(task->facts);
		task->facts = cJSON_CreateObject();
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const cJSON *fact =
				cJSON_GetObjectItemCaseSensitive(told,
								 names[i]);

			if (fact)
				cJSON_AddItemToObject(task->facts, names[i],
						      cJSON_Duplicate(fact,
								      true));
		}
		node_renew(task->node, task->facts);
	}
	cJSON_free(text);
}

void task_keep_status(struct task *task, struct task_status *status)
{
	task->state = task_state_from(status->state);
	task->failure = failure_from(status->failure);
	keep_text(&task->text, status->text);
	if (status->image_id)
		keep_text(&task->image_id, status->image_id);
	if (status->image_pin)
		keep_text(&task->image_pin, status->image_pin);
	task->exit_code = status->exit_code;
	task->started_ms = (int64_t)status->started_ms;
	task->ended_ms = (int64_t)status->ended_ms;
	task->memory_peak_bytes = status->memory_peak_bytes;
	if (status->port)
		task->port = status->port;
	keep_facts(task, status->facts);
	for (size_t i = 0; i < task->streams_count; i++)
		free(task->streams[i].name);
	free(task->streams);
	/* The message gives its list away. */
	task->streams = take(status->streams);
	task->streams_count = status->streams_count;
	status->streams_count = 0;
	task_drop_files(task);
	task->files = take(status->files);
	task->files_count = status->files_count;
	status->files_count = 0;
	artifact_fetch_check(task);
	task->collecting = status->collecting;
}
