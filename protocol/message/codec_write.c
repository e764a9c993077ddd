/* codec_write.c - structs to tokens, by tables.
 */
#include "protocol/message/codec_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Absent and zero are the same to an optional field, so it is left out. */
static bool field_is_zero(const struct field *field, const void *from)
{
	const void *at = field_at(field, from);

	switch (field->kind) {
	case FIELD_BOOL:
		return !*(const bool *)at;
	case FIELD_U32:
	case FIELD_ENUM:
		return !*(const uint32_t *)at;
	case FIELD_U64:
		return !*(const uint64_t *)at;
	case FIELD_I64:
		return !*(const int64_t *)at;
	case FIELD_DOUBLE:
		return field->known ? isnan(*(const double *)at)
				    : *(const double *)at == 0;
	case FIELD_STRING:
	case FIELD_JSON:
	case FIELD_POINTER:
		return !*(void *const *)at;
	case FIELD_STRINGS:
		return !((const struct strings *)at)->count;
	case FIELD_NUMBERS:
		return !((const struct numbers *)at)->count;
	case FIELD_LIST:
		return !*field_count(field, from);
	case FIELD_STRUCT:
		break;
	}
	return false;
}

static bool is_left_out(const struct field *field, const void *from)
{
	return field->optional && !field->nullable &&
	       field_is_zero(field, from);
}

static int put_begin(struct token_sink *sink, enum token_kind kind, size_t size,
		     struct error *err)
{
	struct token token = { .kind = kind, .size = size };

	return sink->put(sink, &token, err);
}

static int put_kind(struct token_sink *sink, enum token_kind kind,
		    struct error *err)
{
	return put_begin(sink, kind, 0, err);
}

static int put_number(struct token_sink *sink, uint64_t number,
		      struct error *err)
{
	struct token token = { .kind = TOKEN_UNSIGNED, .number = number };

	return sink->put(sink, &token, err);
}

static int put_signed(struct token_sink *sink, int64_t number,
		      struct error *err)
{
	struct token token = { .kind = TOKEN_NEGATIVE, .negative = number };

	return number < 0 ? sink->put(sink, &token, err)
			  : put_number(sink, (uint64_t)number, err);
}

static int put_real(struct token_sink *sink, double number, struct error *err)
{
	struct token token = { .kind = TOKEN_REAL, .real = number };

	return isfinite(number) ? sink->put(sink, &token, err)
				: error_set(err, EINVAL, "not a finite number");
}

/* Refuse what the decoder would refuse. */
static int put_text(struct token_sink *sink, const char *text,
		    struct error *err)
{
	struct token token = { .kind = TOKEN_TEXT,
			       .size = text ? strlen(text) : 0,
			       .text = text };

	if (!text)
		return error_set(err, EINVAL, "missing");
	if (token.size > CODEC_STRING_MAX)
		return error_set(err, E2BIG, "%zu bytes; expected at most %d",
				 token.size, CODEC_STRING_MAX);
	return sink->put(sink, &token, err);
}

static int put_enum(struct token_sink *sink, const struct field *field,
		    uint32_t value, struct error *err)
{
	uint32_t i = 1;

	while (i < value && field->names[i])
		i++;
	if (!value || !field->names[i])
		return error_set(err, EINVAL, "%u is not a valid value", value);
	return put_text(sink, field->names[value], err);
}

static int put_json(struct token_sink *sink, const cJSON *tree,
		    struct error *err)
{
	struct json_tree_source source;
	struct token_source *from = json_tree_source(&source, tree);
	struct token token;

	if (!tree)
		return error_set(err, EINVAL, "missing");
	if (from->next(from, &token, err) < 0)
		return -1;
	return token_copy(from, &token, sink, err);
}

static int put_list_begin(struct token_sink *sink, size_t count,
			  struct error *err)
{
	if (count > CODEC_ITEMS_MAX)
		return error_set(err, E2BIG, "%zu items; expected at most %d",
				 count, CODEC_ITEMS_MAX);
	return put_begin(sink, TOKEN_LIST, count, err);
}

static int put_strings(struct token_sink *sink, const struct strings *strings,
		       struct error *err)
{
	if (put_list_begin(sink, strings->count, err) < 0)
		return -1;
	for (size_t i = 0; i < strings->count; i++)
		if (put_text(sink, strings->items[i], err) < 0)
			return error_prefix(err, "[%zu]", i);
	return put_kind(sink, TOKEN_END, err);
}

static int put_numbers(struct token_sink *sink, const struct numbers *numbers,
		       struct error *err)
{
	if (put_list_begin(sink, numbers->count, err) < 0)
		return -1;
	for (size_t i = 0; i < numbers->count; i++)
		if (put_number(sink, numbers->items[i], err) < 0)
			return -1;
	return put_kind(sink, TOKEN_END, err);
}

static int put_list(struct token_sink *sink, const struct field *field,
		    const void *from, struct error *err)
{
	const char *items = *(char *const *)field_at(field, from);
	size_t count = *field_count(field, from);

	if (put_list_begin(sink, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (codec_write(field->schema, items + i * field->schema->size,
				NULL, sink, err) < 0)
			return error_prefix(err, "[%zu]", i);
	return put_kind(sink, TOKEN_END, err);
}

static int put_value(struct token_sink *sink, const struct field *field,
		     const void *from, struct error *err)
{
	const void *at = field_at(field, from);
	struct token flag = { .kind = TOKEN_BOOL };

	switch (field->kind) {
	case FIELD_BOOL:
		flag.flag = *(const bool *)at;
		return sink->put(sink, &flag, err);
	case FIELD_U32:
		return put_number(sink, *(const uint32_t *)at, err);
	case FIELD_U64:
		return put_number(sink, *(const uint64_t *)at, err);
	case FIELD_I64:
		return put_signed(sink, *(const int64_t *)at, err);
	case FIELD_DOUBLE:
		return put_real(sink, *(const double *)at, err);
	case FIELD_STRING:
		return put_text(sink, *(char *const *)at, err);
	case FIELD_STRINGS:
		return put_strings(sink, at, err);
	case FIELD_NUMBERS:
		return put_numbers(sink, at, err);
	case FIELD_JSON:
		return put_json(sink, *(cJSON *const *)at, err);
	case FIELD_STRUCT:
		return codec_write(field->schema, at, NULL, sink, err);
	case FIELD_POINTER:
		return codec_write(field->schema, *(void *const *)at, NULL,
				   sink, err);
	case FIELD_ENUM:
		return put_enum(sink, field, *(const uint32_t *)at, err);
	case FIELD_LIST:
		return put_list(sink, field, from, err);
	}
	return 0;
}

/* Names are short constants: their length is not checked. */
static int put_name(struct token_sink *sink, const char *name,
		    struct error *err)
{
	struct token token = { .kind = TOKEN_TEXT,
			       .size = strlen(name),
			       .text = name };

	return sink->put(sink, &token, err);
}

static int put_member(struct token_sink *sink, const struct field *field,
		      const void *from, struct error *err)
{
	int rc;

	if (put_name(sink, field->name, err) < 0)
		return -1;
	rc = field->nullable && field_is_zero(field, from)
		     ? put_kind(sink, TOKEN_NULL, err)
		     : put_value(sink, field, from, err);
	return rc < 0 ? error_prefix(err, "%s", field->name) : 0;
}

int codec_write(const struct schema *schema, const void *from, const char *type,
		struct token_sink *sink, struct error *err)
{
	size_t members = type ? 1 : 0;

	for (size_t i = 0; i < schema->count; i++)
		members += !is_left_out(&schema->fields[i], from);
	if (put_begin(sink, TOKEN_OBJECT, members, err) < 0)
		return -1;
	if (type &&
	    (put_name(sink, "type", err) < 0 || put_name(sink, type, err) < 0))
		return -1;
	for (size_t i = 0; i < schema->count; i++)
		if (!is_left_out(&schema->fields[i], from) &&
		    put_member(sink, &schema->fields[i], from, err) < 0)
			return -1;
	return put_kind(sink, TOKEN_END, err);
}
