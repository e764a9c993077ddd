/* tool_runner.h - runs a tool repeatedly, less often while it fails.
 *
 * A tool that loops is run once: what it prints at a time is read as the output
 * of a run is, behind the first line that it printed, a header. If it ends, it
 * is started again. Of several commands the next one is tried when one fails,
 * and stays while it works; a failure is one of the last.
 *
 * There is one run at a time; a run that takes longer than the interval delays
 * the next one. A tool that fails is tried again after the interval, then after
 * twice that, up to 30 s; each cause is reported once. After a run that cannot
 * be killed, the tool is not run for a minute, also across tool_runner_rest().
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/base/subprocess.h"

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct tool_runner;

/* The tool succeeded: its output, and the middle of its run on the monotonic
 * clock. If this returns -1, the run counts as a failure of the tool.
 */
typedef int tool_output_fn(void *arg, const struct subprocess_output *output,
			   int64_t at_ms, struct error *err);

/* The tool failed; words: why, in one line. */
typedef void tool_failure_fn(void *arg, const char *words);

struct tool_runner_config {
	uint32_t interval_ms; /* before the first retry */
	uint32_t rest_ms;     /* pause after a successful run; 0: none */
	tool_output_fn *output;
	tool_failure_fn *failure;
	void *arg;
};

/* config is copied. ENOMEM. */
struct tool_runner *tool_runner_new(sd_event *loop,
				    const struct tool_runner_config *config,
				    struct error *err);
void tool_runner_free(struct tool_runner *runner);
OWNED_POINTER(struct tool_runner, tool_runner_free)

/* Start a run, unless one is running or it is too early. The command without
 * its argv, and the argvs that are tried, are borrowed for the length of the
 * call. loop: a further argument of each, with which it prints again and again;
 * or NULL.
 */
void tool_runner_run(struct tool_runner *runner,
		     const struct subprocess_command *command,
		     const struct strings *argvs, size_t count,
		     const char *loop);

/* The program that is run: of the argv that works, or is next. */
const char *tool_runner_name(const struct tool_runner *runner,
			     const struct strings *argvs);

/* End the present run and forget its failures, when no readings are needed. */
void tool_runner_rest(struct tool_runner *runner);

/* Why the tool fails; "" after a success. Borrowed until it changes. */
const char *tool_runner_failure(const struct tool_runner *runner);
