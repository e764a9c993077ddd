/* race_rules.c - decides what a race does next.
 */
#include "controller/race/race_rules.h"
#include "controller/results/t_quantile.h"
#include "protocol/base/owned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAT_DEVIATIONS 3
#define NOISY_MARGINS 4

static uint32_t at_least_one(uint32_t degree)
{
	return degree ? degree : 1;
}

/* Samples that a layer keeps, for the micro batches under way. */
static double samples_kept(const struct race_needs *needs)
{
	uint32_t pp = at_least_one(needs->pp);

	return (double)needs->micro *
	       fmin(at_least_one(needs->accumulate), pp) / pp;
}

bool race_needs_more(const struct race_needs *a, const struct race_needs *b)
{
	const uint32_t more[][2] = { { a->micro, b->micro },
				     { a->sequence, b->sequence } };
	const uint32_t less[][2] = {
		{ at_least_one(a->tp), at_least_one(b->tp) },
		{ at_least_one(a->pp), at_least_one(b->pp) },
		{ at_least_one(a->sp), at_least_one(b->sp) },
		{ a->recompute, b->recompute },
	};
	bool differ = false;

	if (strcmp(a->rest, b->rest) != 0 || samples_kept(b) < samples_kept(a))
		return false;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (more[i][1] < more[i][0])
			return false;
		differ |= more[i][1] > more[i][0];
	}
	for (size_t i = 0; i < sizeof(less) / sizeof(less[0]); i++) {
		if (less[i][1] > less[i][0])
			return false;
		differ |= less[i][1] < less[i][0];
	}
	return differ;
}

double race_spent(const struct race_cell *cells, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		sum += cells[i].cost_s;
		for (size_t k = 0; k < cells[i].runs_count; k++)
			sum += cells[i].runs[k].cost_s;
	}
	return sum;
}

/* A cell in the final. */
struct entrant {
	bool in;       /* it is, or was, in the final */
	bool failed;   /* in a full run */
	bool smaller;  /* a larger one of its ladder runs */
	bool gone;     /* known to be slower */
	bool open;     /* may be faster by more than a tie */
	uint32_t back; /* it came back after so many rounds; 0: it did not */
	uint32_t last; /* the round in which it was out */
	double sum;    /* of x in the rounds so far */
	uint32_t n;
};

struct final {
	const struct race_rules *rules;
	const struct race_cell *cells;
	size_t count;
	struct entrant *entrants;
	struct race_judgement *to;
	double best; /* x of the best heat of those that did not fail */
	uint32_t freedom;
	double spread; /* s */
	size_t lead;
	double bound;
};

static double heat_x(const struct race_cell *cell)
{
	return -log(cell->rate);
}

static const struct race_run *race_find_run(const struct race_cell *cell,
					    uint32_t round)
{
	for (size_t i = 0; i < cell->runs_count; i++)
		if (cell->runs[i].round == round)
			return &cell->runs[i];
	return NULL;
}

static bool race_cell_failed(const struct race_cell *cell)
{
	for (size_t i = 0; i < cell->runs_count; i++)
		if (cell->runs[i].outcome == RACE_OOM ||
		    cell->runs[i].outcome == RACE_FAILED)
			return true;
	return false;
}

static bool races(const struct final *final, size_t cell)
{
	return final->entrants[cell].in && !final->entrants[cell].failed;
}

static bool is_active(const struct race_cell *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (cells[i].heat == RACE_ACTIVE)
			return true;
		for (size_t k = 0; k < cells[i].runs_count; k++)
			if (cells[i].runs[k].outcome == RACE_ACTIVE)
				return true;
	}
	return false;
}

/* Heats. */

/* Do two rungs belong to one ladder? */
static bool one_ladder(const struct race_needs *a, const struct race_needs *b)
{
	return a->fit && b->fit && a->sequence == b->sequence &&
	       at_least_one(a->tp) == at_least_one(b->tp) &&
	       at_least_one(a->pp) == at_least_one(b->pp) &&
	       at_least_one(a->sp) == at_least_one(b->sp) &&
	       a->recompute == b->recompute && !strcmp(a->rest, b->rest);
}

/* What is known of a ladder. */
struct ladder {
	const struct race_cell *ran;    /* the largest; NULL: none */
	const struct race_cell *failed; /* the smallest, by any cause */
	const struct race_cell *next;   /* whose heat is next; NULL: none */
};

static bool between(const struct ladder *ladder, const struct race_cell *cell)
{
	return (!ladder->ran || cell->needs.micro > ladder->ran->needs.micro) &&
	       (!ladder->failed ||
		cell->needs.micro < ladder->failed->needs.micro);
}

/* Is a better next heat than b? Doubling: the smallest that is large enough,
 * else the largest. Halving: the closest to the middle.
 */
static bool is_better_rung(const struct ladder *ladder,
			   const struct race_cell *a, const struct race_cell *b)
{
	double ran = ladder->ran ? ladder->ran->needs.micro : 0.5, goal;

	if (!b)
		return true;
	goal = ladder->failed ? (ran + ladder->failed->needs.micro) / 2
			      : 2 * ran;
	if (!ladder->failed &&
	    (a->needs.micro < goal) != (b->needs.micro < goal))
		return a->needs.micro >= goal;
	return fabs(a->needs.micro - goal) < fabs(b->needs.micro - goal);
}

static struct ladder ladder_of(const struct race_cell *cells, size_t count,
			       const struct race_cell *rung)
{
	struct ladder ladder = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct race_cell *cell = &cells[i];

		if (!one_ladder(&cell->needs, &rung->needs))
			continue;
		if (cell->heat == RACE_RAN && !race_cell_failed(cell) &&
		    (!ladder.ran ||
		     cell->needs.micro > ladder.ran->needs.micro))
			ladder.ran = cell;
		if ((cell->heat == RACE_OOM || cell->heat == RACE_FAILED ||
		     race_cell_failed(cell)) &&
		    (!ladder.failed ||
		     cell->needs.micro < ladder.failed->needs.micro))
			ladder.failed = cell;
	}
	for (size_t i = 0; i < count; i++)
		if (cells[i].heat == RACE_OPEN &&
		    one_ladder(&cells[i].needs, &rung->needs) &&
		    between(&ladder, &cells[i]) &&
		    is_better_rung(&ladder, &cells[i], ladder.next))
			ladder.next = &cells[i];
	return ladder;
}

/* The rung that settles that this one never runs; NULL: none does. */
static const struct race_cell *settled_by(const struct race_cell *cells,
					  size_t count,
					  const struct race_cell *rung)
{
	const struct ladder ladder = ladder_of(cells, count, rung);

	if (between(&ladder, rung))
		return NULL;
	return ladder.ran && rung->needs.micro < ladder.ran->needs.micro
		       ? ladder.ran
		       : ladder.failed;
}

/* A rung below the largest of its ladder that runs. */
static bool is_smaller(const struct race_cell *cells, size_t count,
		       const struct race_cell *rung)
{
	const struct race_cell *ran =
		rung->needs.fit ? ladder_of(cells, count, rung).ran : NULL;

	return ran && ran->needs.micro > rung->needs.micro;
}

static bool find_prune(const struct race_cell *cells, size_t count,
		       struct race_judgement *to)
{
	for (size_t b = 0; b < count; b++) {
		const struct race_cell *because = NULL;

		if (cells[b].heat != RACE_OPEN)
			continue;
		for (size_t a = 0; a < count && !because; a++)
			if (cells[a].heat == RACE_OOM &&
			    race_needs_more(&cells[a].needs, &cells[b].needs))
				because = &cells[a];
		if (!because && cells[b].needs.fit)
			because = settled_by(cells, count, &cells[b]);
		if (!because)
			continue;
		to->action = RACE_PRUNE;
		to->cell = b;
		to->because = (size_t)(because - cells);
		return true;
	}
	return false;
}

static bool find_heat(const struct race_cell *cells, size_t count,
		      struct race_judgement *to)
{
	for (size_t i = 0; i < count; i++)
		if (cells[i].heat == RACE_OPEN &&
		    (!cells[i].needs.fit ||
		     ladder_of(cells, count, &cells[i]).next == &cells[i])) {
			to->action = RACE_HEAT;
			to->cell = i;
			return true;
		}
	return false;
}

static int race_over(struct race_judgement *to, enum race_end end, size_t cell)
{
	to->action = RACE_OVER;
	to->end = end;
	to->cell = cell;
	return 0;
}

/* The final. */

static void find_best_heat(struct final *final)
{
	final->best = INFINITY;
	for (size_t i = 0; i < final->count; i++)
		if (final->cells[i].heat == RACE_RAN &&
		    !final->entrants[i].failed && !final->entrants[i].smaller &&
		    heat_x(&final->cells[i]) < final->best) {
			final->best = heat_x(&final->cells[i]);
			final->lead = i;
		}
}

/* Let cells in whose heats are within the width, after so many rounds; true:
 * there are new ones.
 */
static bool let_in(struct final *final, double width, uint32_t rounds)
{
	bool fresh = false;

	for (size_t i = 0; i < final->count; i++) {
		struct entrant *entrant = &final->entrants[i];

		if (entrant->in || entrant->smaller ||
		    final->cells[i].heat != RACE_RAN ||
		    heat_x(&final->cells[i]) > final->best + width)
			continue;
		entrant->in = entrant->open = fresh = true;
		entrant->back = rounds;
	}
	return fresh;
}

static int numbers_ascend(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static void sum_rounds(struct final *final, uint32_t rounds)
{
	double squares = 0;

	final->freedom = 0;
	for (size_t i = 0; i < final->count; i++) {
		struct entrant *entrant = &final->entrants[i];
		const struct race_cell *cell = &final->cells[i];
		double mean;

		entrant->sum = entrant->n = 0;
		for (size_t k = 0; races(final, i) && k < cell->runs_count; k++)
			if (cell->runs[k].round <= rounds &&
			    cell->runs[k].outcome == RACE_RAN) {
				entrant->sum -= log(cell->runs[k].rate);
				entrant->n++;
			}
		if (!entrant->n)
			continue;
		mean = entrant->sum / entrant->n;
		for (size_t k = 0; k < cell->runs_count; k++)
			if (cell->runs[k].round <= rounds &&
			    cell->runs[k].outcome == RACE_RAN)
				squares +=
					pow(-log(cell->runs[k].rate) - mean, 2);
		final->freedom += entrant->n - 1;
	}
	final->spread =
		final->freedom ? sqrt(squares / final->freedom) : (double)NAN;
}

static double mean_x(const struct final *final, size_t cell)
{
	return final->entrants[cell].sum / final->entrants[cell].n;
}

/* The width that heats must be judged by, as far as it is known. -1: ENOMEM. */
static double heats_width(struct final *final, struct error *err)
{
	owned_free double *errors = calloc(final->count, sizeof(*errors));
	double middle = 0, squares = 0, far = 0, deviation;
	size_t n = 0;

	if (!errors)
		return error_nomem(err, "race");
	for (size_t i = 0; i < final->count; i++) {
		if (!final->entrants[i].n)
			continue;
		errors[n++] = final->cells[i].error;
		middle += heat_x(&final->cells[i]) - mean_x(final, i);
	}
	middle /= (double)n;
	for (size_t i = 0; i < final->count; i++) {
		double off;

		if (!final->entrants[i].n)
			continue;
		off = heat_x(&final->cells[i]) - mean_x(final, i) - middle;
		squares += off * off;
		far = fmax(far, fabs(off));
	}
	qsort(errors, n, sizeof(*errors), numbers_ascend);
	deviation =
		hypot(final->spread, (errors[n / 2] + errors[(n - 1) / 2]) / 2);
	if (n > 2)
		deviation = fmax(deviation, sqrt(squares / (double)(n - 1)));
	final->to->differ = n > 1 ? far : (double)NAN;
	return fmax(final->rules->margin,
		    HEAT_DEVIATIONS * sqrt(2) * deviation);
}

/* Who is out, who may still be faster than the leader, and by how much. */
static void look(struct final *final, uint32_t round)
{
	const struct race_rules *rules = final->rules;
	size_t rivals = 0;
	double t = 0;

	final->lead = final->count;
	for (size_t i = 0; i < final->count; i++) {
		if (!final->entrants[i].n)
			continue;
		rivals++;
		if (!final->entrants[i].gone &&
		    (final->lead == final->count ||
		     mean_x(final, i) < mean_x(final, final->lead)))
			final->lead = i;
	}
	rivals = rivals > 1 ? rivals - 1 : 1;
	/* One-sided: twice the tail. */
	t = t_quantile(1 - 2 * (1 - rules->confidence) / (double)rivals /
				       (rules->max - 1),
		       final->freedom);
	final->bound = 0;
	for (size_t i = 0; i < final->count; i++) {
		struct entrant *entrant = &final->entrants[i];
		double half, behind;

		entrant->open = false;
		if (!entrant->n || entrant->gone || i == final->lead)
			continue;
		half = t * final->spread *
		       sqrt(1.0 / final->entrants[final->lead].n +
			    1.0 / entrant->n);
		behind = mean_x(final, i) - mean_x(final, final->lead);
		entrant->gone = behind > half;
		entrant->last = round;
		if (entrant->gone)
			continue;
		final->bound = fmax(final->bound, half - behind);
		entrant->open = half - behind > rules->tie;
	}
}

/* Does the cell run in this round? In the first two, all do. */
static bool takes_part(const struct final *final, size_t cell, uint32_t round)
{
	const struct entrant *entrant = &final->entrants[cell];

	if (!races(final, cell))
		return false;
	return round <= 2 ||
	       (!entrant->gone && (cell == final->lead || entrant->open));
}

/* The device seconds of a full run: those of the last one, or of the heat. */
static double run_costs(const struct race_cell *cell)
{
	return cell->runs_count ? cell->runs[cell->runs_count - 1].cost_s
				: cell->cost_s;
}

/* Would the round cost more than is left? One that has begun is completed. */
static bool is_too_dear(const struct final *final, uint32_t round)
{
	double sum = race_spent(final->cells, final->count);

	if (!final->rules->budget_s)
		return false;
	for (size_t i = 0; i < final->count; i++) {
		if (!takes_part(final, i, round))
			continue;
		if (race_find_run(&final->cells[i], round))
			return false;
		sum += run_costs(&final->cells[i]);
	}
	return sum > final->rules->budget_s;
}

/* A run of this round that is missing; false: none. */
static bool find_missing(const struct final *final, uint32_t round)
{
	for (size_t i = 0; i < final->count; i++)
		if (takes_part(final, i, round) &&
		    !race_find_run(&final->cells[i], round)) {
			final->to->action = RACE_RUN;
			final->to->cell = i;
			final->to->round = round;
			return true;
		}
	return false;
}

/* A run that a cell missed before it came back; false: none. */
static bool find_missed(const struct final *final)
{
	for (size_t i = 0; i < final->count; i++)
		for (uint32_t round = 1;
		     races(final, i) && round <= final->entrants[i].back;
		     round++)
			if (!race_find_run(&final->cells[i], round)) {
				final->to->action = RACE_RUN;
				final->to->cell = i;
				final->to->round = round;
				return true;
			}
	return false;
}

/* Is the rate of the winner known as precisely as is asked for? ENOMEM counts
 * as yes.
 */
static bool rate_is_known(const struct race_rules *rules,
			  const struct race_cell *winner)
{
	owned_free double *rates =
		calloc(winner->runs_count + 1, sizeof(*rates));
	size_t count = 0;

	if (!(rules->width > 0) || winner->runs_count >= rules->width_max ||
	    !rates)
		return true;
	for (size_t i = 0; i < winner->runs_count; i++)
		if (winner->runs[i].outcome == RACE_RAN)
			rates[count++] = winner->runs[i].rate;
	return mean_known(rates, count, rules->width_confidence).half <=
	       rules->width;
}

/* The runs that the winner still lacks. */
static bool find_repeat(const struct final *final)
{
	const struct race_cell *winner = &final->cells[final->lead];
	uint32_t round = 1;

	if (final->rules->budget_s &&
	    race_spent(final->cells, final->count) + run_costs(winner) >
		    final->rules->budget_s)
		return false;
	for (size_t i = 0; i < winner->runs_count; i++)
		if (winner->runs[i].round >= round)
			round = winner->runs[i].round + 1;
	if (winner->runs_count >= final->rules->repeat &&
	    rate_is_known(final->rules, winner))
		return false;
	final->to->action = RACE_RUN;
	final->to->cell = final->lead;
	final->to->round = round;
	return true;
}

static int final_won(struct final *final, enum race_end end)
{
	final->to->bound = fmax(final->bound, final->rules->tie);
	return find_repeat(final) ? 0 : race_over(final->to, end, final->lead);
}

/* After a complete round. 1: there is another one; 0: *to is decided. */
static int end_round(struct final *final, uint32_t round, struct error *err)
{
	struct race_judgement *to = final->to;

	sum_rounds(final, round);
	if (!final->freedom && round < 2)
		return 1;
	if (!final->freedom) /* each failed but in one run */
		return final_won(final, RACE_UNDECIDED);
	for (;;) {
		to->width = heats_width(final, err);
		if (to->width < 0)
			return -1;
		to->spread = final->spread;
		if (to->width > NOISY_MARGINS * final->rules->margin) {
			find_best_heat(final);
			to->bound = INFINITY;
			return race_over(to, RACE_NOISY, final->lead);
		}
		if (!let_in(final, to->width, round))
			break;
		if (find_missed(final))
			return 0;
		sum_rounds(final, round);
	}
	look(final, round);
	if (round >= 2 && final->bound <= final->rules->tie)
		return final_won(final, RACE_WON);
	return round >= final->rules->max ? final_won(final, RACE_UNDECIDED)
					  : 1;
}

/* Is there but one cell that could win? */
static bool has_no_rival(const struct final *final)
{
	size_t count = 0;

	for (size_t i = 0; i < final->count; i++)
		count += final->cells[i].heat == RACE_RAN &&
			 !final->entrants[i].failed &&
			 !final->entrants[i].smaller;
	return count == 1;
}

static int run_final(struct final *final, struct error *err)
{
	struct race_judgement *to = final->to;
	int rc = 1;

	for (size_t i = 0; i < final->count; i++) {
		final->entrants[i].failed = race_cell_failed(&final->cells[i]);
		final->entrants[i].smaller =
			is_smaller(final->cells, final->count,
				   &final->cells[i]);
	}
	find_best_heat(final);
	if (isinf(final->best))
		return race_over(to, RACE_EMPTY, 0);
	to->width = final->rules->margin;
	let_in(final, to->width, 0);
	if (has_no_rival(final) && !is_too_dear(final, 1)) {
		to->round = (uint32_t) final->cells[final->lead].runs_count;
		return final_won(final, RACE_WON);
	}
	final->bound = INFINITY;
	for (uint32_t round = 1; rc > 0; round++) {
		if (is_too_dear(final, round)) {
			to->bound = fmax(final->bound, final->rules->tie);
			return race_over(to, RACE_SPENT, final->lead);
		}
		if (find_missing(final, round))
			return 0;
		to->round = round;
		rc = end_round(final, round, err);
	}
	return rc;
}

static void tell_places(const struct final *final, enum race_place *places,
			uint32_t *rounds)
{
	for (size_t i = 0; i < final->count; i++) {
		const struct entrant *entrant = &final->entrants[i];
		enum race_place place = PLACE_EQUAL;

		if (final->cells[i].heat != RACE_RAN)
			place = PLACE_NONE;
		else if (final->to->action == RACE_OVER &&
			 final->to->end != RACE_EMPTY && i == final->to->cell)
			place = PLACE_WINNER;
		else if (entrant->failed)
			place = PLACE_FAILED;
		else if (entrant->smaller)
			place = PLACE_SMALLER;
		else if (!entrant->in)
			place = PLACE_HEAT;
		else if (entrant->gone)
			place = PLACE_FINAL;
		if (places)
			places[i] = place;
		if (rounds)
			rounds[i] = entrant->last;
	}
}

int race_judge(const struct race_rules *rules, const struct race_cell *cells,
	       size_t count, struct race_judgement *to, enum race_place *places,
	       uint32_t *rounds, struct error *err)
{
	owned_free struct entrant *entrants = calloc(count, sizeof(*entrants));
	struct final final = { .rules = rules,
			       .cells = cells,
			       .count = count,
			       .entrants = entrants,
			       .to = to };
	int rc = 0;

	if (!entrants)
		return error_nomem(err, "race");
	*to = (struct race_judgement){ .action = RACE_WAIT,
				       .bound = INFINITY,
				       .spread = (double)NAN,
				       .width = rules->margin,
				       .differ = (double)NAN };
	if (find_prune(cells, count, to) || is_active(cells, count))
		return 0;
	if (find_heat(cells, count, to)) {
		if (!rules->budget_s ||
		    race_spent(cells, count) < rules->budget_s)
			return 0;
	}
	rc = run_final(&final, err);
	for (size_t i = 0; i < count; i++)
		to->finalists += entrants[i].in;
	tell_places(&final, places, rounds);
	return rc;
}
