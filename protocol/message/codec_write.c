/* codec_write.c - structs to tokens, by tables.
 */
#include "protocol/message/codec_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

bool codec_field_is_zero(const struct field *field, const void *from)
{
	const void *at = field_at(field, from);

	switch (field->kind) {
	case FIELD_BOOL:
		return !*(const bool *)at;
	case FIELD_U32:
	case FIELD_ENUM:
	case FIELD_TRUTH:
		return !*(const uint32_t *)at;
	case FIELD_U64:
		return !*(const uint64_t *)at;
	case FIELD_I64:
		return !*(const int64_t *)at;
	case FIELD_DOUBLE:
		return field->known ? !isfinite(*(const double *)at)
				    : *(const double *)at == 0;
	case FIELD_STRING:
	case FIELD_JSON:
	case FIELD_POINTER:
		return !*(void *const *)at;
	case FIELD_STRINGS:
		return !((const struct strings *)at)->count;
	case FIELD_NUMBERS:
		return !((const struct numbers *)at)->count;
	case FIELD_DOUBLES:
		return !((const struct doubles *)at)->count;
	case FIELD_LIST:
	case FIELD_MAP:
		return !*field_count(field, from);
	case FIELD_STRUCT:
		for (size_t i = 0; i < field->schema->count; i++)
			if (!codec_field_is_zero(&field->schema->fields[i], at))
				return false;
		return true;
	case FIELD_PACKED:
		return !((const struct packed *)at)->from &&
		       !((const struct packed *)at)->bytes;
	}
	return false;
}

/* Absent and zero are the same to an optional field, so it is left out. */
static bool codec_omits_field(const struct field *field, const void *from)
{
	return field->optional && !field->nullable &&
	       codec_field_is_zero(field, from);
}

static int put_begin(struct token_sink *sink, enum token_kind kind, size_t size)
{
	struct token token = { .kind = kind, .size = size };

	return sink->put(sink, &token);
}

static int put_kind(struct token_sink *sink, enum token_kind kind)
{
	return put_begin(sink, kind, 0);
}

static int codec_put_number(struct token_sink *sink, uint64_t number)
{
	struct token token = { .kind = TOKEN_UNSIGNED, .number = number };

	return sink->put(sink, &token);
}

static int put_signed(struct token_sink *sink, int64_t number)
{
	struct token token = { .kind = TOKEN_NEGATIVE, .negative = number };

	return number < 0 ? sink->put(sink, &token)
			  : codec_put_number(sink, (uint64_t)number);
}

static int put_real(struct token_sink *sink, double number)
{
	struct token token = { .kind = TOKEN_REAL, .real = number };

	return isfinite(number)
		       ? sink->put(sink, &token)
		       : error_set(sink->err, EINVAL, "not a finite number");
}

/* Refuse what the decoder would refuse. */
static int codec_put_text(struct token_sink *sink, const char *text)
{
	struct token token = { .kind = TOKEN_TEXT,
			       .size = text ? strlen(text) : 0,
			       .text = text };

	if (!text)
		return error_set(sink->err, EINVAL, "missing");
	if (token.size > CODEC_STRING_MAX)
		return error_set(sink->err, E2BIG,
				 "%zu bytes; expected at most %d", token.size,
				 CODEC_STRING_MAX);
	return sink->put(sink, &token);
}

static int put_enum(struct token_sink *sink, const struct field *field,
		    uint32_t value)
{
	uint32_t i = 1;

	while (i < value && field->names[i])
		i++;
	if (!value || !field->names[i])
		return error_set(sink->err, EINVAL, "%u is not a valid value",
				 value);
	return codec_put_text(sink, field->names[value]);
}

static int codec_put_json(struct token_sink *sink, const cJSON *tree)
{
	return tree ? json_tree_put(tree, sink)
		    : error_set(sink->err, EINVAL, "missing");
}

static int put_list_size(struct token_sink *sink, size_t count)
{
	return count > CODEC_ITEMS_MAX
		       ? error_set(sink->err, E2BIG,
				   "%zu items; expected at most %d", count,
				   CODEC_ITEMS_MAX)
		       : 0;
}

static int put_list_begin(struct token_sink *sink, size_t count)
{
	return put_list_size(sink, count) < 0
		       ? -1
		       : put_begin(sink, TOKEN_LIST, count);
}

static int codec_put_strings(struct token_sink *sink,
			     const struct strings *strings)
{
	if (put_list_begin(sink, strings->count) < 0)
		return -1;
	for (size_t i = 0; i < strings->count; i++)
		if (codec_put_text(sink, strings->items[i]) < 0)
			return error_prefix(sink->err, "[%zu]", i);
	return put_kind(sink, TOKEN_END);
}

static int put_numbers(struct token_sink *sink, const struct numbers *numbers)
{
	if (put_list_begin(sink, numbers->count) < 0)
		return -1;
	for (size_t i = 0; i < numbers->count; i++)
		if (codec_put_number(sink, numbers->items[i]) < 0)
			return -1;
	return put_kind(sink, TOKEN_END);
}

static int put_doubles(struct token_sink *sink, const struct doubles *doubles)
{
	if (put_list_begin(sink, doubles->count) < 0)
		return -1;
	for (size_t i = 0; i < doubles->count; i++)
		if (put_real(sink, doubles->items[i]) < 0)
			return error_prefix(sink->err, "[%zu]", i);
	return put_kind(sink, TOKEN_END);
}

/* Is nothing but the first field set? */
static bool is_shorthand(const struct schema *schema, const void *from)
{
	for (size_t i = 1; i < schema->count; i++)
		if (!codec_field_is_zero(&schema->fields[i], from))
			return false;
	return schema->shorthand;
}

static int codec_put_item(struct token_sink *sink, const struct schema *schema,
			  const void *item)
{
	return is_shorthand(schema, item)
		       ? codec_put_text(sink,
					*(char *const *)
						field_at(&schema->fields[0],
							 item))
		       : codec_write(schema, item, NULL, sink);
}

static int codec_put_list(struct token_sink *sink, const struct field *field,
			  const void *from)
{
	const char *items = *(char *const *)field_at(field, from);
	size_t count = *field_count(field, from);

	if (put_list_begin(sink, count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (codec_put_item(sink, field->schema,
				   items + i * field->schema->size) < 0)
			return error_prefix(sink->err, "[%zu]", i);
	return put_kind(sink, TOKEN_END);
}

static int put_map(struct token_sink *sink, const struct field *field,
		   const void *from)
{
	const struct named_number *items =
		*(struct named_number *const *)field_at(field, from);
	size_t count = *field_count(field, from);

	if (put_list_size(sink, count) < 0 ||
	    put_begin(sink, TOKEN_OBJECT, count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (codec_put_text(sink, items[i].name) < 0 ||
		    put_real(sink, items[i].number) < 0)
			return error_prefix(sink->err, "[%zu]", i);
	return put_kind(sink, TOKEN_END);
}

static int put_double(struct token_sink *sink, const struct field *field,
		      double number)
{
	return field->words && !isfinite(number)
		       ? codec_put_text(sink, number_word(number))
		       : put_real(sink, number);
}

static int put_packed(struct token_sink *sink, const struct packed *packed)
{
	struct cbor_bytes_source bytes;
	struct token_source *source;
	struct token token;

	if (packed->from)
		return codec_write(packed->schema, packed->from, NULL, sink);
	if (!packed->bytes)
		return error_set(sink->err, EINVAL, "missing");
	source = cbor_bytes_source(&bytes, packed->bytes, packed->size,
				   sink->err);
	return source->next(source, &token) < 0
		       ? -1
		       : token_copy(source, &token, sink);
}

static int put_truth(struct token_sink *sink, uint32_t truth)
{
	struct token flag = { .kind = TOKEN_BOOL, .flag = truth == TRUTH_YES };

	return sink->put(sink, &flag);
}

static int codec_put_value(struct token_sink *sink, const struct field *field,
			   const void *from)
{
	const void *at = field_at(field, from);
	struct token flag = { .kind = TOKEN_BOOL };

	switch (field->kind) {
	case FIELD_BOOL:
		flag.flag = *(const bool *)at;
		return sink->put(sink, &flag);
	case FIELD_U32:
		return codec_put_number(sink, *(const uint32_t *)at);
	case FIELD_U64:
		return codec_put_number(sink, *(const uint64_t *)at);
	case FIELD_I64:
		return put_signed(sink, *(const int64_t *)at);
	case FIELD_DOUBLE:
		return put_double(sink, field, *(const double *)at);
	case FIELD_STRING:
		return codec_put_text(sink, *(char *const *)at);
	case FIELD_STRINGS:
		return codec_put_strings(sink, at);
	case FIELD_NUMBERS:
		return put_numbers(sink, at);
	case FIELD_DOUBLES:
		return put_doubles(sink, at);
	case FIELD_TRUTH:
		return put_truth(sink, *(const uint32_t *)at);
	case FIELD_MAP:
		return put_map(sink, field, from);
	case FIELD_PACKED:
		return put_packed(sink, at);
	case FIELD_JSON:
		return codec_put_json(sink, *(cJSON *const *)at);
	case FIELD_STRUCT:
		return codec_write(field->schema, at, NULL, sink);
	case FIELD_POINTER:
		return codec_write(field->schema, *(void *const *)at, NULL,
				   sink);
	case FIELD_ENUM:
		return put_enum(sink, field, *(const uint32_t *)at);
	case FIELD_LIST:
		return codec_put_list(sink, field, from);
	}
	return 0;
}

/* Names are short constants: their length is not checked. */
static int codec_put_name(struct token_sink *sink, const char *name)
{
	struct token token = { .kind = TOKEN_TEXT,
			       .size = strlen(name),
			       .text = name };

	return sink->put(sink, &token);
}

static int put_member(struct token_sink *sink, const struct field *field,
		      const void *from)
{
	int rc;

	if (codec_put_name(sink, field->name) < 0)
		return -1;
	rc = field->nullable && codec_field_is_zero(field, from)
		     ? put_kind(sink, TOKEN_NULL)
		     : codec_put_value(sink, field, from);
	return rc < 0 ? error_prefix(sink->err, "%s", field->name) : 0;
}

int codec_write(const struct schema *schema, const void *from, const char *type,
		struct token_sink *sink)
{
	size_t members = type ? 1 : 0;

	for (size_t i = 0; i < schema->count; i++)
		members += !codec_omits_field(&schema->fields[i], from);
	if (put_begin(sink, TOKEN_OBJECT, members) < 0)
		return -1;
	if (type && (codec_put_name(sink, "type") < 0 ||
		     codec_put_name(sink, type) < 0))
		return -1;
	for (size_t i = 0; i < schema->count; i++)
		if (!codec_omits_field(&schema->fields[i], from) &&
		    put_member(sink, &schema->fields[i], from) < 0)
			return -1;
	return put_kind(sink, TOKEN_END);
}
