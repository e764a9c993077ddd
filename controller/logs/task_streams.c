/* task_streams.c - the names of a task's streams of output.
 */
#include "controller/logs/task_streams.h"

#include "protocol/hardware/sample_format.h"
#include "protocol/message/evidence.h"
#include "protocol/message/stream_index.h"

#include <stdio.h>
#include <string.h>

uint32_t task_stream_count(const struct task *task)
{
	uint32_t processes = gang_spec(task_gang(task))->container.processes;

	return processes ? processes : 1;
}

void task_stream_name(const struct task *task, uint32_t i, char name[32])
{
	snprintf(name, 32, "rank-%u",
		 task_rank(task) * task_stream_count(task) + i);
}

bool task_stream_is_output(const struct task *task, const char *stream)
{
	char name[32];

	sample_format_stream(task_rank(task), name);
	return strcmp(name, stream) != 0 &&
	       !evidence_is_stream(task_rank(task), stream);
}

bool task_stream_expected(const struct task *task, const char *stream)
{
	char name[32];

	for (uint32_t i = 0; i < task_stream_count(task); i++) {
		task_stream_name(task, i, name);
		if (!strcmp(name, stream))
			return true;
	}
	build_stream(task_rank(task), name);
	if (gang_spec(task_gang(task))->container.build &&
	    !strcmp(name, stream))
		return true;
	sample_format_stream(task_rank(task), name);
	return !strcmp(name, stream) ||
	       evidence_is_stream(task_rank(task), stream) ||
	       stream_index_belongs(task_rank(task), stream);
}
