/* compare.h - compares sweeps cell by cell, and losses with a baseline.
 *
 * Cells are the same if their words are.
 */
#pragma once

#include "controller/report/about.h"
#include "controller/report/row.h"
#include "protocol/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPARE_SWEEPS_MAX 16

struct compare_sweep {
	struct report_about about;
	const struct report_rows *rows;
};

/* A cell in one sweep. */
struct compare_side {
	uint32_t n;    /* completed repeats */
	double rate;   /* the mean of their rates; NAN: none */
	uint32_t unit; /* of them; a repeat with another unit does not count */
	double spread;
	double loss; /* the last one of the first repeat */
};

/* The losses of the first completed repeats, from from_step on. */
struct compare_loss {
	uint64_t steps;
	double mean_percent, largest_percent;
	uint64_t at_step;
};

/* A later sweep against the first. NULL, NAN, TRUTH_UNKNOWN: not known. */
struct compare_difference {
	struct compare_side *b;       /* NULL: the sweep lacks the cell */
	double ratio;                 /* rate of b over that of a; NAN: their
					 units differ */
	double ratio_low, ratio_high; /* its 95 % interval, if both sides have
					 two or more repeats */
	uint32_t
		significant; /* enum truth: the difference exceeds the spread */
	char *by;            /* "repeats": the source of the spread, "steps" */
	double resolution_percent; /* the smallest difference that so many
				      repeats can tell; NAN: not known */
	struct compare_loss *loss; /* NULL: no step is common */
};

struct compare_cell {
	struct compare_difference second; /* first: the schema has its fields */
	char *cell;
	struct compare_side *a;
	struct compare_difference *more; /* with three or more sweeps: for each
					    from the third on */
	size_t more_count;
};
extern const struct schema compare_cell_schema;

struct compare_cells {
	struct compare_cell *items;
	size_t count;
};
void compare_cells_clear(struct compare_cells *cells);
OWNED_VALUE(struct compare_cells, compare_cells_clear)

/* Compare the cells of 2 to COMPARE_SWEEPS_MAX sweeps: each cell of the first
 * sweep, in its order, then each cell that only later sweeps have. As JSON:
 *
 *	{"cell": "model=x", "a": side or null, "b": side or null,
 *	 "ratio": 1.23, "ratio_low": 1.19, "ratio_high": 1.27,
 *	 "significant": true, "by": "repeats",
 *	 "loss": {"steps", "mean_percent", "largest_percent", "at_step"},
 *	 "more": [{"b", "ratio" ...}]}
 *	side: {"n": 3, "rate": 2068.1, "unit": "token/p/s", "spread": 12.3,
 *	       "loss": 2.06}
 *
 * With at least two repeats on both sides (or on one side, if the other has no
 * result), spread is half the 95 % interval of their mean, as in a report, and
 * "significant" is Welch's test at 95 %. Otherwise spread is half the
 * interquartile range of the steps, as a rate, and "significant" is true if the
 * two ranges do not overlap. The caller clears *cells, also after a failure:
 * ENOMEM.
 */
int compare_rows(const struct report_rows *const *sweeps, size_t sweeps_count,
		 uint64_t from_step, struct compare_cells *cells,
		 struct error *err);

/* A sweep, from the second (1) on, against the first one. */
const struct compare_difference *compare_with(const struct compare_cell *cell,
					      size_t sweep);

/* compare_html.c: the comparison as one HTML page with charts of rates (with
 * spread) and of ratios to the first sweep (with intervals), and the facts of
 * each sweep.
 */
int compare_html(const struct compare_cells *cells,
		 const struct compare_sweep *sweeps, size_t sweeps_count,
		 struct buffer *out, struct error *err);

/* The unit of all rates; RATE_NONE: there are none, or they differ. */
enum rate_unit compare_unit(const struct compare_cells *cells);

/* Is any cell of the first sweep in another one? */
bool compare_shared(const struct compare_cells *cells);

/* Fill `alignment` of each completed row whose sweep names a baseline
 * (setup.about.align, for all cells or for cells with certain values).
 *
 * job_series: the curves of the job that the sweep names, or NULL if it names
 * values of a cell. The verdict is "False" if no step is common. ENOMEM.
 */
int align_rows(struct report_rows *rows, const cJSON *job_series,
	       struct error *err);
