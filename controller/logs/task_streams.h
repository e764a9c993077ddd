/* task_streams.h - the names of a task's streams of output.
 *
 * Each process has one, "rank-17". There may also be the output of the image
 * build, the node's samples and evidence, followed files and an index of these.
 */
#pragma once

#include "controller/cluster/active_job.h"

#define TASK_STREAM_SIZE 32 /* bytes of a process's stream's name */

/* The number of its processes, and the name of the stream of process i. */
uint32_t task_stream_count(const struct task *task);
void task_stream_name(const struct task *task, uint32_t i,
		      char name[TASK_STREAM_SIZE]);

/* The names of the streams of its processes, samples and build, by number;
 * false: there are no more.
 */
bool task_stream_at(const struct task *task, uint32_t number,
		    char name[TASK_STREAM_SIZE]);

/* Is it written by the command, of its own accord? */
bool task_stream_is_output(const struct task *task, const char *stream);

/* May the task have a stream of this name? */
bool task_stream_expected(const struct task *task, const char *stream);
