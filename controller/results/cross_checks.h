/* cross_checks.h - figures that two sources give: do they agree?
 *
 * A rate that the program prints against the one that follows from its step
 * time, that time against when the lines came, a counter against the batch, the
 * printed TFLOPS against ours. What differs by more than 3 % is told, with both
 * numbers.
 */
#ifndef CONTROLLER_RESULTS_CROSS_CHECKS_H
#define CONTROLLER_RESULTS_CROSS_CHECKS_H

#include "controller/results/statistics.h"

#define CROSS_CHECK_TEXT 240 /* bytes of a sentence */

typedef void cross_check_fn(const char *sentence, void *arg);

/* Call fn for each pair of figures that do not agree. */
void cross_checks(const struct result_input *input,
		  const struct statistics *figures, cross_check_fn *fn,
		  void *arg);

#endif
