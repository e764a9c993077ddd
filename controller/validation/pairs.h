/* pairs.h - which pairs of nodes to measure, and which node or link is bad.
 *
 * Five rounds at most, whatever the number of nodes: random pairs; the slowest
 * nodes with the fastest; suspects with a good partner; the same with another
 * one; pairs whose nodes turned out to be good once more. A tournament measures
 * all pairs.
 *
 * A node is bad if it was slow with every partner that is not bad itself, two
 * or more of them. A link is bad if both its nodes are not, and the pair was
 * slow twice; slow once, it is suspect. Pure: the same seed and rates give the
 * same pairs.
 */
#pragma once

#include "controller/validation/peers.h"

#include <stdint.h>

#define PAIRS_ROUNDS 5
#define PAIRS_TOURNAMENT 64 /* nodes of a tournament at most */

/* A pair, by numbers of nodes; a < b. */
struct node_pair {
	uint32_t a, b;
	double rate; /* set by the caller: larger is better; NAN: it failed */
	bool slow;   /* set by the caller after each round: it differs */
};

struct pairs {
	uint32_t nodes;
	uint64_t seed;
	struct node_pair *list; /* of all rounds so far */
	size_t count;
	unsigned rounds;
};

/* ENOMEM. */
int pairs_init(struct pairs *pairs, uint32_t nodes, uint64_t seed,
	       struct error *err);
void pairs_clear(struct pairs *pairs);
OWNED_VALUE(struct pairs, pairs_clear)

/* Append the pairs of the next round, in which no node is twice. Returns how
 * many; 0: no further round tells more.
 */
size_t pairs_next(struct pairs *pairs);

/* Append all pairs instead. At most PAIRS_TOURNAMENT nodes. ENOMEM. */
int pairs_tournament(struct pairs *pairs, struct error *err);

/* What the pairs tell: nodes has a verdict per node; a pair that is neither a
 * bad node's nor good is a link, whose verdict pairs_link() gives.
 */
void pairs_judge(const struct pairs *pairs, enum verdict *nodes);
enum verdict pairs_link(const struct pairs *pairs, const enum verdict *nodes,
			size_t pair);
