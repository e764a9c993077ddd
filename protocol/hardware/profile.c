/* profile.c - the profile of a vendor's hardware, read from its file.
 */
#include "protocol/hardware/profile.h"
#include "protocol/base/file.h"
#include "protocol/hardware/profile_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Checks the references between the sections of a profile. */

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

/* Every {name} that is used has a rule, and no name is used twice. EINVAL with
 * file and line.
 */
static int profile_check(const struct profile *profile, struct error *err)
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

#define VALUES_MAX 20000
#define DEPTH_MAX 32
#define VENDORS_MAX 256

static const struct document_limits limits = {
	.bytes = PROFILE_BYTES_MAX,
	.values = VALUES_MAX,
	.depth = DEPTH_MAX,
};

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	map_clear(profile_fields, profile);
	document_free(profile->document);
	free(profile);
}

static struct profile *profile_new(struct document *document, struct error *err)
{
	owned(document_free) struct document *keep = document;
	owned(profile_free) struct profile *profile =
		keep ? calloc(1, sizeof(*profile)) : NULL;

	if (!keep)
		return NULL;
	if (!profile)
		return error_null(error_nomem(err, document_file(keep)));
	profile->value = document_root(keep);
	profile->document = take(keep);
	profile->devices_per_card = 1;
	profile->discover.functions = 1;
	if (map_read(profile->value, profile_fields, profile, err) < 0 ||
	    profile_check(profile, err) < 0)
		return NULL;
	return take(profile);
}

struct profile *profile_load(const char *path, struct error *err)
{
	return profile_new(document_read(path, &limits, err), err);
}

struct profile *profile_parse(const char *text, size_t size, const char *file,
			      struct error *err)
{
	return profile_new(document_parse(text, size, file, &limits, err), err);
}

void profiles_clear(struct profiles *profiles)
{
	for (size_t i = 0; i < profiles->count; i++)
		profile_free(profiles->list[i]);
	free(profiles->list);
	*profiles = (struct profiles){ 0 };
}

/* cpu last: it is found on every machine. */
static int profile_compare_names(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	bool x_cpu = !strcmp(x, "cpu"), y_cpu = !strcmp(y, "cpu");

	return x_cpu != y_cpu ? x_cpu - y_cpu : strcmp(x, y);
}

/* No name and no alias may be that of two profiles. */
static int check_names(const struct profiles *profiles,
		       const struct profile *profile, struct error *err)
{
	const struct value *aliases = value_get(profile->value, "aliases");

	if (profiles_find(profiles, profile->vendor))
		return value_error(value_get(profile->value, "vendor"), err,
				   "duplicate vendor \"%s\"", profile->vendor);
	for (size_t i = 0; i < profile->aliases.count; i++)
		if (profiles_find(profiles, profile->aliases.items[i]))
			return value_error(value_at(aliases, i), err,
					   "duplicate vendor \"%.60s\"",
					   profile->aliases.items[i]);
	return 0;
}

static int profiles_add(struct profiles *profiles, const char *path,
			const char *name, struct error *err)
{
	owned(profile_free) struct profile *profile = profile_load(path, err);

	if (!profile)
		return -1;
	if (strcmp(profile->vendor, name) != 0)
		return value_error(value_get(profile->value, "vendor"), err,
				   "\"%s\" is not valid here; expected "
				   "\"%.60s\", the name of the folder",
				   profile->vendor, name);
	if (check_names(profiles, profile, err) < 0)
		return -1;
	profiles->list[profiles->count++] = take(profile);
	return 0;
}

int profiles_load(const char *folder, struct profiles *profiles,
		  struct error *err)
{
	owned(profiles_clear) struct profiles got = { 0 };
	owned(strings_clear) struct strings names = { 0 };
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/vendors", folder) >=
	    PATH_MAX - NAME_MAX - 16)
		return error_set(err, ENAMETOOLONG, "%.100s: too long", folder);
	if (file_list(path, VENDORS_MAX, &names, err) < 0)
		return -1;
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items),
		      profile_compare_names);
	got.list = calloc(names.count + 1, sizeof(struct profile *));
	if (!got.list)
		return error_nomem(err, path);
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];

		snprintf(path, sizeof(path), "%s/vendors/%s/profile.yaml",
			 folder, name);
		if (access(path, F_OK) == 0 &&
		    profiles_add(&got, path, name, err) < 0)
			return -1;
	}
	profiles_clear(profiles);
	*profiles = got;
	got = (struct profiles){ 0 };
	return 0;
}

bool profile_lists(const struct strings *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcasecmp(list->items[i], word))
			return true;
	return false;
}

const struct profile *profiles_find(const struct profiles *profiles,
				    const char *name)
{
	for (size_t i = 0; i < profiles->count; i++)
		if (!strcasecmp(profiles->list[i]->vendor, name) ||
		    profile_lists(&profiles->list[i]->aliases, name))
			return profiles->list[i];
	return NULL;
}

const struct chip_rule *profile_chip(const struct profile *profile,
				     const char *pci_device, const char *name)
{
	for (size_t i = 0; name && i < profile->chips_count; i++) {
		const struct chip_rule *chip = &profile->chips[i];

		if (chip->match &&
		    expression_match(chip->match, name, strlen(name),
				     EXPRESSION_ANYWHERE, NULL) == 1)
			return chip;
	}
	for (size_t i = 0; pci_device && i < profile->chips_count; i++)
		if (profile_lists(&profile->chips[i].pci, pci_device))
			return &profile->chips[i];
	return NULL;
}
