/* bucket.c - limits how often something may happen. */
#include "protocol/base/bucket.h"

#include <math.h>

struct bucket bucket_full(double most, double rate, int64_t now_ms)
{
	return (struct bucket){ most, rate, most, now_ms };
}

void bucket_fill(struct bucket *bucket, int64_t now_ms)
{
	double seconds = (double)(now_ms - bucket->filled_ms) / 1000;

	bucket->left =
		fmin(bucket->left + seconds * bucket->rate, bucket->most);
	bucket->filled_ms = now_ms;
}

bool bucket_take(struct bucket *bucket, int64_t now_ms)
{
	bucket_fill(bucket, now_ms);
	if (bucket->left < 1)
		return false;
	bucket->left -= 1;
	return true;
}
