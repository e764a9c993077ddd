/* subprocess.h - runs a program without a shell, with a time limit and
 * bounded output.
 *
 * For programs that answer and end, such as nvidia-smi, on the event loop. The
 * program gets a process group of its own and LC_ALL=C, and dies with its
 * parent. Its whole group is killed when it ends or exceeds its limit. SIGCHLD
 * must be blocked (program_begin() does that). If nobody may look into us
 * (PR_SET_DUMPABLE), nobody may look into it, if we may change our group.
 */
#pragma once

#include "protocol/base/strings.h"

#include <sched.h>
#include <systemd/sd-event.h>

#define SUBPROCESS_INPUT_MAX 4096
#define SUBPROCESS_COMPLAINT_MAX                                               \
	512 /* bytes kept of what it says to stderr                            \
	     */

/* Called from the loop with what a program printed, for as long as it runs. */
typedef void subprocess_heard_fn(void *arg, const char *text, size_t size);

/* Borrowed for the length of subprocess_run(). */
struct subprocess_command {
	const struct strings *argv; /* without a '/' in it, argv[0] is looked
				       for in bin, then in PATH */
	const struct strings *env;  /* NAME=VALUE beside our own, or NULL */
	const char *bin;            /* folder, or NULL; or a program that runs
				       them all, with env and argv as its words */
	const char *input;     /* its stdin, at most SUBPROCESS_INPUT_MAX bytes;
				  NULL: /dev/null */
	uint32_t timeout_ms;   /* at least 1; with heard: of silence */
	size_t output_max;     /* bytes of its stdout */
	const cpu_set_t *cpus; /* where it may run; NULL: where we may */
	subprocess_heard_fn *heard; /* takes its stdout, which is not kept;
				       must not cancel. NULL: none */
};

/* How it ended. Texts live for the length of done(); both end in a 0 that size
 * does not count, and may hold any byte.
 */
struct subprocess_output {
	const char *text; /* its stdout */
	size_t size;
	const char *complaint; /* its stderr, cut, printable, one line */
	int exit_code;         /* 128 + n: signal n ended it */
	uint32_t took_ms;
};

/* Runs from the loop, once. Exactly one of err and output is NULL. ETIMEDOUT:
 * it was killed at its limit; EBUSY: and lives on, stuck in the kernel, so it
 * had better not be run again soon; E2BIG: it was killed for printing more than
 * output_max; EIO. A program that cannot be executed ends with 127 (not there)
 * or 126, and a complaint. The tool is freed after this.
 */
typedef void subprocess_done_fn(void *arg, const struct error *err,
				const struct subprocess_output *output);

struct subprocess;

/* NULL with *err set (EINVAL: no argv; EAGAIN, ENOMEM ...), and done() never
 * runs, when nothing was started.
 */
struct subprocess *subprocess_run(sd_event *loop,
				  const struct subprocess_command *command,
				  subprocess_done_fn *done, void *arg,
				  struct error *err);

/* Kill it; done() does not run. NULL is fine. */
void subprocess_cancel(struct subprocess *tool);
OWNED_POINTER(struct subprocess, subprocess_cancel)
