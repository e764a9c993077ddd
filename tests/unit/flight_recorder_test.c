/* flight_recorder_test.c - which rank did not enter a collective, by dumps.
 */
#include "controller/stacks/flight_recorder.h"

#include "protocol/base/buffer.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Writes as PyTorch's pickler does: a text has its place in the memo the first
 * time, and is fetched from there afterwards.
 */
struct writer {
	struct buffer bytes;
	char texts[300][32];
	size_t count;
};

static void put(struct writer *to, const void *bytes, size_t size)
{
	buffer_append(&to->bytes, bytes, size, NULL);
}

static void put_code(struct writer *to, char code)
{
	put(to, &code, 1);
}

static void put_place(struct writer *to, char narrow, char wide, size_t at)
{
	put_code(to, at < 256 ? narrow : wide);
	put(to, (uint32_t[]){ (uint32_t)at }, at < 256 ? 1 : 4);
}

static void put_text(struct writer *to, const char *text)
{
	uint32_t size = (uint32_t)strlen(text);

	for (size_t i = 0; i < to->count; i++)
		if (!strcmp(to->texts[i], text)) {
			put_place(to, 'h', 'j', i);
			return;
		}
	put_code(to, 'X');
	put(to, &size, 4);
	put(to, text, size);
	put_place(to, 'q', 'r', to->count);
	snprintf(to->texts[to->count++], sizeof(to->texts[0]), "%s", text);
}

static void put_number(struct writer *to, uint64_t number)
{
	if (number < 256) {
		put_code(to, 'K');
		put(to, &number, 1);
	} else if (number < 65536) {
		put_code(to, 'M');
		put(to, &number, 2);
	} else {
		put(to, "\x8a\x08", 2);
		put(to, &number, 8);
	}
}

/* One collective: "group operation number state [ms]". */
static void put_call(struct writer *to, const char *call)
{
	char group[32], operation[32], state[32];
	unsigned number, called_ms = 0;

	sscanf(call, "%31s %31s %u %31s %u", group, operation, &number, state,
	       &called_ms);
	put(to, "}(", 2);
	put_text(to, "frames");
	put(to, "](}(", 4);
	put_text(to, "name");
	put_text(to, "step");
	put_text(to, "line");
	put_number(to, 70000);
	put(to, "ue", 2);
	put_text(to, "process_group");
	put_code(to, '(');
	put_text(to, group);
	put_text(to, "what it is for");
	put_code(to, 't');
	put_text(to, "collective_seq_id");
	put_number(to, number);
	put_text(to, "profiling_name");
	put_text(to, operation);
	put_text(to, "time_created_ns");
	put_number(to, called_ms * 1000000ULL);
	put_text(to, "duration_ms");
	put(to, "G\x40\x09\x21\xfb\x54\x44\x2d\x18", 9);
	put_text(to, "time_discovered_started_ns");
	put_code(to, 'N');
	put_text(to, "state");
	put_text(to, state);
	put_text(to, "is_p2p");
	put_code(to, (char)(strstr(operation, "send") ? 0x88 : 0x89));
	put_code(to, 'u');
}

/* calls: one a line. */
static void write_dump(struct writer *to, const char *calls)
{
	buffer_init(&to->bytes, 1 << 20);
	to->count = 0;
	put(to, "\x80\x02}(", 4);
	put_text(to, "version");
	put_text(to, "2.9");
	put_text(to, "pg_config");
	put(to, "}(", 2);
	put_text(to, "0");
	put(to, "}(", 2);
	put_text(to, "name");
	put_text(to, "0");
	put_text(to, "ranks");
	put_text(to, "[0, 1, 2, 3]");
	put(to, "uu", 2);
	put_text(to, "entries");
	put(to, "](", 2);
	for (const char *at = calls; *at;
	     at += strcspn(at, "\n"), at += *at == '\n')
		put_call(to, at);
	put(to, "eu.", 3);
}

static bool take_dump_at(struct flights *flights, int rank, const char *calls,
			 int64_t still_ms)
{
	static struct writer writer;
	bool took;

	write_dump(&writer, calls);
	took = flights_take(flights, rank < 2 ? "n1" : "n2", rank,
			    still_ms * 1000000, writer.bytes.data,
			    writer.bytes.size, NULL) == 0;
	buffer_clear(&writer.bytes);
	return took;
}

static bool take_dump(struct flights *flights, int rank, const char *calls)
{
	return take_dump_at(flights, rank, calls, 0);
}

#define BEFORE "0 nccl:all_reduce 1 completed\n"

/* Ranks 0 to 3, and the sentence; "": none. */
static const struct {
	const char *what;
	const char *calls[4];
	const char *text;
} jobs[] = {
	{ "a rank that did not come",
	  { BEFORE
	    "0 nccl:all_reduce 2 started\n0 nccl:all_reduce 3 scheduled\n",
	    BEFORE "0 nccl:all_reduce 2 started\n",
	    BEFORE "0 nccl:all_reduce 2 scheduled\n", BEFORE },
	  "n2: rank 3 has not entered all_reduce 2, in which 3 ranks wait "
	  "(flight recorder)" },
	{ "a rank that never called anything",
	  { "0 nccl:broadcast 1 started\n", "", "0 nccl:broadcast 1 started\n",
	    "0 nccl:broadcast 1 started\n" },
	  "n1: rank 1 has not entered broadcast 1, in which 3 ranks wait "
	  "(flight recorder)" },
	{ "two of them",
	  { BEFORE, BEFORE "0 nccl:all_gather 300 started\n", BEFORE,
	    BEFORE "0 nccl:all_gather 300 started\n" },
	  "n1: rank 0 (and 1 more) has not entered all_gather 300, in which 2 "
	  "ranks wait (flight recorder)" },
	{ "a rank that waits elsewhere is held up itself",
	  { BEFORE "0 nccl:all_reduce 2 started\n",
	    BEFORE "0 nccl:all_reduce 2 started\n",
	    BEFORE "tp nccl:all_gather 7 started\n",
	    BEFORE "tp nccl:all_gather 6 completed\n" },
	  "n2: rank 3 has not entered all_reduce 2, in which 2 ranks wait "
	  "(flight recorder)" },
	{ "a rank in another operation",
	  { "0 nccl:all_reduce 2 started\n", "0 nccl:all_reduce 2 started\n",
	    "0 nccl:barrier 2 started\n", "0 nccl:all_reduce 2 started\n" },
	  "n2: rank 2 is in barrier 2, 3 ranks are in all_reduce (flight "
	  "recorder)" },
	{ "all are in it",
	  { "0 nccl:all_reduce 2 started\n", "0 nccl:all_reduce 2 started\n",
	    "0 nccl:all_reduce 2 started\n", "0 nccl:all_reduce 2 started\n" },
	  "" },
	{ "nobody waits", { BEFORE, BEFORE, BEFORE, BEFORE }, "" },
	{ "two against two",
	  { "0 nccl:all_reduce 2 started\n", "0 nccl:all_reduce 2 started\n",
	    "0 nccl:barrier 2 started\n", "0 nccl:barrier 2 started\n" },
	  "" },
	{ "what goes between two ranks is not counted",
	  { "0 nccl:send 2 started\n", "0 nccl:recv-send 2 started\n", BEFORE,
	    BEFORE },
	  "" },
};

static void verdicts(void)
{
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		owned(flights_free) struct flights *flights = flights_new(NULL);
		char text[FLIGHT_TEXT_SIZE] = "";
		const char *node;
		int64_t rank;
		bool took = true;

		for (int r = 0; r < 4; r++)
			took &= take_dump(flights, r, jobs[i].calls[r]);
		ok(took && flights_has(flights, 3), "%s: dumps are read",
		   jobs[i].what);
		if (!flights_verdict(flights, text, &node, &rank))
			*text = 0;
		is(text, jobs[i].text, jobs[i].what);
	}
}

static void broken(void)
{
	static struct writer writer;
	owned(flights_free) struct flights *flights = flights_new(NULL);
	char text[FLIGHT_TEXT_SIZE];
	const char *node;
	int64_t rank;
	size_t taken = 0;

	take_dump(flights, 0, BEFORE "0 nccl:all_reduce 2 started\n");
	write_dump(&writer, BEFORE);
	for (size_t size = 0; size < writer.bytes.size; size++)
		taken += flights_take(flights, "n1", 1, 0, writer.bytes.data,
				      size, NULL) == 0;
	ok(!taken && !flights_has(flights, 1),
	   "a dump that is cut anywhere is none");
	ok(!flights_verdict(flights, text, &node, &rank),
	   "and its rank is not named");
	for (size_t at = 0; at < writer.bytes.size; at++) {
		char kept = writer.bytes.data[at];

		for (int bit = 0; bit < 8; bit++) {
			writer.bytes.data[at] = (char)(kept ^ (1 << bit));
			flights_take(flights, "n1", 1, 0, writer.bytes.data,
				     writer.bytes.size, NULL);
		}
		writer.bytes.data[at] = kept;
	}
	ok(true, "a wrong bit anywhere is survived");
	buffer_clear(&writer.bytes);
	ok(flights_take(flights, "n1", 9, 0, "dump", 4, NULL) < 0 &&
		   flights_take(flights, "n1", 9, 0, "", 0, NULL) < 0,
	   "other files are no dumps");
}

/* Dumps that were asked for, of a job that may go on. */
static void asked(void)
{
	owned(flights_free) struct flights *goes = flights_new(NULL);
	owned(flights_free) struct flights *stands = flights_new(NULL);
	char text[FLIGHT_TEXT_SIZE];
	const char *node;
	int64_t rank;

	for (int r = 0; r < 4; r++) {
		static const char in[] = "0 nccl:all_reduce 9 started 5000\n";
		static const char before[] =
			"0 nccl:all_reduce 8 completed 4000\n";

		take_dump_at(goes, r, r == 2 ? before : in, 4500);
		take_dump_at(stands, r, r == 2 ? before : in, 5500);
	}
	ok(!flights_verdict(goes, text, &node, &rank),
	   "a rank that entered a moment ago does not wait yet");
	ok(flights_verdict(stands, text, &node, &rank) && rank == 2,
	   "it does if it has stood there for a while");
}

/* Who is the last: rank 2 comes late_ms later, in `late` of the collectives;
 * the dumps end at different ones.
 */
static bool last_of(int ranks, int calls, int late, int late_ms,
		    char text[FLIGHT_TEXT_SIZE])
{
	owned(flights_free) struct flights *flights = flights_new(NULL);
	const char *node;
	int64_t rank;

	for (int r = 0; r < ranks; r++) {
		char lines[8192] = "";

		for (int i = 1; i <= calls + r; i++)
			snprintf(lines + strlen(lines),
				 sizeof(lines) - strlen(lines),
				 "0 nccl:all_reduce %d completed %d\n", i,
				 1000 * i +
					 (r == 2 && i <= late ? late_ms : 0) +
					 (r == i % 2));
		take_dump_at(flights, r, lines, 1);
	}
	*text = 0;
	return flights_last(flights, text, &node, &rank) && rank == 2 &&
	       !strcmp(node, "n2");
}

static void last_ones(void)
{
	char text[FLIGHT_TEXT_SIZE];

	ok(last_of(4, 40, 36, 12, text), "who comes last is found");
	is(text,
	   "n2: rank 2 was the last to enter 36 of 40 collectives, 12 ms after "
	   "the others (flight recorder)",
	   "in words");
	ok(!last_of(4, 40, 20, 12, text),
	   "not one that is last in half of them");
	ok(!last_of(4, 40, 0, 0, text), "nor any that comes as the others do");
	ok(!last_of(4, 8, 8, 12, text), "nor by a few collectives");
	ok(!last_of(2, 40, 40, 12, text), "two ranks tell nothing");
}

/* What a program may write to cost the controller time. */
static void costly(void)
{
	static const char ring[] = "\x80\x02(X\x04\0\0\0nameq\0"
				   "X\x05\0\0\0ranksq\1"
				   "t}";
	static struct writer writer;
	owned(flights_free) struct flights *flights = flights_new(NULL);
	struct error err = { 0 };

	buffer_init(&writer.bytes, FLIGHT_DUMP_MAX);
	put(&writer, ring, sizeof(ring) - 1);
	for (int i = 0; i < 200000; i++)
		put(&writer, "(h\0h\0h\1h\0u", 10);
	put_code(&writer, '.');
	ok(flights_take(flights, "n1", 1, 0, writer.bytes.data,
			writer.bytes.size, &err) < 0 &&
		   err.code == E2BIG && !flights_has(flights, 1),
	   "more groups than any program has: %s", err.text);
	writer.bytes.size = sizeof(ring) - 1;
	for (int i = 0; i < 70000; i++)
		put_code(&writer, 'N');
	put_code(&writer, '.');
	ok(flights_take(flights, "n1", 1, 0, writer.bytes.data,
			writer.bytes.size, &err) < 0 &&
		   err.code == EPROTO,
	   "values that nothing takes up: %s", err.text);
	buffer_clear(&writer.bytes);
}

int main(void)
{
	tap_begin(20);
	verdicts();
	asked();
	last_ones();
	broken();
	costly();
	return tap_done();
}
