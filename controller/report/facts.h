/* facts.h - the head of a report: what was run, by whom, on what.
 */
#pragma once

#include "controller/report/about.h"
#include "controller/report/row.h"
#include "controller/report/writer.h"

/* A name, in the language of the writer, and what is known. */
typedef void put_fact_fn(struct writer *to, const char *name, const char *text);

/* Put what is known of sweep, time, size, repeats, subjects, devices and
 * software. shown: the rows whose repeats count (cells.h).
 */
void facts_each(struct writer *to, const struct report_about *about,
		const struct report_rows *rows, const struct report_rows *shown,
		put_fact_fn *put);
