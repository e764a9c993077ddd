/* race_words.c - races in the specs of jobs, and in sentences.
 */
#include "controller/race/race_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct race_needs race_needs_of(const struct race_spec *race,
				const struct measure_spec *measure,
				const struct layout_spec *layout)
{
	const char *recompute = measure->recompute;
	struct race_needs needs = { .micro = measure->micro_batch,
				    .sequence = measure->sequence,
				    .tp = layout->tp,
				    .pp = layout->pp,
				    .sp = layout->sp,
				    .accumulate = measure->accumulate,
				    .fit = race->fit };

	if (recompute && !strcmp(recompute, "selective"))
		needs.recompute = 1;
	else if (recompute && !strcmp(recompute, "full"))
		needs.recompute = 2;
	return needs;
}

char *race_rest(const cJSON *values)
{
	static const struct {
		const char *section, *key;
	} left_out[] = { { "batch", "micro" },      { "batch", "sequence" },
			 { "parallel", "tp" },      { "parallel", "pp" },
			 { "parallel", "sp" },      { "parallel", "dp" },
			 { "batch", "accumulate" }, { "batch", "global" },
			 { NULL, "recompute" } };
	cJSON *copy =
		values ? cJSON_Duplicate(values, true) : cJSON_CreateObject();
	char *text;

	for (size_t i = 0; copy && i < sizeof(left_out) / sizeof(left_out[0]);
	     i++)
		cJSON_DeleteItemFromObjectCaseSensitive(
			left_out[i].section ? cJSON_GetObjectItemCaseSensitive(
						      copy, left_out[i].section)
					    : copy,
			left_out[i].key);
	text = copy ? cJSON_PrintUnformatted(copy) : NULL;
	cJSON_Delete(copy);
	return text;
}

static const cJSON *value_at_path(const cJSON *values, const char *path)
{
	const char *dot = strchr(path, '.');
	char top[64];

	if (!dot || dot - path >= (ptrdiff_t)sizeof(top))
		return cJSON_GetObjectItemCaseSensitive(values, path);
	snprintf(top, sizeof(top), "%.*s", (int)(dot - path), path);
	return cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(values, top), dot + 1);
}

/* "tp=2 x=1" of "tp=2 batch.micro=4 x=1". */
static void label_without_micro(const char *label, char *text, size_t size)
{
	static const char micro[] = "batch.micro=";
	const char *at = label;

	while (*at && (strncmp(at, micro, sizeof(micro) - 1) != 0 ||
		       (at > label && at[-1] != ' ')))
		at++;
	snprintf(text, size, "%.*s%s", (int)(at - label), label,
		 at + strcspn(at, " "));
	if (at > label && !strchr(at, ' ') && *at)
		text[strlen(text) - 1] = 0;
	if (*text == ' ')
		memmove(text, text + 1, strlen(text));
}

void race_group(const struct race_spec *race, const cJSON *values,
		const char *label, char *text, size_t size)
{
	const struct strings *per = &race->per;
	size_t used = 0;

	*text = 0;
	if (race->own)
		label_without_micro(label, text, size);
	for (size_t i = 0; !race->own && i < per->count && used < size; i++) {
		const cJSON *value = value_at_path(values, per->items[i]);
		char *printed = value ? cJSON_PrintUnformatted(value) : NULL;

		if (!printed)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s=%s",
					 used ? " " : "", per->items[i],
					 cJSON_IsString(value)
						 ? value->valuestring
						 : printed);
		cJSON_free(printed);
	}
}

struct race_rules race_rules_of(const struct race_spec *race)
{
	return (struct race_rules){
		.margin = race->margin,
		.tie = race->tie,
		.confidence = race->confidence,
		.max = race->max,
		.repeat = race->repeat,
		.budget_s = race->budget_s,
		.width = race->until.width,
		.width_confidence = race->until.confidence,
		.width_max = race->until.max,
	};
}

/* By race_figures. */
static double race_figure(uint32_t figure, const struct result *result)
{
	const struct step_spread *steps = result->iteration_ms;
	const double figures[] = {
		result_rate(result).value,
		result->mfu,
		result->hfu,
		steps ? steps->median : (double)NAN,
		result->memory_mib,
		result->joules_per_token,
		result->loss ? result->loss->last : (double)NAN,
	};

	return figures[figure];
}

double race_score(const struct race_spec *race, const struct result *result)
{
	double figure =
		result ? race_figure(race->figure, result) : (double)NAN;

	return figure > 0 ? race_shown(race, figure) : (double)NAN;
}

double race_shown(const struct race_spec *race, double score)
{
	return race->least ? 1 / score : score;
}

const char *race_unit(const struct race_spec *race, uint32_t rate_unit)
{
	return race->figure ? race_figures[race->figure]
			    : rate_units[rate_unit];
}

double race_rate_error(const struct result *result)
{
	const struct step_spread *steps = result ? result->iteration_ms : NULL;
	double deviation;

	if (!steps || !(steps->median > 0) || !steps->n)
		return 0;
	/* The middle half of a normal distribution is 1.349 deviations wide. */
	deviation = (steps->q3 - steps->q1) / 1.349;
	deviation = 1.2533 * deviation / steps->median / sqrt((double)steps->n);
	return isfinite(deviation) ? deviation : 0;
}

/* "micro 16 for 8, TP 1 for 2": what differs. */
static void say_differences(const struct race_needs *then,
			    const struct race_needs *now, char *text,
			    size_t size)
{
	static const char *const recomputes[] = { "none", "selective", "full" };
	const struct {
		const char *name;
		uint32_t then, now;
	} numbers[] = { { "micro", then->micro, now->micro },
			{ "sequence", then->sequence, now->sequence },
			{ "TP", then->tp, now->tp },
			{ "PP", then->pp, now->pp },
			{ "SP", then->sp, now->sp } };
	const char *separator = "";
	size_t used = 0;

	*text = 0;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].then == numbers[i].now || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used,
					 "%s%s %u for %u", separator,
					 numbers[i].name, numbers[i].now,
					 numbers[i].then);
		separator = ", ";
	}
	if (then->recompute != now->recompute && used < size)
		snprintf(text + used, size - used, "%srecompute %s for %s",
			 separator, recomputes[now->recompute],
			 recomputes[then->recompute]);
}

void race_say_pruned(uint64_t job, const struct race_cell *because,
		     const struct race_needs *needs, char *text, size_t size)
{
	char differences[RACE_TEXT_MAX / 2];
	const char *why =
		because->heat == RACE_OOM
			? "ran out of memory, and this cell needs no less"
		: because->needs.micro > needs->micro
			? "runs with a larger micro batch"
			: "failed with a smaller micro batch";

	say_differences(&because->needs, needs, differences,
			sizeof(differences));
	snprintf(text, size, "not run: job %" PRIu64 " %s: %s", job, why,
		 differences);
}

void race_say_verdict(const struct race_rules *rules,
		      const struct race_judgement *verdict, uint64_t winner,
		      uint32_t micro, char *text, size_t size)
{
	char knowledge[200];

	if (micro && verdict->end != RACE_EMPTY) {
		snprintf(text, size,
			 "micro batch %u is the largest that runs, of those "
			 "that were tried (job %" PRIu64 ")%s",
			 micro, winner,
			 verdict->end == RACE_SPENT ? "; the budget is spent"
						    : "");
		return;
	}

	snprintf(knowledge, sizeof(knowledge),
		 "no cell is more than %.2g %% faster (confidence %.4g %%, %zu "
		 "%s in the final, %u %s)",
		 verdict->bound * 100, rules->confidence * 100,
		 verdict->finalists, verdict->finalists == 1 ? "cell" : "cells",
		 verdict->round, verdict->round == 1 ? "round" : "rounds");
	switch (verdict->end) {
	case RACE_WON:
		snprintf(text, size, "won by the cell of job %" PRIu64 ": %s",
			 winner, knowledge);
		return;
	case RACE_UNDECIDED:
		snprintf(text, size,
			 "not decided within %.2g %% after the most runs that "
			 "are allowed; the best is the cell of job %" PRIu64
			 ": %s",
			 rules->tie * 100, winner, knowledge);
		return;
	case RACE_SPENT:
		snprintf(text, size,
			 "the budget is spent; the best is the cell of job "
			 "%" PRIu64 "%s%s",
			 winner, isfinite(verdict->bound) ? ": " : "",
			 isfinite(verdict->bound) ? knowledge : "");
		return;
	case RACE_NOISY:
		snprintf(text, size,
			 "these nodes are too noisy for a race: equal runs "
			 "differ by %.2g %%, so heats decide nothing within "
			 "%.2g %%; the best heat is job %" PRIu64,
			 verdict->spread * 100, verdict->width * 100, winner);
		return;
	case RACE_EMPTY:
		snprintf(text, size, "no cell has a rate");
		return;
	}
}
