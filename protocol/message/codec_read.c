/* codec_read.c - tokens to structs, by tables.
 */
#include "protocol/message/codec_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2^53 - 1: a larger number of JSON may have been rounded. */
#define READ_MAX 9007199254740991.0

/* No limit: it is no longer than the message that was read. */
#define PACKED_MAX ((size_t)1 << 40)

static void codec_describe_token(const struct token *token, char *text,
				 size_t size)
{
	static const char *const words[] = {
		[TOKEN_NULL] = "null",
		[TOKEN_BOOL] = "a boolean",
		[TOKEN_LIST] = "a list",
		[TOKEN_OBJECT] = "an object",
	};

	if (token->kind == TOKEN_UNSIGNED)
		snprintf(text, size, "the number %" PRIu64, token->number);
	else if (token->kind == TOKEN_NEGATIVE)
		snprintf(text, size, "the number %" PRId64, token->negative);
	else if (token->kind == TOKEN_REAL)
		snprintf(text, size, "the number %.17g", token->real);
	else if (token->kind == TOKEN_TEXT)
		snprintf(text, size, "'%.*s'",
			 token->size < 40 ? (int)token->size : 40, token->text);
	else
		snprintf(text, size, "%s", words[token->kind]);
}

static int codec_refuse_token(const struct field *field,
			      const struct token *token, const char *allowed,
			      struct error *err)
{
	char found[64];

	codec_describe_token(token, found, sizeof(found));
	return error_set(err, EPROTO, "%s: %s is not valid here; expected %s",
			 field->name, found, allowed);
}

/* An integer as sign and magnitude; false: it is none. In JSON, integers beyond
 * TOKEN_EXACT_MAX are texts of digits; numbers up to READ_MAX are read, too.
 */
static bool read_integer(const struct token *token, bool json, bool *negative,
			 uint64_t *magnitude)
{
	char text[24], *digits = text;

	*negative = token->kind == TOKEN_NEGATIVE;
	*magnitude = *negative ? -(uint64_t)token->negative : token->number;
	if (token->kind == TOKEN_UNSIGNED || *negative)
		return true;
	if (!json)
		return false;
	if (token->kind == TOKEN_REAL) {
		if (!(fabs(token->real) <= READ_MAX) ||
		    token->real != floor(token->real))
			return false;
		*negative = token->real < 0;
		*magnitude = (uint64_t)fabs(token->real);
		return true;
	}
	if (token->kind != TOKEN_TEXT || token->size >= sizeof(text))
		return false;
	memcpy(text, token->text, token->size);
	text[token->size] = 0;
	*negative = *digits == '-';
	digits += *negative;
	if (!text_is_of(digits, sizeof(text), ASCII_DIGITS))
		return false;
	errno = 0;
	*magnitude = strtoull(digits, NULL, 10);
	return !errno;
}

static int read_u64(const struct field *field, const struct token *token,
		    uint64_t *to, struct token_source *source)
{
	uint64_t number;
	bool negative;

	if (!read_integer(token, source->json, &negative, &number) || negative)
		return codec_refuse_token(field, token,
					  "an integer from 0 to 2^64-1",
					  source->err);
	*to = number;
	return 0;
}

static int read_i64(const struct field *field, const struct token *token,
		    int64_t *to, struct token_source *source)
{
	uint64_t magnitude;
	bool negative;

	if (!read_integer(token, source->json, &negative, &magnitude) ||
	    magnitude > (uint64_t)INT64_MAX + negative)
		return codec_refuse_token(field, token,
					  "an integer from -2^63 to 2^63-1",
					  source->err);
	/* Unsigned arithmetic: -2^63 has no positive counterpart. */
	*to = (int64_t)(negative ? 0 - magnitude : magnitude);
	return 0;
}

static int read_double(const struct field *field, const struct token *token,
		       double *to, struct error *err)
{
	if (token->kind == TOKEN_REAL && isfinite(token->real))
		*to = token->real;
	else if (token->kind == TOKEN_UNSIGNED)
		*to = (double)token->number;
	else if (token->kind == TOKEN_NEGATIVE)
		*to = (double)token->negative;
	else if (field->words && token_is(token, "nan"))
		*to = (double)NAN;
	else if (field->words && token_is(token, "inf"))
		*to = (double)INFINITY;
	else if (field->words && token_is(token, "-inf"))
		*to = -(double)INFINITY;
	else
		return codec_refuse_token(field, token, "a finite number", err);
	return 0;
}

static int codec_read_string(const struct field *field,
			     const struct token *token, char **to,
			     struct error *err)
{
	if (token->kind != TOKEN_TEXT)
		return codec_refuse_token(field, token, "a string", err);
	if (token->size > CODEC_STRING_MAX)
		return error_set(err, EPROTO, "%s: longer than %d bytes",
				 field->name, CODEC_STRING_MAX);
	*to = malloc(token->size + 1);
	if (!*to)
		return error_nomem(err, field->name);
	memcpy(*to, token->text, token->size);
	(*to)[token->size] = 0;
	return 0;
}

/* Reads an item of a list, and adds it. */
typedef int codec_item_fn(const struct field *field, const struct token *token,
			  void *to, struct token_source *source);

static int codec_add_string(const struct field *field,
			    const struct token *token, void *to,
			    struct token_source *source)
{
	owned_free char *text = NULL;

	if (token->kind != TOKEN_TEXT)
		return codec_refuse_token(field, token, "a list of strings",
					  source->err);
	return codec_read_string(field, token, &text, source->err) < 0
		       ? -1
		       : strings_add(to, text, source->err);
}

static int codec_add_number(const struct field *field,
			    const struct token *token, void *to,
			    struct token_source *source)
{
	uint64_t number = 0;

	return read_u64(field, token, &number, source) < 0
		       ? -1
		       : numbers_add(to, number, source->err);
}

static int codec_add_double(const struct field *field,
			    const struct token *token, void *to,
			    struct token_source *source)
{
	double number = 0;

	return read_double(field, token, &number, source->err) < 0
		       ? -1
		       : doubles_add(to, number, source->err);
}

static int codec_read_flat(const struct field *field, const struct token *token,
			   const char *expected, codec_item_fn *add, void *to,
			   struct token_source *source)
{
	struct token one;

	if (token->kind != TOKEN_LIST)
		return codec_refuse_token(field, token, expected, source->err);
	if (token->size > CODEC_ITEMS_MAX)
		return error_set(source->err, EPROTO, "%s: more than %d items",
				 field->name, CODEC_ITEMS_MAX);
	for (size_t left = token->size; left; left--) {
		if (source->next(source, &one) < 0)
			return error_prefix(source->err, "%s", field->name);
		if (add(field, &one, to, source) < 0)
			return -1;
	}
	return 0;
}

static int codec_read_map(const struct field *field, const struct token *token,
			  void *to, struct token_source *source)
{
	struct error *err = source->err;
	size_t *count = field_count(field, to);
	struct named_number **items = field_at(field, to);
	struct token one;

	if (token->kind != TOKEN_OBJECT)
		return codec_refuse_token(field, token, "an object", err);
	if (token->size > CODEC_ITEMS_MAX)
		return error_set(err, EPROTO, "%s: more than %d items",
				 field->name, CODEC_ITEMS_MAX);
	if (!token->size)
		return 0;
	*items = calloc(token->size, sizeof(**items));
	if (!*items)
		return error_nomem(err, field->name);
	while (*count < token->size) {
		struct named_number *item = &(*items)[(*count)++];

		if (source->next(source, &one) < 0 ||
		    codec_read_string(field, &one, &item->name, err) < 0 ||
		    source->next(source, &one) < 0 ||
		    read_double(field, &one, &item->number, err) < 0)
			return error_prefix(err, "%s", field->name);
	}
	return 0;
}

static int read_truth(const struct field *field, const struct token *token,
		      uint32_t *to, struct error *err)
{
	if (token->kind != TOKEN_BOOL)
		return codec_refuse_token(field, token, "a boolean", err);
	*to = token->flag ? TRUTH_YES : TRUTH_NO;
	return 0;
}

static int read_enum(const struct field *field, const struct token *token,
		     uint32_t *to, struct error *err)
{
	char allowed[160] = "one of";
	size_t used = strlen(allowed);

	for (uint32_t i = 1; field->names[i]; i++) {
		if (token_is(token, field->names[i])) {
			*to = i;
			return 0;
		}
		if (used < sizeof(allowed))
			used += (size_t)snprintf(allowed + used,
						 sizeof(allowed) - used,
						 "%s %s", i > 1 ? "," : "",
						 field->names[i]);
	}
	return codec_refuse_token(field, token, allowed, err);
}

static int read_json(const struct field *field, const struct token *token,
		     cJSON **to, struct token_source *source)
{
	struct json_tree_sink sink;
	int rc = token_copy(source, token, json_tree_sink(&sink, source->err));

	json_tree_sink_clear(&sink);
	*to = sink.root;
	return rc < 0 ? error_prefix(source->err, "%s", field->name) : 0;
}

static int read_packed(const struct field *field, const struct token *token,
		       struct packed *to, struct token_source *source)
{
	owned(buffer_clear) struct buffer bytes = BUFFER_INIT(PACKED_MAX);
	struct cbor_bytes_sink sink;

	if (token_copy(source, token,
		       cbor_bytes_sink(&sink, &bytes, source->err)) < 0)
		return error_prefix(source->err, "%s", field->name);
	to->size = bytes.size;
	to->bytes = buffer_take(&bytes);
	return to->bytes ? 0 : error_nomem(source->err, field->name);
}

static int read_object(const struct schema *schema, const struct token *token,
		       void *to, struct token_source *source)
{
	if (token->kind == TOKEN_OBJECT)
		return codec_read_members(schema, source, token->size, to);
	memset(to, 0, schema->size);
	return error_set(source->err, EPROTO, "%s: not an object",
			 schema->name);
}

static int read_pointer(const struct field *field, const struct token *token,
			void **to, struct token_source *source)
{
	*to = malloc(field->schema->size);
	if (!*to)
		return error_nomem(source->err, field->name);
	if (read_object(field->schema, token, *to, source) < 0) {
		free(*to);
		*to = NULL;
		return error_prefix(source->err, "%s", field->name);
	}
	return 0;
}

/* A struct of a list, or its shorthand. */
static int read_item(const struct schema *schema, const struct token *token,
		     void *to, struct token_source *source)
{
	const struct field *first = &schema->fields[0];

	return schema->shorthand && token->kind == TOKEN_TEXT
		       ? codec_read_string(first, token, field_at(first, to),
					   source->err)
		       : read_object(schema, token, to, source);
}

static int codec_read_list(const struct field *field, const struct token *token,
			   void *to, struct token_source *source)
{
	struct error *err = source->err;
	size_t *count = field_count(field, to);
	char **items = field_at(field, to);
	struct token one;

	if (token->kind != TOKEN_LIST)
		return codec_refuse_token(field, token, "a list", err);
	if (token->size > CODEC_ITEMS_MAX)
		return error_set(err, EPROTO, "%s: more than %d items",
				 field->name, CODEC_ITEMS_MAX);
	if (!token->size)
		return 0;
	*items = calloc(token->size, field->schema->size);
	if (!*items)
		return error_nomem(err, field->name);
	for (; *count < token->size; ++*count)
		if (source->next(source, &one) < 0 ||
		    read_item(field->schema, &one,
			      *items + *count * field->schema->size,
			      source) < 0)
			return error_prefix(err, "%s[%zu]", field->name,
					    *count);
	return 0;
}

static int codec_read_field(const struct field *field,
			    const struct token *token, void *to,
			    struct token_source *source)
{
	struct error *err = source->err;
	void *at = field_at(field, to);

	if (field->nullable && token->kind == TOKEN_NULL)
		return 0;
	switch (field->kind) {
	case FIELD_BOOL:
		if (token->kind != TOKEN_BOOL)
			return codec_refuse_token(field, token, "a boolean",
						  err);
		*(bool *)at = token->flag;
		return 0;
	case FIELD_U32:
		if (token->kind != TOKEN_UNSIGNED || token->number > UINT32_MAX)
			return codec_refuse_token(field, token,
						  "an integer from 0 to 2^32-1",
						  err);
		*(uint32_t *)at = (uint32_t)token->number;
		return 0;
	case FIELD_U64:
		return read_u64(field, token, at, source);
	case FIELD_I64:
		return read_i64(field, token, at, source);
	case FIELD_DOUBLE:
		return read_double(field, token, at, err);
	case FIELD_STRING:
		return codec_read_string(field, token, at, err);
	case FIELD_STRINGS:
		return codec_read_flat(field, token, "a list of strings",
				       codec_add_string, at, source);
	case FIELD_NUMBERS:
		return codec_read_flat(field, token, "a list of integers",
				       codec_add_number, at, source);
	case FIELD_DOUBLES:
		return codec_read_flat(field, token, "a list of numbers",
				       codec_add_double, at, source);
	case FIELD_TRUTH:
		return read_truth(field, token, at, err);
	case FIELD_MAP:
		return codec_read_map(field, token, to, source);
	case FIELD_PACKED:
		return read_packed(field, token, at, source);
	case FIELD_JSON:
		return read_json(field, token, at, source);
	case FIELD_STRUCT:
		if (read_object(field->schema, token, at, source) < 0)
			return error_prefix(err, "%s", field->name);
		return 0;
	case FIELD_POINTER:
		return read_pointer(field, token, at, source);
	case FIELD_ENUM:
		return read_enum(field, token, at, err);
	case FIELD_LIST:
		return codec_read_list(field, token, to, source);
	}
	return 0;
}

static int read_absent(const struct field *field, void *to,
		       struct token_source *source)
{
	if (field->optional)
		return 0;
	if (!source->loose)
		return error_set(source->err, EPROTO, "%s: missing",
				 field->name);
	return field->kind == FIELD_STRING
		       ? string_set(field_at(field, to), "", source->err)
		       : 0;
}

/* The index of the field. A codec writes fields in order, so the next one is
 * tried first.
 */
static size_t codec_field_named(const struct schema *schema, size_t likely,
				const struct token *name)
{
	size_t i = 0;

	while (likely < schema->count && schema->fields[likely].optional &&
	       !token_is(name, schema->fields[likely].name))
		likely++;
	if (likely < schema->count &&
	    token_is(name, schema->fields[likely].name))
		return likely;
	while (i < schema->count && !token_is(name, schema->fields[i].name))
		i++;
	return i;
}

static int codec_read_fields(const struct schema *schema, size_t members,
			     void *to, struct token_source *source)
{
	struct error *err = source->err;
	uint64_t seen = 0; /* one bit per field: schemas have fewer than 64 */
	struct token name, token;
	size_t i = 0;

	for (; members; members--) {
		if (source->next(source, &name) < 0)
			return -1;
		if (name.kind != TOKEN_TEXT)
			return error_set(err, EPROTO,
					 "%s: a field without a name",
					 schema->name);
		i = codec_field_named(schema, i, &name);
		if (i == schema->count && !source->loose)
			return error_set(err, EPROTO, "%.*s: unknown field",
					 name.size < 80 ? (int)name.size : 80,
					 name.text);
		if (source->next(source, &token) < 0)
			return -1;
		if (i == schema->count) {
			if (token_copy(source, &token, NULL) < 0)
				return -1;
			continue;
		}
		if (seen & (UINT64_C(1) << i))
			return error_set(err, EPROTO, "%s: given twice",
					 schema->fields[i].name);
		seen |= UINT64_C(1) << i;
		if (codec_read_field(&schema->fields[i], &token, to, source) <
		    0)
			return -1;
		i++;
	}
	for (i = 0; i < schema->count; i++)
		if (!(seen & (UINT64_C(1) << i)) &&
		    read_absent(&schema->fields[i], to, source) < 0)
			return -1;
	return 0;
}

int codec_read_members(const struct schema *schema, struct token_source *source,
		       size_t members, void *to)
{
	memset(to, 0, schema->size);
	for (size_t i = 0; i < schema->count; i++)
		if (schema->fields[i].known)
			*(double *)field_at(&schema->fields[i], to) =
				(double)NAN;
	if (codec_read_fields(schema, members, to, source) < 0) {
		codec_clear(schema, to);
		return -1;
	}
	return 0;
}

int codec_read(const struct schema *schema, struct token_source *source,
	       void *to)
{
	struct token token;

	if (source->next(source, &token) < 0) {
		memset(to, 0, schema->size);
		return -1;
	}
	return read_object(schema, &token, to, source);
}
