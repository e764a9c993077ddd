/* tidy.h - converts the rows of a sweep to one flat table for programs.
 *
 * One row per cell and repeat, one column per value. All rows have the same
 * columns; null: no value. regatta-protocol(7) lists the columns with their
 * units. The name and meaning of a column never change; new columns increase
 * TIDY_VERSION.
 */
#ifndef CONTROLLER_REPORT_TIDY_H
#define CONTROLLER_REPORT_TIDY_H

#include "controller/report/about.h"
#include "protocol/base/strings.h"

#include <cjson/cJSON.h>

#define TIDY_VERSION 2

/* The table of these rows (report.h): an array of objects, whose members are in
 * the order of *titles, which is filled. Columns: the fixed ones; "cell.KEY"
 * for each key of the matrix that any row has; each metric that a table of
 * these rows shows, by its own name. The caller deletes it. NULL: ENOMEM.
 */
cJSON *tidy_rows(const struct report_about *about, const cJSON *rows,
		 struct strings *titles, struct error *err);

#endif
