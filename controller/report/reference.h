/* reference.h - writes a sweep's rows as a page of published benchmark results.
 *
 * Environment, parallelism, batch definitions with this run's values, general
 * indicators and the performance table, as FlagPerf's result pages state them,
 * in English or Chinese. One line per cell: its completed repeat with the
 * median rate. "/" means not run or not known. An evaluation is in the line of
 * its cell (merge_evaluations.h).
 *
 * setup.about has facts that only the author of the sweep knows:
 *	task, dataset	for the general indicators
 *	framework	name and version of the training framework
 *	optimizations	such as flash attention
 *	fix_hp		changed hyperparameters; default: the values in
 *			which the row differs from the first
 *	columns		of the performance table, names separated by blanks;
 *			a name may be that of a metric
 * values.config: the name of a configuration file, a variable of the sweep.
 * provenance.environment: the facts of the first node, and result.usage.
 */
#pragma once

#include "controller/report/about.h"
#include "controller/report/row.h"
#include "controller/report/translations.h"
#include "controller/report/writer.h"

/* Append the page as Markdown. about: NULL: nothing is known. Errors as in
 * report.h.
 */
int report_reference(const struct report_about *about,
		     const struct report_rows *rows, enum language language,
		     struct buffer *out, struct error *err);

/* The same as one self-contained HTML page. */
int report_reference_html(const struct report_about *about,
			  const struct report_rows *rows,
			  enum language language, struct buffer *out,
			  struct error *err);
