/* json_text.c - tokens as JSON text.
 */
#include "protocol/message/codec_token.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_MAX 40 /* bytes of a mark and a number or word */

/* As cJSON does it: 15 digits, but 17 where the number would be another one. */
static size_t real_text(double value, char *text, size_t size)
{
	int used = snprintf(text, size, isfinite(value) ? "%1.15g" : "null",
			    value);

	if (isfinite(value) &&
	    fabs(strtod(text, NULL) - value) > fabs(value) * DBL_EPSILON)
		used = snprintf(text, size, "%1.17g", value);
	return (size_t)used;
}

static size_t integer_text(uint64_t number, bool negative, char *text)
{
	char digits[24], *at = digits + sizeof(digits);
	bool quoted = number > TOKEN_EXACT_MAX;
	size_t used;

	if (quoted)
		*--at = '"';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	if (negative)
		*--at = '-';
	if (quoted)
		*--at = '"';
	used = (size_t)(digits + sizeof(digits) - at);
	memcpy(text, at, used);
	return used;
}

static const char *json_text_choose_word(const struct token *token)
{
	return token->kind == TOKEN_LIST     ? "["
	       : token->kind == TOKEN_OBJECT ? "{"
	       : token->kind == TOKEN_NULL   ? "null"
	       : token->flag                 ? "true"
					     : "false";
}

/* A number, word or bracket, after its mark: a comma or colon. */
static int put_short(struct buffer *out, char mark, const struct token *token,
		     struct error *err)
{
	char text[SHORT_MAX], *at = text;

	if (mark)
		*at++ = mark;
	if (token->kind == TOKEN_UNSIGNED)
		at += integer_text(token->number, false, at);
	else if (token->kind == TOKEN_NEGATIVE)
		at += integer_text(-(uint64_t)token->negative, true, at);
	else if (token->kind == TOKEN_REAL)
		at += real_text(token->real, at, SHORT_MAX - 1);
	else
		for (const char *word = json_text_choose_word(token); *word;
		     word++)
			*at++ = *word;
	return buffer_append(out, text, (size_t)(at - text), err);
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c != '"' && c != '\\';
}

#define EACH (UINT64_MAX / 255) /* of eight bytes */

/* Is any of eight bytes below the limit, which is at most 128? */
static bool any_below(uint64_t bytes, uint64_t limit)
{
	return (bytes - EACH * limit) & ~bytes & EACH * 128;
}

/* How many bytes of the text need no escape, from its start. */
static size_t plain_size(const char *text, size_t size)
{
	size_t plain = 0;
	uint64_t bytes;

	for (; size - plain >= sizeof(bytes); plain += sizeof(bytes)) {
		memcpy(&bytes, text + plain, sizeof(bytes));
		if (any_below(bytes, ' ') || any_below(bytes ^ EACH * '"', 1) ||
		    any_below(bytes ^ EACH * '\\', 1))
			break;
	}
	while (plain < size && is_plain((unsigned char)text[plain]))
		plain++;
	return plain;
}

static int json_text_put_escaped(struct buffer *out, unsigned char c,
				 struct error *err)
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

/* The rest of a text, from its first character that must be escaped. */
static int put_rest(struct buffer *out, const char *text, const char *end,
		    struct error *err)
{
	while (text < end) {
		size_t plain = plain_size(text, (size_t)(end - text));

		if (buffer_append(out, text, plain, err) < 0)
			return -1;
		text += plain;
		if (text < end &&
		    json_text_put_escaped(out, (unsigned char)*text++, err) < 0)
			return -1;
	}
	return buffer_append(out, "\"", 1, err);
}

/* Most texts need no escape: they are copied in one step. */
static int put_string(struct buffer *out, char mark, const char *text,
		      size_t size, struct error *err)
{
	size_t plain = plain_size(text, size);
	char *at;

	if (buffer_reserve(out, plain + 3, err) < 0)
		return -1;
	at = out->data + out->size;
	if (mark)
		*at++ = mark;
	*at++ = '"';
	memcpy(at, text, plain);
	at += plain;
	if (plain == size)
		*at++ = '"';
	*at = 0;
	out->size = (size_t)(at - out->data);
	return plain == size ? 0
			     : put_rest(out, text + plain, text + size, err);
}

static int json_text_put_value(struct buffer *out, char mark,
			       const struct token *token, struct error *err)
{
	return token->kind == TOKEN_TEXT
		       ? put_string(out, mark, token->text, token->size, err)
		       : put_short(out, mark, token, err);
}

static int put_end(struct json_text_sink *sink)
{
	sink->first = false;
	return buffer_append(sink->out, sink->lists[--sink->depth] ? "]" : "}",
			     1, sink->sink.err);
}

/* The comma or colon that stands before the token; 0: none. */
static char next_mark(struct json_text_sink *sink)
{
	bool object = sink->depth && !sink->lists[sink->depth - 1];
	char mark = ',';

	if (sink->named)
		mark = ':';
	else if (sink->first)
		mark = 0;
	sink->first = false;
	sink->named = object && !sink->named;
	return mark;
}

static int json_text_put_token(struct token_sink *base,
			       const struct token *token)
{
	struct json_text_sink *sink = (struct json_text_sink *)base;
	bool open = token->kind == TOKEN_LIST || token->kind == TOKEN_OBJECT;
	char mark;

	if (token->kind == TOKEN_END)
		return put_end(sink);
	if (open && sink->depth == TOKEN_DEPTH_MAX)
		return error_set(base->err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	mark = next_mark(sink);
	if (open) {
		sink->lists[sink->depth++] = token->kind == TOKEN_LIST;
		sink->first = true;
		sink->named = false;
	}
	return json_text_put_value(sink->out, mark, token, base->err);
}

struct token_sink *json_text_sink(struct json_text_sink *sink,
				  struct buffer *out, struct error *err)
{
	*sink = (struct json_text_sink){ .sink = { json_text_put_token, err },
					 .out = out,
					 .first = true };
	return &sink->sink;
}
