/* json_text.c - tokens as JSON text.
 */
#include "protocol/message/token.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shortest of 15 and 17 digits that is this number again. */
static int put_real(struct buffer *out, double value, struct error *err)
{
	char text[32];

	snprintf(text, sizeof(text), "%1.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%1.17g", value);
	return buffer_text(out, text, err);
}

static int put_integer(struct buffer *out, uint64_t size, bool negative,
		       struct error *err)
{
	char text[24], *at = text + sizeof(text);
	bool quoted = size > TOKEN_EXACT_MAX;

	if (quoted)
		*--at = '"';
	do {
		*--at = (char)('0' + size % 10);
		size /= 10;
	} while (size);
	if (negative)
		*--at = '-';
	if (quoted)
		*--at = '"';
	return buffer_append(out, at, (size_t)(text + sizeof(text) - at), err);
}

static int put_escaped(struct buffer *out, unsigned char c, struct error *err)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *found = strchr(from, c);
	char text[8];

	if (found)
		snprintf(text, sizeof(text), "\\%c", to[found - from]);
	else
		snprintf(text, sizeof(text), "\\u%04x", c);
	return buffer_text(out, text, err);
}

static int put_text(struct buffer *out, const char *text, size_t size,
		    struct error *err)
{
	const char *end = text + size, *plain = text;

	if (buffer_append(out, "\"", 1, err) < 0)
		return -1;
	for (; text < end; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		if (buffer_append(out, plain, (size_t)(text - plain), err) <
			    0 ||
		    put_escaped(out, c, err) < 0)
			return -1;
		plain = text + 1;
	}
	if (buffer_append(out, plain, (size_t)(end - plain), err) < 0)
		return -1;
	return buffer_append(out, "\"", 1, err);
}

static int put_begin(struct json_text_sink *sink, bool list, struct error *err)
{
	if (sink->depth == TOKEN_DEPTH_MAX)
		return error_set(err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	sink->lists[sink->depth++] = list;
	sink->first = true;
	return buffer_append(sink->out, list ? "[" : "{", 1, err);
}

static int put_end(struct json_text_sink *sink, struct error *err)
{
	sink->first = false;
	return buffer_append(sink->out, sink->lists[--sink->depth] ? "]" : "}",
			     1, err);
}

static int put_word(struct buffer *out, const struct token *token,
		    struct error *err)
{
	return buffer_text(out,
			   token->kind == TOKEN_NULL ? "null"
			   : token->flag             ? "true"
						     : "false",
			   err);
}

static int put_value(struct json_text_sink *sink, const struct token *token,
		     struct error *err)
{
	switch (token->kind) {
	case TOKEN_UNSIGNED:
		return put_integer(sink->out, token->number, false, err);
	case TOKEN_NEGATIVE:
		return put_integer(sink->out, -(uint64_t)token->negative, true,
				   err);
	case TOKEN_REAL:
		return put_real(sink->out, token->real, err);
	case TOKEN_TEXT:
		return put_text(sink->out, token->text, token->size, err);
	case TOKEN_LIST:
	case TOKEN_OBJECT:
		return put_begin(sink, token->kind == TOKEN_LIST, err);
	default:
		return put_word(sink->out, token, err);
	}
}

/* The comma or colon that stands before the token. */
static int put_mark(struct json_text_sink *sink, struct error *err)
{
	bool object = sink->depth && !sink->lists[sink->depth - 1];
	const char *mark = sink->named                   ? ":"
			   : !sink->depth || sink->first ? ""
							 : ",";

	sink->first = false;
	sink->named = object && !sink->named;
	return buffer_text(sink->out, mark, err);
}

static int put(struct token_sink *base, const struct token *token,
	       struct error *err)
{
	struct json_text_sink *sink = (struct json_text_sink *)base;

	if (token->kind == TOKEN_END)
		return put_end(sink, err);
	if (put_mark(sink, err) < 0)
		return -1;
	return put_value(sink, token, err);
}

struct token_sink *json_text_sink(struct json_text_sink *sink,
				  struct buffer *out)
{
	*sink = (struct json_text_sink){ .sink.put = put, .out = out };
	return &sink->sink;
}
