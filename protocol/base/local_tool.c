/* local_tool.c - run a vendor's program on this machine and wait for it.
 */
#include "protocol/base/local_tool.h"

#include "protocol/base/subprocess.h"

#include <errno.h>
#include <signal.h>

#define NOT_THERE 127 /* the exit code of a program that cannot be found */

struct here {
	sd_event *loop;
	const char *name;
	struct buffer *text;
	struct error *err;
	int rc;
};

static void tool_ended(void *arg, const struct error *err,
		       const struct subprocess_output *output)
{
	struct here *here = arg;

	if (err)
		here->rc = error_set(here->err, err->code, "%s", err->text);
	else if (output->exit_code == NOT_THERE)
		here->rc = error_set(here->err, ENOENT, "no program %.60s",
				     here->name);
	else if (output->exit_code)
		here->rc = error_set(here->err, EIO, "%.60s ended with %d%s%s",
				     here->name, output->exit_code,
				     *output->complaint ? ": " : "",
				     output->complaint);
	else
		here->rc = buffer_append(here->text, output->text, output->size,
					 here->err);
	sd_event_exit(here->loop, 0);
}

static int run_on(struct here *here, const struct subprocess_command *command)
{
	owned(subprocess_cancel) struct subprocess *tool =
		subprocess_run(here->loop, command, tool_ended, here,
			       here->err);

	if (!tool)
		return -1;
	sd_event_loop(here->loop);
	(void)take(tool); /* it is freed after tool_ended() */
	return here->rc;
}

int local_tool_run(const struct strings *argv, const struct strings *env,
		   uint32_t timeout_ms, struct buffer *text, struct error *err)
{
	const struct subprocess_command command = {
		.argv = argv,
		.env = env,
		.timeout_ms = timeout_ms,
		.output_max = text->limit,
	};
	struct here here = {
		.name = argv->items[0],
		.text = text,
		.err = err,
		.rc = -1,
	};
	sigset_t children, before;
	int rc = sd_event_new(&here.loop);

	if (rc < 0)
		return error_set(err, -rc, "event loop: cannot be made");
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, &before);
	rc = run_on(&here, &command);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sd_event_unref(here.loop);
	return rc;
}
