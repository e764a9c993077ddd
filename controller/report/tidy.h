/* tidy.h - rows of a sweep as one flat table for programs.
 *
 * One row a cell and repeat, one column a thing; the same columns in every
 * row, null where a row has nothing. regatta-protocol(7) lists the columns with
 * their units. A column's name and meaning stay; new ones come in with a higher
 * TIDY_VERSION.
 */
#ifndef CONTROLLER_REPORT_TIDY_H
#define CONTROLLER_REPORT_TIDY_H

#include "controller/report/about.h"
#include "protocol/base/strings.h"

#include <cjson/cJSON.h>

#define TIDY_VERSION 2

/* The table of these rows (report.h): an array of objects, whose members stand
 * in the order of *titles, which is filled. Columns: the fixed ones; "cell.KEY"
 * for each key of the matrix that any row has; each metric that a table of
 * these rows shows, by its own name. The caller deletes it. NULL: ENOMEM.
 */
cJSON *tidy_rows(const struct report_about *about, const cJSON *rows,
		 struct strings *titles, struct error *err);

#endif
