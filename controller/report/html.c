/* html.c - writes the rows of a sweep as one self-contained HTML page.
 */
#include "controller/report/report.h"
#include "controller/report/races.h"

#include "controller/report/advice.h"
#include "controller/report/cells.h"
#include "controller/report/columns.h"
#include "controller/report/facts.h"
#include "controller/report/html_charts.h"
#include "controller/report/html_style.h"
#include "controller/report/labels.h"
#include "controller/report/node_rates.h"
#include "controller/report/origins.h"
#include "controller/report/suspects.h"
#include "controller/report/translations.h"
#include "controller/report/writer.h"
#include "controller/results/remarks.h"

#include <math.h>
#include <stdio.h>

static void html_put_head(struct writer *to, const struct report_about *about)
{
	const char *title =
		about->title ? about->title : phrase(to->language, "Results");

	html_begin(to, language_names[to->language], title);
	if (about->home)
		writer_printf(to, "<nav><a href=\"%s\">%s</a></nav>\n",
			      about->home, phrase(to->language, "Live page"));
	writer_printf(to, "<h1>%s</h1>\n", title);
}

static void put_fact(struct writer *to, const char *name, const char *text)
{
	writer_printf(to, "<dt>%s</dt><dd>%s</dd>\n", name, text);
}

static void put_best(struct writer *to, const struct report_row *best,
		     const struct labels *labels)
{
	struct rate rate = row_rate(best);
	const struct repeats_info *of = best->repeats;
	char label[LABEL_SIZE];

	writer_printf(to,
		      phrase(to->language, " The fastest, %s, reached %.1f"),
		      labels_row(labels, best->info.cell, best->info.repeat,
				 label),
		      rate.value);
	if (of && of->runs && isfinite(of->margin))
		writer_printf(to, " ± %.1f", of->margin);
	writer_printf(to, " %s", rate_units[rate.unit]);
	if (row_mfu(best) > 0)
		writer_printf(to, " (MFU %.1f %%)", row_mfu(best) * 100);
	writer_raw(to, phrase(to->language, "."));
}

static void put_outcome(struct writer *to, const struct report_rows *rows,
			const struct report_rows *shown,
			const struct labels *labels)
{
	size_t completed = 0, failed = 0, suspect = 0;
	const struct report_row *best = NULL;

	ROWS_EACH(row, rows)
	{
		suspect += row_flag(row, 0) != NULL;
		failed += row_failed(row);
		completed += row_completed(row);
	}
	ROWS_EACH(row, shown)
	{
		if (row_rate(row).value > (best ? row_rate(best).value : 0))
			best = row;
	}
	writer_raw(to, "<p class=\"lead\">");
	writer_printf(to, phrase(to->language, "%zu of %zu jobs completed."),
		      completed, rows->count);
	if (best)
		put_best(to, best, labels);
	if (failed)
		writer_printf(to,
			      phrase(to->language,
				     " %zu ended without a result."),
			      failed);
	if (suspect)
		writer_printf(to,
			      phrase(to->language,
				     suspect == 1
					     ? " %zu result is suspect."
					     : " %zu results are suspect."),
			      suspect);
	writer_raw(to, "</p>\n");
}

/* A narrow page has no room for more than cell, rate and state; nodes may be
 * all that tells cells apart.
 */
static void html_narrow(struct writer *to, const struct columns *columns,
			struct table *table)
{
	const char *titles[2 * COLUMNS_MAX];

	columns_droppable(columns, titles);
	for (size_t i = 0; titles[i]; i++)
		if (strcmp(titles[i], "nodes") != 0)
			table_drop_column(table,
					  phrase(to->language, titles[i]));
}

/* The words that all cells share are above the table, not in it. */
static void html_put_table(struct writer *to, const struct report_about *about,
			   const struct report_rows *rows,
			   const struct labels *labels)
{
	struct columns columns;
	owned(table_clear) struct table table = { 0 };
	char legend[CELLS_LEGEND];

	columns_choose(rows, true, &columns);
	columns_translate(&columns, to->language);
	columns_split(&columns, rows, labels, COLUMNS_KEYS_MAX);
	columns_table(&columns, rows, labels, &table);
	html_narrow(to, &columns, &table);
	if (*labels->common)
		writer_printf(to, "<p class=\"mute\">%s%s</p>\n",
			      phrase(to->language, "all: "), labels->common);
	writer_raw(to, columns.keys_count ? "<div class=\"wide keys\">"
					  : "<div class=\"wide\">");
	table_html(&table, to);
	writer_raw(to, "</div>\n<p class=\"mute narrow\">");
	writer_raw(to, phrase(to->language, "Wider pages have more columns."));
	writer_raw(to, "</p>\n");
	if (*cells_legend(about, rows, to->language, legend))
		writer_printf(to, "<p class=\"mute\">%s</p>\n", legend);
}

/* Single runs below the cells, folded. */
static void html_put_runs(struct writer *to, const struct report_rows *rows,
			  const struct report_rows *shown,
			  const struct labels *labels)
{
	struct columns columns;
	owned(table_clear) struct table table = { 0 };

	if (shown == rows)
		return;
	columns_choose(rows, true, &columns);
	columns_translate(&columns, to->language);
	columns_table(&columns, rows, labels, &table);
	writer_raw(to, "<details><summary>");
	writer_printf(to, phrase(to->language, "%zu single runs"), rows->count);
	writer_raw(to, "</summary><div class=\"wide\">");
	table_html(&table, to);
	writer_raw(to, "</div></details>\n");
}

/* Notes. */

static void html_put_item(struct writer *to, const struct report_row *row,
			  const char *text)
{
	writer_raw(to, "<li>");
	writer_printf(to, phrase(to->language, "job %llu, %s: %s"),
		      (unsigned long long)row->info.job, row->info.cell, text);
	writer_raw(to, "</li>\n");
}

static void html_put_lines(struct writer *to, const char *summary,
			   const char *text)
{
	writer_printf(to, "<details><summary>%s</summary><pre>",
		      phrase(to->language, summary));
	to->escape = html_lines;
	writer_text(to, text);
	to->escape = html_text;
	writer_raw(to, "</pre></details>\n");
}

static void html_put_failure(struct writer *to, const struct report_row *row)
{
	char words[ROW_NOTE_BYTES];
	const char *reason = row_reason(row, words);
	const char *tail = row->tail;

	if (reason)
		html_put_item(to, row, reason);
	if (reason && tail && *tail)
		html_put_lines(to, "end of its log", tail);
}

/* What to do about failures. */
static void html_put_advice(struct writer *to, const struct report_rows *rows)
{
	struct advice_given given = { 0 };

	ROWS_EACH(row, rows)
	{
		enum failure failure = failure_from(row->info.failure);
		const char *todo = advice_once(&given, failure, row->info.text,
					       to->language);

		if (!todo)
			continue;
		writer_printf(to, "<p>%s (%s): ",
			      phrase(to->language, "What to do"),
			      failure_name(failure));
		writer_code(to, todo);
		writer_raw(to, "</p>\n");
	}
}

static void put_origin(struct writer *to, const struct report_row *row)
{
	char words[ROW_NOTE_BYTES];

	if (row_origin(row, words))
		html_put_item(to, row, words);
}

typedef void note_fn(struct writer *to, const struct report_row *row);

/* A heading and the notes of the rows; nothing if there are none. */
static void html_put_notes(struct writer *to, const char *title,
			   note_fn *put_note, const struct report_rows *rows)
{
	size_t start = to->out->size, empty;

	writer_printf(to, "<h2>%s</h2>\n<ul>\n", phrase(to->language, title));
	empty = to->out->size;
	ROWS_EACH(row, rows)
	{
		put_note(to, row);
	}
	if (to->out->size > empty)
		writer_raw(to, "</ul>\n");
	else
		writer_cut(to, start);
}

/* Why results are suspect, each cause once. */

static void put_suspect(struct writer *to, const struct suspect *suspect)
{
	char jobs[SUSPECT_JOBS_SIZE], text[REMARK_TEXT_MAX];

	if (suspect->count == 1) {
		html_put_item(to, suspect->rows[0], suspect->text);
		return;
	}
	writer_printf(to, "<li><details><summary>%s: %s</summary><ul>\n",
		      suspect_jobs(suspect, jobs), suspect->text);
	for (size_t i = 0; i < suspect->count; i++)
		html_put_item(to, suspect->rows[i],
			      remark_sentence(suspect->remarks[i], to->language,
					      text, sizeof(text)));
	writer_raw(to, "</ul></details></li>\n");
}

static void html_put_races(struct writer *to, const struct report_rows *rows)
{
	owned(strings_clear) struct strings lines = { 0 };

	races_lines(rows, &lines, &to->failure);
	if (!lines.count)
		return;
	writer_raw(to, "<h2>Race</h2>\n<ul>\n");
	for (size_t i = 0; i < lines.count; i++)
		writer_printf(to, "<li>%s</li>\n", lines.items[i]);
	writer_raw(to, "</ul>\n");
}

static void html_put_nodes(struct writer *to, const struct report_rows *rows)
{
	owned(table_clear) struct table table = { 0 };

	if (node_rates_table(rows, to->language, &table, &to->failure) < 0 ||
	    !table.count)
		return;
	writer_printf(to, "<h2>%s</h2>\n<div class=\"wide\">",
		      phrase(to->language, "Nodes against each other"));
	table_html(&table, to);
	writer_raw(to, "</div>\n");
}

static void html_put_suspects(struct writer *to, const struct report_rows *rows)
{
	owned(suspects_clear) struct suspects suspects = { 0 };

	if (suspects_find(rows, to->language, &suspects, &to->failure) < 0 ||
	    !suspects.count)
		return;
	writer_printf(to, "<h2>%s</h2>\n<ul>\n",
		      phrase(to->language, "Suspect results (!)"));
	for (size_t i = 0; i < suspects.count; i++)
		put_suspect(to, &suspects.items[i]);
	writer_raw(to, "</ul>\n");
}

/* The curves of each job, folded. */
static void put_sections(struct writer *to, const struct report_rows *rows,
			 const struct labels *labels)
{
	char label[LABEL_SIZE];
	bool any = false;

	ROWS_EACH(row, rows)
	{
		if (!row->series)
			continue;
		if (!any)
			writer_printf(to, "<h2>%s</h2>\n",
				      phrase(to->language, "Each job"));
		any = true;
		writer_raw(to, "<details><summary>");
		writer_printf(to, phrase(to->language, "job %llu, %s"),
			      (unsigned long long)row->info.job,
			      labels_row(labels, row->info.cell,
					 row->info.repeat, label));
		writer_raw(to, "</summary>\n");
		html_curves(to, row);
		writer_raw(to, "</details>\n");
	}
}

int report_html(const struct report_about *about,
		const struct report_rows *rows, struct buffer *out,
		struct error *err)
{
	owned(report_rows_clear) struct report_rows cells = { 0 };
	const struct report_rows *shown;
	struct labels labels;
	struct writer to;

	if (cells_make(rows, about, &cells, err) < 0)
		return -1;
	shown = cells_shown(rows, &cells, about);
	writer_init(&to, out, html_text);
	to.language = about->language;
	labels_find_rows(shown, &labels);
	html_put_head(&to, about);
	put_outcome(&to, rows, shown, &labels);
	writer_raw(&to, "<dl>\n");
	facts_each(&to, about, rows, shown, put_fact);
	writer_raw(&to, "</dl>\n");
	html_put_table(&to, about, shown, &labels);
	html_put_races(&to, rows);
	html_put_runs(&to, rows, shown, &labels);
	html_overview(&to, rows, shown, &labels);
	html_put_nodes(&to, rows);
	html_put_notes(&to, "Without a result", html_put_failure, rows);
	html_put_advice(&to, rows);
	html_put_notes(&to, "Jobs taken over from earlier sweeps", put_origin,
		       rows);
	html_put_suspects(&to, rows);
	put_sections(&to, rows, &labels);
	origins_html(&to, rows, "Provenance");
	if (about->file)
		html_put_lines(&to, "sweep file", about->file);
	writer_raw(&to, "</body></html>\n");
	return writer_end(&to, err);
}
