/* json_stream.c - splits a stream of bytes into JSON objects, one per line.
 */
#include "agent/docker/json_stream.h"

#include "protocol/message/codec.h"

#include <errno.h>
#include <string.h>

void json_stream_init(struct json_stream *stream)
{
	buffer_init(&stream->line, JSON_STREAM_LINE_MAX);
}

void json_stream_clear(struct json_stream *stream)
{
	buffer_clear(&stream->line);
}

static int line_parse(const char *text, size_t size, json_stream_fn *fn,
		      void *arg, struct error *err)
{
	cJSON *object;
	int rc;

	while (size && (text[size - 1] == '\r' || text[size - 1] == ' '))
		size--;
	if (!size)
		return 0;
	object = codec_parse(text, size, err);
	if (!object)
		return error_prefix(err, "engine's stream");
	if (!cJSON_IsObject(object)) {
		cJSON_Delete(object);
		return error_set(err, EPROTO,
				 "engine's stream: not a JSON object: %.40s",
				 text);
	}
	rc = fn(arg, object);
	cJSON_Delete(object);
	return rc;
}

int json_stream_feed(struct json_stream *stream, const void *data, size_t size,
		     json_stream_fn *fn, void *arg, struct error *err)
{
	const char *at = data, *end = at + size, *newline;
	int rc;

	while (at < end) {
		newline = memchr(at, '\n', (size_t)(end - at));
		if (buffer_append(&stream->line, at,
				  (size_t)((newline ? newline : end) - at),
				  err) < 0) {
			if (err && err->code == E2BIG)
				err->code = EPROTO;
			return error_prefix(err, "engine's stream: one line");
		}
		if (!newline)
			return 0;
		at = newline + 1;
		rc = line_parse(stream->line.data, stream->line.size, fn, arg,
				err);
		buffer_consume(&stream->line, stream->line.size);
		if (rc)
			return rc;
	}
	return 0;
}

int json_stream_end(struct json_stream *stream, json_stream_fn *fn, void *arg,
		    struct error *err)
{
	int rc = line_parse(stream->line.data, stream->line.size, fn, arg, err);

	buffer_clear(&stream->line);
	return rc;
}
