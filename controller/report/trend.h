/* trend.h - follows the rate of cells over many sweeps and finds regressions.
 *
 * Cells are the same if their words, vendor, chip, framework, precision and
 * unit of the rate are.
 */
#pragma once

#include "controller/report/about.h"
#include "controller/report/row.h"

#include <stddef.h>

/* A regression is a rate that is lower than the mean of the earlier sweeps by
 * more than this, and by more than twice their standard deviation.
 */
#define TREND_FALL_PERCENT 5

struct trend_sweep {
	struct report_about about;
	struct report_rows rows;
};

/* The mean rate of a cell in a sweep. */
struct trend_point {
	uint64_t sweep;
	char *name;
	char *submitted_utc;   /* "2026-05-04T03:02:01Z" */
	uint32_t n;            /* completed repeats */
	double rate;           /* the mean of their rates */
	double change_percent; /* against the mean of the earlier points; NAN of
				  the first */
	bool regression;
};

struct trend_cell {
	char *cell;
	char *vendor, *chip, *framework, *precision;
	uint32_t unit;              /* of its rates (protocol/message/rate.h) */
	struct trend_point *points; /* a sweep without a result has none */
	size_t points_count;
};
extern const struct schema trend_cell_schema;

struct trend_cells {
	struct trend_cell *items;
	size_t count;
};
void trend_cells_clear(struct trend_cells *cells);
OWNED_VALUE(struct trend_cells, trend_cells_clear)

/* Find the cells whose model is `what`, or whose words include all words of
 * `what`, in the order of their first sweeps. Sweeps must be sorted by number.
 * The caller clears *cells, also after a failure: ENOMEM.
 */
int trend_cells_find(const struct trend_sweep *sweeps, size_t count,
		     const char *what, struct trend_cells *cells,
		     struct error *err);

/* Copy the rows of these cells: those of the last sweep that has any, whose
 * name *name borrows, and those of all sweeps before it, each cell's next to
 * each other. The caller clears both, also after a failure: ENOMEM.
 */
int trend_rows(const struct trend_sweep *sweeps, size_t count, const char *what,
	       struct report_rows *last, struct report_rows *before,
	       const char **name, struct error *err);
