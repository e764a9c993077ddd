/* row.c - what the report's formats share: looking into a row.
 */
#include "controller/report/row.h"

#include "protocol/base/owned.h"
#include "protocol/message/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int rows_check(const cJSON *rows, struct error *err)
{
	const cJSON *row;

	if (!cJSON_IsArray(rows))
		return error_set(err, EINVAL,
				 "report: the rows are not a list");
	cJSON_ArrayForEach(row, rows)
	{
		if (!cJSON_IsObject(row))
			return error_set(err, EINVAL,
					 "report: a row is not an object");
	}
	return 0;
}

/* A row, and what it is put in order by. */
struct ordered_row {
	cJSON *row;
	const char *cell;
	size_t index; /* in the list as it was */
	size_t first; /* index of its cell's first row */
	double repeat;
};

static int by_cell(const void *a, const void *b)
{
	const struct ordered_row *x = a, *y = b;
	int order = strcmp(x->cell, y->cell);

	return order ? order : x->index < y->index ? -1 : x->index > y->index;
}

static int by_order(const void *a, const void *b)
{
	const struct ordered_row *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->repeat != y->repeat)
		return x->repeat < y->repeat ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

int rows_gather(cJSON *rows, struct error *err)
{
	size_t count = (size_t)cJSON_GetArraySize(rows), n = 0;
	owned_free struct ordered_row *ordered =
		calloc(count + 1, sizeof(*ordered));
	cJSON *row;

	if (!ordered)
		return error_nomem(err, "report");
	cJSON_ArrayForEach(row, rows)
	{
		const char *cell = row_text(row, "cell");
		const cJSON *repeat = row_at(row, "repeat");

		ordered[n] = (struct ordered_row){
			.row = row,
			.cell = cell ? cell : "",
			.index = n,
			.repeat = cJSON_IsNumber(repeat) ? repeat->valuedouble
							 : 0,
		};
		n++;
	}
	qsort(ordered, n, sizeof(*ordered), by_cell);
	for (size_t i = 0; i < n; i++)
		ordered[i].first =
			i && !strcmp(ordered[i].cell, ordered[i - 1].cell)
				? ordered[i - 1].first
				: ordered[i].index;
	qsort(ordered, n, sizeof(*ordered), by_order);
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(rows,
				     cJSON_DetachItemViaPointer(rows,
								ordered[i]
									.row));
	return 0;
}

bool row_completed(const cJSON *row)
{
	return job_state_from(row_text(row, "state")) == JOB_COMPLETED;
}

const char *row_failure(const cJSON *row)
{
	const char *state = row_text(row, "state");
	const char *failure = row_text(row, "failure");

	if (!failure || row_completed(row) ||
	    (state && !strcmp(state, failure)))
		return NULL;
	return failure;
}

const char *row_reason(const cJSON *row, char words[ROW_REASON_BYTES])
{
	const char *failure = row_failure(row);
	const char *text = row_text(row, "text");

	if (!row_text(row, "failure") || row_completed(row))
		return NULL;
	if (!text)
		text = failure ? "" : row_text(row, "failure");
	snprintf(words, ROW_REASON_BYTES, "%s%s%s", failure ? failure : "",
		 failure && *text ? ": " : "", text);
	return words;
}

bool row_shows(const cJSON *row, const char *metric)
{
	const cJSON *names = row_at(row, "result.metric_columns"), *name;

	cJSON_ArrayForEach(name, names)
	{
		if (cJSON_IsString(name) && !strcmp(name->valuestring, metric))
			return true;
	}
	return !cJSON_IsArray(names);
}

const char *row_flag(const cJSON *row, size_t flag)
{
	static const char *const paths[] = { "result.flags", "anomalies" };

	if (!row_completed(row))
		return NULL;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const cJSON *list = row_at(row, paths[i]);
		size_t count = (size_t)cJSON_GetArraySize(list);
		const char *text;

		if (flag < count) {
			text = cJSON_GetStringValue(
				cJSON_GetArrayItem(list, (int)flag));
			return text ? text : "-";
		}
		flag -= count;
	}
	return NULL;
}

bool row_flagged(const cJSON *row)
{
	return row_flag(row, 0) != NULL;
}

bool row_origin(const cJSON *row, char *words, size_t size)
{
	const cJSON *job = row_at(row, "from.job");
	const cJSON *sweep = row_at(row, "from.sweep");

	if (!cJSON_IsNumber(job) || !cJSON_IsNumber(sweep))
		return false;
	snprintf(words, size, "from job %.0f of sweep %.0f", job->valuedouble,
		 sweep->valuedouble);
	return true;
}

const char *utc_text(int64_t ms, char text[UTC_SIZE])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm time;

	if (!gmtime_r(&seconds, &time) ||
	    !strftime(text, UTC_SIZE, "%Y-%m-%dT%H:%M:%SZ", &time))
		snprintf(text, UTC_SIZE, "-");
	return text;
}
