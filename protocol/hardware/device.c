/* device.c - finds the accelerators of a node: a profile against /sys and
 * /dev.
 */
#include "protocol/hardware/device_internal.h"
#include "protocol/base/printable.h"
#include "protocol/hardware/sysroot_path.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PCI_FOLDER "/sys/bus/pci/devices"

void devices_clear(struct devices *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		codec_clear(&device_info_schema, &devices->list[i]);
	free(devices->list);
	*devices = (struct devices){ 0 };
}

static void search_clear(struct search *search)
{
	for (size_t i = 0; i < search->count; i++)
		codec_clear(&device_info_schema, &search->list[i].info);
	free(search->list);
}
OWNED_VALUE(struct search, search_clear)

void search_because(struct search *search, const char *fmt, ...)
{
	size_t left = search->room - search->used;
	va_list args;
	int size;

	if (left <= 1)
		return;
	if (search->used) {
		size = snprintf(search->why + search->used, left, "; ");
		search->used += (size_t)size < left ? (size_t)size : left - 1;
		left = search->room - search->used;
	}
	va_start(args, fmt);
	size = vsnprintf(search->why + search->used, left, fmt, args);
	va_end(args);
	printable(search->why + search->used,
		  strlen(search->why + search->used));
	search->used += (size_t)size < left ? (size_t)size : left - 1;
}

bool profile_lists(const struct profile_list *list, const char *word,
		   bool prefix)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strncasecmp(list->items[i], word,
				 prefix ? strlen(list->items[i])
					: strlen(word) + 1))
			return true;
	return false;
}

static struct candidate *candidate_add(struct search *search, struct error *err)
{
	struct candidate *list;

	if (search->count >= DEVICES_MAX) {
		error_set(err, E2BIG, "%s: more than %d devices",
			  search->profile->vendor, DEVICES_MAX);
		return NULL;
	}
	list = realloc(search->list, (search->count + 1) * sizeof(*list));
	if (!list) {
		error_nomem(err, "devices");
		return NULL;
	}
	search->list = list;
	list += search->count++;
	*list = (struct candidate){ .info = { .numa = -1 } };
	return list;
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

int device_path(const struct device_info *device, const char *pattern,
		char out[PATH_MAX], struct error *err)
{
	size_t used = 0;

	while (*pattern) {
		size_t plain = strcspn(pattern, "{");
		const char *text = pattern;
		size_t name = 0;

		if (!plain) {
			char word[64];

			name = strcspn(pattern, "}");
			snprintf(word, sizeof(word), "%.*s", (int)name - 1,
				 pattern + 1);
			text = strcmp(word, "bus") ? device_number(device, word)
						   : device->bus_id;
			if (!text || !pattern[name])
				return error_set(err, ENOENT,
						 "%s: its {%s} is unknown",
						 pattern, word);
			name++;
			plain = strlen(text);
		} else {
			name = plain;
		}
		if (used + plain >= PATH_MAX)
			return error_set(err, ENAMETOOLONG, "%s: too long",
					 pattern);
		memcpy(out + used, text, plain);
		used += plain;
		pattern += name;
	}
	out[used] = 0;
	return 0;
}

/* Finding. */

/* The digits of "0x10de" in a file of a PCI function; false: none. */
static bool pci_word(const struct sysroot *roots, const char *function,
		     const char *file, size_t digits, char *out)
{
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX];

	buffer_init(&text, 64);
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

static bool pci_suits(const struct search *search, const char *function)
{
	const struct discover_rules *rules = &search->profile->discover;
	char word[8], path[PATH_MAX], found[PATH_MAX];
	unsigned number = (unsigned)function[BUS_ID_SIZE - 2] - '0';
	struct stat st;

	if (!pci_word(search->roots, function, "vendor", 4, word) ||
	    !profile_lists(&rules->pci_vendors, word, false))
		return false;
	if (rules->functions ? !(rules->functions & (1U << number)) : number)
		return false;
	if (rules->pci_classes.count &&
	    (!pci_word(search->roots, function, "class", 6, word) ||
	     !profile_lists(&rules->pci_classes, word, true)))
		return false;
	/* A part of another device, made for virtual machines. */
	snprintf(path, sizeof(path), PCI_FOLDER "/%s/physfn", function);
	return sysroot_find(search->roots, path, found, &st, NULL) < 0;
}

static int by_bus(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int64_t numa_of(const struct sysroot *roots, const char *function)
{
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX];
	long node;
	char *end;

	buffer_init(&text, 32);
	snprintf(path, sizeof(path), PCI_FOLDER "/%s/numa_node", function);
	if (sysroot_read(roots, path, &text, NULL) < 0)
		return -1;
	node = strtol(text.data, &end, 10);
	return text.size && !*end && node >= 0 && node < 4096 ? node : -1;
}

/* How many devices one PCI function is: the dies of a card share it where the
 * tool says so.
 */
static size_t dies_of(const struct search *search, const char *bus_id)
{
	size_t rows = 0, most = search->profile->devices_per_card;
	char other[BUS_ID_SIZE];

	for (size_t i = 0; search->monitor && i < search->monitor->count; i++)
		rows += bus_id_normal(search->monitor->rows[i].bus_id, other) &&
			!strcmp(other, bus_id);
	return rows < 1 || most < 1 ? 1 : rows < most ? rows : most;
}

static int pci_add(struct search *search, const char *function,
		   struct error *err)
{
	size_t dies = dies_of(search, function);

	for (size_t i = 0; i < dies; i++) {
		struct candidate *candidate = candidate_add(search, err);

		if (!candidate ||
		    text_set(&candidate->info.bus_id, function, err) < 0)
			return -1;
		memcpy(candidate->bus_id, function, BUS_ID_SIZE);
		candidate->info.numa = numa_of(search->roots, function);
		if (!pci_word(search->roots, function, "device", 4,
			      candidate->pci_device))
			candidate->pci_device[0] = 0;
	}
	return 0;
}

static void none_found(struct search *search, size_t seen)
{
	const struct discover_rules *rules = &search->profile->discover;
	char ids[64] = "", classes[64] = "";
	size_t used = 0;

	for (size_t i = 0; i < rules->pci_vendors.count && used < 48; i++)
		used += (size_t)snprintf(ids + used, 16, "%s%.8s",
					 i ? ", " : "",
					 rules->pci_vendors.items[i]);
	used = 0;
	for (size_t i = 0; i < rules->pci_classes.count && used < 48; i++)
		used += (size_t)snprintf(classes + used, 16, "%s%.8s",
					 i ? ", " : "",
					 rules->pci_classes.items[i]);
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
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), by_bus);
	for (size_t i = 0; i < names.count; i++) {
		if (!bus_id_normal(names.items[i], bus_id) ||
		    strcmp(bus_id, names.items[i]) != 0)
			continue;
		seen++;
		if (pci_suits(search, bus_id) &&
		    pci_add(search, bus_id, err) < 0)
			return -1;
	}
	if (!search->count)
		none_found(search, seen);
	return 0;
}

/* Device nodes by a pattern with one {name} in it. */
static int find_nodes(struct search *search, struct error *err)
{
	const char *pattern = search->profile->discover.nodes;
	const char *brace = strchr(pattern, '{');
	const char *end = brace ? strchr(brace, '}') : NULL;
	owned(strings_clear) struct strings paths = { 0 };
	owned_free char *glob = NULL;
	char name[NUMBER_SIZE];

	if (!end || end - brace - 1 >= NUMBER_SIZE)
		return error_set(err, EINVAL, "%s: expected one {name} in it",
				 pattern);
	snprintf(name, sizeof(name), "%.*s", (int)(end - brace - 1), brace + 1);
	if (asprintf(&glob, "%.*s*%s", (int)(brace - pattern), pattern,
		     end + 1) < 0)
		return error_nomem(err, "devices");
	if (sysroot_glob(search->roots, glob, true, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.count; i++) {
		const char *digits = paths.items[i] + (brace - pattern);
		char found[PATH_MAX], value[NUMBER_SIZE];
		struct candidate *candidate;
		struct error why;
		struct stat st;

		if (sysroot_find_node(search->roots, paths.items[i], found, &st,
				      &why) < 0) {
			search_because(search, "%s", why.text);
			continue;
		}
		candidate = candidate_add(search, err);
		snprintf(value, sizeof(value), "%.*s",
			 (int)strspn(digits, "0123456789"), digits);
		if (!candidate ||
		    device_number_add(&candidate->info, name, value, err) < 0)
			return -1;
	}
	if (!search->count)
		search_because(search, "no device node %s", glob);
	return 0;
}

/* Rows of the tools. */

static bool same_bus(const struct device_sample *row, const char *bus_id)
{
	char other[BUS_ID_SIZE];

	return bus_id_normal(row->bus_id, other) && !strcmp(other, bus_id);
}

/* The nth row of this bus; without PCI, the row that has one of its numbers as
 * the tool's.
 */
static const struct device_sample *row_find(const struct samples *samples,
					    const struct candidate *candidate,
					    size_t nth)
{
	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct device_sample *row = &samples->rows[i];
		bool same = *candidate->bus_id
				    ? same_bus(row, candidate->bus_id)
				    : !strcmp(row->device,
					      candidate->info.numbers[0].value);

		if (same && !nth--)
			return row;
	}
	return NULL;
}

/* The second tool may know the bus, or only the first one's count. */
static const struct device_sample *map_find(const struct samples *map,
					    const struct candidate *candidate,
					    size_t nth)
{
	const struct device_sample *row = row_find(map, candidate, nth);

	for (size_t i = 0; !row && candidate->row && map && i < map->count; i++)
		if (*map->rows[i].device &&
		    !strcmp(map->rows[i].device, candidate->row->device))
			row = &map->rows[i];
	return row;
}

static void rows_find(struct search *search)
{
	for (size_t i = 0, nth = 0; i < search->count; i++) {
		struct candidate *candidate = &search->list[i];

		nth = i && *candidate->bus_id &&
				      !strcmp(candidate->bus_id,
					      candidate[-1].bus_id)
			      ? nth + 1
			      : 0;
		candidate->row = row_find(search->monitor, candidate, nth);
		candidate->mapped = map_find(search->map, candidate, nth);
	}
}

/* What the tools know. */

/* A word that all rows share, for tools that do not tell the bus. */
static const struct device_sample *common_row(const struct samples *samples)
{
	const struct device_sample *first = samples->rows;

	for (size_t i = 0; i < samples->count; i++)
		if (*samples->rows[i].bus_id ||
		    strcmp(samples->rows[i].name, first->name) != 0)
			return NULL;
	return samples->count ? first : NULL;
}

static int name_one(const struct search *search, struct candidate *candidate,
		    struct error *err)
{
	const struct device_sample *row = candidate->row;
	struct device_info *info = &candidate->info;
	const char *name = row_word(candidate->mapped, "name");
	const struct chip_rule *chip;

	if (row && *row->uuid && text_set(&info->uuid, row->uuid, err) < 0)
		return -1;
	if (row && (row->has & (1U << READING_MEM_TOTAL_MIB)) &&
	    row->value[READING_MEM_TOTAL_MIB] >= 0 &&
	    row->value[READING_MEM_TOTAL_MIB] < 1e9)
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

/* Its nodes are there, or it says which is not. */
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

static int finish(struct search *search, struct devices *devices,
		  struct error *err)
{
	struct device_info *list = calloc(search->count + 1, sizeof(*list));

	if (!list)
		return error_nomem(err, "devices");
	for (size_t i = 0; i < search->count; i++) {
		list[i] = search->list[i].info;
		list[i].index = (uint32_t)i;
	}
	devices_clear(devices);
	devices->list = list;
	devices->count = search->count;
	devices->left_out = search->left_out;
	devices->simulated = sysroot_simulated(search->roots);
	search->count = 0;
	return 0;
}

int devices_find(const struct profile *profile, const struct sysroot *roots,
		 const struct samples *monitor, const struct samples *map,
		 const struct devices *known, struct devices *devices,
		 char *why, size_t size, struct error *err)
{
	owned(search_clear) struct search search = {
		.profile = profile,
		.roots = roots,
		.monitor = monitor,
		.map = map,
		.known = known,
		.why = why,
		.room = size,
	};
	const struct discover_rules *rules = &profile->discover;
	int rc = 0;

	if (size)
		*why = 0;
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
	for (size_t i = 0; i < search.count; i++)
		if (name_one(&search, &search.list[i], err) < 0 ||
		    check_one(&search, &search.list[i].info, err) < 0)
			return -1;
	return finish(&search, devices, err);
}

int device_nodes(const struct profile *profile, const struct sysroot *roots,
		 const struct device_info *device, struct strings *nodes,
		 struct error *err)
{
	const struct profile_list *patterns = &profile->container.device_nodes;
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
