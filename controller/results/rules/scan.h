/* scan.h - where the next of several texts stands, in one walk over the bytes.
 *
 * Most of a log matches no rule; this says so at a few bytes a step (Wu and
 * Manber, "A fast algorithm for multi-pattern searching", 1994).
 */
#ifndef CONTROLLER_RESULTS_RULES_SCAN_H
#define CONTROLLER_RESULTS_RULES_SCAN_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>

#define SCAN_MIN 3    /* bytes in the shortest text */
#define SCAN_MAX 1024 /* texts */

struct scan;

/* Texts are copied. NULL with ENOMEM. At least one, each of SCAN_MIN bytes or
 * more; more than SCAN_MAX are our own bug.
 */
struct scan_text {
	const char *text;
	size_t size;
};
struct scan *scan_new(const struct scan_text *texts, size_t count,
		      struct error *err);
void scan_free(struct scan *scan);
OWNED_POINTER(struct scan, scan_free)

/* The first place from `at` on where one of the texts stands; end: none. */
const char *scan_next(const struct scan *scan, const char *at, const char *end);

#endif
