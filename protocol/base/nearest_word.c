/* nearest_word.c - the word that a misspelt one most likely means.
 */
#include "protocol/base/nearest_word.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WORD_MAX 32 /* longer texts are not misspelt words */

static bool same_letter(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance: insert, delete, replace, or swap two neighbours. */
static size_t word_distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t width = strlen(b);

	for (size_t j = 0; j <= width; j++)
		rows[0][j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const size_t *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= width; j++) {
			size_t best =
				above[j - 1] + !same_letter(a[i - 1], b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
			    same_letter(a[i - 2], b[j - 1]) &&
			    two_above[j - 2] + 1 < best)
				best = two_above[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[strlen(a) % 3][width];
}

/* Is the word one of the parts of the text, as "nodes" of "num_nodes"? The
 * part's offset, or SIZE_MAX.
 */
static size_t word_part(const char *word, const char *text)
{
	size_t at = 0, part;

	while (text[at]) {
		part = strcspn(text + at, "._-");
		if (part == strlen(word) && !strncmp(text + at, word, part))
			return at;
		at += part;
		at += strspn(text + at, "._-");
	}
	return SIZE_MAX;
}

/* Four for each edit; a part is farther than one edit, but nearer than two, and
 * the first part is the nearest.
 */
static size_t word_cost(const char *text, const char *word)
{
	size_t part = word_part(word, text);
	size_t edits = 4 * word_distance(text, word);

	return part == SIZE_MAX || edits <= 4 ? edits : part ? 6 : 5;
}

const char *nearest_word(const char *text, const char *const *words)
{
	size_t length = strnlen(text, WORD_MAX + 1);
	/* A third of the letters may be wrong, but at least one. */
	size_t best = 4 * (length < 6 ? 2 : length / 3 + 1);
	const char *nearest = NULL;

	if (!length || length > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		size_t cost;

		if (strnlen(*words, WORD_MAX + 1) > WORD_MAX)
			continue;
		cost = word_cost(text, *words);
		if (cost < best) {
			best = cost;
			nearest = *words;
		}
	}
	return nearest;
}
