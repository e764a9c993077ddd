/* step_rate.h - the rate of one step of a log.
 */
#ifndef CONTROLLER_RESULTS_STEP_RATE_H
#define CONTROLLER_RESULTS_STEP_RATE_H

#include "controller/results/rules/record.h"
#include "protocol/message/rate.h"

/* By the step time and the batch, else as the program printed it, in the order
 * of a result's rate. devices: of the whole job.
 */
struct rate step_rate(const struct record *record,
		      const struct measure_spec *measure, uint64_t devices);

#endif
