/* result.h - computes the result of a job from its records: figures, flags,
 * verdict.
 *
 * struct result (protocol/message/result.h) says what each figure is. Steady
 * state: the steps behind the warm-up that are not slow, as steady.h says, by
 * the step time, or where there is none by the program's own rate. Quartiles by
 * linear interpolation.
 */
#pragma once

#include "controller/results/statistics.h"
#include "protocol/base/owned.h"

/* Fill *to, which the caller clears. The usage and the warnings of the input
 * move there, also on failure. ENOMEM: *to is empty.
 */
int result_compute(struct result_input *input, struct result *to,
		   struct error *err);

/* Free what has not moved. */
void result_input_clear(struct result_input *input);
OWNED_VALUE(struct result_input, result_input_clear)

void result_clear(struct result *result);
OWNED_VALUE(struct result, result_clear)

/* Why nothing was read: no format matches the log, and what to do then. */
extern const char result_unread[];

/* False means failure class incomplete; text[0..size) gets the sentence. */
bool result_complete(const struct result *result, char *text, size_t size);
