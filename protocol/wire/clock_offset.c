/* clock_offset.c - measures the offset between another machine's clock and
 * this one's.
 */
#include "protocol/wire/clock_offset.h"

void clock_offset_ask(struct clock_offset *offset, int64_t mono_ms)
{
	offset->pending++;
	offset->asked_ms = mono_ms;
}

/* True: the other clock was set between the two exchanges. */
static bool contradicts(const struct clock_offset *offset,
			const struct exchange *now)
{
	struct exchange best;
	int64_t difference;

	if (!clock_offset_best(offset, &best))
		return false;
	difference = now->ahead_ms > best.ahead_ms
			     ? now->ahead_ms - best.ahead_ms
			     : best.ahead_ms - now->ahead_ms;
	return difference > (now->round_trip_ms + best.round_trip_ms) / 2 +
				    CLOCK_OFFSET_DRIFT_MS;
}

void clock_offset_answer(struct clock_offset *offset, int64_t mono_ms,
			 uint64_t their_wall_ms)
{
	int64_t middle_ms = offset->asked_ms + (mono_ms - offset->asked_ms) / 2;
	struct exchange exchange;

	if (!offset->pending || --offset->pending ||
	    their_wall_ms > INT64_MAX / 2)
		return;
	exchange.round_trip_ms = mono_ms - offset->asked_ms;
	exchange.ahead_ms = (int64_t)their_wall_ms - middle_ms;
	if (contradicts(offset, &exchange))
		offset->count = 0;
	offset->kept[offset->count++ % CLOCK_OFFSET_KEPT] = exchange;
}

void clock_offset_lost(struct clock_offset *offset)
{
	offset->pending = 0;
}

bool clock_offset_best(const struct clock_offset *offset, struct exchange *best)
{
	size_t kept = offset->count < CLOCK_OFFSET_KEPT ? offset->count
							: CLOCK_OFFSET_KEPT;

	if (!kept)
		return false;
	/* Of equal ones the newest: a clock may have been set. */
	for (size_t i = 1; i <= kept; i++) {
		const struct exchange *one =
			&offset->kept[(offset->count - i) % CLOCK_OFFSET_KEPT];

		if (i == 1 || one->round_trip_ms < best->round_trip_ms)
			*best = *one;
	}
	return true;
}
