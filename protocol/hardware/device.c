/* device.c - finds the accelerators of a node: a profile against /sys and
 * /dev.
 */
#include "protocol/hardware/device_internal.h"
#include "protocol/base/printable.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCI_FOLDER "/sys/bus/pci/devices"

static void search_clear(struct search *search)
{
	devices_clear(&search->found);
}
OWNED_VALUE(struct search, search_clear)

static struct device_info *search_add_device(struct search *search,
					     struct error *err)
{
	struct devices *found = &search->found;

	if (found->count >= DEVICES_MAX)
		return error_null(
			error_set(err, E2BIG, "%s: more than %d devices",
				  search->profile->vendor, DEVICES_MAX));
	found->list[found->count].numa = -1;
	return &found->list[found->count++];
}

static int text_set(char **to, const char *text, struct error *err)
{
	char *copy = strdup(text);

	if (!copy)
		return error_nomem(err, "device");
	printable(copy, strlen(copy));
	free(*to);
	*to = copy;
	return 0;
}

/* The digits of "0x10de" in a file of a PCI function; false: none, out is "".
 */
static bool pci_word(const struct sysroot *roots, const char *function,
		     const char *file, size_t digits, char *out)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(64);
	char path[PATH_MAX];

	*out = 0;
	snprintf(path, sizeof(path), PCI_FOLDER "/%.64s/%s", function, file);
	if (sysroot_read(roots, path, &text, NULL) < 0 ||
	    strncmp(text.data, "0x", 2) != 0 || text.size != digits + 2)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (!isxdigit((unsigned char)text.data[i + 2]))
			return false;
		out[i] = (char)tolower((unsigned char)text.data[i + 2]);
	}
	out[digits] = 0;
	return true;
}

/* A class is given by the first digits of its code. */
static bool has_class(const struct strings *classes, const char *code)
{
	for (size_t i = 0; i < classes->count; i++)
		if (!strncmp(code, classes->items[i],
			     strlen(classes->items[i])))
			return true;
	return false;
}

static bool pci_suits(const struct search *search, const char *function)
{
	const struct discover_rules *rules = &search->profile->discover;
	char word[8], path[PATH_MAX], found[PATH_MAX];
	unsigned number = (unsigned)function[BUS_ID_SIZE - 2] - '0';
	struct stat st;

	if (!pci_word(search->roots, function, "vendor", 4, word) ||
	    !profile_lists(&rules->pci_vendors, word))
		return false;
	if (rules->functions ? !(rules->functions & (1U << number)) : number)
		return false;
	if (rules->pci_classes.count &&
	    (!pci_word(search->roots, function, "class", 6, word) ||
	     !has_class(&rules->pci_classes, word)))
		return false;
	/* A virtual function, which a virtual machine uses. */
	snprintf(path, sizeof(path), PCI_FOLDER "/%s/physfn", function);
	return sysroot_find(search->roots, path, found, &st, NULL) < 0;
}

static int64_t numa_of(const struct sysroot *roots, const char *function)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(32);
	char path[PATH_MAX];
	long node;
	char *end;

	snprintf(path, sizeof(path), PCI_FOLDER "/%s/numa_node", function);
	if (sysroot_read(roots, path, &text, NULL) < 0)
		return -1;
	node = strtol(text.data, &end, 10);
	return text.size && !*end && node >= 0 && node < 4096 ? node : -1;
}

/* How many devices the PCI function is: the dies of a card share it where the
 * monitor has a row for each.
 */
static size_t count_dies(const struct search *search,
			 const struct device_info *device)
{
	size_t rows = 0, most = search->profile->devices_per_card;

	for (size_t i = 0; search->monitor && i < search->monitor->count; i++)
		rows += device_has_bus(device, search->monitor->rows[i].bus_id);
	return rows < 1 ? 1 : rows < most ? rows : most;
}

static int pci_add(struct search *search, char *function, struct error *err)
{
	const struct device_info bus = { .bus_id = function };
	size_t dies = count_dies(search, &bus);

	for (size_t i = 0; i < dies; i++) {
		struct device_info *device = search_add_device(search, err);
		size_t index = search->found.count - 1;

		if (!device || text_set(&device->bus_id, function, err) < 0)
			return -1;
		device->numa = numa_of(search->roots, function);
		pci_word(search->roots, function, "device", 4,
			 search->candidates[index].pci_device);
	}
	return 0;
}

static void append_words(char *text, size_t size, const struct strings *words)
{
	for (size_t i = 0; i < words->count; i++)
		text_append(text, size, "%s%s", i ? ", " : "", words->items[i]);
}

static void none_found(struct search *search, size_t seen)
{
	const struct discover_rules *rules = &search->profile->discover;
	char ids[64] = "", classes[64] = "";

	append_words(ids, sizeof(ids), &rules->pci_vendors);
	append_words(classes, sizeof(classes), &rules->pci_classes);
	search_because(search, "none of %zu PCI functions has vendor id %s%s%s",
		       seen, ids, *classes ? " and class " : "", classes);
}

static int find_pci(struct search *search, struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };
	struct error why;
	char bus_id[BUS_ID_SIZE];
	size_t seen = 0;

	if (sysroot_list(search->roots, PCI_FOLDER, &names, &why) < 0) {
		search_because(search, "no PCI devices: %s", why.text);
		return 0;
	}
	for (size_t i = 0; i < names.count; i++) {
		if (!bus_id_normal(names.items[i], bus_id) ||
		    strcmp(bus_id, names.items[i]) != 0)
			continue;
		seen++;
		if (pci_suits(search, bus_id) &&
		    pci_add(search, bus_id, err) < 0)
			return -1;
	}
	if (!search->found.count)
		none_found(search, seen);
	return 0;
}

/* Find device nodes by a pattern with one {name} in it. */
static int find_nodes(struct search *search, struct error *err)
{
	/* The profile was checked: there is one {name}. */
	const char *pattern = search->profile->discover.nodes;
	size_t before = strcspn(pattern, "{"), size;
	owned(strings_clear) struct strings paths = { 0 };
	owned_free char *glob = NULL, *name = NULL;

	size = strcspn(pattern + before, "}");
	name = strndup(pattern + before + 1, size - 1);
	if (!name || asprintf(&glob, "%.*s*%s", (int)before, pattern,
			      pattern + before + size + 1) < 0)
		return error_nomem(err, "devices");
	if (sysroot_glob(search->roots, glob, true, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.count; i++) {
		const char *digits = paths.items[i] + before;
		char found[PATH_MAX], value[NUMBER_SIZE];
		struct device_info *device;
		struct error why;
		struct stat st;

		if (sysroot_find_node(search->roots, paths.items[i], found, &st,
				      &why) < 0) {
			search_because(search, "%s", why.text);
			continue;
		}
		device = search_add_device(search, err);
		snprintf(value, sizeof(value), "%.*s",
			 (int)strspn(digits, "0123456789"), digits);
		if (!device || device_number_add(device, name, value, err) < 0)
			return -1;
	}
	if (!search->found.count)
		search_because(search, "no device node %s", glob);
	return 0;
}

/* The second tool reports the bus, or only the monitor's device numbers. */
static const struct device_sample *map_row(const struct samples *map,
					   const struct devices *found,
					   size_t index,
					   const struct device_sample *monitor)
{
	const struct device_sample *row = devices_row(found, index, map);

	for (size_t i = 0; !row && monitor && i < map->count; i++)
		if (*map->rows[i].device &&
		    !strcmp(map->rows[i].device, monitor->device))
			row = &map->rows[i];
	return row;
}

static void rows_find(struct search *search)
{
	const struct devices *found = &search->found;

	for (size_t i = 0; i < found->count; i++) {
		struct candidate *candidate = &search->candidates[i];

		if (search->monitor)
			candidate->row = devices_row(found, i, search->monitor);
		if (search->map)
			candidate->mapped =
				map_row(search->map, found, i, candidate->row);
	}
}

/* Any row, if the tool reports no bus and one name for all devices. */
static const struct device_sample *common_row(const struct samples *samples)
{
	const struct device_sample *first = samples->rows;

	for (size_t i = 0; i < samples->count; i++)
		if (*samples->rows[i].bus_id ||
		    strcmp(samples->rows[i].name, first->name) != 0)
			return NULL;
	return samples->count ? first : NULL;
}

static int name_one(const struct search *search, size_t index,
		    struct error *err)
{
	const struct candidate *candidate = &search->candidates[index];
	const struct device_sample *row = candidate->row;
	struct device_info *info = &search->found.list[index];
	const char *name = row_word(candidate->mapped, "name");
	const struct chip_rule *chip;

	if (row && *row->uuid && text_set(&info->uuid, row->uuid, err) < 0)
		return -1;
	if (row && (row->has & (1U << READING_MEM_TOTAL_MIB)))
		info->memory_mib = (uint64_t)row->value[READING_MEM_TOTAL_MIB];
	if (!row && search->monitor)
		row = common_row(search->monitor);
	if (row && *row->name)
		name = row->name;
	if (name && *name && text_set(&info->name, name, err) < 0)
		return -1;
	chip = profile_chip(search->profile,
			    *candidate->pci_device ? candidate->pci_device
						   : NULL,
			    info->name);
	return chip ? text_set(&info->chip, chip->name, err) : 0;
}

/* A device whose node is missing has an error text. */
static int check_one(const struct search *search, struct device_info *info,
		     struct error *err)
{
	owned(strings_clear) struct strings nodes = { 0 };
	struct error why = { 0 };

	if (device_nodes(search->profile, search->roots, info, &nodes, &why) ==
	    0)
		return 0;
	return text_set(&info->text, why.text, err);
}

int devices_find(const struct profile *profile, const struct sysroot *roots,
		 const struct samples *monitor, const struct samples *map,
		 const struct devices *known, struct devices *devices,
		 char *why, size_t size, struct error *err)
{
	static const struct devices none;
	owned(search_clear) struct search search = {
		.profile = profile,
		.roots = roots,
		.monitor = monitor,
		.map = map,
		.known = known ? known : &none,
		.why = why,
		.why_size = size,
	};
	const struct discover_rules *rules = &profile->discover;
	struct devices *found = &search.found;
	int rc = 0;

	*why = 0;
	found->list = calloc(DEVICES_MAX, sizeof(*found->list));
	if (!found->list)
		return error_nomem(err, "devices");
	if (rules->pci_vendors.count)
		rc = find_pci(&search, err);
	else if (rules->nodes)
		rc = find_nodes(&search, err);
	else
		search_because(&search,
			       "the profile has no rule to find devices");
	if (rc < 0)
		return -1;
	rows_find(&search);
	if (search_numbers(&search, err) < 0)
		return -1;
	for (size_t i = 0; i < found->count; i++) {
		found->list[i].index = (uint32_t)i;
		if (name_one(&search, i, err) < 0 ||
		    check_one(&search, &found->list[i], err) < 0)
			return -1;
	}
	found->simulated = sysroot_simulated(roots);
	devices_clear(devices);
	*devices = *found;
	*found = none;
	return 0;
}

int device_nodes(const struct profile *profile, const struct sysroot *roots,
		 const struct device_info *device, struct strings *nodes,
		 struct error *err)
{
	const struct strings *patterns = &profile->container.device_nodes;
	owned(strings_clear) struct strings got = { 0 };

	for (size_t i = 0; i < patterns->count; i++) {
		char path[PATH_MAX], found[PATH_MAX];
		struct stat st;

		if (device_path(device, patterns->items[i], path, err) < 0 ||
		    (roots &&
		     sysroot_find_node(roots, path, found, &st, err) < 0) ||
		    strings_printf(&got, err, "%s:%s", roots ? found : path,
				   path) < 0)
			return -1;
	}
	strings_clear(nodes);
	*nodes = got;
	got = (struct strings){ 0 };
	return 0;
}
