/* compare.h - sweeps beside each other, cell by cell; losses against a
 * baseline.
 *
 * Rows are as report.h says; cells are the same when their words are.
 */
#ifndef CONTROLLER_REPORT_COMPARE_H
#define CONTROLLER_REPORT_COMPARE_H

#include "controller/report/about.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPARE_SWEEPS_MAX 16

struct compare_sweep {
	struct report_about about;
	const cJSON *rows;
};

/* The cells of 2 to COMPARE_SWEEPS_MAX sweeps: an array with an object for each
 * cell of the first, in its order, then for each that only later ones have. A
 * sweep that lacks the cell has null for its side.
 *
 *	{"cell": "model=x", "a": side or null, "b": side or null,
 *	 "ratio": 1.23,		rate of b over rate of a, or null
 *	 "ratio_low": 1.19,	its interval at 95 %, of two or more repeats
 *	 "ratio_high": 1.27,	on both sides; or null
 *	 "apart": true,		the difference exceeds the spread; or null
 *	 "by": "repeats",	what the spread is from, or "steps", or null
 *	 "loss": {"steps", "mean_percent", "largest_percent", "at_step"},
 *						or null
 *	 "more": [...]}		of three and more sweeps: for each from the
 *				third on its "b", "ratio" ... against a
 *	side: {"n": 3, "rate": 2068.1, "spread": 12.3, "loss": 2.06}
 *
 * n counts completed repeats, 0: none; rate is the mean of their token/p/s.
 * With at least two repeats on both sides, spread is their standard deviation
 * and "apart" Welch's test at 95 %; so it is with two of one side alone, where
 * the other has no result. Otherwise spread is half the quartile
 * distance of the steps, as a rate, and "apart" says that the two do not
 * overlap. loss compares the first completed repeats from from_step on, where
 * the rows have their series. The caller deletes it; NULL: ENOMEM, EINVAL.
 */
cJSON *compare_rows(const cJSON *const *sweeps, size_t sweeps_count,
		    uint64_t from_step, struct error *err);

/* compare_html.c: the same as one page with charts: rates with their spread,
 * and ratios to the first sweep with their intervals. Of each sweep what was
 * run, when and by whom.
 */
int compare_html(const cJSON *cells, const struct compare_sweep *sweeps,
		 size_t sweeps_count, struct buffer *out, struct error *err);

/* Is any cell of the first sweep in another one? */
bool compare_shared(const cJSON *cells);

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
