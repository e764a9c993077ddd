/* line_pairs.h - the set of pairs of adjacent characters in a line.
 *
 * A line contains a text only if it contains all pairs of the text. This check
 * takes a nanosecond, where a search or a regular expression takes fifty. Pairs
 * share bits, so "yes" may be wrong, but "no" is right.
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
