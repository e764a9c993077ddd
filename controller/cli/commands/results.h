/* results.h - the result rows of a sweep: fetched, and printed as tables.
 */
#ifndef CONTROLLER_CLI_COMMANDS_RESULTS_H
#define CONTROLLER_CLI_COMMANDS_RESULTS_H

#include "controller/cli/cli.h"

#define RESULTS_MAX 268435456 /* bytes of a table */

/* The rows (controller/report/report.h); the caller deletes them. */
int results_fetch(struct client *client, uint64_t sweep, cJSON **rows,
		  struct error *err);

/* The rows as "markdown", "csv" or "json" (NULL: markdown), appended to *out.
 */
int results_format(const cJSON *rows, const char *format, struct buffer *out,
		   struct error *err);

/* Fetch and print them by --format. */
int results_print(struct cli *cli, struct client *client, uint64_t sweep,
		  const char *format, struct error *err);

#endif
