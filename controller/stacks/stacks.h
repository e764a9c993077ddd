/* stacks.h - groups the ranks of a job by their call stacks, and names the one
 * that the others wait for.
 *
 * Ranks with the same innermost calls are a group, as in LLNL's STAT.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads call stacks that tools print.
 *
 * It reads the formats of Python's faulthandler, py-spy and gdb. Of several
 * threads the main one is used: the one with that name, or the current one,
 * else the last.
 */

#define CALL_STACK_SIZE 160

/* The innermost call, and, if it is another one, the innermost call in a file
 * of the user.
 */
struct call_stack {
	char inner[64], file[64];
	char user[64], user_file[64];
	unsigned int line, user_line;
	bool main;  /* it is the main thread */
	bool ended; /* another thread follows */
	bool fails; /* Python prints an exception that ends the program */
};

/* Read the next line; *frames starts as zeros. False: it is not part of a
 * stack.
 */
bool call_stack_take(struct call_stack *frames, const char *line, size_t size);

/* "all_reduce < backward train.py:92", "load_batch train.py:57"; "" without a
 * frame.
 */
void call_stack_where(const struct call_stack *frames,
		      char where[CALL_STACK_SIZE]);

#define STACKS_RANKS_MAX 65536
#define STACKS_TEXT_SIZE 400

struct stacks;

/* NULL: ENOMEM. */
struct stacks *stacks_new(struct error *err);
void stacks_free(struct stacks *stacks);
OWNED_POINTER(struct stacks, stacks_free)

/* Read a node's whole stream of evidence. round: the round to use; 0: the last
 * complete one. Lines that are not valid are skipped. ENOMEM.
 */
int stacks_take(struct stacks *stacks, const char *node, uint64_t round,
		const char *text, size_t size, struct error *err);

/* Is the round complete in a node's stream? */
bool stacks_ended(const char *text, size_t size, uint64_t round);

/* Read the stacks that Python printed at the end of an output of the node.
 * rank: of the process that wrote it; -1: all processes of the node. Those are
 * signalled one after the other, so the stacks are theirs in order; if some are
 * missing, none is used.
 */
void stacks_take_output(struct stacks *stacks, const char *node, int64_t rank,
			const char *text, size_t size);

/* The number of ranks read. */
size_t stacks_count(const struct stacks *stacks);

/* Bytes that all processes wrote to files so far. */
uint64_t stacks_written(const struct stacks *stacks);

/* A sentence about the groups: "n2: rank 5 is in load_batch train.py:57; 7
 * ranks are in all_reduce < step train.py:90". *node (borrowed) and *rank: the
 * rank that the others wait for; NULL and -1: there is none, and the sentence
 * says so. ENOMEM.
 */
int stacks_verdict(struct stacks *stacks, char text[STACKS_TEXT_SIZE],
		   const char **node, int64_t *rank, struct error *err);

/* {groups: [{where, ranks: [..], nodes: [..]}], ranks: [{rank, node, pid,
 * where, state, waits, busy_percent, command, stack, sockets}], verdict, node,
 * rank}. The caller deletes it; NULL: ENOMEM.
 */
cJSON *stacks_json(struct stacks *stacks);
