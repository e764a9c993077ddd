/* rate.h - how fast a count grows, smoothed over some seconds.
 *
 * Pure. A count that falls (another try) begins anew.
 */
#ifndef AGENT_DOCKER_RATE_H
#define AGENT_DOCKER_RATE_H

#include <stdint.h>

#define RATE_STEP_MS 500  /* counts closer together are one */
#define RATE_SPAN_MS 5000 /* what is older weighs little */

/* All zero: nothing was counted yet. */
struct rate {
	int64_t time_ms; /* of the last count that was used; 0: none */
	uint64_t count;
	double per_second;
};

/* Take in the count of that time (not 0, never falling) and return what it
 * grows by a second; 0 until that is known.
 */
uint64_t rate_feed(struct rate *rate, int64_t now_ms, uint64_t count);

#endif
