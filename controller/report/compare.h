/* compare.h - compares sweeps cell by cell, and losses with a baseline.
 *
 * Rows: as in report.h. Cells are the same if their words are.
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

/* Compare the cells of 2 to COMPARE_SWEEPS_MAX sweeps. The result is an array
 * with an object for each cell of the first sweep, in its order, then for each
 * cell that only later sweeps have. The side of a sweep without the cell is
 * null.
 *
 *	{"cell": "model=x", "a": side or null, "b": side or null,
 *	 "ratio": 1.23,		rate of b over rate of a, or null
 *	 "ratio_low": 1.19,	its 95 % interval, if both sides have two or
 *	 "ratio_high": 1.27,	more repeats; or null
 *	 "significant": true,	the difference exceeds the spread; or null
 *	 "by": "repeats",	the source of the spread, or "steps", or null
 *	 "loss": {"steps", "mean_percent", "largest_percent", "at_step"},
 *						or null
 *	 "more": [...]}		with three or more sweeps: for each from the
 *				third on, its "b", "ratio" ... against a
 *	side: {"n": 3, "rate": 2068.1, "spread": 12.3, "loss": 2.06}
 *
 * n counts completed repeats, 0: none; rate is the mean of their token/p/s.
 * With at least two repeats on both sides (or on one side, if the other has no
 * result), spread is their standard deviation and "significant" is Welch's test
 * at 95 %. Otherwise spread is half the interquartile range of the steps, as a
 * rate, and "significant" is true if the two ranges do not overlap. loss
 * compares the first completed repeats from from_step on, if the rows have
 * their series. The caller deletes the result; NULL: ENOMEM, EINVAL.
 */
cJSON *compare_rows(const cJSON *const *sweeps, size_t sweeps_count,
		    uint64_t from_step, struct error *err);

/* compare_html.c: the comparison as one HTML page with charts of rates (with
 * spread) and of ratios to the first sweep (with intervals), and the facts of
 * each sweep.
 */
int compare_html(const cJSON *cells, const struct compare_sweep *sweeps,
		 size_t sweeps_count, struct buffer *out, struct error *err);

/* Is any cell of the first sweep in another one? */
bool compare_shared(const cJSON *cells);

/* Add to each completed row whose sweep names a baseline (setup.about.align,
 * for all cells or for cells with certain values):
 *
 *	"alignment": {"verdict": "True", "False" or "baseline", "mean_percent",
 *	  "largest_percent", "at_step", "steps", "tolerance_percent",
 *	  "baseline": "job 17"}
 *
 * job_series: the curves of the job that the sweep names, or NULL if it names
 * values of a cell. The verdict is "False" if no step is common. ENOMEM.
 */
int align_rows(cJSON *rows, const cJSON *job_series, struct error *err);

#endif
