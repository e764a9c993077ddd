/* stream_index.h - the index of the streams that a task has beside those of
 * its ranks.
 *
 * regatta-init writes it (agent/init/init.h), one line of JSON for each, into
 * the stream node-<N> of the task with node rank N; agent and controller read
 * it. It is written inside the container: anything may stand there.
 */
#pragma once

#include "protocol/message/codec.h"

#define STREAM_INDEX_MAX 128        /* followed files of a task */
#define STREAM_INDEX_LINE_MAX 32768 /* bytes in a line of the index */
#define STREAM_INDEX_NAME_MAX 64    /* bytes in a stream's name */

/* A followed file, with its path; or a rank's log that was cut at `kept`. */
struct stream_index {
	char *stream;
	char *path;    /* in the container; NULL: a rank's log */
	uint32_t part; /* 1 ..; one more each time the file was replaced */
	uint64_t kept; /* bytes */
};

void stream_index_clear(struct stream_index *followed);
OWNED_VALUE(struct stream_index, stream_index_clear)

/* Read a line, without its newline. EPROTO names the fault, also a stream name
 * that the node may not use. It may use rank-..., and node-<node>.<name> with a
 * path.
 */
int stream_index_parse(const char *line, size_t size, uint32_t node,
		       struct stream_index *followed, struct error *err);

/* The name of the index of the node. Is the stream this index, or a followed
 * file of the node?
 */
void stream_index_index(uint32_t node, char name[STREAM_INDEX_NAME_MAX + 1]);
bool stream_index_belongs(uint32_t node, const char *stream);

/* Is it any node's index? */
bool stream_index_is_index(const char *stream);

/* Call fn for each whole line of text, and return how many bytes they are. A
 * line of more than STREAM_INDEX_LINE_MAX bytes is left out.
 */
typedef void stream_index_line_fn(void *arg, const char *line, size_t size);
size_t stream_index_lines(const char *text, size_t size,
			  stream_index_line_fn *fn, void *arg);
