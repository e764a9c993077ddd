/* pairs.c - which pairs of nodes to measure, and which node or link is bad.
 */
#include "controller/validation/pairs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int pairs_init(struct pairs *pairs, uint32_t nodes, uint64_t seed,
	       struct error *err)
{
	*pairs = (struct pairs){ .nodes = nodes, .seed = seed };
	pairs->list = calloc((size_t)PAIRS_ROUNDS * (nodes / 2) + 1,
			     sizeof(*pairs->list));
	return pairs->list ? 0 : error_nomem(err, "pairs");
}

void pairs_clear(struct pairs *pairs)
{
	free(pairs->list);
	*pairs = (struct pairs){ 0 };
}

static void pair_add(struct pairs *pairs, uint32_t a, uint32_t b)
{
	pairs->list[pairs->count++] = (struct node_pair){ .a = a < b ? a : b,
							  .b = a < b ? b : a,
							  .rate = NAN };
}

/* A number below `below` (splitmix64). */
static uint32_t pairs_random(struct pairs *pairs, uint32_t below)
{
	uint64_t x = pairs->seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ (x >> 31)) % below);
}

/* A node on its way into a round. */
struct partner {
	uint32_t node;
	double rate; /* the worst that it measured; INFINITY: none */
	bool slow;   /* in every pair so far */
	bool clean;  /* in none */
	bool taken;  /* in this round */
};

static void partners_fill(struct pairs *pairs, struct partner *list)
{
	for (uint32_t i = 0; i < pairs->nodes; i++)
		list[i] = (struct partner){ i, INFINITY, true, true, false };
	for (size_t i = 0; i < pairs->count; i++) {
		const struct node_pair *pair = &pairs->list[i];

		for (int side = 0; side < 2; side++) {
			struct partner *of = &list[side ? pair->b : pair->a];

			of->rate = fmin(of->rate, pair->rate);
			of->slow = of->slow && pair->slow;
			of->clean = of->clean && !pair->slow;
		}
	}
	/* At random first, so that equals are. */
	for (uint32_t i = pairs->nodes; i > 1; i--) {
		uint32_t k = pairs_random(pairs, i);
		struct partner kept = list[i - 1];

		list[i - 1] = list[k];
		list[k] = kept;
	}
}

static bool pair_known(const struct pairs *pairs, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < pairs->count; i++)
		if ((pairs->list[i].a == a && pairs->list[i].b == b) ||
		    (pairs->list[i].a == b && pairs->list[i].b == a))
			return true;
	return false;
}

static int partners_compare(const void *a, const void *b)
{
	const struct partner *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

/* Neighbours of a shuffled list, or its ends. A last one is left over. */
static void round_all(struct pairs *pairs, struct partner *list, bool ends)
{
	uint32_t n = pairs->nodes;

	if (ends)
		qsort(list, n, sizeof(*list), partners_compare);
	for (uint32_t i = 0; i < n / 2; i++)
		pair_add(pairs, list[ends ? i : 2 * i].node,
			 list[ends ? n - 1 - i : 2 * i + 1].node);
}

/* Each node that was slow, with one that never was and that it does not know.
 */
static void round_suspects(struct pairs *pairs, struct partner *list)
{
	uint32_t n = pairs->nodes, from = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!list[i].slow || list[i].clean)
			continue;
		for (uint32_t k = 0; k < n; k++) {
			struct partner *good = &list[(from + k) % n];

			if (!good->clean || good->taken ||
			    pair_known(pairs, list[i].node, good->node))
				continue;
			good->taken = true;
			pair_add(pairs, list[i].node, good->node);
			from += k + 1;
			break;
		}
	}
}

static struct partner *partner_of(struct partner *list, uint32_t node)
{
	while (list->node != node)
		list++;
	return list;
}

/* Slow pairs of good nodes once more, as far as a round has room. */
static void round_links(struct pairs *pairs, struct partner *list)
{
	size_t count = pairs->count;

	for (size_t i = 0; i < count; i++) {
		const struct node_pair *pair = &pairs->list[i];
		struct partner *a = partner_of(list, pair->a);
		struct partner *b = partner_of(list, pair->b);

		if (!pair->slow || a->slow || b->slow || a->taken || b->taken)
			continue;
		a->taken = b->taken = true;
		pair_add(pairs, pair->a, pair->b);
	}
}

size_t pairs_next(struct pairs *pairs)
{
	size_t before = pairs->count;
	owned_free struct partner *list =
		calloc(pairs->nodes + 1, sizeof(*list));

	if (!list || pairs->rounds == PAIRS_ROUNDS)
		return 0;
	partners_fill(pairs, list);
	switch (pairs->rounds++) {
	case 0:
	case 1:
		round_all(pairs, list, pairs->rounds == 2);
		break;
	case 2:
	case 3:
		round_suspects(pairs, list);
		break;
	default:
		round_links(pairs, list);
	}
	/* Nobody is suspect: links may still be. */
	if (pairs->count == before && pairs->rounds < PAIRS_ROUNDS)
		return pairs_next(pairs);
	return pairs->count - before;
}

int pairs_tournament(struct pairs *pairs, struct error *err)
{
	size_t all = (size_t)pairs->nodes * (pairs->nodes - 1) / 2;
	struct node_pair *list;

	if (pairs->nodes > PAIRS_TOURNAMENT)
		return error_set(err, E2BIG,
				 "a tournament of %u nodes is not valid here; "
				 "expected at most %d",
				 pairs->nodes, PAIRS_TOURNAMENT);
	list = realloc(pairs->list, (2 * all + 1) * sizeof(*list));
	if (!list)
		return error_nomem(err, "pairs");
	pairs->list = list;
	for (uint32_t a = 0; a < pairs->nodes; a++)
		for (uint32_t b = a + 1; b < pairs->nodes; b++)
			pair_add(pairs, a, b);
	pairs->rounds = PAIRS_ROUNDS - 1; /* slow links come once more */
	return 0;
}

/* Was the node slow with every partner that is not bad? *partners: how many. */
static bool always_slow(const struct pairs *pairs, const enum verdict *nodes,
			uint32_t node, size_t *partners)
{
	*partners = 0;
	for (size_t i = 0; i < pairs->count; i++) {
		const struct node_pair *pair = &pairs->list[i];
		uint32_t other = pair->a == node ? pair->b : pair->a;

		if ((pair->a != node && pair->b != node) ||
		    nodes[other] == VERDICT_BAD)
			continue;
		if (!pair->slow)
			return false;
		++*partners;
	}
	return *partners > 0;
}

/* One that was slow with most comes first, because it explains its partners'
 * slow pairs: after each the others are looked at again.
 */
void pairs_judge(const struct pairs *pairs, enum verdict *nodes)
{
	for (uint32_t i = 0; i < pairs->nodes; i++)
		nodes[i] = VERDICT_GOOD;
	for (;;) {
		size_t most = 1, partners;
		uint32_t worst = pairs->nodes;

		for (uint32_t i = 0; i < pairs->nodes; i++)
			if (nodes[i] != VERDICT_BAD &&
			    always_slow(pairs, nodes, i, &partners) &&
			    partners > most) {
				most = partners;
				worst = i;
			}
		if (worst == pairs->nodes)
			break;
		nodes[worst] = VERDICT_BAD;
	}
	for (uint32_t i = 0; i < pairs->nodes; i++) {
		size_t partners;

		if (nodes[i] == VERDICT_GOOD &&
		    always_slow(pairs, nodes, i, &partners))
			nodes[i] = VERDICT_SUSPECT;
	}
}

enum verdict pairs_link(const struct pairs *pairs, const enum verdict *nodes,
			size_t pair)
{
	const struct node_pair *of = &pairs->list[pair];
	size_t measured = 0, slow = 0;

	if (nodes[of->a] == VERDICT_BAD || nodes[of->b] == VERDICT_BAD)
		return VERDICT_GOOD;
	for (size_t i = 0; i < pairs->count; i++)
		if (pairs->list[i].a == of->a && pairs->list[i].b == of->b) {
			measured++;
			slow += pairs->list[i].slow;
		}
	if (!slow || slow < measured)
		return VERDICT_GOOD;
	return measured > 1 ? VERDICT_BAD : VERDICT_SUSPECT;
}
