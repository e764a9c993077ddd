/* open_figures.h - asks the numbers of a log what its names leave open.
 *
 * A log that is read by meaning (meaning/) may print "time: 0.41" or "speed:
 * 3200". In which unit, of one step or of all since the line before, is asked
 * of the clock of its lines, of other rates, of counters and of what a time of
 * a step can be. Where they do not tell, the figure stays absent, and a remark
 * says why.
 */
#pragma once

#include "controller/results/meaning/meaning.h"
#include "controller/results/remarks.h"
#include "controller/results/steps.h"

/* Give the records the times and rates that the numbers tell, and say how the
 * log was read. The remarks are appended to the list, which the caller clears.
 * ENOMEM.
 */
int open_figures(const struct meaning_found *found, struct steps *steps,
		 struct remark **remarks, size_t *count, struct error *err);
