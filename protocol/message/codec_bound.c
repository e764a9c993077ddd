/* codec_bound.c - how long a struct is at most as JSON text.
 */
#include "protocol/message/codec.h"

#include <string.h>

#define NUMBER_BYTES 26 /* of any number, or an integer in quotes */
#define WORD_BYTES 5    /* true, false, null */

/* A character that is escaped takes six bytes at most. */
static size_t text_bound(const char *text)
{
	size_t bytes = 2;

	for (; text && *text; text++)
		bytes += (unsigned char)*text < ' ' || *text == '"' ||
					 *text == '\\'
				 ? 6
				 : 1;
	return bytes;
}

static size_t json_bound(const cJSON *item)
{
	size_t bytes = 2;

	if (cJSON_IsString(item))
		return text_bound(item->valuestring);
	if (cJSON_IsNumber(item))
		return NUMBER_BYTES;
	if (!cJSON_IsArray(item) && !cJSON_IsObject(item))
		return WORD_BYTES;
	for (item = item->child; item; item = item->next)
		bytes += json_bound(item) + 2 +
			 (item->string ? text_bound(item->string) : 0);
	return bytes;
}

static size_t field_bound(const struct field *field, const void *from)
{
	const void *at = (const char *)from + field->offset;
	const struct strings *strings = at;
	const char *items;
	size_t bytes = 2, count;

	switch (field->kind) {
	case FIELD_BOOL:
		return WORD_BYTES;
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_I64:
	case FIELD_DOUBLE:
		return NUMBER_BYTES;
	case FIELD_STRING:
		return text_bound(*(char *const *)at) + WORD_BYTES;
	case FIELD_STRINGS:
		for (size_t i = 0; i < strings->count; i++)
			bytes += text_bound(strings->items[i]) + 1;
		return bytes;
	case FIELD_JSON:
		return *(cJSON *const *)at ? json_bound(*(cJSON *const *)at)
					   : WORD_BYTES;
	case FIELD_STRUCT:
		return codec_bound(field->schema, at);
	case FIELD_POINTER:
		return *(void *const *)at
			       ? codec_bound(field->schema, *(void *const *)at)
			       : WORD_BYTES;
	case FIELD_LIST:
		items = *(char *const *)at;
		count = *(const size_t *)((const char *)from +
					  field->count_offset);
		for (size_t i = 0; i < count; i++)
			bytes += codec_bound(field->schema,
					     items + i * field->schema->size) +
				 1;
		return bytes;
	case FIELD_NUMBERS:
		return ((const struct numbers *)at)->count * NUMBER_BYTES + 2;
	case FIELD_ENUM:
		return text_bound(field->names[*(const uint32_t *)at]);
	}
	return bytes;
}

size_t codec_bound(const struct schema *schema, const void *from)
{
	size_t bytes = 2;

	for (size_t i = 0; i < schema->count; i++)
		bytes += strlen(schema->fields[i].name) + 4 +
			 field_bound(&schema->fields[i], from);
	return bytes;
}
