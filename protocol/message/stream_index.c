/* stream_index.c - the index of the streams that a task has beside those of
 * its ranks.
 */
#include "protocol/message/stream_index.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct schema stream_index_schema = SCHEMA(stream_index,
	FIELD(stream_index, stream),
	FIELD_OPTIONAL(stream_index, path),
	FIELD_OPTIONAL(stream_index, part),
	FIELD_OPTIONAL(stream_index, kept));
/* clang-format on */

void stream_index_clear(struct stream_index *followed)
{
	codec_clear(&stream_index_schema, followed);
}

void stream_index_index(uint32_t node, char name[STREAM_INDEX_NAME_MAX + 1])
{
	snprintf(name, STREAM_INDEX_NAME_MAX + 1, "node-%u", node);
}

/* Is it node-<node>, and what stands behind it? */
static const char *behind_index(uint32_t node, const char *stream)
{
	char name[STREAM_INDEX_NAME_MAX + 1];
	size_t length;

	stream_index_index(node, name);
	length = strlen(name);
	return strncmp(stream, name, length) ? NULL : stream + length;
}

bool stream_index_belongs(uint32_t node, const char *stream)
{
	const char *rest = behind_index(node, stream);

	if (!rest || strlen(stream) > STREAM_INDEX_NAME_MAX)
		return false;
	return !*rest || (*rest == '.' &&
			  !rest[strspn(rest, ASCII_LOWER ASCII_DIGITS "._-")]);
}

bool stream_index_is_index(const char *stream)
{
	return !strncmp(stream, "node-", 5) && stream[5] &&
	       !stream[5 + strspn(stream + 5, "0123456789")];
}

static int stream_index_check(const struct stream_index *followed,
			      uint32_t node, struct error *err)
{
	const char *rest = behind_index(node, followed->stream);

	if (followed->path
		    ? !rest || !*rest ||
			      !stream_index_belongs(node, followed->stream)
		    : strncmp(followed->stream, "rank-", 5) != 0)
		return error_set(err, EPROTO,
				 "stream: \"%.70s\" is not valid here; "
				 "expected node-%u.NAME with a path, or rank-N "
				 "without one",
				 followed->stream, node);
	return 0;
}

int stream_index_parse(const char *line, size_t size, uint32_t node,
		       struct stream_index *followed, struct error *err)
{
	struct stream_index got;

	if (codec_decode(&stream_index_schema, line, size, &got, err) < 0)
		return error_prefix(err, "index");
	if (stream_index_check(&got, node, err) < 0) {
		stream_index_clear(&got);
		return error_prefix(err, "index");
	}
	*followed = got;
	return 0;
}

size_t stream_index_lines(const char *text, size_t size,
			  stream_index_line_fn *fn, void *arg)
{
	size_t done = 0;
	const char *end;

	while ((end = memchr(text + done, '\n', size - done))) {
		size_t length = (size_t)(end - text) - done;

		if (length <= STREAM_INDEX_LINE_MAX)
			fn(arg, text + done, length);
		done += length + 1;
	}
	return done;
}
