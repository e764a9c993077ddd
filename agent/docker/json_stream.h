/* json_stream.h - splits a stream of bytes into JSON objects, one per line.
 *
 * The engine's events and progress: objects with a newline behind each, in
 * pieces of any size. A line is at most JSON_STREAM_LINE_MAX bytes; empty lines
 * are skipped.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>

#define JSON_STREAM_LINE_MAX (1 << 20)

struct json_stream {
	struct buffer line;
};

void json_stream_init(struct json_stream *stream);
void json_stream_clear(struct json_stream *stream);

/* Gets an object, borrowed. If it does not return 0, the bytes behind the
 * object are dropped.
 */
typedef int json_stream_fn(void *arg, const cJSON *object);

/* Returns 0, or what fn returned, or -1 with *err set. EPROTO: a line is not a
 * JSON object, or is too long. fn may not clear the stream.
 */
int json_stream_feed(struct json_stream *stream, const void *data, size_t size,
		     json_stream_fn *fn, void *arg, struct error *err);

/* The bytes have ended: the last line may lack its newline. */
int json_stream_end(struct json_stream *stream, json_stream_fn *fn, void *arg,
		    struct error *err);
