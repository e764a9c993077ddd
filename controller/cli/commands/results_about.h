/* results_about.h - what a report tells beside its rows: the sweep, and the
 * ends of the logs of what failed.
 */
#ifndef CONTROLLER_CLI_COMMANDS_RESULTS_ABOUT_H
#define CONTROLLER_CLI_COMMANDS_RESULTS_ABOUT_H

#include "controller/cli/calls.h"
#include "controller/report/report.h"

#define TAIL_LINES 30   /* of a log's end */
#define TAIL_BYTES 8192 /* the last of them */
#define TAIL_JOBS 40    /* that have one; the first of the sweep */

struct results_about {
	struct report_about about; /* its texts are those of the answers */
	struct answer sweep, text;
	char title[120];
};

/* Ask for the sweep, and with `file` for its text, too, which viewers do not
 * get.
 */
int results_about_read(struct results_about *about, struct client *client,
		       uint64_t sweep, bool file, struct error *err);
void results_about_clear(struct results_about *about);
OWNED_VALUE(struct results_about, results_about_clear)

/* Give each failed row the last lines of the stream that its reason names, or
 * of its first rank ("tail" in report.h). A log that is not there is left out.
 */
int results_add_tails(struct client *client, cJSON *rows, struct error *err);

#endif
