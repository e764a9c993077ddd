/* merge_evaluations.h - merges the rows of evaluations into the rows of the
 * evaluated cells.
 *
 * A completed row is an evaluation if it has metrics but no rate, and follows
 * another cell of the sweep. It belongs to the repeat with the same number,
 * else to the last repeat of that cell. Published pages show both in one line.
 */
#ifndef CONTROLLER_REPORT_MERGE_EVALUATIONS_H
#define CONTROLLER_REPORT_MERGE_EVALUATIONS_H

#include "controller/report/row.h"

/* Fill *merged, which the caller clears, with a copy of the rows without the
 * evaluations, whose metrics (and table columns) are added to the rows that
 * they evaluate. ENOMEM.
 */
int rows_merge_evaluations(const struct report_rows *rows,
			   struct report_rows *merged, struct error *err);

#endif
