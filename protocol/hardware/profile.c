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
#define VENDOR_MAX 63 /* bytes of a name */

static const struct document_limits limits = {
	.bytes = PROFILE_BYTES_MAX,
	.values = VALUES_MAX,
	.depth = DEPTH_MAX,
};

static void numbers_free(struct number_rule *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expression_free(numbers[i].match);
	free(numbers);
}

static void versions_free(struct version_rule *versions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		strings_clear(&versions[i].command);
		expression_free(versions[i].match);
	}
	free(versions);
}

static void chips_free(struct chip_rule *chips, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(chips[i].aliases.items);
		free(chips[i].pci.items);
		expression_free(chips[i].match);
	}
	free(chips);
}

static void discover_clear(struct discover_rules *rules)
{
	free(rules->pci_vendors.items);
	free(rules->pci_classes.items);
	numbers_free(rules->numbers, rules->numbers_count);
	free(rules->required.items);
	strings_clear(&rules->map_command);
	sampler_free(rules->map);
}

static void container_clear(struct container_rules *rules)
{
	free(rules->device_nodes.items);
	free(rules->shared_nodes.items);
	free(rules->optional_nodes.items);
	free(rules->request_capabilities.items);
	strings_clear(&rules->env);
	free(rules->groups.items);
	free(rules->capabilities.items);
	free(rules->security.items);
	strings_clear(&rules->ulimits);
	free(rules->mounts);
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	free(profile->aliases.items);
	discover_clear(&profile->discover);
	container_clear(&profile->container);
	free(profile->visible);
	strings_clear(&profile->monitor.command);
	strings_clear(&profile->monitor.env);
	sampler_free(profile->monitor.sampler);
	strings_clear(&profile->processes.command);
	expression_free(profile->processes.from);
	expression_free(profile->processes.row);
	free(profile->processes.ignore.items);
	versions_free(profile->driver, profile->driver_count);
	versions_free(profile->sdk, profile->sdk_count);
	chips_free(profile->chips, profile->chips_count);
	document_free(profile->document);
	free(profile);
}

static int read_vendor(const struct value *value, void *out, struct error *err)
{
	const char *text;
	size_t size;

	if (read_text(value, &text, err) < 0)
		return -1;
	size = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");
	if (text[size] || size > VENDOR_MAX)
		return value_error(value, err,
				   "\"%.80s\" is not valid here; expected at "
				   "most %d lower case letters, digits and -",
				   text, VENDOR_MAX);
	*(const char **)out = text;
	return 0;
}

static int read_dies(const struct value *value, void *out, struct error *err)
{
	return value_u32(value, 1, 16, out, err);
}

static int profile_read(struct profile *profile, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "vendor", read_vendor, offsetof(struct profile, vendor), true },
		{ "aliases", read_words, offsetof(struct profile, aliases), false },
		{ "title", read_text, offsetof(struct profile, title), false },
		{ "source", read_text, offsetof(struct profile, source), false },
		{ "discover", read_discover, offsetof(struct profile, discover), false },
		{ "container", read_container, offsetof(struct profile, container), false },
		{ "visible", read_visible, 0, false },
		{ "monitor", read_monitor, offsetof(struct profile, monitor), false },
		{ "versions", read_versions, 0, false },
		{ "processes", read_processes, offsetof(struct profile, processes), false },
		{ "devices_per_card", read_dies, offsetof(struct profile, devices_per_card), false },
		{ "chips", read_chips, 0, false },
		{ "images", read_images, 0, false },
		FIELD_END
	};
	/* clang-format on */

	profile->devices_per_card = 1;
	profile->discover.functions = 1;
	if (fields_read(profile->value, fields, profile, err) < 0)
		return -1;
	return profile_check(profile, err);
}

static struct profile *profile_new(struct document *document, struct error *err)
{
	owned(document_free) struct document *keep = document;
	owned(profile_free) struct profile *profile =
		keep ? calloc(1, sizeof(*profile)) : NULL;

	if (!keep)
		return NULL;
	if (!profile) {
		error_nomem(err, document_file(keep));
		return NULL;
	}
	profile->value = document_root(keep);
	profile->document = take(keep);
	if (profile_read(profile, err) < 0)
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
static int by_name(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	bool x_cpu = !strcmp(x, "cpu"), y_cpu = !strcmp(y, "cpu");

	return x_cpu != y_cpu ? x_cpu - y_cpu : strcmp(x, y);
}

/* Names and aliases are asked for alike, so none may stand for two. */
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
		qsort(names.items, names.count, sizeof(*names.items), by_name);
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

static bool listed(const struct profile_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcasecmp(list->items[i], name))
			return true;
	return false;
}

const struct profile *profiles_find(const struct profiles *profiles,
				    const char *name)
{
	for (size_t i = 0; i < profiles->count; i++)
		if (!strcasecmp(profiles->list[i]->vendor, name) ||
		    listed(&profiles->list[i]->aliases, name))
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
		if (listed(&profile->chips[i].pci, pci_device))
			return &profile->chips[i];
	return NULL;
}
