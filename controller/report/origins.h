/* origins.h - writes the provenance of all rows: each value once.
 */
#pragma once

#include "controller/report/row.h"
#include "controller/report/writer.h"

/* Append a table of every member of the provenance of completed rows, by its
 * path ("hosts.driver"). What all rows share is there once; else each value
 * with the jobs that have it. Nothing, if no row has any.
 */
void origins_html(struct writer *to, const struct report_rows *rows,
		  const char *title);
