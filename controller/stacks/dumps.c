/* dumps.c - which dump of PyTorch's flight recorder is the newest of a rank.
 */
#include "controller/stacks/dumps.h"
#include "protocol/base/list.h"
#include "protocol/message/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "regatta-out-"
#define ASKED_MAX INT64_C(9000000000000) /* ms: its ns are a number */

void dumps_clear(struct dumps *dumps)
{
	free(dumps->list);
	*dumps = (struct dumps){ 0 };
}

/* NULL: there are too many, or no memory (*err is set). */
static struct dump *dump_of(struct dumps *dumps, const char *node,
			    uint32_t task, int64_t rank, struct error *err)
{
	struct dump *dump;

	for (size_t i = 0; i < dumps->count; i++)
		if (dumps->list[i].rank == rank && dumps->list[i].task == task)
			return &dumps->list[i];
	if (dumps->count == DUMPS_RANKS_MAX)
		return error_null(error_set(err, E2BIG, "too many dumps"));
	dump = LIST_ADD(dumps->list, dumps->count, err);
	if (dump)
		*dump = (struct dump){ .node = node,
				       .task = task,
				       .rank = rank };
	return dump;
}

/* The next line in which a rank is asked; false: there is none. */
static bool next_ask(const char **at, const char *end, struct evidence *seen)
{
	const char *line, *newline;

	for (line = *at;
	     line < end && (newline = memchr(line, '\n', (size_t)(end - line)));
	     line = newline + 1) {
		size_t size = (size_t)(newline - line);

		*at = newline + 1;
		/* Most lines are of processes, and longer to read. */
		if (!memmem(line, size, EVIDENCE_RECORDER,
			    strlen(EVIDENCE_RECORDER)) ||
		    evidence_read(line, size, seen, NULL) < 0)
			continue;
		if (seen->asked_ms > DUMP_STILL_MS &&
		    seen->asked_ms <= ASKED_MAX)
			return true;
		evidence_clear(seen);
	}
	return false;
}

int dumps_take_evidence(struct dumps *dumps, const char *node, uint32_t task,
			const char *text, size_t size, struct error *err)
{
	struct evidence seen = { 0 };
	const char *at = text;

	while (next_ask(&at, text + size, &seen)) {
		struct dump *dump = dump_of(dumps, node, task, seen.rank, err);

		if (dump) {
			dump->asks++;
			dump->asked_ms = seen.asked_ms;
		}
		evidence_clear(&seen);
		if (!dump)
			return -1;
	}
	return 0;
}

size_t dumps_asked(const char *text, size_t size, uint64_t from, uint64_t to)
{
	struct evidence seen = { 0 };
	const char *at = text;
	size_t asked = 0;

	while (next_ask(&at, text + size, &seen)) {
		asked += seen.round >= from && seen.round < to;
		evidence_clear(&seen);
	}
	return asked;
}

int dumps_take_stream(struct dumps *dumps, const char *node, uint32_t task,
		      const char *stream, uint64_t bytes, struct error *err)
{
	int64_t rank = evidence_dump_rank(stream);
	struct dump *dump;

	if (rank < 0 || strlen(stream) >= DUMP_STREAM_SIZE)
		return 0;
	dump = dump_of(dumps, node, task, rank, err);
	if (!dump)
		return -1;
	dump->parts++;
	dump->bytes = bytes;
	snprintf(dump->stream, sizeof(dump->stream), "%s", stream);
	return 0;
}

void dump_next(const struct dump *dump, char stream[DUMP_STREAM_SIZE])
{
	int used = snprintf(stream, DUMP_STREAM_SIZE,
			    "node-%u." FOLDER EVIDENCE_DUMP "%" PRId64,
			    dump->task, dump->rank);

	if (dump->parts)
		snprintf(stream + used, DUMP_STREAM_SIZE - (size_t)used, "-%zu",
			 dump->parts + 1);
}

int64_t dump_still_ns(const struct dump *dump)
{
	if (!dump->parts || dump->parts < dump->asks)
		return -1;
	return dump->parts > dump->asks
		       ? 0
		       : (dump->asked_ms - DUMP_STILL_MS) * INT64_C(1000000);
}
