/* streams.c - lists the streams of a job's output. */
#include "controller/api/streams.h"
#include "controller/api/page.h"
#include "controller/logs/log_store.h"
#include "protocol/message/stream_index.h"

#include <stdlib.h>
#include <string.h>

#define INDEX_BYTES (256 << 10) /* of one node's index; more is not shown */

struct stream_listing {
	uint64_t job;
	uint32_t attempt;
	uint32_t node; /* whose index is being read */
	struct page page;
	int rc;
};

/* stream_index_line_fn */
static void stream_add_file(void *arg, const char *line, size_t size)
{
	struct stream_listing *listing = arg;
	struct page *page = &listing->page;
	owned(stream_index_clear) struct stream_index file = { 0 };
	struct stream_info *stream;

	if (listing->rc ||
	    stream_index_parse(line, size, listing->node, &file, NULL) < 0 ||
	    !file.path)
		return;
	stream = page_row(page);
	if (!stream) {
		listing->rc = page->stop;
		return;
	}
	log_store_length(page->api->logs, listing->job, listing->attempt,
			 file.stream, &stream->bytes, NULL);
	stream->rank = listing->node;
	stream->part = file.part;
	stream->path = take(file.path);
	listing->rc = string_set(&stream->stream, file.stream, page->err);
}

/* log_store_stream_fn */
static int add_index(const char *stream, uint64_t length, void *arg)
{
	struct stream_listing *listing = arg;
	owned_free char *text = NULL;
	size_t got = 0;

	if (!stream_index_is_index(stream))
		return 0;
	text = malloc(INDEX_BYTES);
	if (!text || log_store_read(listing->page.api->logs, listing->job,
				    listing->attempt, stream, 0, text,
				    INDEX_BYTES, &got, NULL) < 0)
		return 0;
	listing->node = (uint32_t)strtoul(stream + 5, NULL, 10);
	stream_index_lines(text, got, stream_add_file, listing);
	return listing->rc;
}

/* log_store_stream_fn */
static int add_rank(const char *stream, uint64_t length, void *arg)
{
	struct stream_listing *listing = arg;
	struct stream_info *info;

	if (strncmp(stream, "rank-", 5) != 0)
		return 0;
	info = page_row(&listing->page);
	if (info)
		info->bytes = length;
	listing->rc =
		info ? string_set(&info->stream, stream, listing->page.err)
		     : listing->page.stop;
	return listing->rc;
}

int streams_describe(const struct api *api, uint64_t job, uint32_t attempt,
		     bool ranks, struct stream_info **list, size_t *count,
		     struct error *err)
{
	struct stream_listing listing = {
		.job = job,
		.attempt = attempt,
		.page = page_of(api, &stream_info_schema, 0, err),
	};

	listing.page.limit = STREAMS_MAX;
	/* A job without output has no streams. */
	if (ranks)
		log_store_streams(api->logs, job, attempt, add_rank, &listing,
				  NULL);
	if (listing.rc == 0)
		log_store_streams(api->logs, job, attempt, add_index, &listing,
				  NULL);
	*list = page_take(&listing.page, count);
	return listing.rc < 0 ? -1 : 0;
}
