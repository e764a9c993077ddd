/* device_numbers.c - the numbers by which a profile's tools, nodes and
 * variables know a device.
 */
#include "protocol/hardware/device_internal.h"
#include "protocol/hardware/sysroot_path.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So that one that is too long can be told. */
#define VALUE_MAX ((size_t)2 * NUMBER_SIZE)
#define NUMBER_FILE_MAX 65536

int device_number_add(struct device_info *device, const char *name,
		      const char *value, struct error *err)
{
	struct device_number *numbers =
		realloc(device->numbers,
			(device->numbers_count + 1) * sizeof(*numbers));

	if (!numbers)
		return error_nomem(err, "device");
	device->numbers = numbers;
	numbers += device->numbers_count;
	*numbers = (struct device_number){ strdup(name), strdup(value) };
	device->numbers_count++;
	return numbers->name && numbers->value ? 0 : error_nomem(err, "device");
}

const char *row_word(const struct device_sample *row, const char *word)
{
	/* clang-format off */
	static const struct {
		const char *name;
		size_t offset;
	} words[] = {
		{ "device", offsetof(struct device_sample, device) },
		{ "bus_id", offsetof(struct device_sample, bus_id) },
		{ "name", offsetof(struct device_sample, name) },
		{ "uuid", offsetof(struct device_sample, uuid) },
		{ "physical", offsetof(struct device_sample, physical) },
	};
	/* clang-format on */

	for (size_t i = 0; row && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].name, word))
			return (const char *)row + words[i].offset;
	return NULL;
}

static const char *candidate_name(const struct candidate *candidate)
{
	return candidate->info.bus_id ? candidate->info.bus_id
				      : candidate->info.numbers[0].value;
}

static void candidate_drop(struct search *search, size_t index)
{
	codec_clear(&device_info_schema, &search->list[index].info);
	search->count--;
	memmove(&search->list[index], &search->list[index + 1],
		(search->count - index) * sizeof(*search->list));
}

/* It becomes a part of paths and of lists with commas. */
static bool number_good(const char *value)
{
	size_t size = strlen(value);

	return size && size < NUMBER_SIZE && isalnum((unsigned char)*value) &&
	       strspn(value, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz._:-") == size;
}

static int number_of_file(const struct search *search,
			  const struct number_rule *rule, const char *path,
			  char value[VALUE_MAX], struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, NUMBER_FILE_MAX);
	if (sysroot_read(search->roots, path, &text, err) < 0)
		return -1;
	if (rule->match)
		return expression_find(rule->match, text.data, text.size, value,
				       VALUE_MAX, err);
	snprintf(value, VALUE_MAX, "%s", text.data);
	return 0;
}

static int number_of_glob(const struct search *search, const char *path,
			  char value[VALUE_MAX], struct error *err)
{
	owned(strings_clear) struct strings paths = { 0 };
	const char *star = strchr(path, '*');
	const char *digits;

	if (!star)
		return error_set(err, EINVAL, "%s: expected a '*' in it", path);
	if (sysroot_glob(search->roots, path, true, &paths, err) < 0)
		return -1;
	if (!paths.count)
		return error_set(err, ENOENT, "no %s", path);
	digits = paths.items[0] + (star - path);
	snprintf(value, VALUE_MAX, "%.*s", (int)strspn(digits, "0123456789"),
		 digits);
	return 0;
}

static int number_of_row(const struct number_rule *rule,
			 const struct device_sample *row, const char *tool,
			 char value[VALUE_MAX], struct error *err)
{
	const char *word = row_word(row, rule->word);

	if (!word || !*word)
		return error_set(err, ENOENT, "the %s tool does not report it",
				 tool);
	if (rule->match)
		return expression_find(rule->match, word, strlen(word), value,
				       VALUE_MAX, err);
	snprintf(value, VALUE_MAX, "%s", word);
	return 0;
}

/* By its place on the bus, or by its node's number. */
static bool is_known(const struct device_info *known,
		     const struct candidate *candidate)
{
	const struct device_info *info = &candidate->info;

	if (*candidate->bus_id || known->bus_id)
		return known->bus_id &&
		       !strcmp(known->bus_id, candidate->bus_id);
	return known->numbers_count && info->numbers_count &&
	       !strcmp(known->numbers[0].value, info->numbers[0].value);
}

/* The same one as it was known, the dies of a card by their order. */
static const struct device_info *known_find(const struct search *search,
					    size_t index)
{
	const struct candidate *candidate = &search->list[index];
	size_t skip = 0;

	for (size_t i = 0; *candidate->bus_id && i < index; i++)
		skip += !strcmp(search->list[i].bus_id, candidate->bus_id);
	for (size_t i = 0; search->known && i < search->known->count; i++)
		if (is_known(&search->known->list[i], candidate) && !skip--)
			return &search->known->list[i];
	return NULL;
}

static bool number_used(const struct search *search, const char *name,
			const char *value)
{
	const char *other;

	for (size_t i = 0; search->known && i < search->known->count; i++) {
		other = device_number(&search->known->list[i], name);
		if (other && !strcmp(other, value))
			return true;
	}
	for (size_t i = 0; i < search->count; i++) {
		other = device_number(&search->list[i].info, name);
		if (other && !strcmp(other, value))
			return true;
	}
	return false;
}

static void number_of_order(const struct search *search,
			    const struct number_rule *rule, size_t index,
			    char value[VALUE_MAX])
{
	const struct device_info *known = known_find(search, index);
	const char *before = known ? device_number(known, rule->name) : NULL;
	size_t next = 0;

	if (!strcmp(rule->word, "present")) {
		snprintf(value, VALUE_MAX, "%zu", index);
		return;
	}
	if (before) {
		snprintf(value, VALUE_MAX, "%s", before);
		return;
	}
	do
		snprintf(value, VALUE_MAX, "%zu", next++);
	while (number_used(search, rule->name, value));
}

static int number_find(const struct search *search,
		       const struct number_rule *rule, size_t index,
		       char value[VALUE_MAX], struct error *err)
{
	const struct candidate *candidate = &search->list[index];
	char path[PATH_MAX];

	if (rule->path &&
	    device_path(&candidate->info, rule->path, path, err) < 0)
		return -1;
	switch (rule->from) {
	case NUMBER_FILE:
		return number_of_file(search, rule, path, value, err);
	case NUMBER_GLOB:
		return number_of_glob(search, path, value, err);
	case NUMBER_ORDER:
		number_of_order(search, rule, index, value);
		return 0;
	case NUMBER_MONITOR:
		return number_of_row(rule, candidate->row, "monitor", value,
				     err);
	case NUMBER_MAP:
		return number_of_row(rule, candidate->mapped, "map", value,
				     err);
	}
	return error_set(err, EINVAL, "no such rule");
}

/* Find a number by this rule for a device that does not have it yet. 1: it has
 * it now, or had it; 0: it has not, and why says so.
 */
static int number_one(struct search *search, const struct number_rule *rule,
		      size_t index, struct error *why, struct error *err)
{
	struct device_info *info = &search->list[index].info;
	char value[VALUE_MAX] = "";

	if (device_number(info, rule->name))
		return 1;
	if (number_find(search, rule, index, value, why) < 0)
		return 0;
	if (!number_good(value)) {
		error_set(why, EINVAL, "\"%s\", expected a number", value);
		return 0;
	}
	return device_number_add(info, rule->name, value, err) < 0 ? -1 : 1;
}

int search_numbers(struct search *search, struct error *err)
{
	const struct discover_rules *rules = &search->profile->discover;

	for (size_t r = 0; r < rules->numbers_count; r++) {
		const struct number_rule *rule = &rules->numbers[r];
		bool last = r + 1 == rules->numbers_count ||
			    strcmp(rule->name, rule[1].name) != 0;
		bool required =
			profile_lists(&rules->required, rule->name, false);

		for (size_t i = 0; i < search->count;) {
			struct error why;
			int found = number_one(search, rule, i, &why, err);

			if (found < 0)
				return -1;
			if (found || !last || !required) {
				i++;
				continue;
			}
			search_because(search, "%s left out: no number %s: %s",
				       candidate_name(&search->list[i]),
				       rule->name, why.text);
			candidate_drop(search, i);
			search->left_out++;
		}
	}
	return 0;
}
