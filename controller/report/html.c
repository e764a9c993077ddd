/* html.c - rows of a sweep to one self-contained HTML page.
 */
#include "controller/report/report.h"

#include "controller/report/advice.h"
#include "controller/report/columns.h"
#include "controller/report/html_charts.h"
#include "controller/report/html_style.h"
#include "controller/report/html_text.h"
#include "controller/report/labels.h"
#include "controller/report/row.h"
#include "controller/report/suspects.h"

#include <math.h>
#include <stdio.h>

static int put_head(const struct report_about *about, struct buffer *out,
		    struct error *err)
{
	const char *title = about->title ? about->title : "Results";

	if (html_begin("en", title, out, err) < 0 ||
	    (about->home &&
	     buffer_printf(out, err,
			   "<nav><a href=\"%s\">Live page</a></nav>\n",
			   about->home) < 0) ||
	    buffer_text(out, "<h1>", err) < 0 || html_text(out, title, err) < 0)
		return -1;
	return buffer_text(out, "</h1>\n", err);
}

/* What was run, by whom, on what, and how it ended. */

static int put_fact(const char *name, const char *text, struct buffer *out,
		    struct error *err)
{
	if (!text || !*text)
		return 0;
	if (buffer_printf(out, err, "<dt>%s</dt><dd>", name) < 0 ||
	    html_text(out, text, err) < 0)
		return -1;
	return buffer_text(out, "</dd>\n", err);
}

/* "up to 4 nodes, 32 devices" */
static int put_size(const cJSON *rows, struct buffer *out, struct error *err)
{
	double nodes = 0, devices = 0;
	char text[80];
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		nodes = fmax(nodes, number_at(row, "nodes"));
		devices = fmax(devices, number_at(row, "devices"));
	}
	if (!(nodes > 0))
		return 0;
	snprintf(text, sizeof(text), "%.0f node%s, %.0f device%s", nodes,
		 nodes == 1 ? "" : "s", devices, devices == 1 ? "" : "s");
	return put_fact("largest job", text, out, err);
}

static int put_times(const struct report_about *about, const cJSON *rows,
		     struct buffer *out, struct error *err)
{
	char text[UTC_SIZE];
	double last = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		last = fmax(last, number_at(row, "result.inputs.ended_ms"));
	}
	if (about->submitted_ms > 0 &&
	    put_fact("submitted", utc_text(about->submitted_ms, text), out,
		     err) < 0)
		return -1;
	return last > 0 ? put_fact("last result", utc_text((int64_t)last, text),
				   out, err)
			: 0;
}

static int put_facts(const struct report_about *about, const cJSON *rows,
		     struct buffer *out, struct error *err)
{
	static const struct label_subject environment[] = {
		{ "driver", "provenance.driver" },
		{ "machine", "provenance.environment.machine" },
		{ "processor", "provenance.cpu" },
		{ "network", "provenance.environment.network" },
		{ "image", "provenance.image_reference" },
		{ "image id", "provenance.image" },
		{ "engine", "provenance.engine" },
		{ "system", "provenance.os" },
		{ "kernel", "provenance.kernel" },
		{ NULL, NULL },
	};
	const struct label_subject *const lists[] = { label_subjects,
						      environment };
	char text[LABEL_SIZE];

	if (buffer_text(out, "<dl>\n", err) < 0 ||
	    put_fact("sweep", about->name, out, err) < 0 ||
	    put_fact("submitted by", about->client, out, err) < 0 ||
	    put_times(about, rows, out, err) < 0 ||
	    put_size(rows, out, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct label_subject *at = lists[i]; at->name; at++)
			if (put_fact(at->name,
				     labels_values(rows, at->path, text), out,
				     err) < 0)
				return -1;
	return buffer_text(out, "</dl>\n", err);
}

static int put_best(const cJSON *best, const struct labels *labels,
		    struct buffer *out, struct error *err)
{
	double mfu = number_at(best, "result.mfu") * 100;
	char label[LABEL_SIZE];

	if (buffer_text(out, " The fastest, ", err) < 0 ||
	    html_text(out, labels_row(labels, best, label), err) < 0 ||
	    buffer_printf(out, err,
			  ", reached %.1f tokens per second per device",
			  number_at(best,
				    "result.tokens_per_second_per_device")) < 0)
		return -1;
	return mfu > 0 ? buffer_printf(out, err, " (MFU %.1f %%).", mfu)
		       : buffer_text(out, ".", err);
}

static int put_outcome(const cJSON *rows, const struct labels *labels,
		       struct buffer *out, struct error *err)
{
	static const char rate[] = "result.tokens_per_second_per_device";
	size_t completed = 0, failed = 0, suspect = 0;
	const cJSON *row, *best = NULL;

	cJSON_ArrayForEach(row, rows)
	{
		suspect += row_flagged(row);
		failed += row_text(row, "failure") && !row_completed(row);
		if (!row_completed(row))
			continue;
		completed++;
		if (number_at(row, rate) > number_at(best, rate))
			best = row;
	}
	if (buffer_printf(out, err,
			  "<p class=\"lead\">%zu of %d jobs completed.",
			  completed, cJSON_GetArraySize(rows)) < 0 ||
	    (best && put_best(best, labels, out, err) < 0) ||
	    (failed && buffer_printf(out, err, " %zu ended without a result.",
				     failed) < 0) ||
	    (suspect &&
	     buffer_printf(out, err, " %zu result%s suspect.", suspect,
			   suspect == 1 ? " is" : "s are") < 0))
		return -1;
	return buffer_text(out, "</p>\n", err);
}

/* What all cells share stands above the table, which names what differs. */
static int put_table(const cJSON *rows, const struct labels *labels,
		     struct buffer *out, struct error *err)
{
	struct columns columns;
	struct column heads[COLUMNS_MAX + 1];
	owned(table_free) struct table *table = NULL;

	if (*labels->common &&
	    (buffer_text(out, "<p class=\"mute\">all: ", err) < 0 ||
	     html_text(out, labels->common, err) < 0 ||
	     buffer_text(out, "</p>\n", err) < 0))
		return -1;
	columns_choose(rows, true, &columns);
	table = columns_table(&columns, rows, labels, heads, err);
	if (!table || buffer_text(out, "<div class=\"wide\">", err) < 0 ||
	    table_html(table, out, err) < 0)
		return -1;
	return buffer_text(out, "</div>\n", err);
}

/* Notes. */

static int put_job(const cJSON *row, struct buffer *out, struct error *err)
{
	const cJSON *job = row_at(row, "job");
	const char *cell = row_text(row, "cell");

	if (buffer_printf(out, err, "job %.0f, ",
			  cJSON_IsNumber(job) ? job->valuedouble : 0) < 0)
		return -1;
	return html_text(out, cell ? cell : "-", err);
}

static int put_item(const cJSON *row, const char *text, struct buffer *out,
		    struct error *err)
{
	if (buffer_text(out, "<li>", err) < 0 || put_job(row, out, err) < 0 ||
	    buffer_text(out, ": ", err) < 0 || html_text(out, text, err) < 0)
		return -1;
	return buffer_text(out, "</li>\n", err);
}

static int put_failure(const cJSON *row, struct buffer *out, struct error *err)
{
	char words[ROW_REASON_BYTES];
	const char *reason = row_reason(row, words);
	const char *tail = row_text(row, "tail");

	if (!reason)
		return 0;
	if (put_item(row, reason, out, err) < 0)
		return -1;
	if (!tail || !*tail)
		return 0;
	if (buffer_text(out, "<details><summary>end of its log</summary><pre>",
			err) < 0 ||
	    html_lines(out, tail, err) < 0)
		return -1;
	return buffer_text(out, "</pre></details>\n", err);
}

/* What to do about each class of failure, once. */
static int put_advice(const cJSON *rows, struct buffer *out, struct error *err)
{
	bool failed[FAILURES] = { false };
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		failed[failure_from(row_text(row, "failure"))] = true;
	}
	for (enum failure failure = FAILURE_NONE + 1; failure < FAILURES;
	     failure++) {
		const char *todo = failure_advice(failure, LANGUAGE_EN);

		if (failed[failure] && todo &&
		    buffer_printf(out, err, "<p>What to do (%s): %s.</p>\n",
				  failure_name(failure), todo) < 0)
			return -1;
	}
	return 0;
}

static int put_origin(const cJSON *row, struct buffer *out, struct error *err)
{
	char words[80];

	return row_origin(row, words, sizeof(words))
		       ? put_item(row, words, out, err)
		       : 0;
}

typedef int note_fn(const cJSON *row, struct buffer *out, struct error *err);

/* A heading and what fn says of the rows; nothing when it says nothing. */
static int put_notes(const char *title, note_fn *fn, const cJSON *rows,
		     struct buffer *out, struct error *err)
{
	size_t start = out->size, empty;
	const cJSON *row;

	if (buffer_printf(out, err, "<h2>%s</h2>\n<ul>\n", title) < 0)
		return -1;
	empty = out->size;
	cJSON_ArrayForEach(row, rows)
	{
		if (fn(row, out, err) < 0)
			return -1;
	}
	if (out->size > empty)
		return buffer_text(out, "</ul>\n", err);
	out->size = start;
	out->data[start] = 0;
	return 0;
}

/* Why results are suspect, each cause once. */

static int put_suspect(const struct suspect *suspect, struct buffer *out,
		       struct error *err)
{
	char jobs[SUSPECT_JOBS_SIZE];

	if (suspect->count == 1)
		return put_item(suspect->rows->row, suspect->text, out, err);
	if (buffer_printf(out, err, "<li><details><summary>%s: ",
			  suspect_jobs(suspect, jobs)) < 0 ||
	    html_text(out, suspect->text, err) < 0 ||
	    buffer_text(out, "</summary><ul>\n", err) < 0)
		return -1;
	for (size_t i = 0; i < suspect->count; i++)
		if (put_item(suspect->rows[i].row, suspect->rows[i].text, out,
			     err) < 0)
			return -1;
	return buffer_text(out, "</ul></details></li>\n", err);
}

static int put_suspects(const cJSON *rows, struct buffer *out,
			struct error *err)
{
	owned(suspects_clear) struct suspects suspects = { 0 };

	if (suspects_find(rows, &suspects, err) < 0)
		return -1;
	if (!suspects.count)
		return 0;
	if (buffer_text(out, "<h2>Suspect results (!)</h2>\n<ul>\n", err) < 0)
		return -1;
	for (size_t i = 0; i < suspects.count; i++)
		if (put_suspect(&suspects.items[i], out, err) < 0)
			return -1;
	return buffer_text(out, "</ul>\n", err);
}

/* The curves of one job, folded. */
static int put_section(const cJSON *row, const struct labels *labels,
		       struct buffer *out, struct error *err)
{
	char label[LABEL_SIZE];

	if (!row_at(row, "series"))
		return 0;
	if (buffer_printf(out, err, "<details><summary>job %.0f, ",
			  number_at(row, "job")) < 0 ||
	    html_text(out, labels_row(labels, row, label), err) < 0 ||
	    buffer_text(out, "</summary>\n", err) < 0 ||
	    html_curves(row, out, err) < 0)
		return -1;
	return buffer_text(out, "</details>\n", err);
}

static int put_sections(const cJSON *rows, const struct labels *labels,
			struct buffer *out, struct error *err)
{
	const cJSON *row;
	bool any = false;

	cJSON_ArrayForEach(row, rows)
	{
		if (!any && row_at(row, "series") &&
		    buffer_text(out, "<h2>Each job</h2>\n", err) < 0)
			return -1;
		any = any || row_at(row, "series");
		if (put_section(row, labels, out, err) < 0)
			return -1;
	}
	return 0;
}

static int put_file(const char *file, struct buffer *out, struct error *err)
{
	if (!file)
		return 0;
	if (buffer_text(out, "<details><summary>sweep file</summary><pre>",
			err) < 0 ||
	    html_lines(out, file, err) < 0)
		return -1;
	return buffer_text(out, "</pre></details>\n", err);
}

/* Provenance: every member, maps as tables in tables. */

static int put_members(const cJSON *map, struct buffer *out, struct error *err);

static int put_value(const cJSON *value, struct buffer *out, struct error *err)
{
	const cJSON *item;
	char *text;
	int rc;

	if (cJSON_IsString(value))
		return html_text(out, value->valuestring, err);
	if (cJSON_IsObject(value))
		return put_members(value, out, err);
	if (cJSON_IsArray(value)) {
		cJSON_ArrayForEach(item, value)
		{
			if (buffer_text(out, "<div>", err) < 0 ||
			    put_value(item, out, err) < 0 ||
			    buffer_text(out, "</div>", err) < 0)
				return -1;
		}
		return 0;
	}
	text = cJSON_PrintUnformatted(value);
	rc = text ? html_text(out, text, err) : error_nomem(err, "report");
	cJSON_free(text);
	return rc;
}

static int put_members(const cJSON *map, struct buffer *out, struct error *err)
{
	const cJSON *member;

	if (buffer_text(out, "<table>\n", err) < 0)
		return -1;
	cJSON_ArrayForEach(member, map)
	{
		if (!member->string || cJSON_IsNull(member))
			continue;
		if (buffer_text(out, "<tr><th>", err) < 0 ||
		    html_text(out, member->string, err) < 0 ||
		    buffer_text(out, "</th><td>", err) < 0 ||
		    put_value(member, out, err) < 0 ||
		    buffer_text(out, "</td></tr>\n", err) < 0)
			return -1;
	}
	return buffer_text(out, "</table>\n", err);
}

static int put_provenance(const cJSON *row, struct buffer *out,
			  struct error *err)
{
	if (!row_completed(row) || !row_at(row, "provenance.image"))
		return 0;
	if (buffer_text(out, "<li><details><summary>", err) < 0 ||
	    put_job(row, out, err) < 0 ||
	    buffer_text(out, "</summary>\n", err) < 0 ||
	    put_members(row_at(row, "provenance"), out, err) < 0)
		return -1;
	return buffer_text(out, "</details></li>\n", err);
}

static int put_page(const struct report_about *about, const cJSON *rows,
		    struct buffer *out, struct error *err)
{
	struct labels labels;

	labels_find(rows, &labels);
	if (put_head(about, out, err) < 0 ||
	    put_outcome(rows, &labels, out, err) < 0 ||
	    put_facts(about, rows, out, err) < 0 ||
	    put_table(rows, &labels, out, err) < 0 ||
	    html_overview(rows, &labels, out, err) < 0 ||
	    put_notes("Without a result", put_failure, rows, out, err) < 0 ||
	    put_advice(rows, out, err) < 0 ||
	    put_notes("Taken over, as they completed before", put_origin, rows,
		      out, err) < 0 ||
	    put_suspects(rows, out, err) < 0 ||
	    put_sections(rows, &labels, out, err) < 0 ||
	    put_notes("Provenance", put_provenance, rows, out, err) < 0 ||
	    put_file(about->file, out, err) < 0)
		return -1;
	return buffer_text(out, "</body></html>\n", err);
}

int report_html(const struct report_about *about, const cJSON *rows,
		struct buffer *out, struct error *err)
{
	size_t size = out->size;

	if (rows_check(rows, err) < 0)
		return -1;
	return put_page(about, rows, out, err) < 0 ? rows_undo(out, size) : 0;
}
