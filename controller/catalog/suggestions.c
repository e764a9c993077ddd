/* suggestions.c - one name in the several ways in which people write it.
 */
#include "controller/catalog/suggestions.h"

#include <stdio.h>
#include <string.h>

/* Leave only what counts; "" when that is nothing, or too long. */
static void make_plain(const char *text, char plain[SUGGESTION_BYTES])
{
	size_t used = 0;

	for (; *text && used < SUGGESTION_BYTES - 2; text++) {
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

/* What of the text is behind the start of it; NULL: it starts otherwise. */
static const char *behind(const char *text, const char *start)
{
	size_t size = strlen(start);

	return strncmp(text, start, size) ? NULL : text + size;
}

bool suggestion_same(const char *name, const char *text,
		     const struct suggestion *spelling)
{
	char known[SUGGESTION_BYTES], found[SUGGESTION_BYTES],
		before[SUGGESTION_BYTES];
	char memory[16] = "";
	const char *rest, *tail;

	make_plain(name, known);
	make_plain(text, found);
	if (!*known || !*found)
		return false;
	rest = found;
	if (spelling->before) {
		make_plain(spelling->before, before);
		tail = behind(found, before);
		rest = tail && *tail ? tail : found;
	}
	tail = behind(rest, known);
	if (spelling->gib)
		snprintf(memory, sizeof(memory), "%ug", spelling->gib);
	return tail && (!*tail || (*memory && !strcmp(tail, memory)));
}
