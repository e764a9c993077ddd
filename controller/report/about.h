/* about.h - the facts of a sweep that a report shows beside its rows.
 */
#ifndef CONTROLLER_REPORT_ABOUT_H
#define CONTROLLER_REPORT_ABOUT_H

#include <stdint.h>

/* Texts are borrowed; NULL and 0: unknown. */
struct report_about {
	const char *title; /* of a page */
	uint64_t sweep;
	const char *name;
	const char *client; /* who submitted it */
	int64_t submitted_ms;
	const char *file; /* the text of the sweep file */
	const char *home; /* where a page links back to */
};

#endif
