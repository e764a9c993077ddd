/* compare.h - two sweeps beside each other, cell by cell; losses against a
 * baseline.
 *
 * Rows are as report.h says; cells are the same when their words are.
 */
#ifndef CONTROLLER_REPORT_COMPARE_H
#define CONTROLLER_REPORT_COMPARE_H

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* An array with an object for each cell of a, in its order, then for each that
 * only b has:
 *
 *	{"cell": "model=x", "a": side or null, "b": side or null,
 *	 "ratio": 1.23,		rate of b over rate of a, or null
 *	 "apart": true,		the difference exceeds the spread; or null
 *	 "by": "repeats",	what the spread is from, or "steps", or null
 *	 "loss": {"steps", "mean_percent", "largest_percent", "at_step"}}
 *						or null
 *	side: {"n": 3, "rate": 2068.1, "spread": 12.3, "loss": 2.06}
 *
 * n counts completed repeats, 0: none; rate is the mean of their token/p/s.
 * With at least two repeats on both sides, spread is their standard deviation
 * and "apart" Welch's test at 95 %. Otherwise spread is half the quartile
 * distance of the steps, as a rate, and "apart" says that the two do not
 * overlap. loss compares the first completed repeats from from_step on, where
 * the rows have their series. The caller deletes it; NULL: ENOMEM, EINVAL.
 */
cJSON *compare_rows(const cJSON *a, const cJSON *b, uint64_t from_step,
		    struct error *err);

/* Give each completed row whose sweep names a baseline (setup.about.align), for
 * all its cells or for those that have certain values, its
 *
 *	"alignment": {"verdict": "True", "False" or "baseline", "mean_percent",
 *	  "largest_percent", "at_step", "steps", "tolerance_percent",
 *	  "baseline": "job 17"}
 *
 * job_series: the curves of the job that the sweep names, or NULL when it
 * names values of a cell. False without a step in common. ENOMEM.
 */
int align_rows(cJSON *rows, const cJSON *job_series, struct error *err);

#endif
