/* report.c - rows of a sweep as CSV and JSON, for programs.
 */
#include "controller/report/report.h"

#include "controller/report/columns.h"
#include "controller/report/row.h"
#include "controller/results/formula.h"

#include <string.h>

static const struct {
	const char *title;
	const char *path;
	bool measured; /* only of completed rows */
} columns[] = {
	{ "job", "job", false },
	{ "cell", "cell", false },
	{ "repeat", "repeat", false },
	{ "state", "state", false },
	{ "failure", "failure", false },
	{ "text", "text", false },
	{ "nodes", "nodes", false },
	{ "devices", "devices", false },
	{ "tokens_per_second_per_device", "result.tokens_per_second_per_device",
	  true },
	{ "tokens_per_second", "result.tokens_per_second", true },
	{ "loss_first", "result.loss.first", true },
	{ "loss_last", "result.loss.last", true },
	{ "memory_mib", "result.memory_mib", true },
	{ "iteration_ms_median", "result.iteration_ms.median", true },
	{ "iteration_ms_q1", "result.iteration_ms.q1", true },
	{ "iteration_ms_q3", "result.iteration_ms.q3", true },
	{ "iteration_n", "result.iteration_ms.n", true },
	{ "steps", "result.steps", true },
	{ "wall_s", "result.wall_s", true },
	{ "mfu", "result.mfu", true },
	{ "formula", "result.formula", true },
	{ "image", "provenance.image", false },
	{ "engine", "provenance.engine", false },
	{ "kernel", "provenance.kernel", false },
	{ "node_names", "provenance.nodes", false },
	{ "flags", "result.flags", true },
	{ "doubts", "doubts", true },
	{ "repeats", "repeats.n", true },
	{ "repeats_mean", "repeats.mean", true },
	{ "repeats_stdev", "repeats.stdev", true },
	{ "repeats_cv_percent", "repeats.cv_percent", true },
	{ "mfu_palm", "result.mfu_palm", true },
	{ "hfu", "result.hfu", true },
	{ "joules_per_token", "result.joules_per_token", true },
	{ "slow_steps", "result.slow_steps.count", true },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* A field in quotes if it needs them, as RFC 4180 says. What a spreadsheet
 * would take for a formula gets an apostrophe, which makes it a text there.
 */
static int put_field(struct buffer *out, const char *text, struct error *err)
{
	owned(buffer_clear) struct buffer guarded;

	buffer_init(&guarded, out->limit);
	if (*text && strchr("=+-@\t\r", *text)) {
		if (buffer_printf(&guarded, err, "'%s", text) < 0)
			return -1;
		text = guarded.data;
	}
	if (!strpbrk(text, ",\"\r\n"))
		return buffer_text(out, text, err);
	if (buffer_append(out, "\"", 1, err) < 0)
		return -1;
	for (; *text; text++)
		if (buffer_append(out, *text == '"' ? "\"\"" : text,
				  *text == '"' ? 2 : 1, err) < 0)
			return -1;
	return buffer_append(out, "\"", 1, err);
}

/* Texts of a list, in one field with "; " between them. */
static int put_list(struct buffer *out, const cJSON *list, struct error *err)
{
	owned(buffer_clear) struct buffer joined;
	const cJSON *item;

	buffer_init(&joined, out->limit);
	cJSON_ArrayForEach(item, list)
	{
		const char *text = cJSON_GetStringValue(item);

		if ((joined.size && buffer_text(&joined, "; ", err) < 0) ||
		    buffer_text(&joined, text ? text : "", err) < 0)
			return -1;
	}
	return put_field(out, joined.data, err);
}

static int put_value(struct buffer *out, const cJSON *value, struct error *err)
{
	if (cJSON_IsNumber(value))
		return buffer_printf(out, err, "%.10g", value->valuedouble);
	if (cJSON_IsString(value))
		return put_field(out, value->valuestring, err);
	return cJSON_IsArray(value) ? put_list(out, value, err) : 0;
}

/* Behind all others, the metrics that some row has. */
static int put_metrics(struct buffer *out, const struct columns *chosen,
		       const cJSON *row, struct error *err)
{
	const cJSON *metrics = row_at(row, "result.metrics");

	for (size_t c = 0; c < chosen->count; c++) {
		const char *name = chosen->metrics[c];

		if (!name)
			continue;
		if (buffer_append(out, ",", 1, err) < 0)
			return -1;
		if (row_completed(row) &&
		    put_value(out,
			      cJSON_GetObjectItemCaseSensitive(metrics, name),
			      err) < 0)
			return -1;
	}
	return 0;
}

static int put_row(struct buffer *out, const struct columns *chosen,
		   const cJSON *row, struct error *err)
{
	for (size_t c = 0; c < COLUMNS; c++) {
		if (c && buffer_append(out, ",", 1, err) < 0)
			return -1;
		if (columns[c].measured && !row_completed(row))
			continue;
		if (put_value(out, row_at(row, columns[c].path), err) < 0)
			return -1;
	}
	if (put_metrics(out, chosen, row, err) < 0)
		return -1;
	return buffer_text(out, "\r\n", err);
}

static int put_titles(struct buffer *out, const struct columns *chosen,
		      struct error *err)
{
	for (size_t c = 0; c < COLUMNS; c++)
		if (buffer_printf(out, err, "%s%s", c ? "," : "",
				  columns[c].title) < 0)
			return -1;
	for (size_t c = 0; c < chosen->count; c++)
		if (chosen->metrics[c] &&
		    (buffer_append(out, ",", 1, err) < 0 ||
		     put_field(out, chosen->metrics[c], err) < 0))
			return -1;
	return buffer_text(out, "\r\n", err);
}

int report_csv(const cJSON *rows, struct buffer *out, struct error *err)
{
	size_t size = out->size;
	struct columns chosen;
	const cJSON *row;

	if (rows_check(rows, err) < 0)
		return -1;
	columns_choose(rows, &chosen);
	if (put_titles(out, &chosen, err) < 0)
		return rows_undo(out, size);
	cJSON_ArrayForEach(row, rows)
	{
		if (put_row(out, &chosen, row, err) < 0)
			return rows_undo(out, size);
	}
	return 0;
}

/* One row a line, so that two reports can be compared line by line. */
static int put_json(struct buffer *out, const cJSON *rows, struct error *err)
{
	const cJSON *row;

	if (buffer_printf(out, err,
			  "{\"version\": 1, \"formula\": %d, \"rows\": [",
			  FORMULA_VERSION) < 0)
		return -1;
	cJSON_ArrayForEach(row, rows)
	{
		char *text = cJSON_PrintUnformatted(row);
		int rc = text ? buffer_printf(out, err, "%s\n%s",
					      row == rows->child ? "" : ",",
					      text)
			      : error_nomem(err, "report");

		cJSON_free(text);
		if (rc < 0)
			return -1;
	}
	return buffer_text(out, "\n]}\n", err);
}

int report_json(const cJSON *rows, struct buffer *out, struct error *err)
{
	size_t size = out->size;

	if (rows_check(rows, err) < 0)
		return -1;
	return put_json(out, rows, err) < 0 ? rows_undo(out, size) : 0;
}
