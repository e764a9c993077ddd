/* codec_internal.h - the two walks of the codec over the tables of fields.
 *
 * For the files of the codec and for messages alone.
 */
#pragma once

#include "protocol/message/codec.h"
#include "protocol/message/codec_token.h"

/* Give the struct to the sink as an object; with a type as its first member,
 * "type". Errors as codec_object().
 */
int codec_write(const struct schema *schema, const void *from, const char *type,
		struct token_sink *sink);

/* Fill *to from the members that the source gives next, or from an object. On
 * failure *to is all zero.
 */
int codec_read_members(const struct schema *schema, struct token_source *source,
		       size_t members, void *to);
int codec_read(const struct schema *schema, struct token_source *source,
	       void *to);

/* Drop what was appended since the buffer was of that size. */
void codec_undo(struct buffer *out, size_t size);

static inline void *field_at(const struct field *field, const void *data)
{
	return (char *)data + field->offset;
}

static inline size_t *field_count(const struct field *field, const void *data)
{
	return (size_t *)((char *)data + field->count_offset);
}
