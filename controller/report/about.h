/* about.h - the facts of a sweep that a report shows beside its rows.
 */
#pragma once

#include "controller/results/language.h"

#include <stdbool.h>
#include <stdint.h>

struct report_rows;

/* Texts are borrowed; NULL and 0: unknown. */
struct report_about {
	const char *title; /* of a page */
	uint64_t sweep;
	const char *name;
	const char *client; /* who submitted it */
	int64_t submitted_ms;
	const char *file;       /* the text of the sweep file */
	const char *home;       /* where a page links back to */
	bool runs;              /* show single runs, not the means of cells */
	enum language language; /* of a page */
	/* What cells are compared with (cells.h): the runs of another sweep, or
	 * the cell of this name; NULL: the best cell.
	 */
	const struct report_rows *baseline;
	const char *baseline_cell;
	const char *baseline_name; /* as it was given */
};
