/* merge_evaluations.c - evaluations join the rows of what they evaluate.
 */
#include "controller/report/merge_evaluations.h"

#include "controller/report/row.h"

#include <string.h>

/* Does the cell have all the words, "step=train nodes=2"? */
static bool has_words(const char *cell, const char *words)
{
	while (*words) {
		size_t size = strcspn(words, " ");
		const char *at = cell;

		while (*at && (strncmp(at, words, size) != 0 ||
			       (at[size] && at[size] != ' '))) {
			at += strcspn(at, " ");
			at += strspn(at, " ");
		}
		if (!*at)
			return false;
		words += size;
		words += strspn(words, " ");
	}
	return true;
}

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

/* The row above that it evaluates; NULL: none. */
static cJSON *evaluated(cJSON *rows, const cJSON *evaluation)
{
	const char *follows = row_text(evaluation, "follows");
	cJSON *found = NULL, *row;

	for (row = rows->child; row && row != evaluation; row = row->next) {
		const char *cell = row_text(row, "cell");

		if (!cell || !row_completed(row) || !has_words(cell, follows) ||
		    (found && repeat_of(found) == repeat_of(evaluation)))
			continue;
		found = row;
	}
	return found;
}

static bool add_copy(cJSON *to, const cJSON *item)
{
	cJSON *copy = cJSON_Duplicate(item, true);

	if (copy &&
	    (cJSON_IsArray(to) ? cJSON_AddItemToArray(to, copy)
			       : cJSON_AddItemToObject(to, item->string, copy)))
		return true;
	cJSON_Delete(copy);
	return false;
}

/* The object or array of the result, made when there is none. */
static cJSON *part(cJSON *result, const char *name, bool array)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(result, name);

	if (array ? cJSON_IsArray(item) : cJSON_IsObject(item))
		return item;
	cJSON_DeleteItemFromObjectCaseSensitive(result, name);
	return array ? cJSON_AddArrayToObject(result, name)
		     : cJSON_AddObjectToObject(result, name);
}

/* The names of such a list of the evaluation join those of the row. */
static bool give_names(cJSON *result, const cJSON *evaluation, const char *list)
{
	const cJSON *names =
		cJSON_GetObjectItemCaseSensitive(row_at(evaluation, "result"),
						 list);
	cJSON *to = names ? part(result, list, true) : NULL;
	const cJSON *item;

	if (names && !to)
		return false;
	cJSON_ArrayForEach(item, names)
	{
		if (!add_copy(to, item))
			return false;
	}
	return true;
}

/* false: no memory. */
static bool give(cJSON *row, const cJSON *evaluation)
{
	cJSON *result = cJSON_GetObjectItemCaseSensitive(row, "result");
	cJSON *metrics = part(result, "metrics", false);
	const cJSON *item;

	if (!metrics)
		return false;
	cJSON_ArrayForEach(item, row_at(evaluation, "result.metrics"))
	{
		if (item->string &&
		    !cJSON_GetObjectItemCaseSensitive(metrics, item->string) &&
		    !add_copy(metrics, item))
			return false;
	}
	return give_names(result, evaluation, "metric_columns") &&
	       give_names(result, evaluation, "metric_percents");
}

cJSON *rows_merge_evaluations(const cJSON *rows, struct error *err)
{
	cJSON *folded = cJSON_Duplicate(rows, true);
	cJSON *row = folded ? folded->child : NULL;
	bool whole = folded;

	while (whole && row) {
		cJSON *next = row->next;
		cJSON *of = is_evaluation(row) ? evaluated(folded, row) : NULL;

		if (of && cJSON_IsObject(row_at(of, "result"))) {
			whole = give(of, row);
			cJSON_Delete(cJSON_DetachItemViaPointer(folded, row));
		}
		row = next;
	}
	if (whole)
		return folded;
	cJSON_Delete(folded);
	error_nomem(err, "report");
	return NULL;
}
