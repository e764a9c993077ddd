/* tar_ages.c - counts the files of a tar stream that are older than a
 * moment.
 */
#include "agent/blobs/tar_ages.h"

#include <string.h>

#define BLOCK 512
/* Source: POSIX.1, pax, "ustar Interchange Format". GNU tar and Go write large
 * numbers as binary, with the first bit set.
 */
#define SIZE_AT 124
#define TIME_AT 136
#define DIGITS 12
#define TYPE_AT 156

static uint64_t tar_read_number(const char *text)
{
	uint64_t value = 0;

	if (*text & 0x80) {
		for (int i = DIGITS - 8; i < DIGITS; i++)
			value = value << 8 | (unsigned char)text[i];
		return value;
	}
	for (int i = 0; i < DIGITS &&
			(text[i] == ' ' || (text[i] >= '0' && text[i] <= '7'));
	     i++)
		if (text[i] != ' ')
			value = value * 8 + (uint64_t)(text[i] - '0');
	return value;
}

static void take_header(struct tar_ages *ages)
{
	const char *header = ages->header;
	uint64_t size = tar_read_number(header + SIZE_AT);
	char type = header[TYPE_AT];

	ages->have = 0;
	ages->left = size > INT64_MAX ? 0 : (size + BLOCK - 1) / BLOCK * BLOCK;
	/* Blocks at the end of the stream have no name. */
	if (!header[0] || (type && type != '0'))
		return;
	ages->files++;
	ages->older += (int64_t)tar_read_number(header + TIME_AT) < ages->since;
}

void tar_ages_feed(struct tar_ages *ages, const void *data, size_t size)
{
	const char *from = data;

	while (size) {
		uint64_t want = ages->left ? ages->left : BLOCK - ages->have;
		size_t some = size < want ? size : (size_t)want;

		if (ages->left) {
			ages->left -= some;
		} else {
			memcpy(ages->header + ages->have, from, some);
			ages->have += some;
			if (ages->have == BLOCK)
				take_header(ages);
		}
		from += some;
		size -= some;
	}
}
