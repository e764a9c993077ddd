/* dumps.h - which dump of PyTorch's flight recorder is the newest of a rank.
 *
 * Agents ask ranks for dumps, and tell so in the evidence; a rank also writes
 * one of its own accord when a collective times out. Each is a stream of its
 * own: node-0.regatta-out-regatta-recorder-3, and -2, -3 ... behind it. A rank
 * that did not answer has no newest dump.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>
#include <stdint.h>

#define DUMPS_RANKS_MAX 4096
#define DUMP_STREAM_SIZE 72

/* A dump tells who waits if its rank did nothing for so long before it was
 * asked: ranks write their dumps at different moments, up to a second later.
 */
#define DUMP_STILL_MS 5000

struct dump {
	const char *node; /* borrowed, as is what dumps_take() is given */
	uint32_t task;    /* the node's rank */
	int64_t rank;
	size_t asks, parts;
	int64_t asked_ms; /* the last time; by the node's wall clock */
	char stream[DUMP_STREAM_SIZE]; /* of the last part */
	uint64_t bytes;
};

struct dumps {
	struct dump *list;
	size_t count;
};
void dumps_clear(struct dumps *dumps);
OWNED_VALUE(struct dumps, dumps_clear)

/* Read a node's stream of evidence. ENOMEM, as all that follow. */
int dumps_take_evidence(struct dumps *dumps, const char *node, uint32_t task,
			const char *text, size_t size, struct error *err);

/* How many dumps were asked for in rounds from <= round < to. */
size_t dumps_asked(const char *text, size_t size, uint64_t from, uint64_t to);

/* Take a stream of the node; parts of a rank come in their order. What is no
 * dump is ignored.
 */
int dumps_take_stream(struct dumps *dumps, const char *node, uint32_t task,
		      const char *stream, uint64_t bytes, struct error *err);

/* The stream of the rank's next part. */
void dump_next(const struct dump *dump, char stream[DUMP_STREAM_SIZE]);

/* What the rank did later than this tells that it does not stand still, in ns
 * of the node's wall clock; 0: it does, as its own time-out tells. -1: there is
 * no newest dump.
 */
int64_t dump_still_ns(const struct dump *dump);
