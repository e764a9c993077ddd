/* rate.c - how fast a count grows, smoothed over some seconds.
 */
#include "agent/docker/rate.h"

uint64_t rate_feed(struct rate *rate, int64_t now_ms, uint64_t count)
{
	int64_t passed = now_ms - rate->time_ms;
	double grown, weight;

	if (!rate->time_ms || count < rate->count) {
		*rate = (struct rate){ .time_ms = now_ms, .count = count };
	} else if (passed >= RATE_STEP_MS) {
		grown = (double)(count - rate->count) * 1000 / (double)passed;
		weight = passed >= RATE_SPAN_MS || !(rate->per_second > 0)
				 ? 1
				 : (double)passed / RATE_SPAN_MS;
		rate->per_second += weight * (grown - rate->per_second);
		rate->time_ms = now_ms;
		rate->count = count;
	}
	return (uint64_t)rate->per_second;
}
