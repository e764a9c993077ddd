/* race_words.c - races in the specs of jobs, and in sentences.
 */
#include "controller/race/race_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct race_needs race_needs_of(const struct measure_spec *measure,
				const struct layout_spec *layout)
{
	const char *recompute = measure->recompute;
	struct race_needs needs = { .micro = measure->micro_batch,
				    .sequence = measure->sequence,
				    .tp = layout->tp,
				    .pp = layout->pp,
				    .sp = layout->sp,
				    .accumulate = measure->accumulate };

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

void race_group(const cJSON *values, const struct strings *per, char *text,
		size_t size)
{
	size_t used = 0;

	*text = 0;
	for (size_t i = 0; i < per->count && used < size; i++) {
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

void race_say_pruned(uint64_t job, const struct race_needs *because,
		     const struct race_needs *needs, char *text, size_t size)
{
	static const char *const recomputes[] = { "none", "selective", "full" };
	const struct {
		const char *name;
		uint32_t then, now;
	} numbers[] = { { "micro", because->micro, needs->micro },
			{ "sequence", because->sequence, needs->sequence },
			{ "TP", because->tp, needs->tp },
			{ "PP", because->pp, needs->pp },
			{ "SP", because->sp, needs->sp } };
	size_t used = (size_t)snprintf(text, size,
				       "not run: job %" PRIu64
				       " ran out of memory, and this cell "
				       "needs no less",
				       job);
	const char *separator = ": ";

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].then == numbers[i].now || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used,
					 "%s%s %u for %u", separator,
					 numbers[i].name, numbers[i].now,
					 numbers[i].then);
		separator = ", ";
	}
	if (because->recompute != needs->recompute && used < size)
		snprintf(text + used, size - used, "%srecompute %s for %s",
			 separator, recomputes[needs->recompute],
			 recomputes[because->recompute]);
}

void race_say_verdict(const struct race_rules *rules,
		      const struct race_judgement *verdict, uint64_t winner,
		      char *text, size_t size)
{
	char knowledge[200];

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
