/* rank_ends.c - how the ranks of a job ended, in order of time.
 */
#include "controller/jobs/rank_ends.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/jobs/blame.h"
#include "controller/nodes/node.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

#define EARLY_MS 1000

/* An end, and its task. */
struct placed_end {
	const struct rank_end *end;
	const struct task *task;
	const char *node;
};

uint32_t task_launches(const struct task *task)
{
	uint32_t devices = (uint32_t)__builtin_popcountll(task_devices(task));

	return !task->job->gang->spec.container.processes && devices > 1
		       ? devices
		       : 0;
}

static double end_rank(const struct placed_end *end)
{
	return task_launches(end->task) ? (double)NAN : end->end->rank;
}

static int by_time(const void *a, const void *b)
{
	const struct rank_end *one = ((const struct placed_end *)a)->end;
	const struct rank_end *other = ((const struct placed_end *)b)->end;

	if (one->ended_ms != other->ended_ms)
		return one->ended_ms < other->ended_ms ? -1 : 1;
	return (one->rank > other->rank) - (one->rank < other->rank);
}

/* The ends of the gang in order of time; NULL: there are none. */
static struct placed_end *ends_of(const struct gang *gang, size_t *count)
{
	struct placed_end *list;
	size_t all = 0;

	*count = 0;
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		all += gang->tasks[i].ends_count;
	list = all ? calloc(all, sizeof(*list)) : NULL;
	if (!list)
		return NULL;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		for (size_t e = 0; e < task->ends_count; e++)
			list[(*count)++] = (struct placed_end){
				&task->ends[e],
				task,
				task_node(task) ? node_name(task_node(task))
						: "",
			};
	}
	qsort(list, *count, sizeof(*list), by_time);
	return list;
}

int rank_ends_list(const struct gang *gang, struct end_info **to,
		   size_t *to_count, struct error *err)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);

	if (!list)
		return 0;
	if (count > RANK_ENDS_MAX)
		count = RANK_ENDS_MAX;
	*to = calloc(count, sizeof(**to));
	if (!*to)
		return error_nomem(err, "ends");
	for (size_t i = 0; i < count; i++) {
		const struct rank_end *end = list[i].end;
		struct end_info *info = &(*to)[(*to_count)++];

		*info = (struct end_info){ .rank = end_rank(&list[i]),
					   .task = list[i].task->rank,
					   .ended_ms = end->ended_ms,
					   .exit_code = end->exit_code,
					   .signal = end->signal,
					   .step = (double)NAN };
		if (string_set(&info->node, list[i].node, err) < 0)
			return -1;
	}
	return 0;
}

/* The node of the first task that failed, if no process ended. */
static const char *failed_node(const struct gang *gang)
{
	const struct node *avoided = blame_last(gang->job);

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (gang->tasks[i].failure && task_node(&gang->tasks[i]))
			return node_name(task_node(&gang->tasks[i]));
	return avoided ? node_name(avoided) : NULL;
}

void rank_ends_reason(const struct gang *gang, struct reason *reason)
{
	size_t count, first = 0;
	owned_free struct placed_end *list = ends_of(gang, &count);
	const char *node = failed_node(gang);

	*reason = (struct reason){ .rank = REASON_UNKNOWN,
				   .task = REASON_UNKNOWN,
				   .exit_code = REASON_UNKNOWN,
				   .offset = REASON_UNKNOWN };
	while (first < count && !list[first].end->exit_code)
		first++;
	if (first < count) {
		const struct rank_end *end = list[first].end;

		node = list[first].node;
		if (!task_launches(list[first].task))
			reason->rank = end->rank;
		reason->task = list[first].task->rank;
		reason->exit_code = end->exit_code;
		if (end->signal)
			snprintf(reason->signal, sizeof(reason->signal),
				 "SIG%s", sigabbrev_np((int)end->signal));
	}
	snprintf(reason->node, sizeof(reason->node), "%s", node ? node : "");
}

/* How long before the first failure a rank exited with 0; 0: none did. */
static uint64_t ahead_ms(const struct placed_end *list, size_t count)
{
	size_t failed = 0;

	while (failed < count && !list[failed].end->exit_code)
		failed++;
	if (!failed || failed >= count)
		return 0;
	return list[failed].end->ended_ms - list[0].end->ended_ms;
}

bool rank_ends_early(const struct gang *gang, char *text, size_t size)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);
	uint64_t ahead = ahead_ms(list, count);

	if (ahead < EARLY_MS)
		return false;
	snprintf(text, size,
		 "%s %u exited first, with code 0, %" PRIu64 " s earlier",
		 task_launches(list[0].task) ? "task" : "rank",
		 list[0].end->rank, ahead / 1000);
	return true;
}

void rank_ends_blame_early(const struct gang *gang, struct reason *reason)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);

	if (!ahead_ms(list, count))
		return;
	snprintf(reason->node, sizeof(reason->node), "%s", list[0].node);
	reason->task = list[0].task->rank;
	reason->rank = task_launches(list[0].task) ? REASON_UNKNOWN
						   : list[0].end->rank;
}
