/* results.c - the result rows of a sweep: fetched, and printed as tables.
 */
#include "controller/cli/commands/results.h"
#include "controller/catalog/catalog.h"
#include "controller/cli/commands/results_table.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/recompute_results.h"
#include "controller/cli/commands/results_about.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/report/anomalies.h"
#include "controller/report/compare.h"
#include "controller/report/reference.h"
#include "controller/report/report.h"
#include "controller/report/row.h"
#include "controller/results/result.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int put_html(const cJSON *rows, const struct results_form *form,
		    struct buffer *out, struct error *err)
{
	return report_html(form->about, rows, out, err);
}

static int put_csv(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err)
{
	return report_csv(form->about, rows, out, err);
}

static int put_json(const cJSON *rows, const struct results_form *form,
		    struct buffer *out, struct error *err)
{
	return report_json(form->about, rows, out, err);
}

static int put_markdown(const cJSON *rows, const struct results_form *form,
			struct buffer *out, struct error *err)
{
	enum language language = LANGUAGE_EN;

	if (!form->reference)
		return report_markdown(rows, out, err);
	for (size_t i = 0; i < LANGUAGES; i++)
		if (form->language &&
		    !strcmp(form->language, language_names[i]))
			language = (enum language)i;
	return report_reference(rows, language, out, err);
}

static const struct {
	const char *name;
	int (*put)(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err);
} formats[] = {
	{ "markdown", put_markdown },
	{ "csv", put_csv },
	{ "json", put_json },
	{ "html", put_html },
};

int results_format(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err)
{
	for (size_t i = 1; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (form->format && !strcmp(form->format, formats[i].name))
			return formats[i].put(rows, form, out, err);
	return put_markdown(rows, form, out, err);
}

/* Add to the rows of a sweep their curves. */
static int add_curves(struct client *client, uint64_t sweep, cJSON *rows,
		      struct error *err)
{
	owned(json_free) cJSON *curves = NULL;
	cJSON *row, *of;

	if (client_list(client, QUERY_SERIES, sweep, "rows", "job", &curves,
			err) < 0)
		return -1;
	/* Both are in order of the jobs; a job may have come in between. */
	of = curves->child;
	cJSON_ArrayForEach(row, rows)
	{
		uint64_t job = json_u64(row, "job");

		while (of && json_u64(of, "job") < job)
			of = of->next;
		if (of && json_u64(of, "job") == job)
			cJSON_AddItemToObject(
				row, "series",
				cJSON_DetachItemFromObjectCaseSensitive(
					of, "series"));
	}
	return 0;
}

/* The job that the sweep names as the baseline of its losses; 0: none. */
static uint64_t baseline_job(const cJSON *rows)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *align = row_at(row, "setup.about.align");

		if (cJSON_IsObject(align))
			return json_u64(align, "job");
	}
	return 0;
}

static bool has_baseline(const cJSON *rows)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (cJSON_IsObject(row_at(row, "setup.about.align")))
			return true;
	}
	return false;
}

/* The curves of any one job. */
static int job_curves(struct client *client, uint64_t job, cJSON **series,
		      struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(answer_clear) struct answer found = { 0 };
	struct message_query query = { .what = QUERY_JOB, .id = job };

	if (client_query(client, &query, &found, err) < 0)
		return error_prefix(err, "align.baseline");
	query = (struct message_query){
		.what = QUERY_SERIES,
		.id = json_u64(json_get(found.body, "job"), "sweep"),
		.after = job - 1,
		.limit = 1,
	};
	if (client_query(client, &query, &answer, err) < 0)
		return -1;
	*series = cJSON_DetachItemFromObjectCaseSensitive(
		cJSON_GetArrayItem(json_get(answer.body, "rows"), 0), "series");
	return 0;
}

static int align(struct client *client, uint64_t sweep, cJSON *rows,
		 struct error *err)
{
	owned(json_free) cJSON *series = NULL;
	uint64_t job = baseline_job(rows);

	if (add_curves(client, sweep, rows, err) < 0 ||
	    (job && job_curves(client, job, &series, err) < 0))
		return -1;
	return align_rows(rows, series, err);
}

int results_fetch(struct client *client, uint64_t sweep, bool curves,
		  cJSON **rows, struct error *err)
{
	owned(json_free) cJSON *list = NULL;
	cJSON *row;

	if (client_list(client, QUERY_RESULTS, sweep, "rows", "job", &list,
			err) < 0)
		return -1;
	if (has_baseline(list)) {
		if (align(client, sweep, list, err) < 0)
			return -1;
	} else if (curves && add_curves(client, sweep, list, err) < 0) {
		return -1;
	}
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

static int recompute(struct cli *cli, struct client *client, cJSON *rows,
		     struct error *err)
{
	owned(recompute_results_clear) struct recompute_results reread = {
		.client = client
	};

	if (recompute_results_init(&reread, cli, err) < 0)
		return -1;
	return recompute_results_rows(&reread, cli, rows, err) < 0
		       ? -1
		       : anomalies_add(rows, err);
}

bool results_for_terminal(const struct cli *cli,
			  const struct results_form *form)
{
	return cli->out_terminal && !form->format && !form->reference;
}

int results_print(struct cli *cli, struct client *client, uint64_t sweep,
		  const struct results_form *form, struct error *err)
{
	owned(results_about_clear) struct results_about about = { 0 };
	owned(json_free) cJSON *rows = NULL;
	owned(buffer_clear) struct buffer text;
	struct results_form full = *form;
	bool html = form->format && !strcmp(form->format, "html");

	buffer_init(&text, RESULTS_MAX);
	if (results_fetch(client, sweep, html, &rows, err) < 0 ||
	    (form->recompute && recompute(cli, client, rows, err) < 0))
		return -1;
	if (results_for_terminal(cli, form))
		return results_table(cli, rows, err);
	if (results_about_read(&about, client, sweep, html, err) < 0 ||
	    (html && results_add_tails(client, rows, err) < 0))
		return -1;
	full.about = &about.about;
	if (results_format(rows, &full, &text, err) < 0)
		return -1;
	fwrite(text.data, 1, text.size, cli->out);
	return 0;
}
