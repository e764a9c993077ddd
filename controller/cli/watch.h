/* watch.h - a sweep shown until its end: live on a terminal, else in lines.
 *
 * On a terminal: a line per active job, redrawn in place, below a line with the
 * totals; what ended scrolls away above. Else: one plain line per change of a
 * job's state. Both go to the words of the command line (cli->err).
 */
#ifndef CONTROLLER_CLI_WATCH_H
#define CONTROLLER_CLI_WATCH_H

#include "controller/cli/cli.h"

struct watch;

/* Both are borrowed. The client becomes patient. */
struct watch *watch_new(struct cli *cli, struct client *client, uint64_t sweep,
			struct error *err);
void watch_free(struct watch *watch);
OWNED_POINTER(struct watch, watch_free)

/* Run the loop until all jobs of the sweep have ended and nothing of them is
 * left on any node. EINTR: watch_stop() was called; it may be called again and
 * then goes on.
 */
int watch_run(struct watch *watch, struct error *err);

/* End the watch_run() that runs, or else the next one. From callbacks. */
void watch_stop(struct watch *watch);

/* Print a permanent line of words, escaped. */
void watch_say(struct watch *watch, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As far as is known: how many jobs there are, how many completed. */
size_t watch_jobs(const struct watch *watch);
size_t watch_completed(const struct watch *watch);

/* Jobs of which something may still be on a node. */
size_t watch_remaining(const struct watch *watch);

#endif
