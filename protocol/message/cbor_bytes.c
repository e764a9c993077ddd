/* cbor_bytes.c - tokens as CBOR, by libcbor's calls that make no tree.
 */
#include "protocol/message/codec_token.h"

#include <errno.h>
#include <string.h>

#define HEAD_MAX 9 /* bytes before a text, or of a number */

static int cbor_bytes_put_token(struct token_sink *base,
				const struct token *token)
{
	struct buffer *out = ((struct cbor_bytes_sink *)base)->out;
	size_t text = token->kind == TOKEN_TEXT ? token->size : 0;
	unsigned char *at;

	if (buffer_reserve(out, HEAD_MAX + text, base->err) < 0)
		return -1;
	at = (unsigned char *)out->data + out->size;
	switch (token->kind) {
	case TOKEN_NULL:
		out->size += cbor_encode_null(at, HEAD_MAX);
		break;
	case TOKEN_BOOL:
		out->size += cbor_encode_bool(token->flag, at, HEAD_MAX);
		break;
	case TOKEN_UNSIGNED:
		out->size += cbor_encode_uint(token->number, at, HEAD_MAX);
		break;
	case TOKEN_NEGATIVE:
		out->size +=
			cbor_encode_negint((uint64_t) - (token->negative + 1),
					   at, HEAD_MAX);
		break;
	case TOKEN_REAL:
		out->size += cbor_encode_double(token->real, at, HEAD_MAX);
		break;
	case TOKEN_TEXT:
		out->size += cbor_encode_string_start(text, at, HEAD_MAX);
		memcpy(out->data + out->size, token->text, text);
		out->size += text;
		break;
	case TOKEN_LIST:
		out->size += cbor_encode_array_start(token->size, at, HEAD_MAX);
		break;
	case TOKEN_OBJECT:
		out->size += cbor_encode_map_start(token->size, at, HEAD_MAX);
		break;
	case TOKEN_NONE:
	case TOKEN_END:
		break;
	}
	out->data[out->size] = 0;
	return 0;
}

struct token_sink *cbor_bytes_sink(struct cbor_bytes_sink *sink,
				   struct buffer *out, struct error *err)
{
	sink->sink = (struct token_sink){ cbor_bytes_put_token, err };
	sink->out = out;
	return &sink->sink;
}

/* What libcbor found. */

static void cbor_bytes_take_number(void *arg, uint64_t value)
{
	*(struct token *)arg =
		(struct token){ .kind = TOKEN_UNSIGNED, .number = value };
}

static void take_uint8(void *arg, uint8_t value)
{
	cbor_bytes_take_number(arg, value);
}

static void take_uint16(void *arg, uint16_t value)
{
	cbor_bytes_take_number(arg, value);
}

static void take_uint32(void *arg, uint32_t value)
{
	cbor_bytes_take_number(arg, value);
}

/* The number is -1 - value. Below -2^63 the token stays TOKEN_NONE. */
static void take_negative(void *arg, uint64_t value)
{
	if (value <= INT64_MAX)
		*(struct token *)arg =
			(struct token){ .kind = TOKEN_NEGATIVE,
					.negative = -1 - (int64_t)value };
}

static void take_negint8(void *arg, uint8_t value)
{
	take_negative(arg, value);
}

static void take_negint16(void *arg, uint16_t value)
{
	take_negative(arg, value);
}

static void take_negint32(void *arg, uint32_t value)
{
	take_negative(arg, value);
}

static void take_double(void *arg, double value)
{
	*(struct token *)arg =
		(struct token){ .kind = TOKEN_REAL, .real = value };
}

static void cbor_bytes_take_text(void *arg, cbor_data data, size_t size)
{
	*(struct token *)arg = (struct token){ .kind = TOKEN_TEXT,
					       .size = size,
					       .text = (const char *)data };
}

static void cbor_bytes_take_list(void *arg, size_t size)
{
	*(struct token *)arg =
		(struct token){ .kind = TOKEN_LIST, .size = size };
}

static void take_object(void *arg, size_t size)
{
	*(struct token *)arg =
		(struct token){ .kind = TOKEN_OBJECT, .size = size };
}

static void take_null(void *arg)
{
	((struct token *)arg)->kind = TOKEN_NULL;
}

static void take_bool(void *arg, bool value)
{
	*(struct token *)arg =
		(struct token){ .kind = TOKEN_BOOL, .flag = value };
}

/* The fewest bytes that the items of a list or object need. */
static size_t least(const struct token *token)
{
	return token->kind == TOKEN_LIST ? token->size
	       : token->kind == TOKEN_OBJECT && token->size < SIZE_MAX / 2
		       ? token->size * 2
	       : token->kind == TOKEN_OBJECT ? SIZE_MAX
					     : 0;
}

static int cbor_bytes_read_token(struct token_source *base, struct token *token)
{
	struct cbor_bytes_source *source = (struct cbor_bytes_source *)base;
	struct cbor_decoder_result result;

	token->kind = TOKEN_NONE;
	result = cbor_stream_decode((cbor_data)source->data + source->at,
				    source->size - source->at,
				    &source->callbacks, token);
	if (result.status != CBOR_DECODER_FINISHED ||
	    least(token) > source->size - source->at - result.read)
		return error_set(base->err, EPROTO,
				 "not CBOR, or truncated, at byte %zu",
				 source->at);
	if (token->kind == TOKEN_NONE)
		return error_set(base->err, EPROTO,
				 "unsupported kind of CBOR, at byte %zu",
				 source->at);
	if (token->kind == TOKEN_TEXT && memchr(token->text, 0, token->size))
		return error_set(base->err, EPROTO,
				 "a NUL character in the text at byte %zu",
				 source->at);
	source->at += result.read;
	return 0;
}

struct token_source *cbor_bytes_source(struct cbor_bytes_source *source,
				       const char *data, size_t size,
				       struct error *err)
{
	source->source = (struct token_source){ .next = cbor_bytes_read_token,
						.err = err };
	source->data = data;
	source->size = size;
	source->at = 0;
	source->callbacks = cbor_empty_callbacks;
	source->callbacks.uint8 = take_uint8;
	source->callbacks.uint16 = take_uint16;
	source->callbacks.uint32 = take_uint32;
	source->callbacks.uint64 = cbor_bytes_take_number;
	source->callbacks.negint8 = take_negint8;
	source->callbacks.negint16 = take_negint16;
	source->callbacks.negint32 = take_negint32;
	source->callbacks.negint64 = take_negative;
	source->callbacks.float8 = take_double;
	source->callbacks.string = cbor_bytes_take_text;
	source->callbacks.array_start = cbor_bytes_take_list;
	source->callbacks.map_start = take_object;
	source->callbacks.null = take_null;
	source->callbacks.boolean = take_bool;
	return &source->source;
}
