/* tool_runner.h - runs a tool again and again, less often while it fails.
 *
 * One run at a time; a run that takes longer than the interval delays the next
 * one. A tool that fails is tried after the interval, then after twice as long,
 * and so on up to 30 s; each cause is told once. A tool that cannot be killed
 * is left alone for a minute, also over tool_runner_rest().
 */
#ifndef AGENT_METRICS_TOOL_RUNNER_H
#define AGENT_METRICS_TOOL_RUNNER_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/base/subprocess.h"

#include <stdint.h>
#include <systemd/sd-event.h>

struct tool_runner;

/* It ran well: its output, and the middle of its run on the monotonic clock. A
 * failure with words counts as one of the tool.
 */
typedef int tool_output_fn(void *arg, const struct subprocess_output *output,
			   int64_t at_ms, struct error *err);

/* It failed, in words of one line. */
typedef void tool_trouble_fn(void *arg, const char *words);

struct tool_runner_config {
	uint32_t interval_ms; /* between tries of what begins to fail */
	uint32_t rest_ms;     /* after a run that went well; 0: none */
	tool_output_fn *output;
	tool_trouble_fn *trouble;
	void *arg;
};

/* config is copied. ENOMEM. */
struct tool_runner *tool_runner_new(sd_event *loop,
				    const struct tool_runner_config *config,
				    struct error *err);
void tool_runner_free(struct tool_runner *runner);
OWNED_POINTER(struct tool_runner, tool_runner_free)

/* Start a run, unless one is under way or it is too early. The command is
 * borrowed until the run has begun.
 */
void tool_runner_run(struct tool_runner *runner,
		     const struct subprocess_command *command);

/* End what runs and forget its failures: nobody waits for readings now. */
void tool_runner_rest(struct tool_runner *runner);

/* What is wrong with it; "" while all is well. Borrowed until it changes. */
const char *tool_runner_words(const struct tool_runner *runner);

#endif
