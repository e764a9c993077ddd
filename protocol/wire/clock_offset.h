/* clock_offset.h - measures the offset between another machine's clock and
 * this one's.
 *
 * Each exchange is a question that we send and an answer that carries the
 * other's wall clock. It was read somewhere between the two, so half the round
 * trip bounds the error; the shortest of the last CLOCK_OFFSET_KEPT exchanges
 * counts, or of those since the other's clock was last set. What is kept refers
 * to our monotonic clock: setting our wall clock changes the offset that is
 * told, and nothing else. Times are in milliseconds.
 */
#ifndef PROTOCOL_WIRE_CLOCK_OFFSET_H
#define PROTOCOL_WIRE_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_OFFSET_KEPT 12      /* a minute of heartbeats */
#define CLOCK_OFFSET_DRIFT_MS 500 /* that clocks may have moved apart in it */

struct exchange {
	int64_t ahead_ms; /* the other's wall clock - our monotonic clock */
	int64_t round_trip_ms;
};

/* All zero is empty. */
struct clock_offset {
	struct exchange kept[CLOCK_OFFSET_KEPT];
	size_t count;     /* of all that there were */
	uint32_t pending; /* questions without their answer */
	int64_t asked_ms; /* the last of them, monotonic */
};

void clock_offset_ask(struct clock_offset *offset, int64_t mono_ms);
/* Answers come in the order of the questions. One to which another question
 * was sent meanwhile is not counted: its beginning is forgotten.
 */
void clock_offset_answer(struct clock_offset *offset, int64_t mono_ms,
			 uint64_t their_wall_ms);
/* The connection is lost: no answer comes any more. */
void clock_offset_lost(struct clock_offset *offset);

/* The best exchange; false: there was none yet. */
bool clock_offset_best(const struct clock_offset *offset,
		       struct exchange *best);

#endif
