/* followed.c - the index of a task's streams beside the ranks' own.
 */
#include "protocol/followed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct field followed_fields[] = {
	FIELD(followed, stream),
	FIELD_OPTIONAL(followed, path),
	FIELD_OPTIONAL(followed, part),
	FIELD_OPTIONAL(followed, kept),
};
static const struct schema followed_schema =
	SCHEMA(followed, followed_fields);
/* clang-format on */

void followed_clear(struct followed *followed)
{
	codec_clear(&followed_schema, followed);
}

void followed_index(uint32_t node, char name[FOLLOWED_NAME_MAX + 1])
{
	snprintf(name, FOLLOWED_NAME_MAX + 1, "node-%u", node);
}

/* Is it node-<node>, and what stands behind it? */
static const char *behind_index(uint32_t node, const char *stream)
{
	char name[FOLLOWED_NAME_MAX + 1];
	size_t length;

	followed_index(node, name);
	length = strlen(name);
	return strncmp(stream, name, length) ? NULL : stream + length;
}

bool followed_belongs(uint32_t node, const char *stream)
{
	const char *rest = behind_index(node, stream);

	if (!rest || strlen(stream) > FOLLOWED_NAME_MAX)
		return false;
	return !*rest ||
	       (*rest == '.' &&
		!rest[strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789._-")]);
}

bool followed_is_index(const char *stream)
{
	return !strncmp(stream, "node-", 5) && stream[5] &&
	       !stream[5 + strspn(stream + 5, "0123456789")];
}

static int check(const struct followed *followed, uint32_t node,
		 struct error *err)
{
	const char *rest = behind_index(node, followed->stream);

	if (followed->path ? !rest || !*rest ||
				     !followed_belongs(node, followed->stream)
			   : strncmp(followed->stream, "rank-", 5) != 0)
		return error_set(err, EPROTO,
				 "stream: found \"%.70s\", allowed are "
				 "node-%u.<name> of a path, or rank-<N>",
				 followed->stream, node);
	return 0;
}

int followed_parse(const char *line, size_t size, uint32_t node,
		   struct followed *followed, struct error *err)
{
	struct followed got;

	if (codec_decode(&followed_schema, line, size, &got, err) < 0)
		return error_prefix(err, "index");
	if (check(&got, node, err) < 0) {
		followed_clear(&got);
		return error_prefix(err, "index");
	}
	*followed = got;
	return 0;
}

size_t followed_lines(const char *text, size_t size, followed_line_fn *fn,
		      void *arg)
{
	size_t done = 0;
	const char *end;

	while ((end = memchr(text + done, '\n', size - done))) {
		size_t length = (size_t)(end - text) - done;

		if (length <= FOLLOWED_LINE_MAX)
			fn(arg, text + done, length);
		done += length + 1;
	}
	return done;
}
