/* value.c - a value of a document: what it is, where it stands, typed readers.
 */
#include "protocol/yaml/value.h"

#include "protocol/base/units.h"
#include "protocol/base/utf8.h"
#include "protocol/base/nearest_word.h"
#include "protocol/yaml/value_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 60 /* of a text that is quoted in an error */

enum value_kind value_kind(const struct value *value)
{
	return value->kind;
}

unsigned value_line(const struct value *value)
{
	return value->line;
}

const char *value_file(const struct value *value)
{
	return value->document->file;
}

const char *value_text(const struct value *value)
{
	return value->text;
}

bool value_quoted(const struct value *value)
{
	return value->quoted;
}

size_t value_count(const struct value *value)
{
	return value->count;
}

const struct value *value_at(const struct value *value, size_t index)
{
	if (index >= value->count)
		return NULL;
	return value->kind == VALUE_MAP ? value->entries[index].value
					: value->items[index];
}

const char *value_key(const struct value *map, size_t index)
{
	return map->entries[index].key;
}

unsigned value_key_line(const struct value *map, size_t index)
{
	return map->entries[index].line;
}

const struct value *value_get(const struct value *map, const char *key)
{
	size_t low = 0, high;

	if (!map || map->kind != VALUE_MAP)
		return NULL;
	high = map->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct entry *entry = &map->entries[map->order[middle]];
		int order = strcmp(key, entry->key);

		if (!order)
			return entry->value;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

void value_path(const struct value *value, char *buffer, size_t size)
{
	const struct value *parent = value->parent;
	size_t length;

	if (!size)
		return;
	buffer[0] = 0;
	if (!parent)
		return;
	value_path(parent, buffer, size);
	length = strlen(buffer);
	if (parent->kind == VALUE_LIST)
		snprintf(buffer + length, size - length, "[%zu]", value->index);
	else
		snprintf(buffer + length, size - length, "%s%.60s",
			 length ? "." : "", parent->entries[value->index].key);
}

void value_found(const struct value *value, char *buffer, size_t size)
{
	const char *kind = value->kind == VALUE_LIST ? "list" : "map";
	int shown;

	switch (value->kind) {
	case VALUE_NULL:
		snprintf(buffer, size, "an empty value");
		break;
	case VALUE_LIST:
	case VALUE_MAP:
		if (value->count)
			snprintf(buffer, size, "a %s of %zu entr%s", kind,
				 value->count, value->count == 1 ? "y" : "ies");
		else
			snprintf(buffer, size, "an empty %s", kind);
		break;
	case VALUE_SCALAR:
		shown = (int)strnlen(value->text, SHOWN_BYTES);
		if (shown == SHOWN_BYTES) /* room for the dots */
			shown = (int)utf8_cut(value->text, SHOWN_BYTES - 1);
		snprintf(buffer, size, "\"%.*s%s\"", shown, value->text,
			 value->text[shown] ? "..." : "");
		break;
	}
}

/* "file:line: path: text", without "path: " when there is none. */
static int place_error(const struct value *value, unsigned line,
		       const char *key, struct error *err, const char *fmt,
		       va_list args)
{
	struct error text = { 0 };
	char path[120];

	error_vset(&text, EINVAL, fmt, args);
	value_path(value, path, sizeof(path));
	return error_set(err, EINVAL, "%s:%u: %s%s%.60s%s%s",
			 value->document->file, line, path,
			 *path && *key ? "." : "", key,
			 *path || *key ? ": " : "", text.text);
}

int value_error(const struct value *value, struct error *err, const char *fmt,
		...)
{
	va_list args;

	va_start(args, fmt);
	place_error(value, value->line, "", err, fmt, args);
	va_end(args);
	return -1;
}

int value_key_error(const struct value *map, size_t index, struct error *err,
		    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	place_error(map, map->entries[index].line, map->entries[index].key, err,
		    fmt, args);
	va_end(args);
	return -1;
}

int value_invalid(const struct value *value, struct error *err, const char *fmt,
		  ...)
{
	struct error allowed = { 0 };
	char found[96];
	va_list args;

	if (!err) /* it was only a question */
		return -1;
	va_start(args, fmt);
	error_vset(&allowed, EINVAL, fmt, args);
	va_end(args);
	value_found(value, found, sizeof(found));
	return value_error(value, err, "%s is not valid here; expected %s",
			   found, allowed.text);
}

int value_expect(const struct value *value, enum value_kind kind,
		 struct error *err)
{
	/* clang-format off */
	static const char *const names[] = {
		[VALUE_NULL] = "nothing",
		[VALUE_SCALAR] = "a single value",
		[VALUE_LIST] = "a list, [a, b] or lines that begin with \"- \"",
		[VALUE_MAP] = "a map, {key: value} or lines of key: value",
	};
	/* clang-format on */

	return value->kind == kind
		       ? 0
		       : value_invalid(value, err, "%s", names[kind]);
}

/* A plain integer of the core schema: sign and magnitude. */
static bool parse_integer(const struct value *value, bool *negative,
			  uint64_t *magnitude)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *text = value->text;
	int base = 10;
	char *end;

	if (value->kind != VALUE_SCALAR || value->quoted)
		return false;
	*negative = *text == '-';
	if (*text == '-' || *text == '+') {
		text++;
	} else if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
		base = text[1] == 'x' ? 16 : 8;
		text += 2;
	}
	/* strtoull would also take blanks, a sign and a prefix of its own. */
	if (!*text || text[strspn(text, digits)])
		return false;
	errno = 0;
	*magnitude = strtoull(text, &end, base);
	return !errno && !*end;
}

int value_u64(const struct value *value, uint64_t min, uint64_t max,
	      uint64_t *out, struct error *err)
{
	uint64_t number;
	bool negative;

	if (!parse_integer(value, &negative, &number) || (negative && number) ||
	    number < min || number > max)
		return max == UINT64_MAX
			       ? value_invalid(value, err,
					       "an integer from %" PRIu64, min)
			       : value_invalid(value, err,
					       "an integer from %" PRIu64
					       " to %" PRIu64,
					       min, max);
	*out = number;
	return 0;
}

int value_u32(const struct value *value, uint32_t min, uint32_t max,
	      uint32_t *out, struct error *err)
{
	uint64_t number = 0;

	if (value_u64(value, min, max, &number, err) < 0)
		return -1;
	*out = (uint32_t)number;
	return 0;
}

int value_i64(const struct value *value, int64_t min, int64_t max, int64_t *out,
	      struct error *err)
{
	uint64_t magnitude = 0;
	bool negative = false;
	bool good = parse_integer(value, &negative, &magnitude) &&
		    magnitude <= (uint64_t)INT64_MAX + negative;
	/* Unsigned arithmetic: -2^63 has no positive counterpart. */
	int64_t number = (int64_t)(negative ? 0 - magnitude : magnitude);

	if (!good || number < min || number > max)
		return value_invalid(value, err,
				     "an integer from %" PRId64 " to %" PRId64,
				     min, max);
	*out = number;
	return 0;
}

int value_double(const struct value *value, double min, double max, double *out,
		 struct error *err)
{
	const char *end;
	double number;

	if (value->kind != VALUE_SCALAR || value->quoted ||
	    !decimal_parse(value->text, &number, &end) || *end ||
	    number < min || number > max)
		return value_invalid(value, err, "a number from %g to %g", min,
				     max);
	*out = number;
	return 0;
}

int value_bool(const struct value *value, bool *out, struct error *err)
{
	bool plain = value->kind == VALUE_SCALAR && !value->quoted;

	if (plain && !strcasecmp(value->text, "true"))
		*out = true;
	else if (plain && !strcasecmp(value->text, "false"))
		*out = false;
	else
		return value_invalid(value, err, "true or false");
	return 0;
}

int value_string(const struct value *value, size_t max, const char **out,
		 struct error *err)
{
	size_t size = strlen(value->text);

	if (value->kind != VALUE_SCALAR || !size)
		return value_invalid(value, err, "a text of 1 to %zu bytes",
				     max);
	if (size > max)
		return value_error(value, err,
				   "a text of %zu bytes; expected 1 to %zu",
				   size, max);
	*out = value->text;
	return 0;
}

int value_duration_ms(const struct value *value, uint64_t min_ms,
		      uint64_t max_ms, uint64_t *out, struct error *err)
{
	char allowed[UNITS_ALLOWED_BYTES];

	if (value->kind == VALUE_SCALAR &&
	    duration_parse(value->text, min_ms, max_ms, out, NULL) == 0)
		return 0;
	return value_invalid(value, err, "%s",
			     duration_allowed(min_ms, max_ms, allowed));
}

int value_size_bytes(const struct value *value, uint64_t min, uint64_t max,
		     uint64_t *out, struct error *err)
{
	char allowed[UNITS_ALLOWED_BYTES];

	if (value->kind == VALUE_SCALAR &&
	    size_parse(value->text, min, max, out, NULL) == 0)
		return 0;
	return value_invalid(value, err, "%s", size_allowed(min, max, allowed));
}

int value_share(const struct value *value, double *out, struct error *err)
{
	const char *end;
	double number;

	if (value->kind == VALUE_SCALAR &&
	    decimal_parse(value->text, &number, &end) &&
	    (!*end || !strcmp(end, "%"))) {
		number /= *end ? 100 : 1;
		if (number > 0 && number <= 1) {
			*out = number;
			return 0;
		}
	}
	return value_invalid(value, err,
			     "a share above 0 and up to 100%%, such as 2%% or "
			     "0.02");
}

static void list_words(const char *const *words, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = 0;
	for (size_t i = 0; words[i]; i++) {
		const char *between = !i ? "" : words[i + 1] ? ", " : " or ";
		int length = snprintf(buffer + used, size - used, "%s%s",
				      between, words[i]);

		if (length < 0 || (size_t)length + 8 > size - used) {
			snprintf(buffer + used, size - used, " ...");
			return;
		}
		used += (size_t)length;
	}
}

/* `, did you mean "x"?` or, when none is near, nothing. */
static void suggest(const char *text, const char *const *words, char *buffer,
		    size_t size)
{
	const char *nearest = nearest_word(text, words);

	buffer[0] = 0;
	if (nearest)
		snprintf(buffer, size, "; did you mean \"%s\"?", nearest);
}

int value_enum(const struct value *value, const char *const *words, size_t *out,
	       struct error *err)
{
	char allowed[128], near[64];

	if (value->kind == VALUE_SCALAR) {
		for (size_t i = 0; words[i]; i++) {
			if (strcmp(value->text, words[i]))
				continue;
			*out = i;
			return 0;
		}
	}
	list_words(words, allowed, sizeof(allowed));
	suggest(value->text, words, near, sizeof(near));
	return value_invalid(value, err, "%s%s", allowed, near);
}

int value_check_keys(const struct value *map, const char *const *keys,
		     struct error *err)
{
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < map->count; i++) {
		char allowed[100], near[64];
		size_t k = 0;

		while (keys[k] && strcmp(keys[k], map->entries[i].key))
			k++;
		if (keys[k])
			continue;
		list_words(keys, allowed, sizeof(allowed));
		suggest(map->entries[i].key, keys, near, sizeof(near));
		return value_key_error(map, i, err,
				       "unknown key; expected %s%s", allowed,
				       near);
	}
	return 0;
}

cJSON *value_to_json(const struct value *value)
{
	bool map = value->kind == VALUE_MAP, yes = false;
	double number = 0;
	cJSON *list;

	if (value->kind == VALUE_SCALAR) {
		if (value_double(value, -1e300, 1e300, &number, NULL) == 0)
			return cJSON_CreateNumber(number);
		if (value_bool(value, &yes, NULL) == 0)
			return cJSON_CreateBool(yes);
		return cJSON_CreateString(value->text);
	}
	list = map ? cJSON_CreateObject() : cJSON_CreateArray();
	for (size_t i = 0; list && i < value->count; i++) {
		cJSON *item = value_to_json(value_at(value, i));

		if (!item ||
		    !(map ? cJSON_AddItemToObject(list, value_key(value, i),
						  item)
			  : cJSON_AddItemToArray(list, item))) {
			cJSON_Delete(item);
			cJSON_Delete(list);
			return NULL;
		}
	}
	return list;
}
