/* inputs.h - what a result was computed from beside its log, to JSON and back.
 *
 * A result can so be computed again from its log when nothing else is left of
 * the job. The object has a number for each of struct result_input, those of
 * its flops too, "pretended", and "warnings" where there are any; 0 is unknown.
 */
#ifndef CONTROLLER_RESULTS_INPUTS_H
#define CONTROLLER_RESULTS_INPUTS_H

#include "controller/results/result.h"

/* The caller deletes it; NULL: out of memory. */
cJSON *inputs_json(const struct result_input *input);

/* What the object has goes into *input, which borrows its warnings; the rest of
 * it, and what the object has in another form or beyond the range, stays.
 */
void inputs_read(const cJSON *object, struct result_input *input);

#endif
