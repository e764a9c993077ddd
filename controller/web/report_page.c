/* report_page.c - writes the report of a sweep as a page. */
#include "controller/web/report_page.h"
#include "controller/report/anomalies.h"
#include "controller/report/report.h"
#include "protocol/message/query.h"
#include "protocol/message/reply_jobs.h"

#include <inttypes.h>

/* The page contains its styles, and no script. */
static const char report_policy[] =
	"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
	"form-action 'none'; frame-ancestors 'none'; sandbox";

static int report_page_ask(const struct web_page *page, enum query_kind what,
			   uint64_t sweep, struct api_reply *reply,
			   struct error *err)
{
	struct message_query query = { .what = what, .id = sweep };
	struct api_request request = web_request(page, &query);

	return api_answer(&request, MESSAGE_QUERY, reply, err);
}

static int rows_read(const struct web_page *page, uint64_t sweep,
		     struct report_rows *rows, struct error *err)
{
	owned(api_reply_clear) struct api_reply reply = { 0 };
	struct reply_results *results;

	if (report_page_ask(page, QUERY_RESULTS, sweep, &reply, err) < 0)
		return -1;
	results = reply.data;
	return report_rows_make(rows, results->rows, results->rows_count, err);
}

/* Add the curves to the rows. Both are in the order of the jobs. */
static void rows_add_curves(const struct web_page *page, uint64_t sweep,
			    struct report_rows *rows)
{
	owned(api_reply_clear) struct api_reply reply = { 0 };
	struct reply_series *curves;
	size_t at = 0;

	if (report_page_ask(page, QUERY_SERIES, sweep, &reply, NULL) < 0)
		return;
	curves = reply.data;
	for (size_t i = 0; i < curves->rows_count; i++) {
		struct series_info *of = &curves->rows[i];

		while (at < rows->count && rows->items[at].info.job < of->job)
			at++;
		if (at < rows->count && rows->items[at].info.job == of->job)
			rows->items[at].series = take(of->series);
	}
}

static int report_page_put(const struct web_page *page,
			   const struct sweep_info *of, struct buffer *out,
			   struct error *err)
{
	owned(report_rows_clear) struct report_rows rows = { 0 };
	char title[120], home[40];
	const struct report_about about = {
		.title = title,
		.sweep = of->id,
		.name = of->name,
		.client = of->client,
		.submitted_ms = of->submitted_ms,
		.home = home,
	};

	if (rows_read(page, of->id, &rows, err) < 0)
		return -1;
	snprintf(title, sizeof(title), "Sweep %" PRIu64 ": %.80s", of->id,
		 of->name);
	snprintf(home, sizeof(home), "/sweep/%" PRIu64, of->id);
	rows_add_curves(page, of->id, &rows);
	return rows_gather(&rows, err) < 0 || anomalies_add(&rows, err) < 0
		       ? -1
		       : report_html(&about, &rows, out, err);
}

int report_page_answer(const struct web_sources *sources, uint64_t sweep,
		       struct http_reply *reply, struct error *err)
{
	owned(web_page_clear) struct web_page page;
	struct message_query query = { .id = sweep };
	struct reply_sweep of = { 0 };
	struct api_request request;
	int rc;

	web_page_init(&page, sources);
	request = web_request(&page, &query);
	rc = api_sweep(&request, &of, err);
	if (rc == 0)
		rc = report_page_put(&page, &of.sweep, &reply->body, err);
	codec_clear(&reply_sweep_schema, &of);
	reply->type = "text/html; charset=utf-8";
	reply->policy = report_policy;
	return rc;
}
