/* offset.h - how far another machine's clock is from ours, by asking it.
 *
 * Each exchange is a question that we send and an answer that carries the
 * other's wall clock. It was read somewhere between the two, so half the round
 * trip bounds the error; the shortest of the last OFFSET_KEPT exchanges counts,
 * or of those since the other's clock was last set.
 * What is kept refers to our monotonic clock: setting our wall clock changes
 * the offset that is told, and nothing else. Times are in milliseconds.
 */
#ifndef PROTOCOL_OFFSET_H
#define PROTOCOL_OFFSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OFFSET_KEPT 12      /* a minute of heartbeats */
#define OFFSET_DRIFT_MS 500 /* that clocks may have moved apart in it */

struct exchange {
	int64_t ahead_ms; /* the other's wall clock - our monotonic clock */
	int64_t round_trip_ms;
};

/* All zero is empty. */
struct offset {
	struct exchange kept[OFFSET_KEPT];
	size_t count;     /* of all that there were */
	uint32_t pending; /* questions without their answer */
	int64_t asked_ms; /* the last of them, monotonic */
};

void offset_ask(struct offset *offset, int64_t mono_ms);
/* Answers come in the order of the questions. One to which another question
 * was sent meanwhile is not counted: its beginning is forgotten.
 */
void offset_answer(struct offset *offset, int64_t mono_ms,
		   uint64_t their_wall_ms);
/* The connection is lost: no answer comes any more. */
void offset_lost(struct offset *offset);

/* The best exchange; false: there was none yet. */
bool offset_best(const struct offset *offset, struct exchange *best);

#endif
