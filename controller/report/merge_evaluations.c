/* merge_evaluations.c - merges the rows of evaluations into the rows of the
 * evaluated cells.
 */
#include "controller/report/merge_evaluations.h"

#include "controller/report/labels.h"
#include "controller/report/row.h"

static bool is_evaluation(const cJSON *row)
{
	const cJSON *metrics = row_at(row, "result.metrics");
	const cJSON *rate = row_at(row, ROW_RATE);

	return row_text(row, "follows") && row_completed(row) && metrics &&
	       metrics->child && !cJSON_IsNumber(rate);
}

static double repeat_of(const cJSON *row)
{
	const cJSON *repeat = row_at(row, "repeat");

	return cJSON_IsNumber(repeat) ? repeat->valuedouble : 0;
}

/* The row before it that it evaluates; NULL: none. */
static cJSON *evaluated(cJSON *rows, const cJSON *evaluation)
{
	const char *follows = row_text(evaluation, "follows");
	cJSON *found = NULL, *row;

	for (row = rows->child; row && row != evaluation; row = row->next) {
		const char *cell = row_text(row, "cell");

		if (!cell || !row_completed(row) ||
		    !labels_hold(cell, follows) ||
		    (found && repeat_of(found) == repeat_of(evaluation)))
			continue;
		found = row;
	}
	return found;
}

/* The object or list in the result; it is added if there is none. */
static cJSON *part(cJSON *result, const char *name, bool list)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(result, name);

	if (list ? cJSON_IsArray(item) : cJSON_IsObject(item))
		return item;
	cJSON_DeleteItemFromObjectCaseSensitive(result, name);
	return list ? cJSON_AddArrayToObject(result, name)
		    : cJSON_AddObjectToObject(result, name);
}

/* Add the names of such a list of the evaluation. */
static void merge_names(cJSON *result, const cJSON *evaluated, const char *list,
			bool *failed)
{
	const cJSON *names = cJSON_GetObjectItemCaseSensitive(evaluated, list);
	cJSON *to = names ? part(result, list, true) : NULL;
	const cJSON *name;

	cJSON_ArrayForEach(name, names)
	{
		json_add_copy(to, NULL, name, failed);
	}
}

static void merge(cJSON *row, const cJSON *evaluation, bool *failed)
{
	const cJSON *from = row_at(evaluation, "result"), *metric;
	cJSON *result = cJSON_GetObjectItemCaseSensitive(row, "result");
	cJSON *metrics = part(result, "metrics", false);

	cJSON_ArrayForEach(metric, row_at(from, "metrics"))
	{
		if (metric->string &&
		    !cJSON_GetObjectItemCaseSensitive(metrics, metric->string))
			json_add_copy(metrics, metric->string, metric, failed);
	}
	merge_names(result, from, "metric_columns", failed);
	merge_names(result, from, "metric_percents", failed);
}

cJSON *rows_merge_evaluations(const cJSON *rows, struct error *err)
{
	cJSON *merged = cJSON_Duplicate(rows, true);
	cJSON *row = merged ? merged->child : NULL;
	bool failed = !merged;

	while (row) {
		cJSON *next = row->next;
		cJSON *of = is_evaluation(row) ? evaluated(merged, row) : NULL;

		if (of && cJSON_IsObject(row_at(of, "result"))) {
			merge(of, row, &failed);
			cJSON_Delete(cJSON_DetachItemViaPointer(merged, row));
		}
		row = next;
	}
	if (!failed)
		return merged;
	cJSON_Delete(merged);
	return error_null(error_nomem(err, "report"));
}
