/* cross_checks.h - compares figures that have two sources.
 *
 * It compares the rate that the program prints with the rate from its step
 * time, the printed step time with the arrival of the lines, a token counter
 * with the batch, and the printed TFLOPS with the computed ones. A difference
 * of more than 3 % is reported with both numbers.
 */
#ifndef CONTROLLER_RESULTS_CROSS_CHECKS_H
#define CONTROLLER_RESULTS_CROSS_CHECKS_H

#include "controller/results/statistics.h"

/* Flag each pair of figures that do not agree, and step times that are spread
 * too widely. ENOMEM.
 */
int cross_checks(const struct result_input *input,
		 const struct statistics *figures, struct result *to,
		 struct error *err);

#endif
