/* race_rules_test.c - decisions of a race over tables of rows, and thousands of
 * races over made-up layouts: what they cost, and how often they are wrong.
 *
 * The noise is that of 123 groups of equal runs in the logs of MLPerf training
 * v3.1 to v5.1: the spread between runs is 0.14 % at the median and 0.49 % at
 * the 90th percentile; single steps differ by 1.5 to 3 %, and the first ones
 * are slow. In rough noise runs differ by 2 %, and one of a hundred is on a
 * node that is 8 % slower.
 */
#include "controller/race/race_rules.h"

#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct race_rules rules = {
	.margin = 0.05, .tie = 0.01, .confidence = 0.95, .max = 5, .repeat = 3
};

/* Tables of rows. */

#define RUNS 16
#define CELLS 96

struct table {
	struct race_cell cells[CELLS];
	struct race_run runs[CELLS][RUNS];
	size_t count;
};

static struct race_cell *add_cell(struct table *table, struct race_needs needs)
{
	struct race_cell *cell = &table->cells[table->count];

	*cell = (struct race_cell){ .needs = needs,
				    .runs = table->runs[table->count] };
	cell->needs.rest = cell->needs.rest ? cell->needs.rest : "";
	table->count++;
	return cell;
}

static void add_heat(struct table *table, double rate)
{
	struct race_cell *cell =
		add_cell(table, (struct race_needs){ .micro = 1 });

	cell->heat = RACE_RAN;
	cell->rate = rate;
	cell->error = 0.002;
	cell->cost_s = 100;
}

static void add_run(struct table *table, size_t cell, uint32_t round,
		    double rate)
{
	struct race_cell *to = &table->cells[cell];

	table->runs[cell][to->runs_count++] =
		(struct race_run){ .round = round,
				   .outcome = rate > 0 ? RACE_RAN : RACE_OOM,
				   .rate = rate,
				   .cost_s = 1000 };
}

static struct race_judgement judge(const struct table *table,
				   const struct race_rules *by)
{
	struct race_judgement to;

	race_judge(by, table->cells, table->count, &to, NULL, NULL, NULL);
	return to;
}

static bool runs_next(const struct table *table, size_t cell, uint32_t round)
{
	struct race_judgement to = judge(table, &rules);

	return to.action == RACE_RUN && to.cell == cell && to.round == round;
}

static void test_needs(void)
{
	const struct race_needs base = { .micro = 2,
					 .sequence = 4096,
					 .tp = 2,
					 .pp = 2,
					 .sp = 1,
					 .accumulate = 8,
					 .recompute = 1,
					 .rest = "x" };
	struct race_needs other = base;

	ok(!race_needs_more(&base, &base),
	   "a cell does not need more than itself");
	other.micro = 4;
	ok(race_needs_more(&base, &other) && !race_needs_more(&other, &base),
	   "a larger micro batch needs more");
	other.tp = 4;
	ok(!race_needs_more(&base, &other), "more TP may balance it");
	other = base;
	other.tp = 1;
	other.recompute = 0;
	ok(race_needs_more(&base, &other), "less TP and no recomputation, too");
	other.tp = 0;
	ok(race_needs_more(&base, &other), "TP that is not given is 1");
	other = base;
	other.micro = 3;
	other.accumulate = 1;
	ok(!race_needs_more(&base, &other), "nor do fewer samples under way");
	other = base;
	other.micro = 4;
	other.rest = "y";
	ok(!race_needs_more(&base, &other), "other values do not compare");
}

static void test_heats(void)
{
	struct table table = { 0 };
	struct race_judgement to;
	struct race_rules poor = rules;

	for (uint32_t micro = 1; micro <= 8; micro *= 2)
		add_cell(&table, (struct race_needs){ .micro = micro });
	to = judge(&table, &rules);
	ok(to.action == RACE_HEAT && to.cell == 0, "the first heat");
	table.cells[0].heat = RACE_ACTIVE;
	ok(judge(&table, &rules).action == RACE_WAIT, "one at a time");
	table.cells[0].heat = RACE_RAN;
	table.cells[0].rate = 100;
	table.cells[0].cost_s = 50;
	table.cells[1].heat = RACE_OOM;
	to = judge(&table, &rules);
	ok(to.action == RACE_PRUNE && to.cell == 2 && to.because == 1,
	   "what needs more than one that ran out is not run");
	table.cells[2].heat = table.cells[3].heat = RACE_PRUNED;
	ok(runs_next(&table, 0, 1), "one is left: it runs in full");
	poor.budget_s = 60;
	to = judge(&table, &poor);
	ok(to.action == RACE_OVER && to.end == RACE_SPENT && to.cell == 0 &&
		   isinf(to.bound),
	   "a round that the budget does not allow does not begin");
	table.cells[0].heat = RACE_FAILED;
	to = judge(&table, &rules);
	ok(to.action == RACE_OVER && to.end == RACE_EMPTY, "no cell runs");
}

static void test_final(void)
{
	struct table table = { 0 };
	struct race_judgement to;
	enum race_place places[CELLS];
	uint32_t rounds[CELLS];

	add_heat(&table, 100);
	add_heat(&table, 97);
	add_heat(&table, 90);
	ok(runs_next(&table, 0, 1), "round 1");
	add_run(&table, 0, 1, 100);
	ok(runs_next(&table, 1, 1), "of both that are within the margin");
	add_run(&table, 1, 1, 97);
	ok(runs_next(&table, 0, 2), "round 2, interleaved");
	add_run(&table, 0, 2, 100.2);
	add_run(&table, 1, 2, 97.1);
	ok(runs_next(&table, 0, 3), "decided: the winner lacks a run");
	add_run(&table, 0, 3, 100.1);
	race_judge(&rules, table.cells, table.count, &to, places, rounds, NULL);
	ok(to.action == RACE_OVER && to.end == RACE_WON && to.cell == 0 &&
		   to.bound == 0.01 && to.finalists == 2 && to.round == 2,
	   "won");
	ok(places[0] == PLACE_WINNER && places[1] == PLACE_FINAL &&
		   rounds[1] == 2 && places[2] == PLACE_HEAT,
	   "and each has its place");
}

/* The heats of a ladder of 16 micro batches, of which 11 is the largest that
 * runs; with a second ladder, in which 3 is.
 */
static void test_ladder(void)
{
	static const uint32_t tried[] = { 1, 2, 4, 8, 16, 12, 10, 11 };
	struct table table = { 0 };
	struct race_judgement to = { 0 };
	struct race_rules once = rules;
	enum race_place places[CELLS];
	size_t heats = 0, wrong = 0, pruned = 0;

	once.repeat = 1;
	for (uint32_t micro = 1; micro <= 16; micro++)
		add_cell(&table,
			 (struct race_needs){ .micro = micro, .fit = true });
	while ((to = judge(&table, &once)).action != RACE_RUN) {
		struct race_cell *cell = &table.cells[to.cell];

		if (to.action == RACE_PRUNE) {
			cell->heat = RACE_PRUNED;
			pruned++;
			continue;
		}
		if (to.action != RACE_HEAT || heats == 8)
			break;
		wrong += cell->needs.micro != tried[heats++];
		cell->heat = cell->needs.micro <= 11 ? RACE_RAN : RACE_OOM;
		/* The largest is not the fastest. */
		cell->rate = 100.0 / cell->needs.micro;
	}
	ok(heats == 8 && !wrong && pruned == 8,
	   "a ladder is doubled, then halved");
	ok(to.action == RACE_RUN && table.cells[to.cell].needs.micro == 11,
	   "the largest that runs does so in full");
	add_run(&table, to.cell, 1, 9);
	race_judge(&once, table.cells, table.count, &to, places, NULL, NULL);
	ok(to.action == RACE_OVER && to.end == RACE_WON && to.cell == 10 &&
		   places[7] == PLACE_SMALLER && places[11] == PLACE_NONE,
	   "once: it has no rival");
	table.runs[10][0].outcome = RACE_OOM;
	to = judge(&table, &once);
	ok(to.action == RACE_RUN && table.cells[to.cell].needs.micro == 10,
	   "if it runs out of memory then, the next one does");

	table = (struct table){ 0 };
	for (uint32_t micro = 1; micro <= 3; micro++)
		for (uint32_t tp = 1; tp <= 2; tp++) {
			struct race_cell *cell =
				add_cell(&table,
					 (struct race_needs){ .micro = micro,
							      .tp = tp,
							      .fit = true });

			cell->heat = micro <= tp ? RACE_RAN : RACE_OOM;
			cell->rate = 100;
		}
	table.cells[0].heat = RACE_FAILED; /* micro 1, TP 1 */
	table.cells[2].heat = RACE_OPEN;
	to = judge(&table, &once);
	ok(to.action == RACE_PRUNE && to.cell == 2 && to.because == 0,
	   "what fails with one micro batch is not tried with a larger one");
	table.cells[2].heat = RACE_PRUNED;
	to = judge(&table, &once);
	ok(to.action == RACE_RUN && to.cell == 3, "each ladder is its own");
}

/* `until` repeats the winner alone. */
static void test_until(void)
{
	struct table table = { 0 };
	struct race_rules precise = rules;
	struct race_judgement to;

	precise.repeat = 1;
	precise.width = 0.01;
	precise.width_confidence = 0.95;
	precise.width_max = 4;
	add_heat(&table, 100);
	add_run(&table, 0, 1, 100);
	add_run(&table, 0, 2, 101);
	to = judge(&table, &precise);
	ok(to.action == RACE_RUN && to.round == 3,
	   "two runs are not precise enough");
	add_run(&table, 0, 3, 100.5);
	to = judge(&table, &precise);
	ok(to.action == RACE_RUN && to.round == 4, "nor are three");
	add_run(&table, 0, 4, 98);
	to = judge(&table, &precise);
	ok(to.action == RACE_OVER && to.cell == 0 && to.round == 4,
	   "four are the most that are allowed");
}

static void test_ends(void)
{
	struct table table = { 0 };
	struct race_judgement to;

	add_heat(&table, 100);
	add_heat(&table, 97);
	add_heat(&table, 94);
	add_run(&table, 0, 1, -1);
	ok(runs_next(&table, 1, 1), "the leader ran out of memory in full");
	add_run(&table, 1, 1, 97);
	ok(runs_next(&table, 2, 1), "the next heat takes its place");

	table = (struct table){ 0 };
	add_heat(&table, 100);
	add_heat(&table, 99);
	for (uint32_t round = 1; round <= 2; round++) {
		add_run(&table, 0, round, round == 1 ? 100 : 70);
		add_run(&table, 1, round, round == 1 ? 70 : 100);
	}
	to = judge(&table, &rules);
	ok(to.action == RACE_OVER && to.end == RACE_NOISY,
	   "equal runs that differ by 30 %% are too noisy (%.2f)", to.width);

	table = (struct table){ 0 };
	add_heat(&table, 100);
	add_heat(&table, 99);
	add_heat(&table, 93);
	for (uint32_t round = 1; round <= 2; round++) {
		add_run(&table, 0, round, round == 1 ? 100 : 96.5);
		add_run(&table, 1, round, round == 1 ? 99 : 96);
	}
	ok(runs_next(&table, 2, 1),
	   "a wide spread lets cells come back, which run what they missed");
	add_run(&table, 2, 1, 93);
	ok(runs_next(&table, 2, 2), "all of it");

	table = (struct table){ 0 };
	add_heat(&table, 100);
	add_heat(&table, 100);
	for (uint32_t round = 1; round <= 5; round++) {
		add_run(&table, 0, round, round % 2 ? 100 : 101.5);
		add_run(&table, 1, round, round % 2 ? 101.4 : 100);
	}
	to = judge(&table, &rules);
	ok(to.action == RACE_OVER && to.end == RACE_UNDECIDED &&
		   to.bound > 0.01 && to.bound < 0.05,
	   "after `max` rounds the bound is stated: %.3f", to.bound);
}

/* Made-up layouts, and races over them. */

struct noise {
	const char *name;
	double run, step, correlation, slow;
	double bias, common; /* of heats: between cells, and of all */
	double bad;          /* runs on a node that is 8 % slower */
	bool rough;          /* the bound alone is promised */
};

static const struct noise noises[] = {
	{ "quiet", 0.0014, 0.015, 0.5, 0.01, 0.003, -0.01, 0, false },
	{ "usual", 0.005, 0.020, 0.7, 0.02, 0.010, -0.03, 0, false },
	{ "rough", 0.020, 0.030, 0.7, 0.04, 0.010, -0.03, 0.01, true },
};

struct layout {
	double step_s; /* 0: it runs out of memory */
	double bias;
};

struct space {
	struct layout layouts[CELLS];
	struct race_needs needs[CELLS];
	double order[CELLS]; /* estimated memory */
	size_t count;
	double best_s;
};

#define STARTUP_S 120
#define STEPS 100
#define HEAT_STEPS 10
#define SPACES 10
#define RACES 100 /* of each space */

static uint64_t seed;

static double uniform(void)
{
	seed = seed * UINT64_C(6364136223846793005) +
	       UINT64_C(1442695040888963407);
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(double deviation)
{
	return deviation * sqrt(-2 * log(uniform())) *
	       cos(2 * 3.14159265358979 * uniform());
}

/* Layouts of a model of which some run out of memory. */
static void space_make(struct space *space, uint64_t number)
{
	static const uint32_t degrees[] = { 1, 2, 4, 8 };
	double states, limit, per_token, wire, bubble;
	size_t made = 0;

	memset(space, 0, sizeof(*space));
	seed = number * 977 + 5;
	states = 120 + 200 * uniform();
	per_token = 3 + 5 * uniform();
	limit = 60 + 20 * uniform();
	wire = 0.03 + 0.09 * uniform();
	bubble = 0.05 + 0.1 * uniform();
	space->best_s = INFINITY;
	for (size_t i = 0; i < CELLS; i++) { /* 4 x 3 x 4 x 2 */
		uint32_t tp = degrees[i % 4], pp = degrees[i / 4 % 3];
		uint32_t micro = degrees[i / 12 % 4], full = i / 48 ? 2 : 0;
		double acts = per_token * micro * (full ? 0.25 : 1) *
			      (0.2 + 0.8 / tp);
		double needed = states / (tp * pp) + acts;
		double time = 10 * (1 + wire * log2(tp)) *
			      (1 + bubble * (pp - 1) * micro / 4) *
			      (full ? 1.28 : 1) * (1 + 0.12 / micro) *
			      (1 + 0.02 * uniform());

		if (needed > 6 * limit)
			continue; /* a plan drops it */
		space->needs[made] = (struct race_needs){ .micro = micro,
							  .tp = tp,
							  .pp = pp,
							  .recompute = full,
							  .rest = "" };
		space->order[made] = needed * (1 + 0.1 * uniform());
		space->layouts[made++].step_s = needed <= limit ? time : 0;
		if (needed <= limit && time < space->best_s)
			space->best_s = time;
	}
	space->count = made;
}

static int numbers_compare_up(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static double middle_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), numbers_compare_up);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* How much longer a run takes than its layout does on the average. */
static double run_factor(const struct noise *noise)
{
	return exp(gauss(noise->run)) *
	       (noise->bad > 0 && uniform() < noise->bad ? 1.08 : 1);
}

/* A heat: its cost, and what is read from its log. */
static void heat_run(const struct layout *layout, const struct noise *noise,
		     double best_s, struct race_cell *cell)
{
	double time = layout->step_s * run_factor(noise) *
		      (1 + noise->common + layout->bias);
	double steps[HEAT_STEPS], far[HEAT_STEPS], off = gauss(noise->step);
	double fastest = INFINITY, middle;
	size_t n = 0;

	cell->cost_s = STARTUP_S + 5 * time; /* the first ones are slow */
	while (n < HEAT_STEPS) {
		steps[n] =
			time * (1 + off) * (uniform() < noise->slow ? 1.5 : 1);
		cell->cost_s += steps[n];
		fastest = fmin(fastest, steps[n++]);
		off = noise->correlation * off +
		      gauss(noise->step *
			    sqrt(1 - noise->correlation * noise->correlation));
		if (n >= 3 && fastest > best_s * exp(2 * rules.margin))
			break;
	}
	for (size_t i = 0; i < n; i++)
		far[i] = steps[i];
	middle = middle_of(far, n);
	for (size_t i = 0; i < n; i++)
		far[i] = fabs(steps[i] - middle);
	cell->heat = RACE_RAN;
	cell->rate = 1 / middle;
	cell->error =
		1.2533 * 1.4826 * middle_of(far, n) / middle / sqrt((double)n);
}

static double full_time(const struct layout *layout, const struct noise *noise)
{
	double steps = 1.2533 * noise->step *
		       sqrt((1 + noise->correlation) /
			    (1 - noise->correlation) / STEPS);

	return layout->step_s * run_factor(noise) * (1 + gauss(steps));
}

struct tally {
	double search_s, matrix_s;
	size_t races, wrong, lied;
	size_t oom, oom_run, pruned_running;
};

static void race_run_one(struct space *space, const struct noise *noise,
			 struct tally *tally)
{
	struct table table = { 0 };
	size_t at[CELLS] = { 0 };
	struct race_judgement to = { 0 };
	double best_heat_s = INFINITY, winner_s = 0, truth;

	for (size_t i = 0; i < space->count; i++) {
		size_t k = i;

		for (; k && space->order[at[k - 1]] > space->order[i]; k--)
			at[k] = at[k - 1];
		at[k] = i;
	}
	for (size_t i = 0; i < space->count; i++) {
		add_cell(&table, space->needs[at[i]]);
		space->layouts[i].bias = gauss(noise->bias);
	}
	while (to.action != RACE_OVER) {
		struct race_cell *cell;
		struct layout *layout;

		race_judge(&rules, table.cells, table.count, &to, NULL, NULL,
			   NULL);
		cell = &table.cells[to.cell];
		layout = &space->layouts[at[to.cell]];
		if (to.action == RACE_PRUNE) {
			cell->heat = RACE_PRUNED;
			tally->pruned_running += layout->step_s > 0;
		} else if (to.action == RACE_HEAT && layout->step_s > 0) {
			heat_run(layout, noise, best_heat_s, cell);
			best_heat_s = fmin(best_heat_s, 1 / cell->rate);
		} else if (to.action == RACE_HEAT) {
			cell->heat = RACE_OOM;
			cell->cost_s = STARTUP_S + 5;
			tally->oom_run++;
		} else if (to.action == RACE_RUN) {
			add_run(&table, to.cell, to.round,
				1 / full_time(layout, noise));
			cell->runs[cell->runs_count - 1].cost_s =
				STARTUP_S + (STEPS + 3) * layout->step_s;
		}
	}
	truth = space->layouts[at[to.cell]].step_s / space->best_s - 1;
	tally->races++;
	tally->wrong += truth > 0.01;
	tally->lied += truth > to.bound + 1e-9;
	for (size_t i = 0; i < space->count; i++) {
		tally->oom += space->layouts[i].step_s == 0;
		tally->matrix_s +=
			3 *
			(space->layouts[i].step_s > 0
				 ? STARTUP_S + (STEPS + 3) *
						       space->layouts[i].step_s
				 : STARTUP_S + 5);
	}
	winner_s = table.runs[to.cell][0].cost_s * rules.repeat;
	tally->search_s += race_spent(table.cells, table.count) - winner_s;
}

static void tally_add(struct tally *to, const struct tally *from)
{
	to->search_s += from->search_s;
	to->matrix_s += from->matrix_s;
	to->races += from->races;
	to->wrong += from->wrong;
	to->oom += from->oom;
	to->oom_run += from->oom_run;
}

static void test_races(const struct noise *noise)
{
	struct tally all = { 0 };

	for (uint64_t number = 1; number <= SPACES; number++) {
		struct space space;
		struct tally tally = { 0 };

		space_make(&space, number);
		for (size_t i = 0; i < RACES; i++)
			race_run_one(&space, noise, &tally);
		ok((noise->rough || tally.search_s * 5 <= tally.matrix_s) &&
			   tally.lied * 100 <= tally.races * 6 &&
			   !tally.pruned_running,
		   "%s noise, space %d: search %.1f times cheaper than the "
		   "matrix with 3 repeats, %zu of %zu winners beyond the "
		   "bound, nothing pruned that runs",
		   noise->name, (int)number, tally.matrix_s / tally.search_s,
		   tally.lied, tally.races);
		tally_add(&all, &tally);
	}
	ok((noise->rough || all.wrong * 100 <= all.races) &&
		   all.oom_run * 4 <= all.oom,
	   "%s noise: search %.1f times cheaper, %.2f %% of winners more than "
	   "1 %% off, %.0f %% of what runs out of memory ran",
	   noise->name, all.matrix_s / all.search_s,
	   100.0 * (double)all.wrong / (double)all.races,
	   100.0 * (double)all.oom_run / (double)all.oom);
}

int main(void)
{
	tap_begin(60);
	test_needs();
	test_heats();
	test_final();
	test_until();
	test_ladder();
	test_ends();
	for (size_t i = 0; i < sizeof(noises) / sizeof(noises[0]); i++)
		test_races(&noises[i]);
	return tap_done();
}
