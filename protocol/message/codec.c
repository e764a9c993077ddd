/* codec.c - structs to JSON and back, by tables.
 */
#include "protocol/message/codec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cJSON prints 15 digits where it takes the rest for noise. */
#define PRINTED_MAX UINT64_C(1000000000000000)
/* 2^53 - 1: a larger number may be another one, rounded. */
#define READ_MAX 9007199254740991.0

static void *field_at(const struct field *field, const void *data)
{
	return (char *)data + field->offset;
}

static size_t *count_at(const struct field *field, const void *data)
{
	return (size_t *)((char *)data + field->count_offset);
}

int numbers_add(struct numbers *numbers, uint64_t number, struct error *err)
{
	/* Room for powers of two, without a second counter. */
	if (!(numbers->count & (numbers->count - 1))) {
		size_t room = numbers->count ? numbers->count * 2 : 1;
		uint64_t *items =
			realloc(numbers->items, room * sizeof(*items));

		if (!items)
			return error_nomem(err, "list");
		numbers->items = items;
	}
	numbers->items[numbers->count++] = number;
	return 0;
}

int string_set(char **to, const char *text, struct error *err)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return error_nomem(err, "text");
	free(*to);
	*to = copy;
	return 0;
}

const struct field *codec_field(const struct schema *schema, const char *name)
{
	for (size_t i = 0; i < schema->count; i++)
		if (!strcmp(schema->fields[i].name, name))
			return &schema->fields[i];
	return NULL;
}

/* Encoding. */

static cJSON *made(cJSON *item, struct error *err)
{
	if (!item)
		error_set(err, ENOMEM, "out of memory");
	return item;
}

static cJSON *u64_item(uint64_t value, struct error *err)
{
	char text[24];

	if (value <= PRINTED_MAX)
		return made(cJSON_CreateNumber((double)value), err);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return made(cJSON_CreateString(text), err);
}

static cJSON *i64_item(int64_t value, struct error *err)
{
	char text[24];

	if (value >= 0)
		return u64_item((uint64_t)value, err);
	if (value >= -(int64_t)PRINTED_MAX)
		return made(cJSON_CreateNumber((double)value), err);
	snprintf(text, sizeof(text), "%" PRId64, value);
	return made(cJSON_CreateString(text), err);
}

/* What the other side would refuse is refused here already. */
static cJSON *string_item(const char *text, struct error *err)
{
	if (!text) {
		error_set(err, EINVAL, "missing");
		return NULL;
	}
	if (strlen(text) > CODEC_STRING_MAX) {
		error_set(err, E2BIG, "%zu bytes; expected at most %d",
			  strlen(text), CODEC_STRING_MAX);
		return NULL;
	}
	return made(cJSON_CreateString(text), err);
}

/* An array of what item(at, schema) makes of each. */
static cJSON *array_item(const char *items, size_t count, size_t size,
			 const struct schema *schema,
			 cJSON *(*item_of)(const void *at,
					   const struct schema *schema,
					   struct error *err),
			 struct error *err)
{
	cJSON *array;

	if (count > CODEC_ITEMS_MAX) {
		error_set(err, E2BIG, "%zu items; expected at most %d", count,
			  CODEC_ITEMS_MAX);
		return NULL;
	}
	array = made(cJSON_CreateArray(), err);
	for (size_t i = 0; array && i < count; i++) {
		cJSON *item = item_of(items + i * size, schema, err);

		if (!cJSON_AddItemToArray(array, item)) {
			error_prefix(err, "[%zu]", i);
			cJSON_Delete(item);
			cJSON_Delete(array);
			return NULL;
		}
	}
	return array;
}

static cJSON *string_of(const void *at, const struct schema *schema,
			struct error *err)
{
	return string_item(*(char *const *)at, err);
}

static cJSON *number_of(const void *at, const struct schema *schema,
			struct error *err)
{
	return u64_item(*(const uint64_t *)at, err);
}

static cJSON *struct_of(const void *at, const struct schema *schema,
			struct error *err)
{
	return codec_object(schema, at, err);
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
	case FIELD_ENUM:
		return !*(const uint32_t *)at;
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
		return !*count_at(field, from);
	case FIELD_STRUCT:
		break;
	}
	return false;
}

static size_t names_count(const struct field *field)
{
	size_t count = 1;

	while (field->names[count])
		count++;
	return count;
}

static cJSON *enum_item(const struct field *field, uint32_t value,
			struct error *err)
{
	if (value && value < names_count(field))
		return made(cJSON_CreateStringReference(field->names[value]),
			    err);
	error_set(err, EINVAL, "%u is no value of it", value);
	return NULL;
}

static cJSON *field_item(const struct field *field, const void *from,
			 struct error *err)
{
	const void *at = field_at(field, from);
	const struct strings *strings = at;
	const struct numbers *numbers = at;

	switch (field->kind) {
	case FIELD_BOOL:
		return made(cJSON_CreateBool(*(const bool *)at), err);
	case FIELD_U32:
		return u64_item(*(const uint32_t *)at, err);
	case FIELD_U64:
		return u64_item(*(const uint64_t *)at, err);
	case FIELD_I64:
		return i64_item(*(const int64_t *)at, err);
	case FIELD_DOUBLE:
		if (isfinite(*(const double *)at))
			return made(cJSON_CreateNumber(*(const double *)at),
				    err);
		error_set(err, EINVAL, "not a finite number");
		return NULL;
	case FIELD_STRING:
		return string_item(*(char *const *)at, err);
	case FIELD_STRINGS:
		return array_item((const char *)strings->items, strings->count,
				  sizeof(char *), NULL, string_of, err);
	case FIELD_NUMBERS:
		return array_item((const char *)numbers->items, numbers->count,
				  sizeof(uint64_t), NULL, number_of, err);
	case FIELD_JSON:
		if (*(cJSON *const *)at)
			return made(cJSON_Duplicate(*(cJSON *const *)at, true),
				    err);
		error_set(err, EINVAL, "missing");
		return NULL;
	case FIELD_STRUCT:
		return codec_object(field->schema, at, err);
	case FIELD_POINTER:
		return codec_object(field->schema, *(void *const *)at, err);
	case FIELD_ENUM:
		return enum_item(field, *(const uint32_t *)at, err);
	case FIELD_LIST:
		return array_item(*(char *const *)at, *count_at(field, from),
				  field->schema->size, field->schema, struct_of,
				  err);
	}
	return NULL;
}

cJSON *codec_object(const struct schema *schema, const void *from,
		    struct error *err)
{
	cJSON *object = made(cJSON_CreateObject(), err);

	for (size_t i = 0; object && i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		bool absent = field->optional && field_is_zero(field, from);
		cJSON *item;

		if (absent && !field->nullable)
			continue;
		item = absent ? made(cJSON_CreateNull(), err)
			      : field_item(field, from, err);
		/* The name is a constant of ours: the object may borrow it. */
		if (!cJSON_AddItemToObjectCS(object, field->name, item)) {
			error_prefix(err, "%s", field->name);
			cJSON_Delete(item);
			cJSON_Delete(object);
			return NULL;
		}
	}
	return object;
}

int codec_encode(const struct schema *schema, const void *from,
		 struct buffer *out, struct error *err)
{
	cJSON *object = codec_object(schema, from, err);
	char *text;
	int rc;

	if (!object)
		return error_prefix(err, "%s", schema->name);
	text = cJSON_PrintUnformatted(object);
	cJSON_Delete(object);
	if (!text)
		return error_nomem(err, schema->name);
	rc = buffer_text(out, text, err);
	cJSON_free(text);
	return rc < 0 ? error_prefix(err, "%s", schema->name) : 0;
}

/* Decoding. */

static int wrong(const struct field *field, const cJSON *item,
		 const char *allowed, struct error *err)
{
	if (cJSON_IsNumber(item))
		return error_set(err, EPROTO,
				 "%s: the number %.17g is not valid here; "
				 "expected %s",
				 field->name, item->valuedouble, allowed);
	if (cJSON_IsString(item))
		return error_set(err, EPROTO,
				 "%s: '%.40s' is not valid here; expected %s",
				 field->name, item->valuestring, allowed);
	return error_set(err, EPROTO, "%s: %s is not valid here; expected %s",
			 field->name,
			 cJSON_IsBool(item)    ? "a boolean"
			 : cJSON_IsNull(item)  ? "null"
			 : cJSON_IsArray(item) ? "a list"
					       : "an object",
			 allowed);
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

	if (number_integral(item, 0, READ_MAX)) {
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

	if (number_integral(item, -READ_MAX, READ_MAX)) {
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

static int read_numbers(const struct field *field, const cJSON *item,
			struct numbers *to, struct error *err)
{
	const cJSON *one;
	uint64_t number;

	if (!cJSON_IsArray(item))
		return wrong(field, item, "a list of integers", err);
	cJSON_ArrayForEach(one, item)
	{
		if (to->count >= CODEC_ITEMS_MAX)
			return error_set(err, EPROTO, "%s: more than %d items",
					 field->name, CODEC_ITEMS_MAX);
		if (read_u64(field, one, &number, err) < 0 ||
		    numbers_add(to, number, err) < 0)
			return -1;
	}
	return 0;
}

/* How a tree is read. */
struct reading {
	bool loose; /* fields may be unknown, and absent */
	struct error *err;
};

static int read_object(const struct schema *schema, const cJSON *object,
		       void *to, const struct reading *reading);

static int read_enum(const struct field *field, const cJSON *item, uint32_t *to,
		     struct error *err)
{
	char allowed[160] = "one of";
	size_t used = strlen(allowed);

	for (uint32_t i = 1; field->names[i]; i++) {
		if (cJSON_IsString(item) &&
		    !strcmp(item->valuestring, field->names[i])) {
			*to = i;
			return 0;
		}
		if (used < sizeof(allowed))
			used += (size_t)snprintf(allowed + used,
						 sizeof(allowed) - used,
						 "%s %s", i > 1 ? "," : "",
						 field->names[i]);
	}
	return wrong(field, item, allowed, err);
}

static int read_pointer(const struct field *field, const cJSON *item, void **to,
			const struct reading *reading)
{
	*to = calloc(1, field->schema->size);
	if (!*to)
		return error_nomem(reading->err, field->name);
	if (read_object(field->schema, item, *to, reading) < 0) {
		free(*to);
		*to = NULL;
		return error_prefix(reading->err, "%s", field->name);
	}
	return 0;
}

static int read_list(const struct field *field, const cJSON *item, void *to,
		     const struct reading *reading)
{
	struct error *err = reading->err;
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
		if (read_object(field->schema, one,
				*items + *count * field->schema->size,
				reading) < 0)
			return error_prefix(err, "%s[%zu]", field->name,
					    *count);
		++*count;
	}
	return 0;
}

static int read_field(const struct field *field, const cJSON *item, void *to,
		      const struct reading *reading)
{
	struct error *err = reading->err;
	void *at = field_at(field, to);

	if (field->nullable && cJSON_IsNull(item))
		return 0;
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
		if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
			return wrong(field, item, "a finite number", err);
		*(double *)at = item->valuedouble;
		return 0;
	case FIELD_STRING:
		return read_string(field, item, at, err);
	case FIELD_STRINGS:
		return read_strings(field, item, at, err);
	case FIELD_NUMBERS:
		return read_numbers(field, item, at, err);
	case FIELD_JSON:
		*(cJSON **)at = cJSON_Duplicate(item, true);
		return *(cJSON **)at ? 0 : error_nomem(err, field->name);
	case FIELD_STRUCT:
		if (read_object(field->schema, item, at, reading) < 0)
			return error_prefix(err, "%s", field->name);
		return 0;
	case FIELD_POINTER:
		return read_pointer(field, item, at, reading);
	case FIELD_ENUM:
		return read_enum(field, item, at, err);
	case FIELD_LIST:
		return read_list(field, item, to, reading);
	}
	return 0;
}

static int read_absent(const struct field *field, void *to,
		       const struct reading *reading)
{
	if (field->optional)
		return 0;
	if (!reading->loose)
		return error_set(reading->err, EPROTO, "%s: missing",
				 field->name);
	return field->kind == FIELD_STRING
		       ? string_set(field_at(field, to), "", reading->err)
		       : 0;
}

static int read_fields(const struct schema *schema, const cJSON *object,
		       void *to, const struct reading *reading)
{
	struct error *err = reading->err;
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
		if (i == schema->count && reading->loose)
			continue;
		if (i == schema->count)
			return error_set(err, EPROTO, "%s: unknown field",
					 item->string);
		if (seen & (UINT64_C(1) << i))
			return error_set(err, EPROTO, "%s: given twice",
					 item->string);
		seen |= UINT64_C(1) << i;
		if (read_field(&schema->fields[i], item, to, reading) < 0)
			return -1;
	}
	for (size_t i = 0; i < schema->count; i++)
		if (!(seen & (UINT64_C(1) << i)) &&
		    read_absent(&schema->fields[i], to, reading) < 0)
			return -1;
	return 0;
}

static int read_object(const struct schema *schema, const cJSON *object,
		       void *to, const struct reading *reading)
{
	memset(to, 0, schema->size);
	for (size_t i = 0; i < schema->count; i++)
		if (schema->fields[i].known)
			*(double *)field_at(&schema->fields[i], to) =
				(double)NAN;
	if (read_fields(schema, object, to, reading) < 0) {
		codec_clear(schema, to);
		return -1;
	}
	return 0;
}

int codec_from_object(const struct schema *schema, const cJSON *object,
		      void *to, struct error *err)
{
	const struct reading reading = { .loose = false, .err = err };

	return read_object(schema, object, to, &reading);
}

int codec_from_other(const struct schema *schema, const cJSON *object, void *to,
		     struct error *err)
{
	const struct reading reading = { .loose = true, .err = err };

	return read_object(schema, object, to, &reading);
}

int codec_copy(const struct schema *schema, const void *from, void *to,
	       struct error *err)
{
	cJSON *object = codec_object(schema, from, err);
	int rc;

	if (!object) {
		memset(to, 0, schema->size);
		return -1;
	}
	rc = codec_from_object(schema, object, to, err);
	cJSON_Delete(object);
	return rc;
}

/* cJSON lets a NUL end a string early, plain or as \u0000: "a" would come out
 * of "a\u0000b". Where is the first one? NULL: nowhere.
 */
static const char *find_nul(const char *text, size_t size)
{
	const char *found = memchr(text, 0, size);
	const char *end = text + size;
	const char *at = text;

	if (found)
		return found;
	while ((at = memchr(at, '\\', (size_t)(end - at)))) {
		if (end - at >= 6 && !memcmp(at + 1, "u0000", 5))
			return at;
		if (end - at < 2)
			break;
		at += 2;
	}
	return NULL;
}

cJSON *codec_parse(const char *text, size_t size, struct error *err)
{
	const char *end = find_nul(text, size);
	cJSON *object;

	if (end) {
		error_set(err, EPROTO, "a NUL character, at byte %td",
			  end - text);
		return NULL;
	}
	object = cJSON_ParseWithLengthOpts(text, size, &end, 0);
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
		case FIELD_NUMBERS:
			free(((struct numbers *)at)->items);
			break;
		case FIELD_JSON:
			cJSON_Delete(*(cJSON **)at);
			break;
		case FIELD_STRUCT:
			codec_clear(field->schema, at);
			break;
		case FIELD_POINTER:
			if (*(void **)at)
				codec_clear(field->schema, *(void **)at);
			free(*(void **)at);
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
