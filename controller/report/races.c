/* races.c - what the races of a sweep found.
 */
#include "controller/report/races.h"

#include "controller/race/race_words.h"
#include "controller/results/json_object.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 400
#define LINE_BYTES 1200

/* A cell of a race. */
struct racer {
	const struct report_row *heat;
	double order; /* of the heats, then by their jobs */
	uint64_t job;
	char *rest;
	enum race_place place;
	uint32_t round; /* in which it was out */
	double rate;    /* mean of its full runs, else of its heat; NAN */
	uint64_t runs;
};

struct race_found {
	char group[GROUP_BYTES];
	struct race_rules rules;
	struct race_judgement verdict;
	struct racer *racers;
	struct race_cell *cells;
	size_t count;
	double spent_h, matrix_h;
};

static void race_found_clear(struct race_found *found)
{
	for (size_t i = 0; i < found->count; i++) {
		free(found->racers[i].rest);
		free(found->cells[i].runs);
	}
	free(found->racers);
	free(found->cells);
}
OWNED_VALUE(struct race_found, race_found_clear)

static void group_of(const struct report_row *row, char group[GROUP_BYTES])
{
	race_group(row->info.values, &row->info.race->per, group, GROUP_BYTES);
}

static double wall_s(const struct report_row *row)
{
	const struct result *result = row->info.result;

	return result && isfinite(result->wall_s) ? result->wall_s : 0;
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
		return state == JOB_QUEUED ? RACE_OPEN : RACE_ACTIVE;
	return row_rate(row).value > 0 ? RACE_RAN : RACE_FAILED;
}

/* Is one heat before the other? */
static bool runs_before(const struct racer *a, const struct racer *b)
{
	return a->order < b->order ||
	       (!(a->order > b->order) && a->job < b->job);
}

static int racer_add(struct race_found *found, const struct report_row *heat,
		     struct error *err)
{
	const struct setup *setup = heat->info.setup;
	struct racer racer = { .heat = heat,
			       .order = heat->info.race->order,
			       .job = heat->info.job,
			       .rest = race_rest(heat->info.values) };
	size_t at = found->count;

	if (!racer.rest)
		return error_nomem(err, "report");
	for (; at && runs_before(&racer, &found->racers[at - 1]); at--) {
		found->racers[at] = found->racers[at - 1];
		found->cells[at] = found->cells[at - 1];
	}
	found->racers[at] = racer;
	found->cells[at] = (struct race_cell){
		.needs = race_needs_of(&setup->measure, &setup->layout),
		.heat = row_outcome(heat),
		.rate = row_rate(heat).value,
		.error = race_rate_error(heat->info.result),
		.cost_s = wall_s(heat) * heat->info.devices,
	};
	found->cells[at].needs.rest = racer.rest;
	found->count++;
	return 0;
}

static int racer_add_run(struct race_found *found, const struct report_row *run,
			 struct error *err)
{
	for (size_t i = 0; i < found->count; i++) {
		struct race_cell *cell = &found->cells[i];
		struct race_run *grown;

		if (strcmp(row_cell(found->racers[i].heat), row_cell(run)) != 0)
			continue;
		grown = reallocarray(cell->runs, cell->runs_count + 1,
				     sizeof(*grown));
		if (!grown)
			return error_nomem(err, "report");
		cell->runs = grown;
		grown[cell->runs_count++] = (struct race_run){
			.round = run->info.repeat,
			.outcome = row_outcome(run) == RACE_OPEN
					   ? RACE_ACTIVE
					   : row_outcome(run),
			.rate = row_rate(run).value,
			.cost_s = wall_s(run) * run->info.devices,
		};
		return 0;
	}
	return 0;
}

/* The mean rate of the full runs, or that of the heat. */
static void racer_sum_up(struct racer *racer, const struct race_cell *cell)
{
	double sum = 0;

	for (size_t i = 0; i < cell->runs_count; i++)
		if (cell->runs[i].outcome == RACE_RAN) {
			sum += cell->runs[i].rate;
			racer->runs++;
		}
	racer->rate = cell->heat == RACE_RAN ? cell->rate : (double)NAN;
	if (racer->runs)
		racer->rate = sum / (double)racer->runs;
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
static double matrix_hours(const struct race_found *found,
			   const struct report_rows *runs)
{
	double steps = full_steps(runs), sum = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct report_row *heat = found->racers[i].heat;
		const struct result *result = heat->info.result;
		double more = 0;

		if (found->cells[i].heat == RACE_RAN && result &&
		    result->iteration_ms && steps > result->steps)
			more = (steps - result->steps) *
			       result->iteration_ms->median / 1000;
		sum += (wall_s(heat) + more) * heat->info.devices;
	}
	return sum * found->rules.repeat / 3600;
}

static int race_find(const struct report_rows *runs,
		     const struct report_row *first, struct race_found *found,
		     struct error *err)
{
	const struct race_spec *spec = first->info.race;
	owned_free enum race_place *places =
		calloc(runs->count + 1, sizeof(*places));
	owned_free uint32_t *rounds = calloc(runs->count + 1, sizeof(*rounds));
	char group[GROUP_BYTES];

	group_of(first, found->group);
	found->rules = (struct race_rules){ .margin = spec->margin,
					    .tie = spec->tie,
					    .confidence = spec->confidence,
					    .max = spec->max,
					    .repeat = spec->repeat,
					    .budget_s = spec->budget_s };
	found->racers = calloc(runs->count + 1, sizeof(*found->racers));
	found->cells = calloc(runs->count + 1, sizeof(*found->cells));
	if (!places || !rounds || !found->racers || !found->cells)
		return error_nomem(err, "report");
	ROWS_EACH(row, runs)
	{
		if (!row_heat(row))
			continue;
		group_of(row, group);
		if (!strcmp(group, found->group) &&
		    racer_add(found, row, err) < 0)
			return -1;
	}
	ROWS_EACH(row, runs)
	{
		if (row->info.race && !row->info.race->heat &&
		    racer_add_run(found, row, err) < 0)
			return -1;
	}
	if (race_judge(&found->rules, found->cells, found->count,
		       &found->verdict, places, rounds, err) < 0)
		return -1;
	for (size_t i = 0; i < found->count; i++) {
		found->racers[i].place = places[i];
		found->racers[i].round = rounds[i];
		racer_sum_up(&found->racers[i], &found->cells[i]);
	}
	found->spent_h = race_spent(found->cells, found->count) / 3600;
	found->matrix_h = matrix_hours(found, runs);
	return 0;
}

/* Is the row the first heat of its race? */
static bool begins_race(const struct report_rows *runs,
			const struct report_row *row)
{
	char own[GROUP_BYTES], other[GROUP_BYTES];

	if (!row_heat(row))
		return false;
	group_of(row, own);
	for (const struct report_row *before = runs->items; before != row;
	     before++) {
		if (!row_heat(before))
			continue;
		group_of(before, other);
		if (!strcmp(own, other))
			return false;
	}
	return true;
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

static int say_verdict(const struct race_found *found, struct strings *lines,
		       struct error *err)
{
	const struct racer *winner = winner_of(found);
	char line[LINE_BYTES], verdict[RACE_TEXT_MAX];
	const char *unit =
		winner ? rate_units[row_rate(winner->heat).unit] : "";
	size_t used = 0, heats = 0;

	for (size_t i = 0; i < found->count; i++)
		heats += found->cells[i].heat != RACE_OPEN &&
			 found->cells[i].heat != RACE_ACTIVE;
	if (*found->group)
		line_add(line, &used, "%s: ", found->group);
	if (!race_is_over(found)) {
		line_add(line, &used, "the race is not over: %zu of %zu heats",
			 heats, found->count);
		return strings_add(lines, line, err);
	}
	race_say_verdict(&found->rules, &found->verdict,
			 winner ? winner->heat->info.job : 0, verdict,
			 sizeof(verdict));
	if (winner)
		line_add(line, &used, "%s, %.6g %s (%llu full run%s): ",
			 row_cell(winner->heat), winner->rate, unit,
			 (unsigned long long)winner->runs,
			 winner->runs == 1 ? "" : "s");
	line_add(line, &used, "%s", verdict);
	return strings_add(lines, line, err);
}

/* "label: CELL (-0.6 %), CELL ..." of all with that place. */
static int say_place(const struct race_found *found, enum race_place place,
		     const char *label, struct strings *lines,
		     struct error *err)
{
	const struct racer *winner = winner_of(found);
	char line[LINE_BYTES];
	size_t used = 0, count = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct racer *racer = &found->racers[i];

		if (racer->place != place)
			continue;
		line_add(line, &used, "%s%s", count++ ? ", " : label,
			 row_cell(racer->heat));
		if (winner && isfinite(racer->rate) && place != PLACE_FAILED)
			line_add(line, &used, " (%+.1f %%%s)",
				 (racer->rate / winner->rate - 1) * 100,
				 racer->runs ? "" : ", heat");
	}
	if (used >= LINE_BYTES)
		memcpy(line + LINE_BYTES - 4, "...", 4);
	return count ? strings_add(lines, line, err) : 0;
}

static int say_memory(const struct race_found *found, struct strings *lines,
		      struct error *err)
{
	char line[LINE_BYTES];
	size_t ran = 0, pruned = 0, failed = 0, used = 0;

	for (size_t i = 0; i < found->count; i++) {
		ran += found->cells[i].heat == RACE_OOM;
		pruned += found->cells[i].heat == RACE_PRUNED;
		failed += found->cells[i].heat == RACE_FAILED;
	}
	if (ran)
		line_add(line, &used,
			 "out of memory: %zu cell%s; %zu that need%s no less "
			 "never ran",
			 ran, ran == 1 ? "" : "s", pruned,
			 pruned == 1 ? "s" : "");
	else if (pruned)
		line_add(line, &used, "never ran: %zu cell%s", pruned,
			 pruned == 1 ? "" : "s");
	if (used && strings_add(lines, line, err) < 0)
		return -1;
	used = 0;
	if (failed)
		line_add(line, &used,
			 "not judged: %zu cell%s failed or has no rate", failed,
			 failed == 1 ? "" : "s");
	return used ? strings_add(lines, line, err) : 0;
}

static int say_cost(const struct race_found *found, struct strings *lines,
		    struct error *err)
{
	char line[LINE_BYTES];
	size_t used = 0;

	line_add(line, &used, "device hours: %.3g", found->spent_h);
	if (race_is_over(found) && found->matrix_h > 0)
		line_add(line, &used,
			 "; all cells with repeat: %u take about %.3g",
			 found->rules.repeat, found->matrix_h);
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
	ROWS_EACH(row, runs)
	{
		owned(race_found_clear) struct race_found found = { 0 };

		if (!begins_race(runs, row))
			continue;
		if (race_find(runs, row, &found, err) < 0 ||
		    say_verdict(&found, lines, err) < 0 ||
		    say_place(&found, PLACE_EQUAL, "may be as fast: ", lines,
			      err) < 0 ||
		    say_place(&found, PLACE_FINAL, "out in the final: ", lines,
			      err) < 0 ||
		    say_place(&found, PLACE_FAILED,
			      "failed in the final: ", lines, err) < 0 ||
		    say_place(&found, PLACE_HEAT, "out after the heat: ", lines,
			      err) < 0 ||
		    say_memory(&found, lines, err) < 0 ||
		    say_cost(&found, lines, err) < 0)
			return -1;
	}
	return 0;
}

/* JSON. */

static const char *place_name(const struct race_found *found, size_t i)
{
	static const char *const names[] = {
		[PLACE_NONE] = "none",   [PLACE_HEAT] = "heat",
		[PLACE_FINAL] = "final", [PLACE_FAILED] = "failed",
		[PLACE_EQUAL] = "equal", [PLACE_WINNER] = "winner",
	};

	if (found->cells[i].heat == RACE_OOM)
		return "oom";
	if (found->cells[i].heat == RACE_PRUNED)
		return "pruned";
	return names[found->racers[i].place];
}

static const char *end_name(const struct race_found *found)
{
	static const char *const names[] = {
		[RACE_WON] = "won",     [RACE_UNDECIDED] = "undecided",
		[RACE_SPENT] = "spent", [RACE_NOISY] = "noisy",
		[RACE_EMPTY] = "empty",
	};

	return race_is_over(found) ? names[found->verdict.end] : "running";
}

static cJSON *racer_json(const struct race_found *found, size_t i, bool *failed)
{
	const struct racer *racer = &found->racers[i];
	cJSON *to = cJSON_CreateObject();

	json_add_number(to, "job", (double)racer->heat->info.job, failed);
	json_add(to, "cell", cJSON_CreateString(row_cell(racer->heat)), failed);
	json_add(to, "place", cJSON_CreateString(place_name(found, i)), failed);
	json_add_number(to, "rate", racer->rate, failed);
	json_add(to, "unit",
		 cJSON_CreateString(rate_units[row_rate(racer->heat).unit]),
		 failed);
	json_add_number(to, "runs", (double)racer->runs, failed);
	json_add_number(to, "round", racer->round, failed);
	return to;
}

static cJSON *race_json(const struct race_found *found, bool *failed)
{
	const struct racer *winner = winner_of(found);
	cJSON *to = cJSON_CreateObject(), *cells = cJSON_CreateArray();

	json_add(to, "race", cJSON_CreateString(found->group), failed);
	json_add(to, "end", cJSON_CreateString(end_name(found)), failed);
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
	json_add_number(to, "device_hours", found->spent_h, failed);
	json_add_number(to, "matrix_device_hours", found->matrix_h, failed);
	for (size_t i = 0; found->racers && i < found->count; i++)
		json_add(cells, NULL, racer_json(found, i, failed), failed);
	json_add(to, "cells", cells, failed);
	return to;
}

cJSON *races_json(const struct report_rows *runs)
{
	cJSON *list = cJSON_CreateArray();
	bool failed = !list;

	ROWS_EACH(row, runs)
	{
		owned(race_found_clear) struct race_found found = { 0 };

		if (failed || !begins_race(runs, row))
			continue;
		failed = race_find(runs, row, &found, NULL) < 0;
		if (!failed)
			json_add(list, NULL, race_json(&found, &failed),
				 &failed);
	}
	if (!failed)
		return list;
	cJSON_Delete(list);
	return NULL;
}
