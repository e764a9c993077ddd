/* token.c - typed values in sequence, the common form of structs, bytes and
 * JSON.
 */
#include "protocol/message/token.h"

#include <errno.h>

static int copy_value(struct token_source *source, const struct token *token,
		      struct token_sink *sink, int depth, struct error *err)
{
	size_t left = token->kind == TOKEN_LIST     ? token->size
		      : token->kind == TOKEN_OBJECT ? token->size * 2
						    : 0;
	bool open = token->kind == TOKEN_LIST || token->kind == TOKEN_OBJECT;
	struct token inner;

	if (open && depth == TOKEN_DEPTH_MAX)
		return error_set(err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	if (sink && sink->put(sink, token, err) < 0)
		return -1;
	for (; left; left--) {
		bool name = token->kind == TOKEN_OBJECT && left % 2 == 0;

		if (source->next(source, &inner, err) < 0)
			return -1;
		if (name && inner.kind != TOKEN_TEXT)
			return error_set(err, EPROTO,
					 "a member without a name");
		if (copy_value(source, &inner, sink, depth + 1, err) < 0)
			return -1;
	}
	inner.kind = TOKEN_END;
	return open && sink ? sink->put(sink, &inner, err) : 0;
}

int token_copy(struct token_source *source, const struct token *token,
	       struct token_sink *sink, struct error *err)
{
	return copy_value(source, token, sink, 0, err);
}

int token_skip(struct token_source *source, const struct token *token,
	       struct error *err)
{
	return copy_value(source, token, NULL, 0, err);
}
