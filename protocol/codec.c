/* codec.c - structs to JSON and back, by tables.
 */
#include "protocol/codec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 9007199254740992.0 /* 2^53: the last exact integer */

static void *field_at(const struct field *field, const void *data)
{
	return (char *)data + field->offset;
}

static size_t *count_at(const struct field *field, const void *data)
{
	return (size_t *)((char *)data + field->count_offset);
}

void strings_clear(struct strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->items[i]);
	free(strings->items);
	*strings = (struct strings){ 0 };
}

int strings_add(struct strings *strings, const char *text, struct error *err)
{
	owned_free char *copy = strdup(text);
	char **items;

	if (!copy)
		return error_nomem(err, "list");
	/* Room for powers of two, without a second counter. */
	if (!(strings->count & (strings->count - 1))) {
		size_t room = strings->count ? strings->count * 2 : 1;

		items = realloc(strings->items, room * sizeof(*items));
		if (!items)
			return error_nomem(err, "list");
		strings->items = items;
	}
	strings->items[strings->count++] = take(copy);
	return 0;
}

int strings_printf(struct strings *strings, struct error *err, const char *fmt,
		   ...)
{
	owned(buffer_clear) struct buffer text;
	va_list args;
	int need;

	buffer_init(&text, CODEC_STRING_MAX);
	va_start(args, fmt);
	need = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (need < 0 || buffer_reserve(&text, (size_t)need, err) < 0)
		return error_prefix(err, "list");
	va_start(args, fmt);
	vsnprintf(text.data, (size_t)need + 1, fmt, args);
	va_end(args);
	return strings_add(strings, text.data, err);
}

int strings_copy(struct strings *to, const struct strings *from,
		 struct error *err)
{
	owned(strings_clear) struct strings copy = { 0 };

	for (size_t i = 0; i < from->count; i++)
		if (strings_add(&copy, from->items[i], err) < 0)
			return -1;
	strings_clear(to);
	*to = copy;
	copy = (struct strings){ 0 };
	return 0;
}

/* Encoding. */

static cJSON *integer_item(const char *text, double value)
{
	return fabs(value) <= EXACT_MAX ? cJSON_CreateNumber(value)
					: cJSON_CreateString(text);
}

static cJSON *strings_item(const struct strings *strings)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; array && i < strings->count; i++) {
		cJSON *item = cJSON_CreateString(strings->items[i]);

		if (!item || !cJSON_AddItemToArray(array, item)) {
			cJSON_Delete(item);
			cJSON_Delete(array);
			return NULL;
		}
	}
	return array;
}

static cJSON *list_item(const struct field *field, const void *from)
{
	cJSON *array = cJSON_CreateArray();
	const char *items = *(char *const *)field_at(field, from);

	for (size_t i = 0; array && i < *count_at(field, from); i++) {
		cJSON *item =
			codec_object(field->schema,
				     items + i * field->schema->size, NULL);

		if (!item || !cJSON_AddItemToArray(array, item)) {
			cJSON_Delete(item);
			cJSON_Delete(array);
			return NULL;
		}
	}
	return array;
}

/* Absent and zero are the same to an optional field, so it is left out. */
static bool field_is_zero(const struct field *field, const void *from)
{
	const void *at = field_at(field, from);

	switch (field->kind) {
	case FIELD_BOOL:
		return !*(const bool *)at;
	case FIELD_U32:
		return !*(const uint32_t *)at;
	case FIELD_U64:
		return !*(const uint64_t *)at;
	case FIELD_I64:
		return !*(const int64_t *)at;
	case FIELD_DOUBLE:
		return *(const double *)at == 0;
	case FIELD_STRING:
	case FIELD_JSON:
		return !*(void *const *)at;
	case FIELD_STRINGS:
		return !((const struct strings *)at)->count;
	case FIELD_LIST:
		return !*count_at(field, from);
	case FIELD_STRUCT:
		break;
	}
	return false;
}

static cJSON *field_item(const struct field *field, const void *from)
{
	const void *at = field_at(field, from);
	char text[32];

	switch (field->kind) {
	case FIELD_BOOL:
		return cJSON_CreateBool(*(const bool *)at);
	case FIELD_U32:
		return cJSON_CreateNumber(*(const uint32_t *)at);
	case FIELD_U64:
		snprintf(text, sizeof(text), "%" PRIu64, *(const uint64_t *)at);
		return integer_item(text, (double)*(const uint64_t *)at);
	case FIELD_I64:
		snprintf(text, sizeof(text), "%" PRId64, *(const int64_t *)at);
		return integer_item(text, (double)*(const int64_t *)at);
	case FIELD_DOUBLE:
		return cJSON_CreateNumber(*(const double *)at);
	case FIELD_STRING:
		return cJSON_CreateString(*(char *const *)at);
	case FIELD_STRINGS:
		return strings_item(at);
	case FIELD_JSON:
		return cJSON_Duplicate(*(cJSON *const *)at, true);
	case FIELD_STRUCT:
		return codec_object(field->schema, at, NULL);
	case FIELD_LIST:
		return list_item(field, from);
	}
	return NULL;
}

cJSON *codec_object(const struct schema *schema, const void *from,
		    struct error *err)
{
	cJSON *object = cJSON_CreateObject();

	for (size_t i = 0; object && i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		cJSON *item;

		if (field->optional && field_is_zero(field, from))
			continue;
		item = field_item(field, from);
		/* The name is a constant of ours: the object may borrow it. */
		if (!item ||
		    !cJSON_AddItemToObjectCS(object, field->name, item)) {
			cJSON_Delete(item);
			cJSON_Delete(object);
			object = NULL;
		}
	}
	if (!object)
		error_nomem(err, schema->name);
	return object;
}

int codec_encode(const struct schema *schema, const void *from,
		 struct buffer *out, struct error *err)
{
	cJSON *object = codec_object(schema, from, err);
	char *text = object ? cJSON_PrintUnformatted(object) : NULL;
	int rc;

	cJSON_Delete(object);
	if (!text)
		return error_nomem(err, schema->name);
	rc = buffer_text(out, text, err);
	cJSON_free(text);
	return rc;
}

/* Decoding. */

static int wrong(const struct field *field, const cJSON *item,
		 const char *allowed, struct error *err)
{
	const char *found = cJSON_IsString(item)   ? "a string"
			    : cJSON_IsNumber(item) ? "a number"
			    : cJSON_IsBool(item)   ? "a boolean"
			    : cJSON_IsNull(item)   ? "null"
			    : cJSON_IsArray(item)  ? "a list"
						   : "an object";

	return error_set(err, EPROTO, "%s: found %s, allowed is %s",
			 field->name, found, allowed);
}

static bool number_integral(const cJSON *item, double low, double high)
{
	return cJSON_IsNumber(item) && item->valuedouble >= low &&
	       item->valuedouble <= high &&
	       item->valuedouble == floor(item->valuedouble);
}

static int read_u64(const struct field *field, const cJSON *item, uint64_t *to,
		    struct error *err)
{
	char *end;

	if (number_integral(item, 0, EXACT_MAX)) {
		*to = (uint64_t)item->valuedouble;
		return 0;
	}
	if (cJSON_IsString(item) &&
	    isdigit((unsigned char)item->valuestring[0])) {
		errno = 0;
		*to = strtoull(item->valuestring, &end, 10);
		if (!*end && !errno)
			return 0;
	}
	return wrong(field, item, "an integer from 0 to 2^64-1", err);
}

static int read_i64(const struct field *field, const cJSON *item, int64_t *to,
		    struct error *err)
{
	const char *text = item->valuestring;
	char *end;

	if (number_integral(item, -EXACT_MAX, EXACT_MAX)) {
		*to = (int64_t)item->valuedouble;
		return 0;
	}
	if (cJSON_IsString(item) &&
	    isdigit((unsigned char)text[text[0] == '-'])) {
		errno = 0;
		*to = strtoll(text, &end, 10);
		if (!*end && !errno)
			return 0;
	}
	return wrong(field, item, "an integer from -2^63 to 2^63-1", err);
}

static int read_string(const struct field *field, const cJSON *item, char **to,
		       struct error *err)
{
	if (!cJSON_IsString(item))
		return wrong(field, item, "a string", err);
	if (strlen(item->valuestring) > CODEC_STRING_MAX)
		return error_set(err, EPROTO, "%s: longer than %d bytes",
				 field->name, CODEC_STRING_MAX);
	*to = strdup(item->valuestring);
	return *to ? 0 : error_nomem(err, field->name);
}

static int read_strings(const struct field *field, const cJSON *item,
			struct strings *to, struct error *err)
{
	const cJSON *one;

	if (!cJSON_IsArray(item))
		return wrong(field, item, "a list of strings", err);
	cJSON_ArrayForEach(one, item)
	{
		if (!cJSON_IsString(one))
			return wrong(field, one, "a list of strings", err);
		if (to->count >= CODEC_ITEMS_MAX ||
		    strlen(one->valuestring) > CODEC_STRING_MAX)
			return error_set(err, EPROTO,
					 "%s: more than %d items or %d bytes",
					 field->name, CODEC_ITEMS_MAX,
					 CODEC_STRING_MAX);
		if (strings_add(to, one->valuestring, err) < 0)
			return -1;
	}
	return 0;
}

static int read_list(const struct field *field, const cJSON *item, void *to,
		     struct error *err)
{
	size_t *count = count_at(field, to);
	char **items = field_at(field, to);
	const cJSON *one;
	size_t size;

	if (!cJSON_IsArray(item))
		return wrong(field, item, "a list", err);
	size = (size_t)cJSON_GetArraySize(item);
	if (size > CODEC_ITEMS_MAX)
		return error_set(err, EPROTO, "%s: more than %d items",
				 field->name, CODEC_ITEMS_MAX);
	if (!size)
		return 0;
	*items = calloc(size, field->schema->size);
	if (!*items)
		return error_nomem(err, field->name);
	cJSON_ArrayForEach(one, item)
	{
		if (codec_from_object(field->schema, one,
				      *items + *count * field->schema->size,
				      err) < 0)
			return error_prefix(err, "%s[%zu]", field->name,
					    *count);
		++*count;
	}
	return 0;
}

static int read_field(const struct field *field, const cJSON *item, void *to,
		      struct error *err)
{
	void *at = field_at(field, to);

	switch (field->kind) {
	case FIELD_BOOL:
		if (!cJSON_IsBool(item))
			return wrong(field, item, "a boolean", err);
		*(bool *)at = cJSON_IsTrue(item);
		return 0;
	case FIELD_U32:
		if (!number_integral(item, 0, UINT32_MAX))
			return wrong(field, item, "an integer from 0 to 2^32-1",
				     err);
		*(uint32_t *)at = (uint32_t)item->valuedouble;
		return 0;
	case FIELD_U64:
		return read_u64(field, item, at, err);
	case FIELD_I64:
		return read_i64(field, item, at, err);
	case FIELD_DOUBLE:
		if (!cJSON_IsNumber(item))
			return wrong(field, item, "a number", err);
		*(double *)at = item->valuedouble;
		return 0;
	case FIELD_STRING:
		return read_string(field, item, at, err);
	case FIELD_STRINGS:
		return read_strings(field, item, at, err);
	case FIELD_JSON:
		*(cJSON **)at = cJSON_Duplicate(item, true);
		return *(cJSON **)at ? 0 : error_nomem(err, field->name);
	case FIELD_STRUCT:
		if (codec_from_object(field->schema, item, at, err) < 0)
			return error_prefix(err, "%s", field->name);
		return 0;
	case FIELD_LIST:
		return read_list(field, item, to, err);
	}
	return 0;
}

static int read_fields(const struct schema *schema, const cJSON *object,
		       void *to, struct error *err)
{
	uint64_t seen = 0; /* a bit a field: schemas have fewer than 64 */
	const cJSON *item;

	if (!cJSON_IsObject(object))
		return error_set(err, EPROTO, "%s: not an object",
				 schema->name);
	cJSON_ArrayForEach(item, object)
	{
		size_t i = 0;

		while (i < schema->count &&
		       strcmp(schema->fields[i].name, item->string))
			i++;
		if (i == schema->count)
			return error_set(err, EPROTO, "%s: unknown field",
					 item->string);
		if (seen & (UINT64_C(1) << i))
			return error_set(err, EPROTO, "%s: given twice",
					 item->string);
		seen |= UINT64_C(1) << i;
		if (read_field(&schema->fields[i], item, to, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < schema->count; i++)
		if (!schema->fields[i].optional && !(seen & (UINT64_C(1) << i)))
			return error_set(err, EPROTO, "%s: missing",
					 schema->fields[i].name);
	return 0;
}

int codec_from_object(const struct schema *schema, const cJSON *object,
		      void *to, struct error *err)
{
	memset(to, 0, schema->size);
	if (read_fields(schema, object, to, err) < 0) {
		codec_clear(schema, to);
		return -1;
	}
	return 0;
}

cJSON *codec_parse(const char *text, size_t size, struct error *err)
{
	const char *end = NULL;
	cJSON *object = cJSON_ParseWithLengthOpts(text, size, &end, 0);

	if (!object) {
		error_set(err, EPROTO, "not JSON, at byte %td",
			  end ? end - text : 0);
		return NULL;
	}
	while (end < text + size && isspace((unsigned char)*end))
		end++;
	if (end < text + size) {
		cJSON_Delete(object);
		error_set(err, EPROTO, "something behind the JSON, at byte %td",
			  end - text);
		return NULL;
	}
	return object;
}

int codec_decode(const struct schema *schema, const char *text, size_t size,
		 void *to, struct error *err)
{
	cJSON *object = codec_parse(text, size, err);
	int rc;

	if (!object) {
		memset(to, 0, schema->size);
		return error_prefix(err, "%s", schema->name);
	}
	rc = codec_from_object(schema, object, to, err);
	cJSON_Delete(object);
	return rc;
}

void codec_clear(const struct schema *schema, void *data)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		void *at = field_at(field, data);
		char *items;

		switch (field->kind) {
		case FIELD_STRING:
			free(*(char **)at);
			break;
		case FIELD_STRINGS:
			strings_clear(at);
			break;
		case FIELD_JSON:
			cJSON_Delete(*(cJSON **)at);
			break;
		case FIELD_STRUCT:
			codec_clear(field->schema, at);
			break;
		case FIELD_LIST:
			items = *(char **)at;
			for (size_t k = 0; k < *count_at(field, data); k++)
				codec_clear(field->schema,
					    items + k * field->schema->size);
			free(items);
			break;
		default:
			break;
		}
	}
	memset(data, 0, schema->size);
}
