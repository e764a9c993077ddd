/* streams.c - the output of a job by stream: which there are, and of which
 * file.
 */
#include "controller/api/streams.h"
#include "controller/api/page.h"
#include "controller/logs/log_store.h"
#include "protocol/message/stream_index.h"

#include <stdlib.h>
#include <string.h>

#define INDEX_BYTES (256 << 10) /* of one node's index; more is not shown */

struct stream_listing {
	const struct api *api;
	uint64_t job;
	uint32_t attempt;
	uint32_t node; /* whose index is being read */
	struct page page;
	struct error *err;
	int rc;
};

/* Append; what the stream owns moves. */
static int add(struct stream_listing *listing, const char *name,
	       struct stream_info *stream)
{
	if (string_set(&stream->stream, name, listing->err) < 0) {
		codec_clear(&stream_info_schema, stream);
		return -1;
	}
	return page_add(&listing->page, stream, listing->err);
}

/* stream_index_line_fn */
static void add_file(void *arg, const char *line, size_t size)
{
	struct stream_listing *listing = arg;
	owned(stream_index_clear) struct stream_index file = { 0 };
	struct stream_info stream = { .rank = listing->node };

	if (listing->rc < 0 || listing->page.count >= STREAMS_MAX ||
	    stream_index_parse(line, size, listing->node, &file, NULL) < 0 ||
	    !file.path)
		return;
	log_store_length(listing->api->logs, listing->job, listing->attempt,
			 file.stream, &stream.bytes, NULL);
	stream.part = file.part;
	listing->rc = string_set(&stream.path, file.path, listing->err);
	if (listing->rc == 0)
		listing->rc = add(listing, file.stream, &stream);
}

/* log_store_stream_fn */
static int add_index(const char *stream, uint64_t length, void *arg)
{
	struct stream_listing *listing = arg;
	owned_free char *text = NULL;
	size_t got = 0;

	if (!stream_index_is_index(stream) ||
	    listing->page.count >= STREAMS_MAX)
		return 0;
	text = malloc(INDEX_BYTES);
	if (!text ||
	    log_store_read(listing->api->logs, listing->job, listing->attempt,
			   stream, 0, text, INDEX_BYTES, &got, NULL) < 0)
		return 0;
	listing->node = (uint32_t)strtoul(stream + 5, NULL, 10);
	stream_index_lines(text, got, add_file, listing);
	return listing->rc;
}

/* log_store_stream_fn */
static int add_rank(const char *stream, uint64_t length, void *arg)
{
	struct stream_listing *listing = arg;
	struct stream_info info = { .bytes = length };

	if (strncmp(stream, "rank-", 5) || listing->page.count >= STREAMS_MAX)
		return 0;
	listing->rc = add(listing, stream, &info);
	return listing->rc;
}

static int describe(struct stream_listing *listing, bool ranks,
		    struct stream_info **list, size_t *count)
{
	struct log_store *logs = listing->api->logs;

	page_init(&listing->page, &stream_info_schema, 0);
	/* A job without output has no streams. */
	if (ranks)
		log_store_streams(logs, listing->job, listing->attempt,
				  add_rank, listing, NULL);
	if (listing->rc == 0)
		log_store_streams(logs, listing->job, listing->attempt,
				  add_index, listing, NULL);
	*list = page_take(&listing->page, count);
	return listing->rc;
}

int streams_describe(const struct api *api, uint64_t job, uint32_t attempt,
		     struct stream_info **list, size_t *count,
		     struct error *err)
{
	struct stream_listing listing = { api, job, attempt, .err = err };

	return describe(&listing, true, list, count);
}

int streams_describe_files(const struct api *api, uint64_t job,
			   uint32_t attempt, struct stream_info **list,
			   size_t *count, struct error *err)
{
	struct stream_listing listing = { api, job, attempt, .err = err };

	return describe(&listing, false, list, count);
}
