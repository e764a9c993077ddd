/* steps_internal.h - finds the step that a match belongs to (step_number.c).
 *
 * The match has the number itself, alone or with its epoch; or it follows from
 * samples, from a share of all epochs, from a bar, or by counting (extract.h).
 */
#ifndef CONTROLLER_RESULTS_STEPS_INTERNAL_H
#define CONTROLLER_RESULTS_STEPS_INTERNAL_H

#include "controller/results/steps.h"

/* 1: *step is the number; 0: there is no step yet; -1: the step is not known,
 * and the match belongs to none.
 */
int step_number(struct steps *steps, const struct captured *captured,
		uint64_t *step);

/* A bar was drawn: number the steps of earlier shares again, if necessary. */
void step_numbers_bar(struct steps *steps);

#endif
