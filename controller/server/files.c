/* files.c - the output of a job by stream: which there are, and of which file.
 */
#include "controller/server/files.h"
#include "controller/logs/log_store.h"
#include "protocol/message/stream_index.h"

#include <stdlib.h>
#include <string.h>

#define INDEX_BYTES (256 << 10) /* of one node's index; more is not shown */

struct listing {
	struct cluster *cluster;
	uint64_t job;
	uint32_t attempt;
	uint32_t node; /* whose index is being read */
	cJSON *list;
	int count;
};

static cJSON *add(struct listing *listing, const char *stream, uint64_t bytes)
{
	cJSON *item = cJSON_CreateObject();

	cJSON_AddStringToObject(item, "stream", stream);
	cJSON_AddNumberToObject(item, "bytes", (double)bytes);
	cJSON_AddItemToArray(listing->list, item);
	listing->count++;
	return item;
}

/* stream_index_line_fn */
static void add_file(void *arg, const char *line, size_t size)
{
	struct listing *listing = arg;
	owned(stream_index_clear) struct stream_index file = { 0 };
	uint64_t bytes = 0;
	cJSON *item;

	if (listing->count >= FILES_MAX ||
	    stream_index_parse(line, size, listing->node, &file, NULL) < 0 ||
	    !file.path)
		return;
	log_store_length(listing->cluster->logs, listing->job, listing->attempt,
			 file.stream, &bytes, NULL);
	item = add(listing, file.stream, bytes);
	cJSON_AddNumberToObject(item, "rank", listing->node);
	cJSON_AddStringToObject(item, "path", file.path);
	cJSON_AddNumberToObject(item, "part", file.part);
}

/* log_store_stream_fn */
static int add_index(const char *stream, uint64_t length, void *arg)
{
	struct listing *listing = arg;
	owned_free char *text = NULL;
	size_t got = 0;

	if (!stream_index_is_index(stream) || listing->count >= FILES_MAX)
		return 0;
	text = malloc(INDEX_BYTES);
	if (!text || log_store_read(listing->cluster->logs, listing->job,
				    listing->attempt, stream, 0, text,
				    INDEX_BYTES, &got, NULL) < 0)
		return 0;
	listing->node = (uint32_t)strtoul(stream + 5, NULL, 10);
	stream_index_lines(text, got, add_file, listing);
	return 0;
}

cJSON *files_describe(struct cluster *cluster, uint64_t job, uint32_t attempt)
{
	struct listing listing = { .cluster = cluster,
				   .job = job,
				   .attempt = attempt,
				   .list = cJSON_CreateArray() };

	log_store_streams(cluster->logs, job, attempt, add_index, &listing,
			  NULL);
	return listing.list;
}

/* log_store_stream_fn */
static int add_rank(const char *stream, uint64_t length, void *arg)
{
	struct listing *listing = arg;

	if (!strncmp(stream, "rank-", 5) && listing->count < FILES_MAX)
		add(listing, stream, length);
	return 0;
}

cJSON *files_describe_all(struct cluster *cluster, uint64_t job,
			  uint32_t attempt)
{
	struct listing listing = { .cluster = cluster,
				   .job = job,
				   .attempt = attempt,
				   .list = cJSON_CreateArray() };

	log_store_streams(cluster->logs, job, attempt, add_rank, &listing,
			  NULL);
	log_store_streams(cluster->logs, job, attempt, add_index, &listing,
			  NULL);
	return listing.list;
}
