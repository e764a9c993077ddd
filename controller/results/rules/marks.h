/* marks.h - searches a text for any of many short marks.
 *
 * An expression of that many alternatives is several times slower.
 */
#ifndef CONTROLLER_RESULTS_RULES_MARKS_H
#define CONTROLLER_RESULTS_RULES_MARKS_H

#include "protocol/base/error.h"
#include "protocol/message/codec.h"

#include <stdint.h>

#define MARKS_MAX 128

struct marks {
	const struct strings *list;  /* borrowed */
	uint8_t pairs[65536];        /* by the first two bytes: the
					first mark, from 1; 0: none */
	uint8_t next[MARKS_MAX + 1]; /* with the same two bytes */
	uint8_t sizes[MARKS_MAX + 1];
};

/* The marks have 3 to 255 bytes each, at most MARKS_MAX of them; the list must
 * outlive the result, which the caller frees. NULL: ENOMEM, or EINVAL.
 */
struct marks *marks_new(const struct strings *list, struct error *err);

/* The first position from `at` on where a mark begins; end: none. */
const char *marks_next(const struct marks *marks, const char *at,
		       const char *end);

#endif
