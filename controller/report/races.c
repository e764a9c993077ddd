/* races.c - what the races of a sweep found.
 */
#include "controller/report/races.h"

#include "controller/race/race_words.h"
#include "controller/results/json_object.h"
#include "protocol/base/list.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 400
#define LINE_BYTES 1200

/* What became of a cell. */
enum racer_end {
	END_WINNER,
	END_EQUAL,
	END_FINAL,
	END_FINAL_FAILED,
	END_HEAT,
	END_SMALLER,
	END_OOM,
	END_PRUNED,
	END_NONE,
	END_RUNNING,
};

/* As JSON and as the report say it; NULL: the report says it elsewhere. */
static const struct {
	const char *name, *label;
} racer_ends[] = {
	[END_WINNER] = { "winner", NULL },
	[END_EQUAL] = { "equal", "may be as fast: " },
	[END_FINAL] = { "final", "out in the final: " },
	[END_FINAL_FAILED] = { "failed", "failed in the final: " },
	[END_HEAT] = { "heat", "out after the heat: " },
	[END_SMALLER] = { "smaller", "a larger micro batch runs: " },
	[END_OOM] = { "oom", "out of memory: " },
	[END_PRUNED] = { "pruned", "never ran: " },
	[END_NONE] = { "none", "not judged, failed or without a figure: " },
	[END_RUNNING] = { "running", NULL },
};
#define RACER_ENDS (sizeof(racer_ends) / sizeof(racer_ends[0]))

/* A cell of a race. */
struct racer {
	const struct report_row *heat;
	char *rest;
	struct race_cell row;
	enum racer_end end;
	uint32_t round; /* in which it was out */
	double score;   /* mean of its full runs, else of its heat; NAN */
	uint64_t runs;
};

struct race_found {
	char group[GROUP_BYTES];
	const struct race_spec *spec;
	struct race_rules rules;
	struct race_judgement verdict;
	struct racer *racers; /* in the order of their heats */
	size_t count;
	double spent_h, matrix_h;
};

struct races {
	struct race_found *items;
	size_t count;
};

static void races_clear(struct races *races)
{
	for (size_t i = 0; i < races->count; i++) {
		struct race_found *found = &races->items[i];

		for (size_t k = 0; k < found->count; k++) {
			free(found->racers[k].rest);
			free(found->racers[k].row.runs);
		}
		free(found->racers);
	}
	free(races->items);
}
OWNED_VALUE(struct races, races_clear)

static double wall_s(const struct report_row *row)
{
	const struct result *result = row->info.result;

	return result && isfinite(result->wall_s) ? result->wall_s : 0;
}

static double row_score(const struct report_row *row)
{
	return row_completed(row) ? race_score(row->info.race, row->info.result)
				  : (double)NAN;
}

static enum race_outcome row_outcome(const struct report_row *row)
{
	enum job_state state = job_state_from(row->info.state);
	enum failure failure = failure_from(row->info.failure);

	if (failure == FAILURE_PRUNED)
		return RACE_PRUNED;
	if (failure == FAILURE_OOM)
		return RACE_OOM;
	if (!job_state_final(state))
		return state == JOB_QUEUED && row_heat(row) ? RACE_OPEN
							    : RACE_ACTIVE;
	return row_score(row) > 0 ? RACE_RAN : RACE_FAILED;
}

/* The race of the heat's group, which may be new. */
static struct race_found *races_find(struct races *races,
				     const struct report_row *heat,
				     struct error *err)
{
	struct race_found *added;
	char group[GROUP_BYTES];

	race_group(heat->info.race, heat->info.values, row_cell(heat), group,
		   sizeof(group));
	for (size_t i = 0; i < races->count; i++)
		if (!strcmp(races->items[i].group, group))
			return &races->items[i];
	added = LIST_ADD(races->items, races->count, err);
	if (!added)
		return NULL;
	added->spec = heat->info.race;
	added->rules = race_rules_of(heat->info.race);
	memcpy(added->group, group, sizeof(group));
	return added;
}

static int racer_add(struct race_found *found, const struct report_row *heat,
		     struct error *err)
{
	const struct setup *setup = heat->info.setup;
	struct racer *racer = LIST_ADD(found->racers, found->count, err);

	if (!racer)
		return -1;
	*racer = (struct racer){
		.heat = heat,
		.rest = race_rest(heat->info.values),
		.row = { .needs =
				 race_needs_of(heat->info.race, &setup->measure,
					       &setup->layout),
			 .heat = row_outcome(heat),
			 .rate = row_score(heat),
			 .error = race_rate_error(heat->info.result),
			 .cost_s = wall_s(heat) * heat->info.devices },
	};
	racer->row.needs.rest = racer->rest;
	return racer->rest ? 0 : error_nomem(err, "report");
}

static int compare_racers(const void *a, const void *b)
{
	const struct report_row *x = ((const struct racer *)a)->heat,
				*y = ((const struct racer *)b)->heat;

	if (x->info.race->order < y->info.race->order ||
	    x->info.race->order > y->info.race->order)
		return x->info.race->order < y->info.race->order ? -1 : 1;
	return x->info.job < y->info.job ? -1 : x->info.job > y->info.job;
}

static struct racer *racer_of_cell(const struct races *races, const char *cell)
{
	for (size_t i = 0; i < races->count; i++)
		for (size_t k = 0; k < races->items[i].count; k++)
			if (!strcmp(row_cell(races->items[i].racers[k].heat),
				    cell))
				return &races->items[i].racers[k];
	return NULL;
}

static int racer_add_run(struct racer *racer, const struct report_row *run,
			 struct error *err)
{
	struct race_cell *row = &racer->row;
	struct race_run *added = LIST_ADD(row->runs, row->runs_count, err);

	if (!added)
		return -1;
	*added = (struct race_run){ .round = run->info.repeat,
				    .outcome = row_outcome(run),
				    .rate = row_score(run),
				    .cost_s = wall_s(run) * run->info.devices };
	return 0;
}

/* The mean of the full runs, or that of the heat. */
static void racer_sum_up(struct racer *racer)
{
	const struct race_cell *cell = &racer->row;
	double sum = 0;

	for (size_t i = 0; i < cell->runs_count; i++)
		if (cell->runs[i].outcome == RACE_RAN) {
			sum += cell->runs[i].rate;
			racer->runs++;
		}
	racer->score = cell->heat == RACE_RAN ? cell->rate : (double)NAN;
	if (racer->runs)
		racer->score = sum / (double)racer->runs;
}

/* noisy: heats tell nothing. */
static enum racer_end racer_end_of(const struct race_cell *cell,
				   enum race_place place, bool noisy)
{
	static const enum racer_end of_place[] = {
		[PLACE_NONE] = END_NONE,           [PLACE_HEAT] = END_HEAT,
		[PLACE_SMALLER] = END_SMALLER,     [PLACE_FINAL] = END_FINAL,
		[PLACE_EQUAL] = END_EQUAL,         [PLACE_WINNER] = END_WINNER,
		[PLACE_FAILED] = END_FINAL_FAILED,
	};

	switch (cell->heat) {
	case RACE_OOM:
		return END_OOM;
	case RACE_PRUNED:
		return END_PRUNED;
	case RACE_OPEN:
	case RACE_ACTIVE:
		return END_RUNNING;
	default:
		return noisy && place == PLACE_HEAT ? END_EQUAL
						    : of_place[place];
	}
}

/* The steps of a full run; 0: none is known. */
static double full_steps(const struct report_rows *runs)
{
	double steps = 0;

	ROWS_EACH(row, runs)
	{
		const struct result *result = row->info.result;

		if (row->info.race && !row->info.race->heat && result &&
		    result->steps > steps)
			steps = result->steps;
	}
	return steps;
}

/* What a full run of each cell would have taken, by its heat. */
static double matrix_hours(const struct race_found *found, double steps)
{
	double sum = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct report_row *heat = found->racers[i].heat;
		const struct result *result = heat->info.result;
		double more = 0;

		if (found->racers[i].row.heat == RACE_RAN && result &&
		    result->iteration_ms && steps > result->steps)
			more = (steps - result->steps) *
			       result->iteration_ms->median / 1000;
		sum += (wall_s(heat) + more) * heat->info.devices;
	}
	return sum * found->rules.repeat / 3600;
}

static int race_found_judge(struct race_found *found, struct error *err)
{
	size_t count = found->count;
	owned_free struct race_cell *cells = calloc(count, sizeof(*cells));
	owned_free enum race_place *places = calloc(count, sizeof(*places));
	owned_free uint32_t *rounds = calloc(count, sizeof(*rounds));

	if (!cells || !places || !rounds)
		return error_nomem(err, "report");
	for (size_t i = 0; i < count; i++)
		cells[i] = found->racers[i].row;
	if (race_judge(&found->rules, cells, count, &found->verdict, places,
		       rounds, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		found->racers[i].end =
			racer_end_of(&cells[i], places[i],
				     found->verdict.action == RACE_OVER &&
					     found->verdict.end == RACE_NOISY);
		found->racers[i].round = rounds[i];
		racer_sum_up(&found->racers[i]);
	}
	found->spent_h = race_spent(cells, count) / 3600;
	return 0;
}

static int races_make(const struct report_rows *runs, struct races *races,
		      struct error *err)
{
	ROWS_EACH(row, runs)
	{
		struct race_found *found;

		if (!row_heat(row))
			continue;
		found = races_find(races, row, err);
		if (!found || racer_add(found, row, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < races->count; i++)
		qsort(races->items[i].racers, races->items[i].count,
		      sizeof(struct racer), compare_racers);
	ROWS_EACH(row, runs)
	{
		struct racer *racer =
			row->info.race && !row->info.race->heat
				? racer_of_cell(races, row_cell(row))
				: NULL;

		if (racer && racer_add_run(racer, row, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < races->count; i++) {
		if (race_found_judge(&races->items[i], err) < 0)
			return -1;
		races->items[i].matrix_h =
			matrix_hours(&races->items[i], full_steps(runs));
	}
	return 0;
}

/* Sentences. */

__attribute__((format(printf, 3, 4))) static void
line_add(char line[LINE_BYTES], size_t *used, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (*used < LINE_BYTES)
		*used += (size_t)vsnprintf(line + *used, LINE_BYTES - *used,
					   fmt, args);
	va_end(args);
}

static bool race_is_over(const struct race_found *found)
{
	return found->verdict.action == RACE_OVER;
}

static const struct racer *winner_of(const struct race_found *found)
{
	if (!race_is_over(found) || found->verdict.end == RACE_EMPTY)
		return NULL;
	return &found->racers[found->verdict.cell];
}

static const char *racer_unit(const struct race_found *found,
			      const struct racer *racer)
{
	return race_unit(found->spec, row_rate(racer->heat).unit);
}

static size_t count_end(const struct race_found *found, enum racer_end end)
{
	size_t count = 0;

	for (size_t i = 0; i < found->count; i++)
		count += found->racers[i].end == end;
	return count;
}

static int say_verdict(const struct race_found *found, struct strings *lines,
		       struct error *err)
{
	const struct racer *winner = winner_of(found);
	char line[LINE_BYTES], verdict[RACE_TEXT_MAX];
	size_t used = 0;

	if (*found->group)
		line_add(line, &used, "%s: ", found->group);
	if (!race_is_over(found)) {
		line_add(line, &used, "the race is not over: %zu of %zu heats",
			 found->count - count_end(found, END_RUNNING),
			 found->count);
		return strings_add(lines, line, err);
	}
	race_say_verdict(&found->rules, &found->verdict,
			 winner ? winner->heat->info.job : 0,
			 winner && found->spec->own ? winner->row.needs.micro
						    : 0,
			 verdict, sizeof(verdict));
	if (winner)
		line_add(line, &used, "%s, %.6g %s (%llu full run%s): ",
			 row_cell(winner->heat),
			 race_shown(found->spec, winner->score),
			 racer_unit(found, winner),
			 (unsigned long long)winner->runs,
			 winner->runs == 1 ? "" : "s");
	line_add(line, &used, "%s", verdict);
	return strings_add(lines, line, err);
}

/* " (-3.3 %, round 2)": how far behind, and by what it is known. */
static void say_distance(const struct racer *racer, const struct racer *winner,
			 char line[LINE_BYTES], size_t *used)
{
	line_add(line, used, " (%+.1f %%",
		 (racer->score / winner->score - 1) * 100);
	if (!racer->runs)
		line_add(line, used, ", heat");
	else if (racer->end == END_FINAL)
		line_add(line, used, ", round %u", racer->round);
	line_add(line, used, ")");
}

/* "label: CELL (-0.6 %), CELL ..." of all that ended so. */
static int say_end(const struct race_found *found, enum racer_end end,
		   struct strings *lines, struct error *err)
{
	const struct racer *winner = winner_of(found);
	char line[LINE_BYTES];
	size_t used = 0, count = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct racer *racer = &found->racers[i];

		if (racer->end != end)
			continue;
		line_add(line, &used, "%s%s",
			 count++ ? ", " : racer_ends[end].label,
			 row_cell(racer->heat));
		if (winner && isfinite(racer->score) && end != END_FINAL_FAILED)
			say_distance(racer, winner, line, &used);
	}
	if (used >= LINE_BYTES)
		snprintf(line + LINE_BYTES - 40, 40, "... (%zu cells)", count);
	return count ? strings_add(lines, line, err) : 0;
}

static int say_cost(const struct race_found *found, struct strings *lines,
		    struct error *err)
{
	double saved_h = found->matrix_h - found->spent_h;
	char line[LINE_BYTES];
	size_t used = 0;

	line_add(line, &used, "device hours: %.3g", found->spent_h);
	if (race_is_over(found) && found->matrix_h > 0)
		line_add(line, &used,
			 "; all cells with repeat: %u take about %.3g, so the "
			 "race %s %.3g",
			 found->rules.repeat, found->matrix_h,
			 saved_h < 0 ? "took more, by" : "saved",
			 fabs(saved_h));
	if (isfinite(found->verdict.differ))
		line_add(line, &used,
			 "; heats and full runs differ by up to %.2g %%, and "
			 "heats were judged by %.2g %%",
			 found->verdict.differ * 100,
			 found->verdict.width * 100);
	return strings_add(lines, line, err);
}

int races_lines(const struct report_rows *runs, struct strings *lines,
		struct error *err)
{
	owned(races_clear) struct races races = { 0 };

	if (races_make(runs, &races, err) < 0)
		return -1;
	for (size_t i = 0; i < races.count; i++) {
		if (say_verdict(&races.items[i], lines, err) < 0)
			return -1;
		for (size_t end = 0; end < RACER_ENDS; end++)
			if (racer_ends[end].label &&
			    say_end(&races.items[i], end, lines, err) < 0)
				return -1;
		if (say_cost(&races.items[i], lines, err) < 0)
			return -1;
	}
	return 0;
}

int races_count_empty(const struct report_rows *runs, size_t *count,
		      struct error *err)
{
	owned(races_clear) struct races races = { 0 };

	if (races_make(runs, &races, err) < 0)
		return -1;
	*count = 0;
	for (size_t i = 0; i < races.count; i++)
		*count += race_is_over(&races.items[i]) &&
			  !winner_of(&races.items[i]);
	return 0;
}

/* JSON. */

static const char *end_name(const struct race_found *found)
{
	static const char *const names[] = {
		[RACE_WON] = "won",     [RACE_UNDECIDED] = "undecided",
		[RACE_SPENT] = "spent", [RACE_NOISY] = "noisy",
		[RACE_EMPTY] = "empty",
	};

	return race_is_over(found) ? names[found->verdict.end] : "running";
}

static cJSON *racer_json(const struct race_found *found,
			 const struct racer *racer, bool *failed)
{
	cJSON *to = cJSON_CreateObject();

	json_add_number(to, "job", (double)racer->heat->info.job, failed);
	json_add_text(to, "cell", row_cell(racer->heat), failed);
	json_add_text(to, "place", racer_ends[racer->end].name, failed);
	json_add_number(to, "rate", race_shown(found->spec, racer->score),
			failed);
	json_add_text(to, "unit", racer_unit(found, racer), failed);
	json_add_number(to, "runs", (double)racer->runs, failed);
	json_add_number(to, "round", racer->round, failed);
	json_add_text(to, "why",
		      racer->heat->info.text ? racer->heat->info.text : "",
		      failed);
	return to;
}

static cJSON *race_json(const struct race_found *found, bool *failed)
{
	const struct racer *winner = winner_of(found);
	cJSON *to = cJSON_CreateObject(), *cells = cJSON_CreateArray();

	json_add_text(to, "race", found->group, failed);
	json_add_text(to, "end", end_name(found), failed);
	json_add_number(to, "winner",
			winner ? (double)winner->heat->info.job : (double)NAN,
			failed);
	json_add_number(to, "bound", found->verdict.bound, failed);
	json_add_number(to, "confidence", found->rules.confidence, failed);
	json_add_number(to, "finalists", (double)found->verdict.finalists,
			failed);
	json_add_number(to, "rounds", found->verdict.round, failed);
	json_add_number(to, "spread", found->verdict.spread, failed);
	json_add_number(to, "margin", found->verdict.width, failed);
	json_add_number(to, "differ", found->verdict.differ, failed);
	json_add_number(to, "device_hours", found->spent_h, failed);
	json_add_number(to, "matrix_device_hours", found->matrix_h, failed);
	for (size_t i = 0; i < found->count; i++)
		json_add(cells, NULL,
			 racer_json(found, &found->racers[i], failed), failed);
	json_add(to, "cells", cells, failed);
	return to;
}

cJSON *races_json(const struct report_rows *runs)
{
	owned(races_clear) struct races races = { 0 };
	cJSON *list = cJSON_CreateArray();
	bool failed = !list || races_make(runs, &races, NULL) < 0;

	for (size_t i = 0; !failed && i < races.count; i++)
		json_add(list, NULL, race_json(&races.items[i], &failed),
			 &failed);
	if (!failed)
		return list;
	cJSON_Delete(list);
	return NULL;
}
