/* stream.h - JSON objects out of bytes as they come, one object a line.
 *
 * The engine's events and progress: objects with a newline behind each, in
 * pieces of any size. A line is at most STREAM_LINE_MAX bytes; empty lines are
 * skipped.
 */
#ifndef AGENT_ENGINE_STREAM_H
#define AGENT_ENGINE_STREAM_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>

#define STREAM_LINE_MAX (1 << 20)

struct stream {
	struct buffer line;
};

void stream_init(struct stream *stream);
void stream_clear(struct stream *stream);

/* Gets an object, borrowed. Not 0 stops: the bytes behind it are dropped. */
typedef int stream_fn(void *arg, const cJSON *object);

/* Returns 0, what fn returned when it stopped, or -1 with *err set: EPROTO for
 * what is not a JSON object or too long a line. fn may not clear the stream.
 */
int stream_feed(struct stream *stream, const void *data, size_t size,
		stream_fn *fn, void *arg, struct error *err);

/* The bytes have ended: the last line may lack its newline. */
int stream_end(struct stream *stream, stream_fn *fn, void *arg,
	       struct error *err);

#endif
