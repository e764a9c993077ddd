/* codec.c - structs, bytes and JSON: what the two walks are joined to.
 */
#include "protocol/message/codec_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No limit: a copy is as large as its original. */
#define COPY_MAX ((size_t)1 << 40)

int numbers_add(struct numbers *numbers, uint64_t number, struct error *err)
{
	/* The room is always a power of two, so it is not stored. */
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

int doubles_add(struct doubles *doubles, double number, struct error *err)
{
	if (!(doubles->count & (doubles->count - 1))) {
		size_t room = doubles->count ? doubles->count * 2 : 1;
		double *items = realloc(doubles->items, room * sizeof(*items));

		if (!items)
			return error_nomem(err, "list");
		doubles->items = items;
	}
	doubles->items[doubles->count++] = number;
	return 0;
}

const char *number_word(double number)
{
	return isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
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

void codec_undo(struct buffer *out, size_t size)
{
	/* An empty buffer does not own its byte. */
	if (out->size > size) {
		out->size = size;
		out->data[size] = 0;
	}
}

/* To text and trees. */

cJSON *codec_object(const struct schema *schema, const void *from,
		    struct error *err)
{
	struct json_tree_sink sink;
	int rc = codec_write(schema, from, NULL, json_tree_sink(&sink, err));

	json_tree_sink_clear(&sink);
	if (rc == 0)
		return sink.root;
	cJSON_Delete(sink.root);
	return NULL;
}

int codec_encode(const struct schema *schema, const void *from,
		 struct buffer *out, struct error *err)
{
	struct json_text_sink sink;
	size_t size = out->size;

	if (codec_write(schema, from, NULL, json_text_sink(&sink, out, err)) ==
	    0)
		return 0;
	codec_undo(out, size);
	return error_prefix(err, "%s", schema->name);
}

int codec_print(const cJSON *tree, struct buffer *out, struct error *err)
{
	struct json_text_sink sink;
	size_t size = out->size;

	if (json_tree_put(tree, json_text_sink(&sink, out, err)) == 0)
		return 0;
	codec_undo(out, size);
	return -1;
}

/* And back. */

static int from_tree(const struct schema *schema, const cJSON *object,
		     bool loose, void *to, struct error *err)
{
	struct json_tree_source source;

	json_tree_source(&source, object, err)->loose = loose;
	return codec_read(schema, &source.source, to);
}

int codec_from_object(const struct schema *schema, const cJSON *object,
		      void *to, struct error *err)
{
	return from_tree(schema, object, false, to, err);
}

int codec_from_other(const struct schema *schema, const cJSON *object, void *to,
		     struct error *err)
{
	return from_tree(schema, object, true, to, err);
}

/* The first NUL character, plain or as \u0000; NULL: none. cJSON would end a
 * string there and read "a\u0000b" as "a".
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

	if (end)
		return error_null(error_set(err, EPROTO,
					    "a NUL character, at byte %td",
					    end - text));
	object = cJSON_ParseWithLengthOpts(text, size, &end, 0);
	if (!object)
		return error_null(error_set(err, EPROTO,
					    "not JSON, at byte %td",
					    end ? end - text : 0));
	while (end < text + size && isspace((unsigned char)*end))
		end++;
	if (end < text + size) {
		cJSON_Delete(object);
		return error_null(
			error_set(err, EPROTO,
				  "unexpected text after the JSON, at byte %td",
				  end - text));
	}
	return object;
}

static int decode_text(const struct schema *schema, const char *text,
		       size_t size, bool loose, void *to, struct error *err)
{
	owned(cJSON_Delete) cJSON *object = codec_parse(text, size, err);

	if (object)
		return from_tree(schema, object, loose, to, err);
	memset(to, 0, schema->size);
	return error_prefix(err, "%s", schema->name);
}

int codec_decode(const struct schema *schema, const char *text, size_t size,
		 void *to, struct error *err)
{
	return decode_text(schema, text, size, false, to, err);
}

int codec_decode_other(const struct schema *schema, const char *text,
		       size_t size, void *to, struct error *err)
{
	return decode_text(schema, text, size, true, to, err);
}

/* Bytes. */

/* Append the struct as CBOR; errors as codec_encode(). */
static int codec_pack(const struct schema *schema, const void *from,
		      struct buffer *out, struct error *err)
{
	struct cbor_bytes_sink sink;
	size_t size = out->size;

	if (codec_write(schema, from, NULL, cbor_bytes_sink(&sink, out, err)) ==
	    0)
		return 0;
	codec_undo(out, size);
	return -1;
}

int codec_copy(const struct schema *schema, const void *from, void *to,
	       struct error *err)
{
	owned(buffer_clear) struct buffer bytes = BUFFER_INIT(COPY_MAX);
	struct cbor_bytes_source source;

	if (codec_pack(schema, from, &bytes, err) < 0) {
		memset(to, 0, schema->size);
		return -1;
	}
	return codec_read(schema,
			  cbor_bytes_source(&source, bytes.data, bytes.size,
					    err),
			  to);
}

int codec_unpack(const struct schema *schema, const struct packed *packed,
		 void *to, struct error *err)
{
	struct cbor_bytes_source source;

	cbor_bytes_source(&source, packed->bytes, packed->size, err)->loose =
		true;
	return codec_read(schema, &source.source, to);
}

static void clear_map(struct named_number *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(items[i].name);
	free(items);
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
		case FIELD_DOUBLES:
			free(((struct doubles *)at)->items);
			break;
		case FIELD_MAP:
			clear_map(*(struct named_number **)at,
				  *field_count(field, data));
			break;
		case FIELD_PACKED:
			free(((struct packed *)at)->bytes);
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
			for (size_t k = 0; k < *field_count(field, data); k++)
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
