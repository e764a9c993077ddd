/* device_numbers.c - the numbers by which a profile's tools, nodes and
 * variables know a device, and the paths that have them.
 */
#include "protocol/base/list.h"
#include "protocol/hardware/device_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* Longer than a valid number, so that a value that is too long is noticed. */
#define VALUE_MAX ((size_t)2 * NUMBER_SIZE)
#define NUMBER_FILE_MAX 65536

void search_because(struct search *search, const char *fmt, ...)
{
	struct error line;
	va_list args;

	va_start(args, fmt);
	error_vset(&line, ENOENT, fmt, args);
	va_end(args);
	text_append(search->why, search->why_size, "%s%s",
		    *search->why ? "; " : "", line.text);
}

int device_number_add(struct device_info *device, const char *name,
		      const char *value, struct error *err)
{
	struct device_number *number =
		LIST_ADD(device->numbers, device->numbers_count, err);

	return !number || string_set(&number->name, name, err) < 0
		       ? -1
		       : string_set(&number->value, value, err);
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
						 "%s: the {%s} of the device "
						 "is unknown",
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

static void candidate_drop(struct search *search, size_t index)
{
	struct devices *found = &search->found;
	struct device_info *info = &found->list[index];
	struct candidate *candidate = &search->candidates[index];
	size_t behind = --found->count - index;

	codec_clear(&device_info_schema, info);
	memmove(info, info + 1, behind * sizeof(*info));
	memmove(candidate, candidate + 1, behind * sizeof(*candidate));
	found->list[found->count] = (struct device_info){ 0 };
	found->left_out++;
}

/* A number is put into paths and into lists with commas. */
static bool number_good(const char *value)
{
	return isalnum((unsigned char)*value) &&
	       text_is_of(value, NUMBER_SIZE - 1,
			  ASCII_LETTERS ASCII_DIGITS "._:-");
}

/* The text, or what the rule's expression finds in it. */
static int number_of_text(const struct number_rule *rule, const char *text,
			  char value[VALUE_MAX], struct error *err)
{
	if (rule->match)
		return expression_find(rule->match, text, strlen(text), value,
				       VALUE_MAX, err);
	snprintf(value, VALUE_MAX, "%s", text);
	return 0;
}

static int number_of_file(const struct search *search,
			  const struct number_rule *rule, const char *path,
			  char value[VALUE_MAX], struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(NUMBER_FILE_MAX);

	if (sysroot_read(search->roots, path, &text, err) < 0)
		return -1;
	return number_of_text(rule, text.data, value, err);
}

static int number_of_glob(const struct search *search, const char *path,
			  char value[VALUE_MAX], struct error *err)
{
	owned(strings_clear) struct strings paths = { 0 };
	const char *digits;

	if (sysroot_glob(search->roots, path, true, &paths, err) < 0)
		return -1;
	if (!paths.count)
		return error_set(err, ENOENT, "no %s", path);
	digits = paths.items[0] + strcspn(path, "*");
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
	return number_of_text(rule, word, value, err);
}

static bool number_used(const struct devices *devices, const char *name,
			const char *value)
{
	for (size_t i = 0; i < devices->count; i++) {
		const char *other = device_number(&devices->list[i], name);

		if (other && !strcmp(other, value))
			return true;
	}
	return false;
}

static void number_of_order(const struct search *search,
			    const struct number_rule *rule, size_t index,
			    char value[VALUE_MAX])
{
	const struct devices *known = search->known;
	size_t same = devices_match(&search->found, index, known);
	const char *before =
		same < known->count
			? device_number(&known->list[same], rule->name)
			: NULL;
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
	while (number_used(known, rule->name, value) ||
	       number_used(&search->found, rule->name, value));
}

static int number_find(const struct search *search,
		       const struct number_rule *rule, size_t index,
		       char value[VALUE_MAX], struct error *err)
{
	const struct candidate *candidate = &search->candidates[index];
	char path[PATH_MAX];

	if (rule->path &&
	    device_path(&search->found.list[index], rule->path, path, err) < 0)
		return -1;
	switch (rule->from) {
	case NUMBER_FILE:
		return number_of_file(search, rule, path, value, err);
	case NUMBER_GLOB:
		return number_of_glob(search, path, value, err);
	case NUMBER_MONITOR:
		return number_of_row(rule, candidate->row, "monitor", value,
				     err);
	case NUMBER_MAP:
		return number_of_row(rule, candidate->mapped, "map", value,
				     err);
	case NUMBER_ORDER:
		number_of_order(search, rule, index, value);
	}
	return 0;
}

/* Find a number by this rule, unless the device has it. 1: it has it; 0: the
 * rule finds none, and *why says the reason.
 */
static int number_one(struct search *search, const struct number_rule *rule,
		      size_t index, struct error *why, struct error *err)
{
	struct device_info *info = &search->found.list[index];
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
		bool required = strings_has(&rules->required, rule->name);

		for (size_t i = 0; i < search->found.count;) {
			const struct device_info *info;
			struct error why;
			int found = number_one(search, rule, i, &why, err);

			if (found < 0)
				return -1;
			if (found || !last || !required) {
				i++;
				continue;
			}
			info = &search->found.list[i];
			search_because(search, "%s left out: no number %s: %s",
				       info->bus_id ? info->bus_id
						    : info->numbers[0].value,
				       rule->name, why.text);
			candidate_drop(search, i);
		}
	}
	return 0;
}
