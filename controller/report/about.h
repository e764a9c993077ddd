/* about.h - what a report tells of the sweep beside its rows.
 */
#ifndef CONTROLLER_REPORT_ABOUT_H
#define CONTROLLER_REPORT_ABOUT_H

#include <stdint.h>

/* The sweep that the rows are of. Texts are borrowed; NULL and 0: unknown. */
struct report_about {
	const char *title; /* of a page */
	uint64_t sweep;
	const char *name;
	const char *client; /* who submitted it */
	int64_t submitted_ms;
	const char *file; /* the text of the sweep file */
	const char *home; /* where a page leads back to; our own words */
};

#endif
