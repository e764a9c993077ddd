/* nearest_word.c - the word that a misspelt one most likely means.
 */
#include "protocol/base/nearest_word.h"

#include <ctype.h>
#include <stdbool.h>
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

const char *nearest_word(const char *text, const char *const *words)
{
	size_t length = strnlen(text, WORD_MAX + 1);
	/* A third of the letters may be wrong, but at least one. */
	size_t best = length < 6 ? 2 : length / 3 + 1;
	const char *nearest = NULL;

	if (!length || length > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		size_t d;

		if (strnlen(*words, WORD_MAX + 1) > WORD_MAX)
			continue;
		d = word_distance(text, *words);
		if (d < best) {
			best = d;
			nearest = *words;
		}
	}
	return nearest;
}
