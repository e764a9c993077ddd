/* codec_bound.c - how long a struct is at most, as JSON text and as CBOR.
 */
#include "protocol/message/codec_internal.h"

#define HEAD_BYTES 8    /* quotes or brackets, and what stands between values */
#define ESCAPE_BYTES 6  /* of a character that is escaped, at most */
#define NUMBER_BYTES 27 /* of any number, or an integer in quotes */

struct bound_sink {
	struct token_sink sink;
	size_t bytes;
};

static size_t text_bound(const char *text, size_t size)
{
	size_t bytes = HEAD_BYTES + size;

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '"' ||
		    text[i] == '\\')
			bytes += ESCAPE_BYTES - 1;
	return bytes;
}

static int bound_count_token(struct token_sink *base, const struct token *token)
{
	struct bound_sink *bound = (struct bound_sink *)base;

	if (token->kind == TOKEN_TEXT)
		bound->bytes += text_bound(token->text, token->size);
	else if (token->kind == TOKEN_UNSIGNED ||
		 token->kind == TOKEN_NEGATIVE || token->kind == TOKEN_REAL)
		bound->bytes += NUMBER_BYTES;
	else
		bound->bytes += HEAD_BYTES;
	return 0;
}

size_t codec_bound(const struct schema *schema, const void *from)
{
	struct bound_sink bound = { .sink.put = bound_count_token };

	codec_write(schema, from, NULL, &bound.sink);
	return bound.bytes;
}
