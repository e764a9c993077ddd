/* profile_fields.c - readers of the values that only profiles have.
 */
#include "protocol/hardware/profile_internal.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* Braces occur only as {name}. */
static bool good_braces(const char *text)
{
	while ((text = strpbrk(text, "{}"))) {
		size_t size = *text == '{'
				      ? strspn(text + 1,
					       ASCII_LETTERS ASCII_DIGITS "_")
				      : 0;

		if (!size || text[size + 1] != '}')
			return false;
		text += size + 2;
	}
	return true;
}

static int read_pattern(const struct value *value, const char *const *folders,
			const char *words, const char **out, struct error *err)
{
	const char *text, *star;
	bool within = false;

	if (read_text(value, &text, err) < 0)
		return -1;
	for (size_t i = 0; folders[i]; i++)
		within |= path_within(text, folders[i]) &&
			  text[strlen(folders[i])];
	star = strchr(text, '*');
	if (!within || !path_plain(text) || strchr(text, ':'))
		return value_error(value, err,
				   "\"%.60s\" is not valid here; expected a "
				   "path below %s, without .. and :",
				   text, words);
	if (!good_braces(text) || (star && strchr(star + 1, '*')))
		return value_error(value, err,
				   "\"%.60s\" is not valid here; expected "
				   "{name} and one * in a path",
				   text);
	*out = text;
	return 0;
}

int read_device_path(const struct value *value, void *out, struct error *err)
{
	static const char *const folders[] = { "/dev", NULL };

	return read_pattern(value, folders, "/dev", out, err);
}

int read_system_path(const struct value *value, void *out, struct error *err)
{
	static const char *const folders[] = { "/dev", "/sys", "/proc", NULL };

	return read_pattern(value, folders, "/dev, /sys or /proc", out, err);
}

static bool good_path(const char *text)
{
	return path_plain(text) && strlen(text) < PATH_MAX;
}

int read_file_path(const struct value *value, void *out, struct error *err)
{
	return map_read_good(value, good_path, "a path from /, without ..", out,
			     err);
}

static bool good_variable(const char *text)
{
	return !isdigit((unsigned char)*text) &&
	       text_is_of(text, MAP_TEXT_MAX, ASCII_LETTERS ASCII_DIGITS "_");
}

int read_variable(const struct value *value, void *out, struct error *err)
{
	return map_read_good(value, good_variable,
			     "the name of an environment variable", out, err);
}

int read_device_paths(const struct value *value, void *out, struct error *err)
{
	return read_strings(value, read_device_path, out, err);
}

static int read_hex(const struct value *value, size_t min, size_t max,
		    const char *words, const char **out, struct error *err)
{
	const char *text;
	size_t size;

	if (read_text(value, &text, err) < 0)
		return -1;
	size = strlen(text);
	if (size < min || size > max ||
	    strspn(text, ASCII_DIGITS "abcdef") != size || !value_quoted(value))
		return value_error(value, err,
				   "%.60s is not valid here; expected %s lower "
				   "case hex digits in quotes",
				   text, words);
	*out = text;
	return 0;
}

static int read_pci_id(const struct value *value, void *out, struct error *err)
{
	return read_hex(value, 4, 4, "4", out, err);
}

static int read_pci_class(const struct value *value, void *out,
			  struct error *err)
{
	return read_hex(value, 2, 6, "2 to 6", out, err);
}

int read_pci_ids(const struct value *value, void *out, struct error *err)
{
	return read_strings(value, read_pci_id, out, err);
}

int read_pci_classes(const struct value *value, void *out, struct error *err)
{
	return read_strings(value, read_pci_class, out, err);
}

int read_env(const struct value *value, void *out, struct error *err)
{
	if (map_check_map(value, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(value); i++) {
		const char *name = value_key(value, i), *text;

		if (!good_variable(name))
			return value_key_error(value, i, err,
					       "not a valid name of an "
					       "environment variable");
		if (read_text(value_at(value, i), &text, err) < 0 ||
		    strings_printf(out, err, "%s=%s", name, text) < 0)
			return -1;
	}
	return 0;
}

/* soft or soft:hard, each a number or -1. */
static bool good_limit(const char *text)
{
	for (int part = 0; part < 2; part++) {
		size_t sign = *text == '-';
		size_t digits = strspn(text + sign, ASCII_DIGITS);

		if (!digits || digits > 18 ||
		    (sign && (digits != 1 || text[1] != '1')))
			return false;
		text += sign + digits;
		if (!*text)
			return true;
		if (*text++ != ':')
			return false;
	}
	return false;
}

int read_ulimits(const struct value *value, void *out, struct error *err)
{
	if (map_check_map(value, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(value); i++) {
		const struct value *limit = value_at(value, i);
		const char *text = "";

		if (map_read_good(limit, good_limit,
				  "soft or soft:hard, each a number or -1 for "
				  "no limit",
				  &text, err) < 0 ||
		    strings_printf(out, err, "%s=%s", value_key(value, i),
				   text) < 0)
			return -1;
	}
	return 0;
}
