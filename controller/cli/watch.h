/* watch.h - follows a sweep until its end, on the whole terminal or in lines.
 *
 * If cli->err and standard input are a terminal in the foreground, it shows
 * watch_screen.h. Else it prints one line per change of a job's state.
 */
#pragma once

#include "controller/cli/cli.h"

struct watch;

/* Both are borrowed. The client becomes patient. */
struct watch *watch_new(struct cli *cli, struct client *client, uint64_t sweep,
			struct error *err);
void watch_free(struct watch *watch);
OWNED_POINTER(struct watch, watch_free)

/* Tell it the first job that fails from now on, and the verdict (notify.h);
 * borrowed.
 */
void watch_notify(struct watch *watch, const char *target);

/* Select this job on the screen. */
void watch_choose(struct watch *watch, uint64_t job);

/* Run the loop until all jobs of the sweep have ended and are removed from all
 * nodes, or it is paused and no job runs. EINTR: watch_stop() was called, or
 * the user left the screen. It may then be called again and continues; after
 * the screen was left, in lines.
 */
int watch_run(struct watch *watch, struct error *err);

/* watch_run() that Ctrl-C ends with EINTR, and with the screen. */
int watch_run_until_interrupt(struct watch *watch, struct error *err);

/* End the running watch_run() with EINTR, else the next one. For callbacks. */
void watch_stop(struct watch *watch);

/* Print a permanent line, escaped. On a screen it is shown there, and printed
 * again after the screen ends.
 */
void watch_say(struct watch *watch, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* True: no job runs, and some are queued. */
bool watch_rests(const struct watch *watch);

/* Print why the sweep is paused; false: it is not. */
bool watch_tell_pause(const struct watch *watch);

/* How a sweep ended. */
struct sweep_end {
	uint64_t sweep;
	size_t jobs, completed;
	size_t lost; /* races that no cell won */
};
struct sweep_end watch_end(const struct watch *watch);

/* Print and tell it (notify.h; NULL: nobody). EXIT_GOOD: all jobs completed,
 * and each race has a winner; else EXIT_WORK_FAILED.
 */
int sweep_end_tell(struct cli *cli, const struct sweep_end *end,
		   const char *notify);
