/* profile_check.c - checks the references between the sections of a profile.
 */
#include "protocol/hardware/profile_internal.h"

#include <string.h>

/* Is the word the {name} in discover.nodes, or one of the first numbers? */
static bool profile_has_number(const struct profile *profile, const char *word,
			       size_t size, size_t count)
{
	const struct discover_rules *rules = &profile->discover;
	const char *own = rules->nodes ? strchr(rules->nodes, '{') : NULL;

	if (own && !strncmp(own + 1, word, size) && own[size + 1] == '}')
		return true;
	for (size_t i = 0; i < count; i++)
		if (strlen(rules->numbers[i].name) == size &&
		    !strncmp(rules->numbers[i].name, word, size))
			return true;
	return false;
}

/* Each {name} is {bus} or one of the first numbers. */
static int check_braces(const struct profile *profile,
			const struct value *value, size_t count,
			struct error *err)
{
	const char *word = value_text(value);

	while ((word = strchr(word, '{'))) {
		size_t size = strcspn(++word, "}");
		bool bus = size == 3 && !strncmp(word, "bus", 3) &&
			   profile->discover.pci_vendors.count;

		if (!bus && !profile_has_number(profile, word, size, count))
			return value_error(value, err,
					   "{%.*s} is not valid here; expected "
					   "the name of a number that is found "
					   "before it",
					   (int)size, word);
	}
	return 0;
}

static int check_number(const struct profile *profile,
			const struct value *value, struct error *err)
{
	const char *name = value ? value_text(value) : NULL;

	if (!name || profile_has_number(profile, name, strlen(name),
					profile->discover.numbers_count))
		return 0;
	return value_error(value, err,
			   "\"%.60s\" is not valid here; expected a name of "
			   "discover.numbers",
			   name);
}

static int check_rule(const struct profile *profile, size_t index,
		      struct error *err)
{
	const struct number_rule *rule = &profile->discover.numbers[index];
	const struct value *path = value_get(rule->value, "file");

	if (!path)
		path = value_get(rule->value, "glob");
	if (rule->path && check_braces(profile, path, index, err) < 0)
		return -1;
	if (rule->from == NUMBER_MONITOR && !profile->monitor.sampler)
		return value_error(rule->value, err,
				   "a number from the monitor requires "
				   "\"monitor\"");
	if (rule->from == NUMBER_MAP && !profile->discover.map)
		return value_error(rule->value, err,
				   "a number from the map requires "
				   "\"discover.map\"");
	if (rule->from == NUMBER_ORDER && !profile->discover.pci_vendors.count)
		return value_error(rule->value, err,
				   "an order by bus requires \"discover.pci\"");
	return 0;
}

static int check_discover(const struct profile *profile, struct error *err)
{
	const struct value *discover = value_get(profile->value, "discover");
	const struct value *required = value_get(discover, "required");

	for (size_t i = 0; i < profile->discover.numbers_count; i++)
		if (check_rule(profile, i, err) < 0)
			return -1;
	for (size_t i = 0; i < profile->discover.required.count; i++)
		if (check_number(profile, value_at(required, i), err) < 0)
			return -1;
	return 0;
}

static int profile_check_files(const struct profile *profile, struct error *err)
{
	const struct value *files =
		value_get(value_get(profile->value, "monitor"), "files");

	for (size_t i = 0; files && i < value_count(files); i++) {
		const struct value *paths =
			value_get(value_at(files, i), "path");
		bool list = value_kind(paths) == VALUE_LIST;

		for (size_t k = 0; k < (list ? value_count(paths) : 1); k++)
			if (check_braces(profile,
					 list ? value_at(paths, k) : paths,
					 profile->discover.numbers_count,
					 err) < 0)
				return -1;
	}
	return 0;
}

static int check_container(const struct profile *profile, struct error *err)
{
	static const char *const lists[] = { "device", "optional" };
	static const char *const naming[] = { "request", "selector" };
	const struct value *container = value_get(profile->value, "container");
	const struct value *nodes = value_get(container, "nodes");
	const struct value *visible = value_get(profile->value, "visible");

	for (size_t k = 0; k < 2; k++) {
		const struct value *list = value_get(nodes, lists[k]);

		for (size_t i = 0; list && i < value_count(list); i++)
			if (check_braces(profile, value_at(list, i),
					 profile->discover.numbers_count,
					 err) < 0)
				return -1;
	}
	for (size_t k = 0; k < 2; k++)
		if (check_number(profile,
				 value_get(value_get(container, naming[k]),
					   "number"),
				 err) < 0)
			return -1;
	for (size_t i = 0; i < profile->visible_count; i++)
		if (check_number(profile,
				 value_get(value_at(visible, i), "number"),
				 err) < 0)
			return -1;
	return 0;
}

static const char *chip_name(const struct chip_rule *chip, size_t index)
{
	return index ? chip->aliases.items[index - 1] : chip->name;
}

/* Every name of this chip, against its own before it and all chips before. */
static int check_chip(const struct profile *profile, size_t index,
		      struct error *err)
{
	const struct chip_rule *chip = &profile->chips[index];

	for (size_t n = 0; n <= chip->aliases.count; n++)
		for (size_t i = 0; i <= index; i++) {
			const struct chip_rule *other = &profile->chips[i];
			size_t names =
				i == index ? n : other->aliases.count + 1;

			for (size_t k = 0; k < names; k++)
				if (!strcasecmp(chip_name(other, k),
						chip_name(chip, n)))
					return value_error(chip->value, err,
							   "duplicate chip "
							   "\"%.60s\"",
							   chip_name(chip, n));
		}
	return 0;
}

int profile_check(const struct profile *profile, struct error *err)
{
	if (check_discover(profile, err) < 0 ||
	    profile_check_files(profile, err) < 0 ||
	    check_container(profile, err) < 0)
		return -1;
	for (size_t i = 0; i < profile->chips_count; i++)
		if (check_chip(profile, i, err) < 0)
			return -1;
	return 0;
}
