/* steps_internal.h - which step a match belongs to (step_number.c).
 *
 * The match says it itself, alone or with its epoch; or it follows from
 * samples, from a share of all epochs, from a bar, or by counting (extract.h).
 */
#ifndef CONTROLLER_RESULTS_STEPS_INTERNAL_H
#define CONTROLLER_RESULTS_STEPS_INTERNAL_H

#include "controller/results/steps.h"

/* 1: *step is it; 0: none, as long as no step came; -1: one that cannot be
 * told, so the match counts for none.
 */
int step_number(struct steps *steps, const struct caught *caught,
		uint64_t *step);

/* A bar was drawn: steps of shares that came before it may be others now. */
void step_numbers_bar(struct steps *steps);

#endif
