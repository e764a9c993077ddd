/* sweep_source.h - reads the rows of a sweep from where a word says they are.
 */
#pragma once

#include "controller/cli/commands/bundle_file.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/run/session.h"

struct sweep_source {
	struct session session; /* without a client, if it is a bundle */
	struct bundle bundle;
	uint64_t sweep; /* its number there */
	struct results_about about;
	struct report_rows rows;
};
void sweep_source_clear(struct sweep_source *source);
OWNED_VALUE(struct sweep_source, sweep_source_clear)

/* What is read beside the rows. */
#define SOURCE_CURVES 1U
#define SOURCE_FILE 2U /* the sweep file, and the ends of failed jobs' logs */

/* Is it a file of `regatta bundle`? */
bool sweep_source_is_file(const char *word);

/* word: a file of `regatta bundle`, a folder of `regatta run`, or what
 * session_sweep() takes.
 */
int sweep_source_read(struct sweep_source *source, struct cli *cli,
		      const char *word, unsigned parts, struct error *err);

/* The same of source->sweep of that controller. */
int sweep_source_fetch(struct sweep_source *source, struct client *client,
		       unsigned parts, struct error *err);
