/* name_match.c - compares names in the ways in which people write them. */
#include "controller/catalog/name_match.h"

#include <stdio.h>
#include <string.h>

/* The characters that are compared; "": there are none, or too many. */
static void make_plain(const char *text, char plain[NAME_MATCH_BYTES])
{
	size_t used = 0;

	for (; *text && used < NAME_MATCH_BYTES - 2; text++) {
		if (*text >= 'A' && *text <= 'Z')
			plain[used++] = (char)(*text - 'A' + 'a');
		else if ((*text >= 'a' && *text <= 'z') ||
			 (*text >= '0' && *text <= '9') || *text == '.' ||
			 *text == '+')
			plain[used++] = *text;
	}
	if (*text)
		used = 0;
	/* 80G, 80GB and 80GiB are the same. */
	if (used > 3 && !memcmp(plain + used - 3, "gib", 3))
		plain[used -= 2] = 0;
	else if (used > 2 && !memcmp(plain + used - 2, "gb", 2))
		used--;
	plain[used] = 0;
}

/* The text behind `start`; NULL: the text does not begin with it. */
static const char *behind(const char *text, const char *start)
{
	size_t size = strlen(start);

	return strncmp(text, start, size) ? NULL : text + size;
}

bool name_match(const char *name, const char *text,
		const struct name_extras *extras)
{
	char known[NAME_MATCH_BYTES], found[NAME_MATCH_BYTES],
		before[NAME_MATCH_BYTES];
	char memory[16] = "";
	const char *rest, *tail;

	make_plain(name, known);
	make_plain(text, found);
	if (!*known || !*found)
		return false;
	rest = found;
	if (extras->before) {
		make_plain(extras->before, before);
		tail = behind(found, before);
		rest = tail && *tail ? tail : found;
	}
	tail = behind(rest, known);
	if (extras->gib)
		snprintf(memory, sizeof(memory), "%ug", extras->gib);
	return tail && (!*tail || (*memory && !strcmp(tail, memory)));
}
