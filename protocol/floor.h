/* floor.h - how much of a disk must stay free: 50GiB, or 20% of it.
 */
#ifndef PROTOCOL_FLOOR_H
#define PROTOCOL_FLOOR_H

#include "protocol/error.h"

#include <stdbool.h>
#include <stdint.h>

struct floor {
	uint64_t bytes;
	uint32_t percent; /* 0 .. 99; both 0: there is none */
};

static inline bool floor_is_set(const struct floor *floor)
{
	return floor->bytes || floor->percent;
}

static inline bool floor_equal(const struct floor *a, const struct floor *b)
{
	return a->bytes == b->bytes && a->percent == b->percent;
}

/* EINVAL: "found 'x', allowed is ...", without a name. */
int floor_parse(const char *text, struct floor *floor, struct error *err);

/* Bytes that must be free on a disk of so many. */
uint64_t floor_on(const struct floor *floor, uint64_t disk_bytes);

#endif
