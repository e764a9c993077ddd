/* map_reader.c - reads maps of a data file into structs, by tables of fields.
 */
#include "protocol/hardware/map_reader.h"

#include <ctype.h>
#include <string.h>

#define FIELDS_MAX 32 /* in one map */

void map_clear_strings(void *out)
{
	strings_clear(out);
}

void map_clear_expression(void *out)
{
	expression_free(*(struct expression **)out);
}

static int map_check_list(const struct value *list, struct error *err)
{
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (value_count(list) > MAP_LIST_MAX)
		return value_error(list, err,
				   "a list of %zu; expected at most %d",
				   value_count(list), MAP_LIST_MAX);
	return 0;
}

int map_check_map(const struct value *map, struct error *err)
{
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	if (value_count(map) > MAP_LIST_MAX)
		return value_error(map, err, "%zu entries; expected at most %d",
				   value_count(map), MAP_LIST_MAX);
	return 0;
}

static int map_read_field(const struct map_field *field,
			  const struct value *value, void *out,
			  struct error *err)
{
	size_t word;

	if (field->words) {
		if (value_enum(value, field->words, &word, err) < 0)
			return -1;
		*(const char **)out = field->words[word];
		return 0;
	}
	if (field->fields && map_read(value, field->fields, out, err) < 0)
		return -1;
	return field->read ? field->read(value, out, err) : 0;
}

static int read_items(const struct map_field *field, const struct value *list,
		      char *base, struct error *err)
{
	size_t *count = (size_t *)(void *)(base + field->count_place);
	char *items;

	if (map_check_list(list, err) < 0)
		return -1;
	items = calloc(value_count(list) + 1, field->item_size);
	if (!items)
		return error_nomem(err, value_file(list));
	*(void **)(void *)(base + field->place) = items;
	for (size_t i = 0; i < value_count(list); i++) {
		*count = i + 1;
		if (map_read_field(field, value_at(list, i),
				   items + i * field->item_size, err) < 0)
			return -1;
	}
	return 0;
}

int map_read(const struct value *map, const struct map_field *fields, void *out,
	     struct error *err)
{
	const char *keys[FIELDS_MAX + 1] = { NULL };
	char *base = out;
	int rc = 0;

	for (size_t i = 0; i < FIELDS_MAX && fields[i].key; i++)
		keys[i] = fields[i].key;
	if (value_check_keys(map, keys, err) < 0)
		return -1;
	for (; fields->key && rc == 0; fields++) {
		const struct value *value = value_get(map, fields->key);

		if (!value && fields->needed)
			rc = value_error(map, err, "missing \"%s\"",
					 fields->key);
		else if (value && fields->item_size)
			rc = read_items(fields, value, base, err);
		else if (value)
			rc = map_read_field(fields, value, base + fields->place,
					    err);
	}
	return rc;
}

void map_clear(const struct map_field *fields, void *out)
{
	for (; fields->key; fields++) {
		char *place = (char *)out + fields->place, *items = place;
		size_t count = 1;

		if (fields->item_size) {
			items = *(char **)(void *)place;
			count = *(size_t *)(void *)((char *)out +
						    fields->count_place);
		}
		for (size_t i = 0; fields->fields && i < count; i++)
			map_clear(fields->fields,
				  items + i * fields->item_size);
		if (fields->item_size)
			free(items);
		else if (fields->clear)
			fields->clear(place);
	}
}

int read_text(const struct value *value, void *out, struct error *err)
{
	const char *text;

	if (value_string(value, MAP_TEXT_MAX, &text, err) < 0)
		return -1;
	for (const char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			return value_error(value, err,
					   "a control character is not valid "
					   "here; expected text of one line");
	*(const char **)out = text;
	return 0;
}

int map_read_good(const struct value *value, bool (*is_good)(const char *text),
		  const char *expected, void *out, struct error *err)
{
	const char *text;

	if (read_text(value, &text, err) < 0)
		return -1;
	if (!is_good(text))
		return value_error(value, err,
				   "\"%.60s\" is not valid here; expected %s",
				   text, expected);
	*(const char **)out = text;
	return 0;
}

static bool map_text_is_word(const char *text)
{
	return !text[strcspn(text, " ,")];
}

int read_word(const struct value *value, void *out, struct error *err)
{
	return map_read_good(value, map_text_is_word,
			     "a word without blanks and commas", out, err);
}

int read_flag(const struct value *value, void *out, struct error *err)
{
	return value_bool(value, out, err);
}

int read_expression(const struct value *value, void *out, struct error *err)
{
	owned(expression_free) struct expression *expression =
		expression_new(value, err);
	struct error why;

	if (!expression)
		return -1;
	if (expression_probe(expression, &why) < 0)
		return value_error(value, err, "%s", why.text);
	*(struct expression **)out = take(expression);
	return 0;
}

int read_strings(const struct value *list, map_read_fn *read, void *out,
		 struct error *err)
{
	if (map_check_list(list, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(list); i++) {
		const char *text = NULL;

		if (read(value_at(list, i), &text, err) < 0 ||
		    strings_add(out, text, err) < 0)
			return -1;
	}
	return 0;
}

int read_texts(const struct value *value, void *out, struct error *err)
{
	return read_strings(value, read_text, out, err);
}

int read_words(const struct value *value, void *out, struct error *err)
{
	return read_strings(value, read_word, out, err);
}

int read_argv(const struct value *value, void *out, struct error *err)
{
	if (value_kind(value) == VALUE_LIST && !value_count(value))
		return value_error(value, err,
				   "an empty list is not valid here; expected "
				   "a program and its arguments");
	return read_strings(value, read_text, out, err);
}
