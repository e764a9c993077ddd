/* seed.c - finds the seed that a container's command or environment sets.
 */
#include "controller/cell/seed.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD "seed"

/* Behind the next word "seed" that no letter or digit is next to; NULL. */
static const char *behind_seed(const char *text)
{
	for (const char *at = text; (at = strcasestr(at, WORD));
	     at += strlen(WORD)) {
		const char *end = at + strlen(WORD);

		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    (!*end || strchr("=: ", *end)))
			return end;
	}
	return NULL;
}

static bool take_seed(const char *from, char seed[SEED_SIZE])
{
	size_t length;

	from += strspn(from, "=: \"'");
	length = strcspn(from, " \"';&|,)");
	snprintf(seed, SEED_SIZE, "%.*s", (int)length, from);
	return length > 0;
}

/* next: the word behind this one, or NULL. */
static bool word_seed(const char *word, const char *next, char seed[SEED_SIZE])
{
	const char *end = behind_seed(word);

	if (!end)
		return false;
	return *end ? take_seed(end, seed) : next && take_seed(next, seed);
}

bool container_seed(const struct container_spec *of, char seed[SEED_SIZE])
{
	for (size_t i = 0; i < of->argv.count; i++)
		if (word_seed(of->argv.items[i],
			      i + 1 < of->argv.count ? of->argv.items[i + 1]
						     : NULL,
			      seed))
			return true;
	for (size_t i = 0; i < of->env.count; i++)
		if (word_seed(of->env.items[i], NULL, seed))
			return true;
	return false;
}
