/* dumps_test.c - which dump of a rank is its newest.
 */
#include "controller/stacks/dumps.h"
#include "protocol/base/buffer.h"
#include "protocol/message/evidence.h"
#include "tests/tap.h"

#include <stdio.h>
#include <string.h>

/* An agent asked the rank at that time. */
static void take_ask(struct dumps *dumps, int64_t rank, int64_t asked_ms)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(EVIDENCE_LINE_MAX);
	const struct evidence asked = { .round = 1,
					.pid = 1,
					.rank = rank,
					.tool = (char *)EVIDENCE_RECORDER,
					.asked_ms = asked_ms };

	evidence_write(&asked, &text, NULL);
	dumps_take_evidence(dumps, "n1", 0, text.data, text.size, NULL);
}

static void take_stream(struct dumps *dumps, const char *name)
{
	dumps_take_stream(dumps, "n1", 0, name, 100, NULL);
}

int main(void)
{
	owned(dumps_clear) struct dumps dumps = { 0 };
	char stream[DUMP_STREAM_SIZE];
	const struct dump *dump;

	tap_begin(20);
	take_stream(&dumps, "rank-3");
	take_stream(&dumps, "node-0.regatta-out-regatta-recorder-x");
	take_stream(&dumps, "node-0.regatta-out-regatta-recorder-");
	is_int(dumps.count, 0, "other streams are no dumps");
	take_ask(&dumps, 3, 20000);
	dump = dumps.list;
	ok(dumps.count == 1 && dump_still_ns(dump) < 0,
	   "a rank that was asked and did not answer has no dump");
	dump_next(dump, stream);
	is(stream, "node-0.regatta-out-regatta-recorder-3",
	   "its name is known");
	take_stream(&dumps, stream);
	ok(dump_still_ns(dump) == 15000 * INT64_C(1000000),
	   "one that answers must have stood still when it was asked");
	dump_next(dump, stream);
	is(stream, "node-0.regatta-out-regatta-recorder-3-2", "so is the next");
	take_ask(&dumps, 3, 90000);
	ok(dump_still_ns(dump) < 0, "an old answer is none to a new question");
	take_stream(&dumps, stream);
	ok(dump_still_ns(dump) == 85000 * INT64_C(1000000),
	   "each answers the last question");
	dump_next(dump, stream);
	take_stream(&dumps, stream);
	is_int(dump_still_ns(dump), 0,
	       "a dump that nobody asked for is of a time-out");
	is(dump->stream, "node-0.regatta-out-regatta-recorder-3-3",
	   "and the newest");
	take_stream(&dumps, "node-0.tmp-regatta-recorder-7");
	ok(dumps.count == 2 && dumps.list[1].rank == 7 &&
		   dump_still_ns(&dumps.list[1]) == 0,
	   "as is one of another folder");
	take_ask(&dumps, 8, INT64_MAX);
	take_ask(&dumps, 8, -1);
	is_int(dumps.count, 2, "times that cannot be are not taken");
	return tap_done();
}
