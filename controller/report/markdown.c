/* markdown.c - writes the rows of a sweep as a Markdown table with notes.
 */
#include "controller/report/report.h"

#include "controller/report/columns.h"
#include "controller/report/labels.h"
#include "controller/report/row.h"
#include "controller/report/suspects.h"
#include "controller/report/writer.h"

#include <math.h>
#include <string.h>

/* Distinct values in the line of provenance; further ones are only counted. */
#define NAMED_MAX 32

/* "- job 17, model=x: " and the text. */
static void put_note(struct writer *to, const cJSON *row, const char *text)
{
	writer_printf(to, "- job %.0f, %s: %s\n", number_at(row, "job"),
		      row_text(row, "cell"), text);
}

/* The heading of a list, before its first item. */
static void put_heading(struct writer *to, const char *heading, bool *any)
{
	if (!*any)
		writer_printf(to, "\n%s:\n\n", heading);
	*any = true;
}

typedef const char *note_fn(const cJSON *row, char words[ROW_NOTE_BYTES]);

static void put_notes(struct writer *to, const char *heading, note_fn *note,
		      const cJSON *rows)
{
	char words[ROW_NOTE_BYTES];
	bool any = false;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const char *text = note(row, words);

		if (!text)
			continue;
		put_heading(to, heading, &any);
		put_note(to, row, text);
	}
}

static void put_suspects(struct writer *to, const cJSON *rows)
{
	owned(suspects_clear) struct suspects suspects = { 0 };
	char jobs[SUSPECT_JOBS_SIZE];

	if (suspects_find(rows, &suspects, &to->failure) < 0)
		return;
	if (suspects.count)
		writer_raw(to, "\nSuspect results (!):\n\n");
	for (size_t i = 0; i < suspects.count; i++) {
		const struct suspect *suspect = &suspects.items[i];

		if (suspect->count == 1)
			put_note(to, suspect->rows->row, suspect->text);
		else
			writer_printf(to, "- %s: %s\n",
				      suspect_jobs(suspect, jobs),
				      suspect->text);
	}
}

/* What was run, above the table. */
static void put_subjects(struct writer *to, const cJSON *rows)
{
	char text[LABEL_SIZE];
	bool any = false;

	for (size_t i = 0; label_subjects[i].name; i++) {
		labels_values(rows, label_subjects[i].path, text);
		if (!*text)
			continue;
		writer_printf(to, "%s%s %s", any ? ", " : "",
			      label_subjects[i].name, text);
		any = true;
	}
	if (any)
		writer_raw(to, "\n\n");
}

/* A line per cell with repeats; the rows of a cell are adjacent. */
static void put_repeats(struct writer *to, const cJSON *rows)
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
		put_heading(to, "Repeats", &any);
		writer_printf(to,
			      "- %s: mean of %.0f repeats %.1f token/p/s, "
			      "standard deviation %.2f, CV %.2f %%\n",
			      cell, row_double(row, "repeats.n"),
			      row_double(row, "repeats.mean"),
			      row_double(row, "repeats.stdev"),
			      row_double(row, "repeats.cv_percent"));
	}
}

/* Texts that are borrowed from the rows. */
struct set {
	const char **items;
	size_t count;
};

static int set_add(struct set *set, const char *text)
{
	size_t count = set->count;

	if (!text)
		return 0;
	if (!(count & (count - 1))) {
		const char **items =
			reallocarray(set->items, count ? 2 * count : 1,
				     sizeof(*items));

		if (!items)
			return -1;
		set->items = items;
	}
	set->items[set->count++] = text;
	return 0;
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* Put the texts in order, each once. */
static void set_sort(struct set *set)
{
	size_t kept = 0;

	if (set->count)
		qsort(set->items, set->count, sizeof(*set->items), by_version);
	for (size_t i = 0; i < set->count; i++)
		if (!kept || strcmp(set->items[i], set->items[kept - 1]) != 0)
			set->items[kept++] = set->items[i];
	set->count = kept;
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
	set_sort(set);
	return 0;
}

static void put_set(struct writer *to, const char *name, const struct set *set)
{
	writer_printf(to, "; %s ", name);
	for (size_t i = 0; i < set->count && i < NAMED_MAX; i++)
		writer_printf(to, "%s%s", i ? ", " : "", set->items[i]);
	if (set->count > NAMED_MAX)
		writer_printf(to, " and %zu more", set->count - NAMED_MAX);
}

static void put_formulas(struct writer *to, const cJSON *rows)
{
	double low = 0, high = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		double formula = number_at(row, "result.formula");

		if (!row_completed(row) || !formula)
			continue;
		low = low ? fmin(low, formula) : formula;
		high = fmax(high, formula);
	}
	writer_printf(to, "formula %.0f", low);
	if (low != high)
		writer_printf(to, " to %.0f", high);
}

static void put_provenance(struct writer *to, const cJSON *rows)
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
		return;
	writer_raw(to, "\nMeasured with ");
	put_formulas(to, rows);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct set set = { 0 };

		if (collect(rows, parts[i].path, &set) < 0)
			error_nomem(&to->failure, "report");
		else if (set.count)
			put_set(to, parts[i].name, &set);
		free(set.items);
	}
	writer_raw(to, ".\n");
}

static void put_table(struct writer *to, const cJSON *rows)
{
	struct columns columns;
	struct column heads[COLUMNS_MAX + 1];
	owned(table_clear) struct table table = { 0 };

	columns_choose(rows, false, &columns);
	columns_table(&columns, rows, NULL, heads, &table);
	table_markdown(&table, to);
}

int report_markdown(const cJSON *rows, struct buffer *out, struct error *err)
{
	struct writer to;

	if (rows_check(rows, err) < 0)
		return -1;
	writer_init(&to, out, markdown_text);
	put_subjects(&to, rows);
	put_table(&to, rows);
	put_repeats(&to, rows);
	put_notes(&to, "Without a result", row_reason, rows);
	put_notes(&to, "Jobs taken over from earlier sweeps", row_origin, rows);
	put_suspects(&to, rows);
	put_provenance(&to, rows);
	return writer_end(&to, err);
}
