/* stacks.h - where all ranks of a job stand, and which of them stands apart.
 *
 * Ranks that do the same make a group; what the groups do says who is waited
 * for. (The idea is that of LLNL's STAT.)
 */
#ifndef CONTROLLER_STACKS_STACKS_H
#define CONTROLLER_STACKS_STACKS_H

#include "controller/stacks/call_stack.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <cjson/cJSON.h>
#include <stdint.h>

#define STACKS_RANKS_MAX 65536
#define STACKS_TEXT_SIZE 400

struct stacks;

/* NULL: ENOMEM. */
struct stacks *stacks_new(struct error *err);
void stacks_free(struct stacks *stacks);
OWNED_POINTER(struct stacks, stacks_free)

/* A node's stream of evidence, whole; of it the given round counts, or (0) the
 * last one that is whole. Lines that are none are passed over. ENOMEM.
 */
int stacks_take(struct stacks *stacks, const char *node, uint64_t round,
		const char *text, size_t size, struct error *err);

/* Is the round whole in a node's stream? */
bool stacks_ended(const char *text, size_t size, uint64_t round);

/* The output of a rank's stream: the stacks that Python printed at its end.
 * Where several ranks share a stream, they are those of the node in order.
 */
void stacks_take_output(struct stacks *stacks, int64_t rank, const char *text,
			size_t size);

/* Ranks that were seen. */
size_t stacks_count(const struct stacks *stacks);

/* Bytes that all processes wrote to files so far. */
uint64_t stacks_written(const struct stacks *stacks);

/* What the evidence says, in words: "n2: rank 5 is in load_batch train.py:57;
 * 7 ranks are in all_reduce < step train.py:90". *node and *rank: who stands
 * apart; NULL and -1, with words of that, where nobody does. node is borrowed.
 * ENOMEM.
 */
int stacks_verdict(struct stacks *stacks, char text[STACKS_TEXT_SIZE],
		   const char **node, int64_t *rank, struct error *err);

/* {groups: [{where, ranks: [..], nodes: [..]}], ranks: [{rank, node, pid,
 * where, state, waits, busy_percent, command, stack, sockets}], verdict, node,
 * rank}. The caller deletes it; NULL: ENOMEM.
 */
cJSON *stacks_json(struct stacks *stacks);

#endif
