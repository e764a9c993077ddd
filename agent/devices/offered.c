/* offered.c - which devices of this node an agent offers, by number or UUID.
 */
#include "agent/devices/offered.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int cpu_list_parse(const char *text, cpu_set_t *cpus, struct error *err)
{
	CPU_ZERO(cpus);
	for (const char *at = text;; at++) {
		char *end;
		unsigned long from = strtoul(at, &end, 10), to = from;

		if (end == at || *at == '-' || *at == '+')
			break;
		if (*end == '-') {
			at = end + 1;
			to = strtoul(at, &end, 10);
			if (end == at || *at == '-' || *at == '+')
				break;
		}
		if (from > to || to >= CPU_SETSIZE)
			break;
		for (; from <= to; from++)
			CPU_SET(from, cpus);
		if (!*end)
			return 0;
		if (*end != ',')
			break;
		at = end;
	}
	return error_set(err, EINVAL,
			 "'%.60s' is not valid here; expected a list of "
			 "processors such as 0-3,8",
			 text);
}

#define UUID_DIGITS 36 /* with its dashes */

/* "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", or "MIG-..." */
static bool is_uuid(const char *text)
{
	const char *dash = strchr(text, '-');
	size_t size = strlen(text);

	if (!isalpha((unsigned char)*text) || !dash ||
	    strlen(dash + 1) != UUID_DIGITS ||
	    strspn(dash + 1, "0123456789abcdefABCDEF-") != UUID_DIGITS)
		return false;
	for (size_t i = 0; i < size - UUID_DIGITS - 1; i++)
		if (!isalnum((unsigned char)text[i]))
			return false;
	return true;
}

static int offered_refuse_word(const char *word, struct error *err)
{
	return error_set(err, EINVAL,
			 "'%.60s' is not valid here; expected numbers such as "
			 "0-3,8 or whole UUIDs such as "
			 "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
			 word);
}

static int parse_uuids(const char *text, struct strings *uuids,
		       struct error *err)
{
	owned_free char *copy = strdup(text);
	char *word, *rest = NULL;

	if (!copy)
		return error_nomem(err, "devices");
	word = strtok_r(copy, ",", &rest);
	for (; word; word = strtok_r(NULL, ",", &rest)) {
		if (!is_uuid(word))
			return offered_refuse_word(word, err);
		if (strings_add(uuids, word, err) < 0)
			return -1;
	}
	return 0;
}

int offered_parse(const char *text, struct offered *offered, struct error *err)
{
	*offered = (struct offered){ 0 };
	if (!isalpha((unsigned char)*text))
		return cpu_list_parse(text, &offered->numbers, NULL) == 0
			       ? 0
			       : offered_refuse_word(text, err);
	if (parse_uuids(text, &offered->uuids, err) == 0)
		return 0;
	offered_clear(offered);
	return -1;
}

void offered_clear(struct offered *offered)
{
	strings_clear(&offered->uuids);
}

bool offered_has(const struct offered *offered, size_t position,
		 const char *uuid)
{
	if (!offered->uuids.count)
		return position < CPU_SETSIZE &&
		       CPU_ISSET(position, &offered->numbers);
	for (size_t i = 0; uuid && i < offered->uuids.count; i++)
		if (!strcasecmp(uuid, offered->uuids.items[i]))
			return true;
	return false;
}
