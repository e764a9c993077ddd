/* watch.h - a sweep followed until its end: on the whole terminal, else in
 * lines.
 *
 * Where words (cli->err) and keys have a terminal, in the foreground, it is the
 * screen of watch_screen.h. Else one plain line per change of a job's state.
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

/* The screen begins with this job. */
void watch_choose(struct watch *watch, uint64_t job);

/* Run the loop until all jobs of the sweep have ended and nothing of them is
 * left on any node. EINTR: watch_stop() was called, or a person left the
 * screen; it may be called again and then goes on, behind a screen that was
 * left in lines.
 */
int watch_run(struct watch *watch, struct error *err);

/* End the watch_run() that runs, or else the next one. From callbacks. */
void watch_stop(struct watch *watch);

/* The same, and there is no screen from then on. */
void watch_leave(struct watch *watch);

/* Print a permanent line of words, escaped. Those said on a screen stand below
 * it when it is gone.
 */
void watch_say(struct watch *watch, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* As far as is known: how many jobs there are, how many completed. */
size_t watch_jobs(const struct watch *watch);
size_t watch_completed(const struct watch *watch);

/* None of them is under way, and some are queued. */
bool watch_rests(const struct watch *watch);

/* EXIT_GOOD: all of them; else EXIT_WORK_FAILED. Says how many. */
int watch_verdict(const struct watch *watch);

#endif
