/* secrets.c - reads the block `secrets:` of a sweep. */
#include "controller/sweep/secrets.h"

#include "protocol/registry/login.h"

#include <string.h>
#include <strings.h>

#define PLACE_MAX 4000 /* bytes of a path */

static int read_place(const struct value *map, const char *key,
		      const char **place, struct error *err)
{
	const struct value *value = value_get(map, key);

	return value ? value_string(value, PLACE_MAX, place, err) : 0;
}

static int secret_source_read(const struct value *map,
			      struct secret_source *source, struct error *err)
{
	static const char *const keys[] = { "from", "env", "file", "as", NULL };
	static const char *const froms[] = { "env", "file", "stdin", NULL };
	static const char *const forms[] = { "variable", "file", NULL };
	const struct value *from, *as = value_get(map, "as");
	size_t which, form = 0;

	if (value_expect(map, VALUE_MAP, err) < 0 ||
	    value_check_keys(map, keys, err) < 0)
		return -1;
	from = value_get(map, "from");
	if (!from)
		return value_error(map, err,
				   "missing from (expected {from: env}, {from: "
				   "file, file: PATH} or {from: stdin})");
	if (value_enum(from, froms, &which, err) < 0)
		return -1;
	source->from = (enum secret_from)which;
	for (size_t i = 0; i <= SECRET_FILE; i++)
		if (i != which && value_get(map, froms[i]))
			return value_error(value_get(map, froms[i]), err,
					   "not valid with from: %s",
					   froms[which]);
	if (source->from == SECRET_ENV)
		source->place = source->name;
	if (source->from != SECRET_STDIN &&
	    read_place(map, froms[which], &source->place, err) < 0)
		return -1;
	if (source->from == SECRET_FILE && !source->place)
		return value_error(map, err,
				   "missing file (expected {from: file, file: "
				   "PATH})");
	if (as && value_enum(as, forms, &form, err) < 0)
		return -1;
	source->as_file = form == 1;
	return 0;
}

int secrets_read(const struct value *root, struct secret_sources *sources,
		 struct error *err)
{
	const struct value *map = value_get(root, "secrets");
	bool stdin_used = false;

	sources->count = 0;
	if (!map)
		return 0;
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	if (value_count(map) > SECRETS_MAX)
		return value_error(map, err, "%zu secrets; expected at most %d",
				   value_count(map), SECRETS_MAX);
	for (size_t i = 0; i < value_count(map); i++) {
		struct secret_source *source = &sources->items[i];

		*source = (struct secret_source){ .name = value_key(map, i) };
		if (!login_variable_valid(source->name))
			return value_key_error(map, i, err,
					       "not valid here; expected the "
					       "name of a variable: letters, "
					       "digits and \"_\"");
		if (secret_source_read(value_at(map, i), source, err) < 0)
			return -1;
		if (source->from == SECRET_STDIN && stdin_used)
			return value_error(value_at(map, i), err,
					   "stdin is already used by another "
					   "secret; expected from: env or "
					   "file");
		stdin_used |= source->from == SECRET_STDIN;
	}
	sources->count = value_count(map);
	return 0;
}

bool secret_looks_like(const char *name)
{
	static const char *const ends[] = {
		"TOKEN",      "API_KEY",     "APIKEY",   "SECRET",
		"SECRET_KEY", "ACCESS_KEY",  "PASSWORD", "PASSWD",
		"PASSPHRASE", "CREDENTIALS", NULL,
	};
	size_t length = strlen(name);

	for (size_t i = 0; ends[i]; i++) {
		size_t end = strlen(ends[i]);

		if (length >= end &&
		    !strcasecmp(name + length - end, ends[i]) &&
		    (length == end || name[length - end - 1] == '_'))
			return true;
	}
	return false;
}
