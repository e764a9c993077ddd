/* profile.c - the profile of a vendor's hardware, read from its file.
 */
#include "protocol/hardware/profile.h"

#include "protocol/base/file.h"
#include "protocol/hardware/profile_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
