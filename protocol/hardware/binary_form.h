/* binary_form.h - a share of time from a file of binary numbers, such as
 * amdgpu's gpu_metrics.
 *
 * The first bytes of such a file say its size and revision, and so where a
 * number stands. All are little-endian. A form has bits, any of which means
 * "now", or counters of 32 bits that grow while something is so, beside one
 * that grows all the time; of several counters the one that grew most counts.
 */
#pragma once

#include "protocol/hardware/map_reader.h"

#include <stdint.h>

#define BINARY_COUNTERS 8

struct binary_form {
	const char *begins;           /* its first bytes, hexadecimal */
	uint32_t at[BINARY_COUNTERS]; /* places: of the bits, or of counters */
	size_t count;
	uint32_t of;   /* place of the counter of all time; 0: there are bits */
	uint64_t mask; /* of the 64 bits */
};
extern const struct map_field binary_form_fields[];
map_read_fn binary_form_check;

/* What the counters were when the file was read before. All zero at first. */
struct binary_counters {
	bool known;
	uint32_t of, value[BINARY_COUNTERS];
};

/* The percentage, by the first form that the file has; of counters since the
 * last reading. False: not known.
 */
bool binary_share(const struct binary_form *forms, size_t count,
		  const char *data, size_t size, struct binary_counters *before,
		  double *percent);
