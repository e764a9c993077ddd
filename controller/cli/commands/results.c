/* results.c - fetches the result rows of a sweep and prints them.
 */
#include "controller/cli/commands/results.h"
#include "controller/cli/commands/results_table.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/recompute_results.h"
#include "controller/cli/commands/rows.h"
#include "controller/report/anomalies.h"
#include "controller/report/compare.h"
#include "controller/report/reference.h"
#include "controller/report/report.h"
#include "controller/report/row.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <string.h>

#define TAIL_LINES 30   /* of the end of a log */
#define TAIL_BYTES 8192 /* of those lines, at most */
#define TAIL_JOBS 40    /* only for the first failed jobs of a sweep */

static enum language language_of(const struct results_form *form)
{
	for (size_t i = 0; i < LANGUAGES; i++)
		if (form->language &&
		    !strcmp(form->language, language_names[i]))
			return (enum language)i;
	return LANGUAGE_EN;
}

int results_format(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err)
{
	const char *format = form->format ? form->format : "markdown";
	enum language language = language_of(form);

	if (!strcmp(format, "csv"))
		return report_csv(form->about, rows, out, err);
	if (!strcmp(format, "json"))
		return report_json(form->about, rows, out, err);
	if (!strcmp(format, "html"))
		return form->reference
			       ? report_reference_html(form->about, rows,
						       language, out, err)
			       : report_html(form->about, rows, out, err);
	return form->reference ? report_reference(rows, language, out, err)
			       : report_markdown(rows, out, err);
}

static uint64_t job_at(const struct rows *results, size_t at)
{
	return ((const struct result_info *)rows_at(results, at))->job;
}

/* Add to the rows of a sweep their curves. */
static int add_curves(struct client *client, uint64_t sweep,
		      const struct rows *results, cJSON *rows,
		      struct error *err)
{
	owned(rows_clear) struct rows curves = { 0 };
	cJSON *row = rows->child;
	size_t at = 0;

	if (client_rows(client, QUERY_SERIES, sweep, "job", &curves, err) < 0)
		return -1;
	/* Both lists are sorted by job; the second may have new jobs. */
	for (size_t i = 0; i < curves.count; i++) {
		struct series_info *of = (void *)rows_at(&curves, i);

		for (; at < results->count && job_at(results, at) < of->job;
		     at++)
			row = row->next;
		if (at < results->count && job_at(results, at) == of->job &&
		    of->series)
			cJSON_AddItemToObject(row, "series", take(of->series));
	}
	return 0;
}

/* The baseline of the losses that the sweep names; NULL: none. */
static const cJSON *baseline(const struct rows *results)
{
	const cJSON *align = NULL;

	for (size_t i = 0; !align && i < results->count; i++) {
		const struct result_info *row = rows_at(results, i);

		align = row_at(row->setup, "about.align");
		align = cJSON_IsObject(align) ? align : NULL;
	}
	return align;
}

int results_of_job(struct client *client, enum query_kind what, uint64_t job,
		   struct answer *answer, struct error *err)
{
	owned(answer_clear) struct answer found = { 0 };
	struct message_query query = { .what = QUERY_JOB, .id = job };

	if (client_query(client, &query, &found, err) < 0)
		return -1;
	query = (struct message_query){
		.what = what,
		.id = ((const struct reply_job *)found.reply)->job.sweep,
		.after = job - 1,
		.limit = 1,
	};
	return client_query(client, &query, answer, err);
}

/* The curves of any job; *series stays NULL if it has none. */
static int job_curves(struct client *client, uint64_t job, cJSON **series,
		      struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct reply_series *reply;

	if (results_of_job(client, QUERY_SERIES, job, &answer, err) < 0)
		return error_prefix(err, "align.baseline");
	reply = answer.reply;
	if (reply->rows_count)
		*series = take(reply->rows->series);
	return 0;
}

/* Compare the losses with the baseline: a job, or cells of the sweep. */
static int align(struct client *client, const cJSON *with, cJSON *rows,
		 struct error *err)
{
	owned(cJSON_Delete) cJSON *series = NULL;
	const cJSON *job = row_at(with, "job");

	if (cJSON_IsNumber(job) && job->valuedouble >= 1 &&
	    job_curves(client, (uint64_t)job->valuedouble, &series, err) < 0)
		return -1;
	return align_rows(rows, series, err);
}

int results_fetch(struct client *client, uint64_t sweep, bool curves,
		  cJSON **rows, struct error *err)
{
	owned(rows_clear) struct rows results = { 0 };
	owned(cJSON_Delete) cJSON *list = NULL;
	const cJSON *with;
	cJSON *row;

	if (client_rows(client, QUERY_RESULTS, sweep, "job", &results, err) < 0)
		return -1;
	list = rows_json(&results, err);
	with = baseline(&results);
	if (!list ||
	    ((curves || with) &&
	     add_curves(client, sweep, &results, list, err) < 0) ||
	    (with && align(client, with, list, err) < 0))
		return -1;
	cJSON_ArrayForEach(row, list)
	{
		if (!curves)
			cJSON_DeleteItemFromObjectCaseSensitive(row, "series");
	}
	if (rows_gather(list, err) < 0 || anomalies_add(list, err) < 0)
		return -1;
	*rows = take(list);
	return 0;
}

int results_about_read(struct results_about *about, struct client *client,
		       uint64_t sweep, bool file, struct error *err)
{
	struct message_query query = { .what = QUERY_SWEEP, .id = sweep };
	const struct sweep_info *info;
	struct error refused;

	if (client_query(client, &query, &about->sweep, err) < 0)
		return -1;
	info = &((const struct reply_sweep *)about->sweep.reply)->sweep;
	snprintf(about->title, sizeof(about->title), "Sweep %llu: %.80s",
		 (unsigned long long)info->id, info->name ? info->name : "-");
	about->about = (struct report_about){
		.title = about->title,
		.sweep = info->id,
		.name = info->name,
		.client = info->client,
		.submitted_ms = info->submitted_ms,
	};
	query = (struct message_query){ .what = QUERY_TEXT, .id = sweep };
	if (!file)
		return 0;
	if (client_query(client, &query, &about->text, &refused) < 0)
		return refused.code == EPERM ? 0
					     : error_set(err, refused.code,
							 "%s", refused.text);
	about->about.file =
		((const struct reply_text *)about->text.reply)->text;
	return 0;
}

void results_about_clear(struct results_about *about)
{
	answer_clear(&about->sweep);
	answer_clear(&about->text);
	*about = (struct results_about){ 0 };
}

static int add_tail(struct client *client, cJSON *row, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	const char *stream = row_text(row, "reason.stream");
	struct message_log_read read = {
		.job = (uint64_t)number_at(row, "job"),
		.stream = (char *)(stream ? stream : "rank-0"),
		.tail_lines = TAIL_LINES,
	};
	struct error refused = { 0 };
	const char *from;
	char *text;
	size_t size;

	if (client_call(client, MESSAGE_LOG_READ, &read, &answer, &refused) <
	    0) {
		bool gone = refused.code == ENOENT;

		if (!gone)
			error_set(err, refused.code, "%s", refused.text);
		return gone ? 0 : -1;
	}
	size = answer.size < TAIL_BYTES ? answer.size : TAIL_BYTES;
	if (!size)
		return 0;
	from = (const char *)answer.payload + answer.size - size;
	text = strndup(from, size);
	if (!text || !cJSON_AddStringToObject(row, "tail", text)) {
		free(text);
		return error_nomem(err, "report");
	}
	free(text);
	return 0;
}

int results_add_tails(struct client *client, cJSON *rows, struct error *err)
{
	size_t count = 0;
	cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (row_text(row, "failure") && !row_completed(row) &&
		    count++ < TAIL_JOBS && add_tail(client, row, err) < 0)
			return -1;
	}
	return 0;
}

static int recompute(struct cli *cli, struct client *client, cJSON *rows,
		     struct error *err)
{
	owned(recompute_results_clear) struct recompute_results reread = {
		.catalog = cli_catalog(cli, err),
		.client = client,
	};

	if (!reread.catalog)
		return -1;
	return recompute_results_rows(&reread, cli, rows, err) < 0
		       ? -1
		       : anomalies_add(rows, err);
}

static bool is_for_terminal(const struct cli *cli,
			    const struct results_form *form)
{
	return cli->out_terminal && !form->format && !form->reference;
}

int results_show(struct cli *cli, const cJSON *rows,
		 const struct results_form *form, struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, RESULTS_MAX);
	if (is_for_terminal(cli, form))
		return results_table(cli, rows, err);
	if (results_format(rows, form, &text, err) < 0)
		return -1;
	fwrite(text.data, 1, text.size, cli->out);
	return 0;
}

int results_print(struct cli *cli, struct client *client, uint64_t sweep,
		  const struct results_form *form, struct error *err)
{
	owned(results_about_clear) struct results_about about = { 0 };
	owned(cJSON_Delete) cJSON *rows = NULL;
	struct results_form full = *form;
	bool html = form->format && !strcmp(form->format, "html");

	if (results_fetch(client, sweep, html, &rows, err) < 0 ||
	    (form->recompute && recompute(cli, client, rows, err) < 0) ||
	    (html && results_add_tails(client, rows, err) < 0) ||
	    (!is_for_terminal(cli, form) &&
	     results_about_read(&about, client, sweep, html, err) < 0))
		return -1;
	full.about = &about.about;
	return results_show(cli, rows, &full, err);
}
