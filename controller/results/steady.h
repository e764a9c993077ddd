/* steady.h - finds the steady state of a training, and its slow steps.
 *
 * A training begins slowly (compilation, caches, clocks) and stops at times for
 * a checkpoint or an evaluation. Such steps are not part of its rate. They are
 * found from the times of its steps, in order:
 *
 * Warm-up ends where the times have come to the level of their second half:
 * with m its median and d 1.4826 times its median absolute deviation, a time
 * is at that level within m +- max(4 d, 5 % of m). The steady state begins with
 * the first step (but never the very first) that is at that level and so is
 * more than half of the five that begin with it. It begins at the second half
 * at the latest, and then `settled` is false.
 *
 * A steady step is slow when its time is above m + max(6 d, 20 % of m), with m
 * and d of all steady steps.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEADY_FIND SIZE_MAX /* find the end of the warm-up */

struct steady {
	size_t first; /* index of the first steady step; count: none */
	bool settled; /* the end of the warm-up was found, or given */
	size_t slow;  /* number of slow steady steps */
	double lost;  /* total time beyond the median */
};

/* times[0..count): finite and above 0, in any unit. first: where the steady
 * state begins, or STEADY_FIND. is_slow[0..count) says which steps are slow;
 * those of the warm-up are not. ENOMEM.
 */
int steady_find(const double *times, size_t count, size_t first, bool *is_slow,
		struct steady *steady, struct error *err);

/* The p-quantile of sorted values (count > 0), by linear interpolation. */
double quantile(const double *values, size_t count, double p);

/* Sort values in ascending order. */
void sort_values(double *values, size_t count);
