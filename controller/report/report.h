/* report.h - writes the rows of a sweep as Markdown, CSV, JSON or HTML.
 *
 * A row is a JSON object, one per job (cell and repeat), in the order of the
 * table. A missing member counts as null:
 *
 *	{"job": 17,
 *	 "cell": "model=gpt-nano nodes=1",
 *	 "repeat": 0,
 *	 "values": {...},		the matrix values
 *	 "follows": "step=train",	labels of the cells that it runs after,
 *					or null
 *	 "tail": "last lines\n",	of a failed job's log, for a page, or
 *					null
 *	 "setup": {...},		measure_spec (protocol/message/spec.h),
 *					"vendor" and "layout" (layout_spec)
 *	 "state": "completed",		enum job_state by name
 *	 "failure": "exit",		enum failure by name, or null
 *	 "text": "rank 1 exited 1",	the sentence of the failure, or null
 *	 "nodes": 2,
 *	 "devices": 2,			over all nodes
 *	 "result": {...},		result.h, or null
 *	 "provenance": {		or null
 *	   "image": "sha256:...",	id or digest of the image that ran
 *	   "engine": "20.10.24",
 *	   "kernel": "6.1.0",
 *	   "nodes": ["n1", "n2"],
 *	   ...},			further members only in JSON
 *	 "repeats": {...}, "anomalies": [...]}	anomalies.h, if there are any
 *
 * If the sweep names a baseline, a row also has "alignment" (compare.h). For a
 * page with curves it has "series" (chart.h has the form of a curve; x is the
 * step, or seconds from the start of the job):
 *
 *	 "series": {"loss": curve, "tokens_per_second": curve,
 *	   "hosts": [{"node": "n1", "cpu_pct": curve}],
 *	   "devices": [{"node": "n1", "device": "0", "power_w": curve,
 *	     "temp_c": curve, "util_pct": curve, "mem_used_mib": curve}]}
 *
 * Only completed rows show results; other rows show state, failure class and
 * sentence. A result with a flag is marked, and the flag is explained below the
 * table.
 */
#ifndef CONTROLLER_REPORT_REPORT_H
#define CONTROLLER_REPORT_REPORT_H

#include "controller/report/about.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>

/* Append the report on `rows` (an array) to *out. EINVAL: a row is no object;
 * E2BIG: past the limit of *out; ENOMEM. *out is then unchanged.
 *
 * Markdown: a table in aligned columns (cell, nodes, devices, token/p/s, loss,
 * memory (MiB), step time (ms), wall time (s), state), below it a line per
 * failed cell and per flag, and the provenance. Texts are escaped: nothing in
 * a row can add a column, a line or a tag.
 */
int report_markdown(const cJSON *rows, struct buffer *out, struct error *err);

/* Append one self-contained HTML page without scripts: the facts of the sweep,
 * its hardware and software, its outcome; the table; charts of all cells and
 * their scaling; curves; failures with the last lines of their logs; suspect
 * results by cause; the provenance. It has light, dark and print styles.
 */
int report_html(const struct report_about *about, const cJSON *rows,
		struct buffer *out, struct error *err);

/* CSV by RFC 4180, CRLF line ends: a header line and one line per row, the
 * columns of tidy.h. Unknown values are empty; a list is one field with "; "
 * between its items. A text that begins with = + - @, a tab or a carriage
 * return gets an apostrophe in front, so that no spreadsheet runs it as a
 * formula; numbers do not.
 */
int report_csv(const struct report_about *about, const cJSON *rows,
	       struct buffer *out, struct error *err);

/* {"version": TIDY_VERSION, "formula": N, "table": [the rows of tidy.h],
 * "rows": [the rows unchanged]} and a newline; one row per line.
 */
int report_json(const struct report_about *about, const cJSON *rows,
		struct buffer *out, struct error *err);

#endif
