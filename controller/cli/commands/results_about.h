/* results_about.h - fetches the facts of a sweep for a report, and the last log
 * lines of failed jobs.
 */
#ifndef CONTROLLER_CLI_COMMANDS_RESULTS_ABOUT_H
#define CONTROLLER_CLI_COMMANDS_RESULTS_ABOUT_H

#include "controller/cli/calls.h"
#include "controller/report/report.h"

#define TAIL_LINES 30   /* lines of a log's end */
#define TAIL_BYTES 8192 /* at most so many bytes of them */
#define TAIL_JOBS 40    /* only for the first failed jobs of a sweep */

struct results_about {
	struct report_about about; /* its texts belong to the answers */
	struct answer sweep, text;
	char title[120];
};

/* Fetch the facts of the sweep; with `file` also the text of the sweep file,
 * which viewers may not read.
 */
int results_about_read(struct results_about *about, struct client *client,
		       uint64_t sweep, bool file, struct error *err);
void results_about_clear(struct results_about *about);
OWNED_VALUE(struct results_about, results_about_clear)

/* Add to each failed row the last lines ("tail" in report.h) of the stream that
 * its reason names, else of its first rank. Missing logs are skipped.
 */
int results_add_tails(struct client *client, cJSON *rows, struct error *err);

#endif
