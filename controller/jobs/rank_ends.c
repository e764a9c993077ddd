/* rank_ends.c - how the ranks of a job ended, in order of time.
 */
#include "controller/jobs/rank_ends.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/nodes/node.h"

#include <inttypes.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

#define EARLY_MS 1000

/* An end, and where. */
struct placed_end {
	const struct rank_end *end;
	const char *node;
};

static int by_time(const void *a, const void *b)
{
	const struct rank_end *one = ((const struct placed_end *)a)->end;
	const struct rank_end *other = ((const struct placed_end *)b)->end;

	if (one->ended_ms != other->ended_ms)
		return one->ended_ms < other->ended_ms ? -1 : 1;
	return (one->rank > other->rank) - (one->rank < other->rank);
}

/* All of the gang, first to last; NULL: there are none. */
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
				task_node(task) ? node_name(task_node(task))
						: "",
			};
	}
	qsort(list, *count, sizeof(*list), by_time);
	return list;
}

cJSON *rank_ends_json(const struct gang *gang)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);
	cJSON *array = list ? cJSON_CreateArray() : NULL;

	for (size_t i = 0; array && i < count && i < RANK_ENDS_MAX; i++) {
		const struct rank_end *end = list[i].end;
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "node", list[i].node);
		cJSON_AddNumberToObject(item, "rank", end->rank);
		cJSON_AddNumberToObject(item, "ended_ms",
					(double)end->ended_ms);
		cJSON_AddNumberToObject(item, "exit_code", end->exit_code);
		cJSON_AddNumberToObject(item, "signal", end->signal);
		cJSON_AddItemToArray(array, item);
	}
	return array;
}

/* The first task that failed, for one whose command never ended. */
static const char *failed_node(const struct gang *gang)
{
	const struct node *avoided = gang->job->avoid;

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (gang->tasks[i].failure && task_node(&gang->tasks[i]))
			return node_name(task_node(&gang->tasks[i]));
	return avoided ? node_name(avoided) : NULL;
}

static void add_number(cJSON *object, const char *name, bool known,
		       double number)
{
	if (known)
		cJSON_AddNumberToObject(object, name, number);
	else
		cJSON_AddNullToObject(object, name);
}

cJSON *rank_ends_reason(const struct gang *gang, const char *how)
{
	static const char *const unknown[] = { "class", "line", "stream",
					       "offset", NULL };
	cJSON *reason = cJSON_CreateObject();
	size_t count, first = 0;
	owned_free struct placed_end *list = ends_of(gang, &count);
	const struct rank_end *end;
	const char *node;

	while (first < count && !list[first].end->exit_code)
		first++;
	end = first < count ? list[first].end : NULL;
	node = end ? list[first].node : failed_node(gang);
	if (node)
		cJSON_AddStringToObject(reason, "node", node);
	else
		cJSON_AddNullToObject(reason, "node");
	add_number(reason, "rank", end, end ? end->rank : 0);
	cJSON_AddStringToObject(reason, "how", how ? how : "");
	add_number(reason, "exit_code", end, end ? end->exit_code : 0);
	if (end && end->signal)
		cJSON_AddStringToObject(reason, "signal",
					sigabbrev_np((int)end->signal));
	else
		cJSON_AddNullToObject(reason, "signal");
	for (const char *const *name = unknown; *name; name++)
		cJSON_AddNullToObject(reason, *name);
	return reason;
}

/* How long before the first failure the first one left; 0: it did not. */
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
	snprintf(text, size, "rank %u left first, with 0, %" PRIu64 " s before",
		 list[0].end->rank, ahead / 1000);
	return true;
}

void rank_ends_blame_early(const struct gang *gang, cJSON *reason)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);

	if (!ahead_ms(list, count))
		return;
	cJSON_ReplaceItemInObjectCaseSensitive(reason, "node",
					       cJSON_CreateString(
						       list[0].node));
	cJSON_ReplaceItemInObjectCaseSensitive(reason, "rank",
					       cJSON_CreateNumber(
						       list[0].end->rank));
}
