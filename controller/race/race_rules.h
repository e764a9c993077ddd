/* race_rules.h - decides what a race does next: which cell is the fastest, in
 * few device hours and with a stated confidence.
 *
 * Pure. Each cell first has a heat, a short run. Cells whose heats are slower
 * than the best by no more than a margin are in the final. There each runs in
 * full, in rounds, until no rival can be faster than the winner by more than
 * `tie`, with the confidence that is asked for.
 *
 * Memory is the only reason to skip a cell: it does not run if it needs at
 * least the memory of one that ran out (race_needs_more()). No cell is skipped
 * because it "must be slower": of published layouts, such rules are wrong in
 * up to 38 % of pairs (arXiv 2311.05610: 248 pairs in which the larger micro
 * batch ran).
 *
 * Of a ladder of micro batches (`fit`) the largest that runs is in the race:
 * their heats double the micro batch until one does not run, then halve the
 * distance between the largest that ran and the smallest that did not. What
 * runs with one micro batch runs with a smaller one.
 *
 * With x = -ln(rate) of full runs, s their pooled standard deviation within
 * cells with df degrees of freedom, k cells in the final and L the fastest:
 *
 *	p     (1 - confidence) / (k - 1) / (max - 1)
 *	h     t(1 - p, df) s sqrt(1/nL + 1/nj)
 *	out   cell j, if xj - xL > h
 *	bound h - (xj - xL), at least tie: j is not faster than L by more
 *
 * The error is split over the rivals and the looks (Bonferroni), t is
 * one-sided. The margin is at least 3 sqrt(2) d, where d is sqrt(s^2 + e^2) or
 * the spread of the differences of heats and full runs, and e the error of a
 * heat; if it grows beyond the one that the heats were judged by, cells come
 * back and run the rounds that they missed. Beyond 4 times the margin that was
 * asked for, the nodes are too noisy for a race.
 *
 * The decision follows from the rows of the store alone, and each earlier
 * decision is made again from the rows that it had. So a controller that was
 * killed goes on where it was.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked for. */
struct race_rules {
	double margin;     /* a share: 0.05 */
	double tie;        /* the same: 0.01 */
	double confidence; /* such as 0.95 */
	uint32_t max;      /* full runs of a cell in the final, at least 2 */
	uint32_t repeat;   /* full runs of the winner, at least */
	double budget_s;   /* device seconds; 0: none */
	/* The winner runs on until half of the interval of its mean rate is at
	 * most this share of it; 0: `repeat` alone counts.
	 */
	double width;
	double width_confidence;
	uint32_t width_max; /* full runs of the winner */
};

/* The values of a cell that its memory follows from; 0: not given, as 1. */
struct race_needs {
	uint32_t micro, sequence;
	uint32_t tp, pp, sp;
	uint32_t accumulate;
	uint32_t recompute; /* 0 none or not given, 1 selective, 2 full */
	const char *rest;   /* all other values, as one text */
	bool fit; /* a rung of a ladder: cells that differ by micro alone */
};

enum race_outcome {
	RACE_OPEN,   /* has not run yet */
	RACE_ACTIVE, /* runs */
	RACE_RAN,
	RACE_OOM,    /* a device ran out of memory */
	RACE_FAILED, /* another failure, or a cancel; or it has no rate */
	RACE_PRUNED, /* never runs: RACE_PRUNE */
};

struct race_run {
	uint32_t round;            /* from 1 */
	enum race_outcome outcome; /* not OPEN, not PRUNED */
	double rate;               /* RACE_RAN: above 0 */
	double cost_s;             /* device seconds */
};

struct race_cell {
	struct race_needs needs;
	enum race_outcome heat;
	double rate;  /* of the heat; RACE_RAN: above 0 */
	double error; /* of ln(rate), standard error */
	double cost_s;
	struct race_run *runs; /* full ones, in any order */
	size_t runs_count;
};

enum race_action {
	RACE_WAIT,  /* for what runs */
	RACE_PRUNE, /* `cell`, because `because` ran out of memory; or, in a
		       ladder, failed with a smaller micro batch or ran with a
		       larger one */
	RACE_HEAT,  /* start the heat of `cell` */
	RACE_RUN,   /* start the full run of `cell` in `round` */
	RACE_OVER,  /* `end` says why; `cell` is the winner */
};

enum race_end {
	RACE_WON,
	RACE_UNDECIDED, /* after max rounds; the bound is known */
	RACE_SPENT,     /* the budget; bound infinite: nothing is known */
	RACE_NOISY,     /* the best heat is `cell` */
	RACE_EMPTY,     /* no heat has a rate; there is no `cell` */
};

/* What happened to a cell, when the race is over. */
enum race_place {
	PLACE_NONE,    /* it has no rate: see its heat */
	PLACE_HEAT,    /* out after its heat */
	PLACE_SMALLER, /* a larger one of its ladder runs */
	PLACE_FINAL,   /* out in the final, in `round` */
	PLACE_FAILED,  /* failed in the final */
	PLACE_EQUAL,   /* as good as the winner, as far as is known */
	PLACE_WINNER,
};

struct race_judgement {
	enum race_action action;
	size_t cell, because;
	uint32_t round; /* of RACE_RUN, or the last one */
	enum race_end end;
	double bound;  /* no cell is faster than the winner by more, a share */
	double spread; /* of full runs, a share; NaN: not known */
	double width;  /* by which heats were judged at last, a share */
	double differ; /* largest difference of a heat and its full runs from
			  that of the others, a share; NaN: not known */
	size_t finalists;
};

/* At places[i], with rounds[i], is what happened to cell i; either may be NULL.
 * The cells are in the order of their heats. At least one cell. ENOMEM.
 */
int race_judge(const struct race_rules *rules, const struct race_cell *cells,
	       size_t count, struct race_judgement *to, enum race_place *places,
	       uint32_t *rounds, struct error *err);

/* Does b need at least the memory of a? All other values are equal, micro batch
 * and sequence are not less, TP, PP, SP and recomputation not more, and one of
 * them differs; and a layer keeps no fewer samples of the micro batches that
 * are under way: micro x min(accumulate, PP) / PP. Of 1,390 pairs of published
 * layouts in which a ran out of memory, b ran in none (arXiv 2311.05610).
 */
bool race_needs_more(const struct race_needs *a, const struct race_needs *b);

/* The device seconds of all that has run. */
double race_spent(const struct race_cell *cells, size_t count);
