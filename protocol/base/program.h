/* program.h - the start of each daemon: signals, limits, event loop.
 */
#pragma once

#include "protocol/base/error.h"

#include <systemd/sd-event.h>

/* Exit codes of all programs. */
enum exit_code {
	EXIT_GOOD = 0,
	EXIT_WORK_FAILED = 1,
	EXIT_WRONG_REQUEST = 2,
	EXIT_OUT_OF_REACH = 3,
};

/* Block SIGCHLD, SIGTERM and SIGINT; the latter two end the loop with
 * EXIT_GOOD, unless SIGTERM was ignored at the start; ignore SIGPIPE,
 * raise the limit of open files to the hard one, log for the journal when it
 * listens. NULL with *err set.
 */
sd_event *program_begin(struct error *err);

/* How many files this process may have open. */
size_t program_files(void);

/* Run fn(arg) at SIGHUP, and tell systemd before and after. On a terminal that
 * signal is its end, and stays deadly.
 */
typedef void program_reload_fn(void *arg);
int program_on_reload(sd_event *loop, program_reload_fn *fn, void *arg,
		      struct error *err);

/* Tell systemd, if it started us with Type=notify, that we are ready, and feed
 * its watchdog from the loop.
 */
void program_ready(sd_event *loop);

/* The exit code for an error that ended the program. */
enum exit_code program_exit_code(const struct error *err);
