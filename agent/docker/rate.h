/* rate.h - how fast a count grows, smoothed over some seconds.
 *
 * Pure. A count that falls (a retry) starts again.
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

/* Add a count with its time (not 0, never falling) and return the growth per
 * second; 0 until it is known.
 */
uint64_t rate_feed(struct rate *rate, int64_t now_ms, uint64_t count);

#endif
