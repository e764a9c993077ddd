/* line_pairs.h - which pairs of characters stand side by side in a line.
 *
 * A text stands in a line only if all of its pairs do. To ask that takes a
 * nanosecond where a search or a regular expression takes fifty, and of a
 * hundred patterns that are looked for hardly one has all its pairs in a line
 * of another kind. Pairs share bits: "yes" may be wrong, "no" is not.
 */
#ifndef CONTROLLER_CAUSES_LINE_PAIRS_H
#define CONTROLLER_CAUSES_LINE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LINE_PAIRS 2048 /* bits */

struct line_pairs {
	uint64_t bits[LINE_PAIRS / 64];
};

static inline unsigned line_pair(const char *at)
{
	return ((unsigned char)at[0] * 37u ^ (unsigned char)at[1] * 7u) %
	       LINE_PAIRS;
}

static inline void line_pairs_read(struct line_pairs *pairs, const char *text,
				   size_t size)
{
	memset(pairs, 0, sizeof(*pairs));
	for (size_t i = 0; i + 1 < size; i++) {
		unsigned pair = line_pair(text + i);

		pairs->bits[pair / 64] |= (uint64_t)1 << pair % 64;
	}
}

static inline bool line_pairs_have(const struct line_pairs *pairs,
				   const uint16_t *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(pairs->bits[wanted[i] / 64] >> wanted[i] % 64 & 1))
			return false;
	return true;
}

#endif
