/* codec_token.c - typed values in sequence, the common form of structs, bytes
 * and JSON.
 */
#include "protocol/message/codec_token.h"

#include <errno.h>

static int copy_value(struct token_source *source, const struct token *token,
		      struct token_sink *sink, int depth)
{
	size_t left = token->kind == TOKEN_LIST     ? token->size
		      : token->kind == TOKEN_OBJECT ? token->size * 2
						    : 0;
	bool open = token->kind == TOKEN_LIST || token->kind == TOKEN_OBJECT;
	struct token inner;

	if (open && depth == TOKEN_DEPTH_MAX)
		return error_set(source->err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	if (sink && sink->put(sink, token) < 0)
		return -1;
	for (; left; left--) {
		bool name = token->kind == TOKEN_OBJECT && left % 2 == 0;

		if (source->next(source, &inner) < 0)
			return -1;
		if (name && inner.kind != TOKEN_TEXT)
			return error_set(source->err, EPROTO,
					 "a member without a name");
		if (copy_value(source, &inner, sink, depth + 1) < 0)
			return -1;
	}
	inner.kind = TOKEN_END;
	return open && sink ? sink->put(sink, &inner) : 0;
}

int token_copy(struct token_source *source, const struct token *token,
	       struct token_sink *sink)
{
	return copy_value(source, token, sink, 0);
}
