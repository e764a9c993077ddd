/* offset.c - how far another machine's clock is from ours, by asking it.
 */
#include "protocol/offset.h"

void offset_ask(struct offset *offset, int64_t mono_ms)
{
	offset->pending++;
	offset->asked_ms = mono_ms;
}

void offset_answer(struct offset *offset, int64_t mono_ms,
		   uint64_t their_wall_ms)
{
	struct exchange *exchange = &offset->kept[offset->count % OFFSET_KEPT];
	int64_t middle_ms = offset->asked_ms + (mono_ms - offset->asked_ms) / 2;

	if (!offset->pending || --offset->pending ||
	    their_wall_ms > INT64_MAX / 2)
		return;
	exchange->round_trip_ms = mono_ms - offset->asked_ms;
	exchange->ahead_ms = (int64_t)their_wall_ms - middle_ms;
	offset->count++;
}

void offset_lost(struct offset *offset)
{
	offset->pending = 0;
}

bool offset_best(const struct offset *offset, struct exchange *best)
{
	size_t kept = offset->count < OFFSET_KEPT ? offset->count : OFFSET_KEPT;

	if (!kept)
		return false;
	/* Of equal ones the last: a clock may be set. */
	for (size_t i = 1; i <= kept; i++) {
		const struct exchange *one =
			&offset->kept[(offset->count - i) % OFFSET_KEPT];

		if (i == 1 || one->round_trip_ms < best->round_trip_ms)
			*best = *one;
	}
	return true;
}
