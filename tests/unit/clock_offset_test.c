/* clock_offset_test.c - another machine's clock is known by its quickest
 * answer.
 */
#include "protocol/wire/clock_offset.h"

#include "tests/tap.h"

static void exchange(struct clock_offset *offset, int64_t at, int64_t trip,
		     uint64_t theirs)
{
	clock_offset_ask(offset, at);
	clock_offset_answer(offset, at + trip, theirs);
}

static void clock_set(void)
{
	struct clock_offset offset = { 0 };
	struct exchange best;

	clock_offset_ask(&offset, 1000);
	clock_offset_answer(&offset, 1010, 51005);
	clock_offset_ask(&offset, 2000);
	clock_offset_answer(&offset, 2400, 52200);
	ok(clock_offset_best(&offset, &best) && best.ahead_ms == 50000 &&
		   best.round_trip_ms == 10,
	   "a slow exchange does not count");
	clock_offset_ask(&offset, 3000);
	clock_offset_answer(&offset, 3400, 3600000 + 53200);
	ok(clock_offset_best(&offset, &best) && best.ahead_ms == 3650000,
	   "unless it shows that the other's clock was set");
	clock_offset_ask(&offset, 4000);
	clock_offset_answer(&offset, 4010, 54005);
	ok(clock_offset_best(&offset, &best) && best.ahead_ms == 50000,
	   "or set back");
}

int main(void)
{
	struct clock_offset offset = { 0 };
	struct exchange best;

	tap_begin(10);
	ok(!clock_offset_best(&offset, &best),
	   "without an exchange nothing is known");
	clock_offset_answer(&offset, 10, 1000);
	ok(!clock_offset_best(&offset, &best), "an answer to nothing is none");
	/* Their wall clock is 1,000,000 ahead of our monotonic clock. */
	exchange(&offset, 100, 40, 1000120);
	ok(clock_offset_best(&offset, &best) && best.ahead_ms == 1000000 &&
		   best.round_trip_ms == 40,
	   "the clock was read in the middle of the round trip");
	exchange(&offset, 200, 2, 1000201);
	clock_offset_best(&offset, &best);
	is_int(best.round_trip_ms, 2, "a shorter round trip counts more");
	exchange(&offset, 300, 100, 1000399);
	clock_offset_best(&offset, &best);
	ok(best.round_trip_ms == 2 && best.ahead_ms == 1000000,
	   "a longer one, with a worse guess, does not");
	clock_offset_ask(&offset, 400);
	clock_offset_ask(&offset, 500);
	clock_offset_answer(&offset, 501, 9000000);
	clock_offset_best(&offset, &best);
	is_int(best.ahead_ms, 1000000,
	       "an answer that came after the next question is not counted");
	clock_offset_answer(&offset, 501, 1000500);
	clock_offset_best(&offset, &best);
	is_int(best.round_trip_ms, 1, "the answer to the last question is");
	clock_offset_ask(&offset, 600);
	clock_offset_lost(&offset);
	clock_offset_answer(&offset, 600, 5);
	clock_offset_best(&offset, &best);
	is_int(best.round_trip_ms, 1,
	       "nothing is expected from a lost connection");
	for (int i = 0; i < CLOCK_OFFSET_KEPT; i++)
		exchange(&offset, 1000 + 100 * i, 8,
			 (uint64_t)(2001004 + 100 * i));
	clock_offset_best(&offset, &best);
	ok(best.round_trip_ms == 8 && best.ahead_ms == 2000000,
	   "old exchanges are forgotten: their clock was set");
	exchange(&offset, 5000, 0, UINT64_MAX);
	clock_offset_best(&offset, &best);
	is_int(best.round_trip_ms, 8, "an impossible clock is not believed");
	clock_set();
	return tap_done();
}
