/* markdown.c - writes the rows of a sweep as a Markdown table with notes.
 */
#include "controller/report/report.h"
#include "controller/report/races.h"

#include "controller/report/advice.h"
#include "controller/report/cells.h"
#include "controller/report/columns.h"
#include "controller/report/facts.h"
#include "controller/report/labels.h"
#include "controller/report/node_rates.h"
#include "controller/report/suspects.h"
#include "controller/report/writer.h"
#include "protocol/base/units.h"

#include <string.h>

/* "- job 17, model=x: " and the text. */
static void put_note(struct writer *to, const struct report_row *row,
		     const char *text)
{
	writer_printf(to, "- job %llu, %s: %s\n",
		      (unsigned long long)row->info.job, row->info.cell, text);
}

/* The heading of a list, before its first item. */
static void markdown_put_heading(struct writer *to, const char *heading,
				 bool *any)
{
	if (!*any)
		writer_printf(to, "\n%s:\n\n", heading);
	*any = true;
}

typedef const char *note_fn(const struct report_row *row,
			    char words[ROW_NOTE_BYTES]);

static void markdown_put_notes(struct writer *to, const char *heading,
			       note_fn *note, const struct report_rows *rows)
{
	char words[ROW_NOTE_BYTES];
	bool any = false;

	ROWS_EACH(row, rows)
	{
		const char *text = note(row, words);

		if (!text)
			continue;
		markdown_put_heading(to, heading, &any);
		put_note(to, row, text);
	}
}

/* What to do about failures. */
static void markdown_put_advice(struct writer *to,
				const struct report_rows *rows)
{
	struct advice_given given = { 0 };
	bool any = false;

	ROWS_EACH(row, rows)
	{
		enum failure failure = failure_from(row->info.failure);
		const char *todo = advice_once(&given, failure, row->info.text,
					       LANGUAGE_EN);

		if (!todo)
			continue;
		markdown_put_heading(to, "What to do", &any);
		writer_printf(to, "- %s: ", failure_name(failure));
		writer_raw(to, todo);
		writer_raw(to, "\n");
	}
}

static void markdown_put_races(struct writer *to,
			       const struct report_rows *rows)
{
	owned(strings_clear) struct strings lines = { 0 };

	races_lines(rows, &lines, &to->failure);
	if (lines.count)
		writer_raw(to, "\nRace:\n\n");
	for (size_t i = 0; i < lines.count; i++)
		writer_printf(to, "- %s\n", lines.items[i]);
}

static void markdown_put_suspects(struct writer *to,
				  const struct report_rows *rows)
{
	owned(suspects_clear) struct suspects suspects = { 0 };
	char jobs[SUSPECT_JOBS_SIZE];

	if (suspects_find(rows, LANGUAGE_EN, &suspects, &to->failure) < 0)
		return;
	if (suspects.count)
		writer_raw(to, "\nSuspect results (!):\n\n");
	for (size_t i = 0; i < suspects.count; i++) {
		const struct suspect *suspect = &suspects.items[i];

		if (suspect->count == 1)
			put_note(to, suspect->rows[0], suspect->text);
		else
			writer_printf(to, "- %s: %s\n",
				      suspect_jobs(suspect, jobs),
				      suspect->text);
	}
}

/* "Sweep 3, nightly, submitted 2026-05-04T03:02:01Z by ann." */
static void markdown_put_about(struct writer *to,
			       const struct report_about *about)
{
	char utc[UTC_SIZE];

	if (!about->sweep)
		return;
	writer_printf(to, "Sweep %llu, %s, submitted %s by %s.\n\n",
		      (unsigned long long)about->sweep, about->name,
		      utc_text(about->submitted_ms, utc), about->client);
}

/* "vendor cpu; " */
static void markdown_put_fact(struct writer *to, const char *name,
			      const char *text)
{
	writer_printf(to, "%s %s; ", name, text);
}

/* What was run, by what, on what: above the table. */
static void markdown_put_facts(struct writer *to,
			       const struct report_rows *rows,
			       const struct report_rows *shown)
{
	size_t start = to->out->size;

	facts_each(to, &(const struct report_about){ 0 }, rows, shown,
		   markdown_put_fact);
	if (to->out->size == start)
		return;
	writer_cut(to, to->out->size - 2);
	writer_raw(to, ".\n\n");
}

static void markdown_put_table(struct writer *to,
			       const struct report_rows *rows)
{
	struct columns columns, split;
	struct labels labels;
	owned(table_clear) struct table table = { 0 };
	bool splits;

	columns_choose(rows, false, &columns);
	labels_find_rows(rows, &labels);
	split = columns;
	columns_split(&split, rows, &labels, COLUMNS_KEYS_MAX);
	splits = split.keys_count > 1; /* one key is as clear in a name */
	columns_table(splits ? &split : &columns, rows, splits ? &labels : NULL,
		      &table);
	if (splits && *labels.common)
		writer_printf(to, "All: %s\n\n", labels.common);
	table_markdown(&table, to);
}

/* What "±" and "relative" mean. */
static void markdown_put_legend(struct writer *to,
				const struct report_about *about,
				const struct report_rows *shown)
{
	char text[CELLS_LEGEND];

	if (*cells_legend(about, shown, LANGUAGE_EN, text))
		writer_printf(to, "\n%s\n", text);
}

static void markdown_put_nodes(struct writer *to,
			       const struct report_rows *rows)
{
	owned(table_clear) struct table table = { 0 };

	if (node_rates_table(rows, LANGUAGE_EN, &table, &to->failure) < 0 ||
	    !table.count)
		return;
	writer_raw(to, "\nNodes against each other:\n\n");
	table_markdown(&table, to);
}

int report_markdown(const struct report_about *about,
		    const struct report_rows *rows, struct buffer *out,
		    struct error *err)
{
	owned(report_rows_clear) struct report_rows cells = { 0 };
	const struct report_rows *shown;
	struct writer to;

	if (cells_make(rows, about, &cells, err) < 0)
		return -1;
	shown = cells_shown(rows, &cells, about);
	writer_init(&to, out, markdown_text);
	markdown_put_about(&to, about);
	markdown_put_facts(&to, rows, shown);
	markdown_put_table(&to, shown);
	markdown_put_legend(&to, about, shown);
	markdown_put_races(&to, rows);
	markdown_put_nodes(&to, rows);
	markdown_put_notes(&to, "Without a result", row_reason, rows);
	markdown_put_advice(&to, rows);
	markdown_put_notes(&to, "Jobs taken over from earlier sweeps",
			   row_origin, rows);
	markdown_put_suspects(&to, rows);
	return writer_end(&to, err);
}
