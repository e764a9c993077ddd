/* free_space.h - how much of a disk must stay free: 50GiB, or 20% of it.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct free_space {
	uint64_t bytes;
	uint32_t percent; /* 0 .. 99; both 0: no limit */
};

static inline bool free_space_is_set(const struct free_space *floor)
{
	return floor->bytes || floor->percent;
}

static inline bool free_space_equal(const struct free_space *a,
				    const struct free_space *b)
{
	return a->bytes == b->bytes && a->percent == b->percent;
}

/* EINVAL: the text says what is not valid and what is expected; the caller adds
 * the name of the setting.
 */
int free_space_parse(const char *text, struct free_space *floor,
		     struct error *err);

/* The disk of a folder: bytes that are free for this process, and in all. */
int free_space_of(const char *folder, uint64_t *free_bytes,
		  uint64_t *disk_bytes, struct error *err);

/* The bytes that must stay free on a disk of this size. */
uint64_t free_space_on(const struct free_space *floor, uint64_t disk_bytes);
