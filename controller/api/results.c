/* results.c - queries for results and curves. */
#include "controller/api/api.h"
#include "controller/api/jobs.h"
#include "controller/api/page.h"
#include "controller/api/sweeps.h"
#include "controller/jobs/job_result.h"
#include "controller/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A job's curves are some 100 KiB of JSON to read. */
#define SERIES_ROWS_MAX 32

static int keep_text(const struct result_row *row, void *arg)
{
	char **text = arg;

	*text = strdup(row->json);
	return 0;
}

/* The stored result of a job, owned; NULL: there is none. */
static char *stored_result(const struct api *api, uint64_t job)
{
	char *text = NULL;

	store_result(api->store, job, keep_text, &text, NULL);
	return text;
}

static int list_result(const struct job_row *row, void *arg)
{
	struct page *page = arg;
	struct result_info *info = page_row(page);
	owned_free char *text = NULL;
	cJSON *object;
	int rc;

	if (!info)
		return page->stop;
	text = stored_result(page->api, row->id);
	object = job_result_row(row, text);
	rc = codec_from_other(page->schema, object, info, page->err);
	cJSON_Delete(object);
	return rc < 0 ? -1
		      : job_describe_origin(page->api, row, &info->from,
					    page->err);
}

int api_results(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct page page =
		page_of(request->api, &result_info_schema, query->limit, err);
	struct reply_results *to = reply;
	int rc;

	if (sweep_describe_id(request->api, query->id, &to->sweep, err) < 0)
		return -1;
	rc = store_jobs(request->api->store, query->id, query->after,
			page.limit + 1, list_result, &page, err);
	to->more = page.more;
	to->rows = page_take(&page, &to->rows_count);
	return rc < 0 ? -1 : 0;
}

static int list_series(const struct job_row *row, void *arg)
{
	struct page *page = arg;
	struct series_info *info = page_row(page);
	owned_free char *text = NULL;

	if (!info)
		return page->stop;
	text = stored_result(page->api, row->id);
	info->job = row->id;
	info->series = text ? job_result_series(text) : NULL;
	return 0;
}

int api_series(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct page page =
		page_of(request->api, &series_info_schema, query->limit, err);
	struct reply_series *to = reply;
	int rc;

	if (page.limit > SERIES_ROWS_MAX)
		page.limit = SERIES_ROWS_MAX;
	rc = store_jobs(request->api->store, query->id, query->after,
			page.limit + 1, list_series, &page, err);
	to->more = page.more;
	to->rows = page_take(&page, &to->rows_count);
	return rc < 0 ? -1 : 0;
}
