/* process.h - child processes of a benchmark: started, timed, ended.
 */
#pragma once

#include "protocol/base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* Start a program, found by $PATH, with /dev/null as its input and output and
 * errors written to the files of these names (NULL: /dev/null). -1: *err.
 */
pid_t process_start(const char *const *argv, const char *output,
		    const char *errors, struct error *err);

/* Wait for its end: 0 when its exit code is 0. */
int process_wait(pid_t pid, struct error *err);

/* SIGTERM, then SIGKILL after 10 s; 0 is no process. */
void process_end(pid_t pid);

/* Run a command count times, `width` at a time; times[i] is how long the i-th
 * took, in seconds.
 */
int process_run_many(const char *const *argv, size_t count, size_t width,
		     double *times, struct error *err);
