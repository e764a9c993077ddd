/* results.h - the result rows of a sweep: fetched, and printed as tables.
 */
#ifndef CONTROLLER_CLI_COMMANDS_RESULTS_H
#define CONTROLLER_CLI_COMMANDS_RESULTS_H

#include "controller/cli/cli.h"
#include "controller/report/report.h"

#define RESULTS_MAX 268435456 /* bytes of a table */

/* The rows (controller/report/report.h), with their alignment where the sweep
 * names a baseline, and with their curves when asked for; the caller deletes
 * them.
 */
int results_fetch(struct client *client, uint64_t sweep, bool curves,
		  cJSON **rows, struct error *err);

/* How rows are to be printed; texts are borrowed, NULL is the default. */
struct results_form {
	const char *format;   /* "markdown" (default), "csv", "json", "html" */
	bool reference;       /* Markdown as published pages have it */
	const char *language; /* of that: "en" (default), "zh" */
	const struct report_about *about; /* for all but Markdown */
	bool recompute; /* results_print(): from the stored logs */
};

/* The rows, appended to *out. */
int results_format(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err);

/* A person at a terminal who asks for no format gets results_table(). */
bool results_for_terminal(const struct cli *cli,
			  const struct results_form *form);

/* Fetch and print them; a page has its curves. */
int results_print(struct cli *cli, struct client *client, uint64_t sweep,
		  const struct results_form *form, struct error *err);

#endif
