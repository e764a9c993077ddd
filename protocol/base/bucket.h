/* bucket.h - limits how often something may happen.
 *
 * So many are there at first, and come back with time: a few at once are let
 * through, many are not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	double left; /* below 0: spent before it was there */
	double rate; /* what comes back in a second */
	double most; /* that may be left */
	int64_t filled_ms;
};

/* At first `most` are left. */
struct bucket bucket_full(double most, double rate, int64_t now_ms);
/* What has come back until now. */
void bucket_fill(struct bucket *bucket, int64_t now_ms);
/* Take one; false: there is none. */
bool bucket_take(struct bucket *bucket, int64_t now_ms);
