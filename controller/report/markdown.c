/* markdown.c - rows of a sweep to a table that people read.
 */
#include "controller/report/report.h"

#include "controller/report/columns.h"
#include "controller/report/labels.h"
#include "controller/report/row.h"
#include "controller/report/suspects.h"
#include "protocol/base/utf8.h"

#include <string.h>

/* Distinct values named in the line of provenance; the rest is counted. */
#define NAMED_MAX 32

/* "- job 17, model=x: " and the text. */
static int put_note(struct buffer *out, const cJSON *row, const char *text,
		    struct error *err)
{
	const cJSON *job = row_at(row, "job");
	const char *cell = row_text(row, "cell");

	if (buffer_printf(out, err, "- job %.0f, ",
			  cJSON_IsNumber(job) ? job->valuedouble : 0) < 0 ||
	    markdown_text(out, cell ? cell : "-", err) < 0 ||
	    buffer_text(out, ": ", err) < 0 ||
	    markdown_text(out, text, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

static int put_failures(struct buffer *out, const cJSON *rows,
			struct error *err)
{
	bool any = false;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		char words[ROW_REASON_BYTES];
		const char *reason = row_reason(row, words);

		if (!reason)
			continue;
		if (!any &&
		    buffer_text(out, "\nWithout a result:\n\n", err) < 0)
			return -1;
		any = true;
		if (put_note(out, row, reason, err) < 0)
			return -1;
	}
	return 0;
}

static int put_origins(struct buffer *out, const cJSON *rows, struct error *err)
{
	bool any = false;
	const cJSON *row;
	char words[80];

	cJSON_ArrayForEach(row, rows)
	{
		if (!row_origin(row, words, sizeof(words)))
			continue;
		if (!any && buffer_text(out,
					"\nTaken over, as they completed "
					"before:\n\n",
					err) < 0)
			return -1;
		any = true;
		if (put_note(out, row, words, err) < 0)
			return -1;
	}
	return 0;
}

static int put_suspects(struct buffer *out, const cJSON *rows,
			struct error *err)
{
	owned(suspects_clear) struct suspects suspects = { 0 };
	char jobs[SUSPECT_JOBS_SIZE];

	if (suspects_find(rows, &suspects, err) < 0)
		return -1;
	for (size_t i = 0; i < suspects.count; i++) {
		const struct suspect *suspect = &suspects.items[i];

		if (!i &&
		    buffer_text(out, "\nSuspect results (!):\n\n", err) < 0)
			return -1;
		if (suspect->count == 1) {
			if (put_note(out, suspect->rows->row, suspect->text,
				     err) < 0)
				return -1;
			continue;
		}
		if (buffer_printf(out, err,
				  "- %s: ", suspect_jobs(suspect, jobs)) < 0 ||
		    markdown_text(out, suspect->text, err) < 0 ||
		    buffer_text(out, "\n", err) < 0)
			return -1;
	}
	return 0;
}

/* What was run, above the table. */
static int put_subjects(struct buffer *out, const cJSON *rows,
			struct error *err)
{
	char text[LABEL_SIZE];
	bool any = false;

	for (size_t i = 0; label_subjects[i].name; i++) {
		labels_values(rows, label_subjects[i].path, text);
		if (!*text)
			continue;
		if (buffer_printf(out, err, "%s%s ", any ? ", " : "",
				  label_subjects[i].name) < 0 ||
		    markdown_text(out, text, err) < 0)
			return -1;
		any = true;
	}
	return any ? buffer_text(out, "\n\n", err) : 0;
}

/* A line per cell that has repeats: they follow each other. */
static int put_repeats(struct buffer *out, const cJSON *rows, struct error *err)
{
	const char *before = "";
	const cJSON *row;
	bool any = false;

	cJSON_ArrayForEach(row, rows)
	{
		const char *cell = row_text(row, "cell");

		if (!row_at(row, "repeats") || !cell || !strcmp(cell, before))
			continue;
		before = cell;
		if (!any && buffer_text(out, "\nRepeats:\n\n", err) < 0)
			return -1;
		any = true;
		if (buffer_text(out, "- ", err) < 0 ||
		    markdown_text(out, cell, err) < 0 ||
		    buffer_printf(out, err,
				  ": mean of %.0f repeats %.1f token/p/s, "
				  "standard deviation %.2f, CV %.2f %%\n",
				  row_double(row, "repeats.n"),
				  row_double(row, "repeats.mean"),
				  row_double(row, "repeats.stdev"),
				  row_double(row, "repeats.cv_percent")) < 0)
			return -1;
	}
	return 0;
}

/* Distinct texts in order; borrowed from the rows. */
struct set {
	const char **items;
	size_t count;
	size_t capacity;
};

static int set_add(struct set *set, const char *text)
{
	size_t low = 0, high = set->count;

	if (!text)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strverscmp(set->items[middle], text);

		if (order == 0)
			return 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (set->count == set->capacity) {
		size_t capacity = set->capacity ? set->capacity * 2 : 16;
		const char **items =
			reallocarray(set->items, capacity, sizeof(*items));

		if (!items)
			return -1;
		set->items = items;
		set->capacity = capacity;
	}
	memmove(set->items + low + 1, set->items + low,
		(set->count - low) * sizeof(*set->items));
	set->items[low] = text;
	set->count++;
	return 0;
}

/* All values that the completed rows have at the path: a text, or a list of
 * texts.
 */
static int collect(const cJSON *rows, const char *path, struct set *set)
{
	const cJSON *row, *item;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *value = row_at(row, path);

		if (!row_completed(row))
			continue;
		if (set_add(set, cJSON_GetStringValue(value)) < 0)
			return -1;
		if (!cJSON_IsArray(value))
			continue;
		cJSON_ArrayForEach(item, value)
		{
			if (set_add(set, cJSON_GetStringValue(item)) < 0)
				return -1;
		}
	}
	return 0;
}

static int put_set(struct buffer *out, const char *name, const struct set *set,
		   struct error *err)
{
	if (buffer_printf(out, err, "; %s ", name) < 0)
		return -1;
	for (size_t i = 0; i < set->count && i < NAMED_MAX; i++)
		if ((i && buffer_text(out, ", ", err) < 0) ||
		    markdown_text(out, set->items[i], err) < 0)
			return -1;
	if (set->count <= NAMED_MAX)
		return 0;
	return buffer_printf(out, err, " and %zu more", set->count - NAMED_MAX);
}

static int put_formulas(struct buffer *out, const cJSON *rows,
			struct error *err)
{
	double low = 0, high = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *formula = row_at(row, "result.formula");

		if (!row_completed(row) || !cJSON_IsNumber(formula))
			continue;
		if (!low || formula->valuedouble < low)
			low = formula->valuedouble;
		if (formula->valuedouble > high)
			high = formula->valuedouble;
	}
	if (low != high)
		return buffer_printf(out, err, "formula %.0f to %.0f", low,
				     high);
	return buffer_printf(out, err, "formula %.0f", high);
}

static int put_provenance(struct buffer *out, const cJSON *rows,
			  struct error *err)
{
	static const struct {
		const char *name;
		const char *path;
	} parts[] = {
		{ "image", "provenance.image" },
		{ "engine", "provenance.engine" },
		{ "kernel", "provenance.kernel" },
		{ "nodes", "provenance.nodes" },
	};
	const cJSON *row;
	bool any = false;

	cJSON_ArrayForEach(row, rows) any = any || row_completed(row);
	if (!any)
		return 0;
	if (buffer_text(out, "\nMeasured with ", err) < 0 ||
	    put_formulas(out, rows, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct set set = { 0 };
		int rc = collect(rows, parts[i].path, &set);

		if (rc < 0)
			error_nomem(err, "report");
		else if (set.count)
			rc = put_set(out, parts[i].name, &set, err);
		free(set.items);
		if (rc < 0)
			return -1;
	}
	return buffer_text(out, ".\n", err);
}

static int put_table(const cJSON *rows, struct buffer *out, struct error *err)
{
	struct columns columns;
	struct column heads[COLUMNS_MAX + 1];
	owned(table_free) struct table *table = NULL;

	columns_choose(rows, false, &columns);
	table = columns_table(&columns, rows, NULL, heads, err);
	return table ? table_markdown(table, out, err) : -1;
}

int report_markdown(const cJSON *rows, struct buffer *out, struct error *err)
{
	size_t size = out->size;

	if (rows_check(rows, err) < 0)
		return -1;
	if (put_subjects(out, rows, err) < 0 || put_table(rows, out, err) < 0 ||
	    put_repeats(out, rows, err) < 0 ||
	    put_failures(out, rows, err) < 0 ||
	    put_origins(out, rows, err) < 0 ||
	    put_suspects(out, rows, err) < 0 ||
	    put_provenance(out, rows, err) < 0)
		return rows_undo(out, size);
	return 0;
}
