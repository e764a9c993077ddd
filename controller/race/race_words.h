/* race_words.h - races in the specs of jobs, and in sentences.
 */
#ifndef CONTROLLER_RACE_RACE_WORDS_H
#define CONTROLLER_RACE_RACE_WORDS_H

#include "controller/race/race_rules.h"
#include "protocol/message/result.h"
#include "protocol/message/spec.h"

#define RACE_TEXT_MAX 400

/* What the memory of a cell follows from; `rest` is NULL. */
struct race_needs race_needs_of(const struct measure_spec *measure,
				const struct layout_spec *layout);

/* The other values of a cell, of its matrix values (struct job_spec), as one
 * text; NULL: ENOMEM. Those that follow from the others are left out: the
 * degree of data parallelism, accumulation and the global batch.
 */
char *race_rest(const cJSON *values);

/* "vendor=nvidia model=x": the values of these keys, as far as the matrix has
 * them. Cells with one group race against each other.
 */
void race_group(const cJSON *values, const struct strings *per, char *text,
		size_t size);

/* The standard error of the logarithm of a result's rate, from the spread of
 * its steps; 0: not known, or NULL. That of a median is 1.2533 times that of a
 * mean.
 */
double race_rate_error(const struct result *result);

/* "not run: job 12 ran out of memory, and this cell needs more: micro 16 for 8"
 */
void race_say_pruned(uint64_t job, const struct race_needs *because,
		     const struct race_needs *needs, char *text, size_t size);

/* "won by the cell of job 3: no cell is more than 1 % faster (confidence 95 %,
 * 4 cells in the final, 3 rounds)"
 */
void race_say_verdict(const struct race_rules *rules,
		      const struct race_judgement *verdict, uint64_t winner,
		      char *text, size_t size);

#endif
