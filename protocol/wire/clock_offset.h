/* clock_offset.h - measures the offset between another machine's clock and
 * this one's.
 *
 * An exchange is a message to the other machine and its answer, which has its
 * wall clock. That clock was read between the two, so half the round trip
 * bounds the error. The shortest of the last CLOCK_OFFSET_KEPT exchanges is
 * used, or of those since the other's clock was last set. Exchanges refer to
 * our monotonic clock, so that setting our wall clock does not make them wrong.
 * Times are in milliseconds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_OFFSET_KEPT 12      /* a minute of heartbeats */
#define CLOCK_OFFSET_DRIFT_MS 500 /* of two clocks in that time, at most */

struct exchange {
	int64_t ahead_ms; /* the other's wall clock - our monotonic clock */
	int64_t round_trip_ms;
};

/* All zero is empty. */
struct clock_offset {
	struct exchange kept[CLOCK_OFFSET_KEPT];
	size_t count;     /* of all exchanges so far */
	uint32_t pending; /* messages without an answer */
	int64_t asked_ms; /* when the last one was sent, monotonic */
};

void clock_offset_ask(struct clock_offset *offset, int64_t mono_ms);
/* Answers come in the order of the messages. An answer is not used if another
 * message was sent before it came, because the start of its exchange is lost.
 */
void clock_offset_answer(struct clock_offset *offset, int64_t mono_ms,
			 uint64_t their_wall_ms);
/* The connection is lost: no answer comes any more. */
void clock_offset_lost(struct clock_offset *offset);

/* The exchange to use; false: none yet. */
bool clock_offset_best(const struct clock_offset *offset,
		       struct exchange *best);
