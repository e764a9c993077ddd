/* cells.h - makes one row of all repeats of a cell.
 *
 * A cell's row is that of its first completed repeat, in which each measured
 * number is the mean over the completed repeats (by the schema of a result: a
 * new member needs nothing here), and whose repeats_info says how well the rate
 * is known, how many runs failed, and how the cell compares with the best one
 * or with a baseline.
 */
#pragma once

#include "controller/report/about.h"
#include "controller/report/means.h"
#include "controller/report/row.h"

/* Make the rows of cells, which the caller clears: also after a failure,
 * ENOMEM. The runs of a cell are adjacent (rows_gather()).
 *
 * Each cell with a rate is compared with the baseline of *about: another
 * sweep's cell with the same words, or a cell of these rows; without one, with
 * the best cell of the same unit.
 */
int cells_make(const struct report_rows *runs, const struct report_about *about,
	       struct report_rows *cells, struct error *err);

/* The rows that a table or chart shows: the cells, if any has repeats or they
 * have a baseline, and single runs are not asked for; else the runs.
 */
const struct report_rows *cells_shown(const struct report_rows *runs,
				      const struct report_rows *cells,
				      const struct report_about *about);

/* "±: half of the 95 % interval of the mean; relative: to the best cell."; "":
 * nothing is to be explained. Returns text.
 */
#define CELLS_LEGEND 240
const char *cells_legend(const struct report_about *about,
			 const struct report_rows *shown,
			 enum language language, char text[CELLS_LEGEND]);

/* The cell's row of that name, or the first one that has all these words; NULL:
 * none.
 */
