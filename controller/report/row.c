/* row.c - a row of a report: the result of a job, and what its neighbours tell
 * about it.
 */
#include "controller/report/row.h"

#include "controller/results/json_object.h"
#include "protocol/message/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const relation_names[RELATIONS + 1] = {
	[RELATION_NONE] = "",
	[RELATION_BEST] = "best",
	[RELATION_BASELINE] = "baseline",
	[RELATION_SAME] = "same",
	[RELATION_SLOWER] = "slower",
	[RELATION_FASTER] = "faster",
};

/* clang-format off */
static const struct schema repeats_info_schema = SCHEMA(repeats_info,
	FIELD(repeats_info, n),
	FIELD_FIGURE(repeats_info, mean),
	FIELD_FIGURE(repeats_info, stdev),
	FIELD_FIGURE(repeats_info, cv_percent),
	FIELD_KNOWN(repeats_info, margin),
	FIELD_KNOWN(repeats_info, min),
	FIELD_KNOWN(repeats_info, max),
	FIELD_OPTIONAL(repeats_info, runs),
	FIELD_OPTIONAL(repeats_info, completed),
	FIELD_OPTIONAL(repeats_info, failed),
	FIELD_KNOWN(repeats_info, relative),
	FIELD_KNOWN(repeats_info, relative_margin),
	FIELD_(repeats_info, relation, FIELD_ENUM, .names = relation_names,
	       .optional = true));

static const struct schema alignment_info_schema = SCHEMA(alignment_info,
	FIELD(alignment_info, verdict),
	FIELD(alignment_info, steps),
	FIELD_FIGURE(alignment_info, mean_percent),
	FIELD_FIGURE(alignment_info, largest_percent),
	FIELD(alignment_info, at_step),
	FIELD_FIGURE(alignment_info, tolerance_percent),
	FIELD_NULLABLE(alignment_info, baseline));

_Static_assert(offsetof(struct report_row, info) == 0,
	       "the fields of result_info are those of the row");
const struct schema report_row_schema = SCHEMA(report_row,
	RESULT_INFO_FIELDS,
	FIELD_(report_row, alignment, FIELD_POINTER,
	       .schema = &alignment_info_schema, .optional = true),
	FIELD_(report_row, repeats, FIELD_POINTER,
	       .schema = &repeats_info_schema, .optional = true),
	FIELD_MANY(report_row, anomalies, remark_schema),
	FIELD_OPTIONAL(report_row, series),
	FIELD_OPTIONAL(report_row, tail));
/* clang-format on */

void report_rows_clear(struct report_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		codec_clear(&report_row_schema, &rows->items[i]);
	free(rows->items);
	*rows = (struct report_rows){ 0 };
}

int report_rows_make(struct report_rows *rows, struct result_info *infos,
		     size_t count, struct error *err)
{
	rows->items = calloc(count + 1, sizeof(*rows->items));
	if (!rows->items)
		return error_nomem(err, "report");
	for (size_t i = 0; i < count; i++) {
		rows->items[i].info = infos[i];
		infos[i] = (struct result_info){ 0 };
	}
	rows->count = count;
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

int rows_gather(struct report_rows *rows, struct error *err)
{
	owned_free struct grouped_row *grouped =
		calloc(rows->count + 1, sizeof(*grouped));
	struct report_row *items = calloc(rows->count + 1, sizeof(*items));

	if (!grouped || !items) {
		free(items);
		return error_nomem(err, "report");
	}
	for (size_t i = 0; i < rows->count; i++)
		grouped[i] = (struct grouped_row){
			.row = &rows->items[i],
			.key = row_cell(&rows->items[i]),
			.order = rows->items[i].info.repeat,
		};
	rows_group(grouped, rows->count);
	for (size_t i = 0; i < rows->count; i++)
		items[i] = *grouped[i].row;
	free(rows->items);
	rows->items = items;
	return 0;
}

bool row_completed(const struct report_row *row)
{
	return job_state_from(row->info.state) == JOB_COMPLETED;
}

struct rate row_rate(const struct report_row *row)
{
	struct rate rate =
		result_rate(row_completed(row) ? row->info.result : NULL);

	/* Steps per second of a mean time are not the mean. */
	if (rate.unit && row->repeats && row->repeats->runs)
		rate.value = row->repeats->mean;
	return rate;
}

enum rate_unit rows_unit(const struct report_rows *rows)
{
	enum rate_unit unit = RATE_NONE;

	ROWS_EACH(row, rows)
	{
		enum rate_unit other = row_rate(row).unit;

		if (unit && other && unit != other)
			return RATE_NONE;
		unit = other ? other : unit;
	}
	return unit;
}

double row_mfu(const struct report_row *row)
{
	return row->info.result ? row->info.result->mfu : (double)NAN;
}

const char *row_cell(const struct report_row *row)
{
	return row->info.cell ? row->info.cell : "";
}

const char *row_failure(const struct report_row *row)
{
	const char *state = row->info.state, *failure = row->info.failure;

	if (!failure || row_completed(row) ||
	    (state && !strcmp(state, failure)))
		return NULL;
	return failure;
}

bool row_failed(const struct report_row *row)
{
	return row->info.failure && !row_completed(row);
}

const char *row_reason(const struct report_row *row, char words[ROW_NOTE_BYTES])
{
	const char *failure = row_failure(row), *text = row->info.text;
	bool unread = row_completed(row) && text && row->info.result &&
		      !row->info.result->measured;

	if (!row_failed(row) && !unread)
		return NULL;
	if (!text)
		text = failure ? "" : row->info.failure;
	snprintf(words, ROW_NOTE_BYTES, "%s%s%s", failure ? failure : "",
		 failure && *text ? ": " : "", text);
	return words;
}

bool row_shows(const struct report_row *row, const char *metric)
{
	return row->info.result &&
	       strings_has(&row->info.result->metric_columns, metric);
}

double row_metric(const struct report_row *row, const char *metric)
{
	const struct result *result = row->info.result;

	for (size_t i = 0; result && i < result->metrics_count; i++)
		if (!strcmp(result->metrics[i].name, metric))
			return result->metrics[i].number;
	return NAN;
}

bool row_heat(const struct report_row *row)
{
	return row->info.race && row->info.race->heat;
}

const struct remark *row_flag(const struct report_row *row, size_t flag)
{
	const struct result *result = row->info.result;
	size_t flags = result ? result->flags_count : 0;

	if (!row_completed(row) || row_heat(row))
		return NULL;
	if (flag < flags)
		return &result->flags[flag];
	flag -= flags;
	return flag < row->anomalies_count ? &row->anomalies[flag] : NULL;
}

const char *row_origin(const struct report_row *row, char words[ROW_NOTE_BYTES])
{
	if (!row->info.from)
		return NULL;
	snprintf(words, ROW_NOTE_BYTES, "from job %llu of sweep %llu",
		 (unsigned long long)row->info.from->job,
		 (unsigned long long)row->info.from->sweep);
	return words;
}

const char *row_about(const struct report_row *row, const char *name)
{
	return row->info.setup ? row_text(row->info.setup->about, name) : NULL;
}
