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

/* List the texts, or lists of texts, at the path of completed rows; return how
 * many. list: NULL: only count them.
 */
static size_t list_values(const cJSON *rows, const char *path,
			  const char **list)
{
	size_t count = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *value = row_at(row, path);
		bool many = cJSON_IsArray(value);

		if (many)
			value = value->child;
		if (!row_completed(row))
			continue;
		for (; value; value = many ? value->next : NULL) {
			if (!cJSON_IsString(value))
				continue;
			if (list)
				list[count] = value->valuestring;
			count++;
		}
	}
	return count;
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

/* "; nodes n1, n2" */
static void put_values(struct writer *to, const char *name, const char *path,
		       const cJSON *rows)
{
	size_t count = list_values(rows, path, NULL), named = 0, more = 0;
	owned_free const char **list = calloc(count + 1, sizeof(*list));

	if (!list) {
		error_nomem(&to->failure, "report");
		return;
	}
	list_values(rows, path, list);
	qsort(list, count, sizeof(*list), by_version);
	for (size_t i = 0; i < count; i++) {
		if (i && !strcmp(list[i], list[i - 1]))
			continue;
		if (named == NAMED_MAX) {
			more++;
			continue;
		}
		if (!named++)
			writer_printf(to, "; %s %s", name, list[i]);
		else
			writer_printf(to, ", %s", list[i]);
	}
	if (more)
		writer_printf(to, " and %zu more", more);
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
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		put_values(to, parts[i].name, parts[i].path, rows);
	writer_raw(to, ".\n");
}

static void put_table(struct writer *to, const cJSON *rows)
{
	struct columns columns;
	owned(table_clear) struct table table = { 0 };

	columns_choose(rows, false, &columns);
	columns_table(&columns, rows, NULL, &table);
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
