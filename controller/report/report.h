/* report.h - writes the rows of a sweep as Markdown, CSV, JSON or HTML.
 *
 * A row is one job (cell and repeat; row.h), in the order of the table; as
 * JSON:
 *
 *	{"job": 17,
 *	 "repeat": 0,
 *	 "cell": "model=gpt-nano nodes=1",
 *	 "values": {...},		the matrix values
 *	 "follows": "step=train",	labels of the cells that it runs after,
 *					or null
 *	 "setup": {...},		measure_spec (protocol/message/spec.h),
 *					"vendor" and "layout" (layout_spec)
 *	 "nodes": 2,
 *	 "devices": 2,			over all nodes
 *	 "state": "completed",		enum job_state by name
 *	 "failure": "exit",		enum failure by name, or null
 *	 "text": "rank 1 exited 1",	the sentence of the failure, or null
 *	 "result": {...},		protocol/message/result.h, or null
 *	 "provenance": {...},		the same
 *	 "reason": {...},		the same
 *	 "alignment": {...},		if the sweep names a baseline
 *	 "repeats": {...}, "anomalies": [...]}	anomalies.h, if there are any
 *
 * A page shows a failed job's "tail", and "series" (chart.h has the form of a
 * curve; x is the step, or seconds from the start of the job):
 *
 *	 "series": {"loss": curve, "tokens_per_second": curve,
 *	   "hosts": [{"node": "n1", "cpu_pct": curve}],
 *	   "devices": [{"node": "n1", "device": "0", "power_w": curve,
 *	     "temp_c": curve, "util_pct": curve, "mem_used_mib": curve}]}
 *
 * Tables for people have a row for each cell, with means over its repeats, if
 * any cell has repeats (cells.h); else for each run.
 *
 * Only completed rows show results; other rows show state, failure class and
 * sentence. A result with a flag is marked, and the flag is explained below the
 * table.
 */
#pragma once

#include "controller/report/about.h"
#include "controller/report/row.h"
#include "protocol/base/buffer.h"

/* Append the report on the rows to *out. E2BIG: past the limit of *out; ENOMEM.
 * *out is then unchanged.
 *
 * Markdown: a table in aligned columns (columns.h), below it a line per failed
 * cell and per flag, and the provenance. Texts are escaped: nothing in a row
 * can add a column, a line or a tag.
 */
int report_markdown(const struct report_about *about,
		    const struct report_rows *rows, struct buffer *out,
		    struct error *err);

/* Append one self-contained HTML page that needs no scripts: the facts of the
 * sweep, its hardware and software, its outcome; the table; charts of all cells
 * and their scaling, of many cells by the keys of their matrix (maps.h);
 * curves; failures with the last lines of their logs; suspect results by cause;
 * the provenance. It has light, dark and print styles.
 */
int report_html(const struct report_about *about,
		const struct report_rows *rows, struct buffer *out,
		struct error *err);

/* The flat table, for programs: one row per cell and repeat, one column per
 * value. All rows have the same columns: the figures that have a name
 * (figures.h), the facts of the sweep, "cell.KEY" for each key of the matrix
 * that any row has, and each metric that a table of these rows shows, by its
 * own name. regatta-protocol(7) lists the columns with their units. The name
 * and meaning of a column never change; new columns increase REPORT_VERSION.
 */
#define REPORT_VERSION 3

/* The table as CSV by RFC 4180, CRLF line ends: a header line and one line per
 * row. Unknown values are empty; a list is one field with "; " between its
 * items. A text that begins with = + - @, a tab or a carriage return gets an
 * apostrophe in front, so that no spreadsheet runs it as a formula; numbers do
 * not.
 */
int report_csv(const struct report_about *about, const struct report_rows *rows,
	       struct buffer *out, struct error *err);

/* {"version": REPORT_VERSION, "formula": N, "table": [the rows of the table],
 * "rows": [the rows], "cells": [{"cell", the means of its repeats...}]} and a
 * newline; one row per line. A cell is a row in which numbers are means
 * (cells.h).
 */
int report_json(const struct report_about *about,
		const struct report_rows *rows, struct buffer *out,
		struct error *err);
