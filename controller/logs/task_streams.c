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

void task_stream_name(const struct task *task, uint32_t i,
		      char name[TASK_STREAM_SIZE])
{
	snprintf(name, TASK_STREAM_SIZE, "rank-%u",
		 task_rank(task) * task_stream_count(task) + i);
}

bool task_stream_at(const struct task *task, uint32_t number,
		    char name[TASK_STREAM_SIZE])
{
	uint32_t processes = task_stream_count(task);

	if (number < processes)
		task_stream_name(task, number, name);
	else if (number == processes)
		sample_format_stream(task_rank(task), name);
	else
		build_stream(task_rank(task), name);
	return number <= processes ||
	       (number == processes + 1 &&
		gang_spec(task_gang(task))->container.build);
}

bool task_stream_is_output(const struct task *task, const char *stream)
{
	char name[TASK_STREAM_SIZE];

	sample_format_stream(task_rank(task), name);
	return strcmp(name, stream) != 0 && evidence_dump_rank(stream) < 0 &&
	       !evidence_is_stream(task_rank(task), stream);
}

bool task_stream_expected(const struct task *task, const char *stream)
{
	char name[TASK_STREAM_SIZE];

	for (uint32_t i = 0; task_stream_at(task, i, name); i++)
		if (!strcmp(name, stream))
			return true;
	return evidence_is_stream(task_rank(task), stream) ||
	       stream_index_belongs(task_rank(task), stream);
}
