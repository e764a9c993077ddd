/* race_words.h - races in the specs of jobs, and in sentences.
 */
#pragma once

#include "controller/race/race_rules.h"
#include "protocol/message/rate.h"
#include "protocol/message/spec.h"

#define RACE_TEXT_MAX 400

/* What the memory of a cell follows from; `rest` is NULL. */
struct race_needs race_needs_of(const struct race_spec *race,
				const struct measure_spec *measure,
				const struct layout_spec *layout);

/* The other values of a cell, of its matrix values (struct job_spec), as one
 * text; NULL: ENOMEM. Those that follow from the others are left out: the
 * degree of data parallelism, accumulation and the global batch.
 */
char *race_rest(const cJSON *values);

/* "vendor=nvidia model=x": the values of the keys of `per`, as far as the
 * matrix has them; of a race of its own, the label of the cell without its
 * micro batch. Cells with one group race against each other.
 */
void race_group(const struct race_spec *race, const cJSON *values,
		const char *label, char *text, size_t size);

/* What is asked for, of a cell that races. */
struct race_rules race_rules_of(const struct race_spec *race);

/* What a race compares of a result, larger ones win: its figure, or with
 * `least` 1 / figure; NAN: it has none above 0, or is NULL.
 */
double race_score(const struct race_spec *race, const struct result *result);

/* The figure of a score; its unit, of a result whose rate has this one. */
double race_shown(const struct race_spec *race, double score);
const char *race_unit(const struct race_spec *race, uint32_t rate_unit);

/* The standard error of the logarithm of a result's rate, from the spread of
 * its steps; 0: not known, or NULL. That of a median is 1.2533 times that of a
 * mean.
 */
double race_rate_error(const struct result *result);

/* "not run: job 12 ran out of memory, and this cell needs no less: micro 16 for
 * 8". job: of the cell `because`.
 */
void race_say_pruned(uint64_t job, const struct race_cell *because,
		     const struct race_needs *needs, char *text, size_t size);

/* "won by the cell of job 3: no cell is more than 1 % faster (confidence 95 %,
 * 4 cells in the final, 3 rounds)". micro: the winner's, where its ladder is a
 * race of its own, else 0.
 */
void race_say_verdict(const struct race_rules *rules,
		      const struct race_judgement *verdict, uint64_t winner,
		      uint32_t micro, char *text, size_t size);
