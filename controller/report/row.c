/* row.c - what all report formats read from a row (report.h).
 */
#include "controller/report/row.h"

#include "protocol/base/owned.h"
#include "protocol/message/state.h"

#include <errno.h>
#include <math.h>
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

static int compare_sizes(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int by_key(const void *a, const void *b)
{
	const struct grouped_row *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : compare_sizes(x->index, y->index);
}

static int by_group(const void *a, const void *b)
{
	const struct grouped_row *x = a, *y = b;

	if (x->first != y->first)
		return compare_sizes(x->first, y->first);
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return compare_sizes(x->index, y->index);
}

void rows_group(struct grouped_row *rows, size_t count)
{
	if (!count)
		return; /* rows may be NULL, which qsort() does not take */
	for (size_t i = 0; i < count; i++)
		rows[i].index = i;
	qsort(rows, count, sizeof(*rows), by_key);
	for (size_t i = 0; i < count; i++)
		rows[i].first = i && !strcmp(rows[i].key, rows[i - 1].key)
					? rows[i - 1].first
					: rows[i].index;
	qsort(rows, count, sizeof(*rows), by_group);
}

int rows_gather(cJSON *rows, struct error *err)
{
	size_t count = (size_t)cJSON_GetArraySize(rows), n = 0;
	owned_free struct grouped_row *grouped =
		calloc(count + 1, sizeof(*grouped));
	cJSON *row;

	if (!grouped)
		return error_nomem(err, "report");
	while ((row = cJSON_DetachItemFromArray(rows, 0))) {
		const char *cell = row_text(row, "cell");

		grouped[n++] = (struct grouped_row){
			.row = row,
			.key = cell ? cell : "",
			.order = number_at(row, "repeat"),
		};
	}
	rows_group(grouped, n);
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(rows, grouped[i].row);
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

const char *row_reason(const cJSON *row, char words[ROW_NOTE_BYTES])
{
	const char *failure = row_failure(row);
	const char *text = row_text(row, "text");

	if (!row_text(row, "failure") || row_completed(row))
		return NULL;
	if (!text)
		text = failure ? "" : row_text(row, "failure");
	snprintf(words, ROW_NOTE_BYTES, "%s%s%s", failure ? failure : "",
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

const char *row_origin(const cJSON *row, char words[ROW_NOTE_BYTES])
{
	double job = row_double(row, "from.job");
	double sweep = row_double(row, "from.sweep");

	if (isnan(job) || isnan(sweep))
		return NULL;
	snprintf(words, ROW_NOTE_BYTES, "from job %.0f of sweep %.0f", job,
		 sweep);
	return words;
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
