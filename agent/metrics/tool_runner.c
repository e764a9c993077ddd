/* tool_runner.c - runs a tool repeatedly, less often while it fails.
 */
#include "agent/metrics/tool_runner.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/hardware/sample_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FAILING_MS 30000 /* at most, between tries of a tool that fails */
#define STUCK_MS 60000   /* after a tool that cannot be killed */
#define TELL_MS 10000    /* between errors whose words differ */
#define REST_MS 50       /* in which a loop prints nothing more at a time */

struct tool_runner {
	sd_event *loop;
	struct tool_runner_config config;
	struct subprocess *tool; /* it runs now */
	char name[64];
	size_t which, count;    /* of the argvs */
	bool loops;             /* this run prints again and again */
	struct buffer text;     /* of a loop: header, and what came since */
	size_t header;          /* bytes of it; 0: not yet read */
	size_t lines;           /* that it printed at a time before; 0: none */
	sd_event_source *rest;  /* ends what is printed at a time, */
	struct deferral *whole; /* or this, when it is all that comes */
	int64_t heard_ms;
	int64_t started_ms, not_before_ms;
	bool stuck;            /* the last run could not be killed */
	unsigned int failures; /* in a row */
	char failure[SAMPLE_FORMAT_TEXT_MAX]; /* "" after a success */
	int64_t told_ms;
};

static void tool_runner_take(struct tool_runner *runner);

static void tool_runner_whole(void *arg)
{
	tool_runner_take(arg);
}

struct tool_runner *tool_runner_new(sd_event *loop,
				    const struct tool_runner_config *config,
				    struct error *err)
{
	owned(tool_runner_free) struct tool_runner *runner =
		calloc(1, sizeof(*runner));

	if (!runner)
		return error_null(error_nomem(err, "monitor"));
	runner->loop = sd_event_ref(loop);
	runner->config = *config;
	buffer_init(&runner->text, SAMPLE_TEXT_MAX);
	runner->whole =
		deferral_new(loop, false, tool_runner_whole, runner, err);
	return runner->whole ? take(runner) : NULL;
}

void tool_runner_free(struct tool_runner *runner)
{
	if (!runner)
		return;
	subprocess_cancel(runner->tool);
	loop_source_free(&runner->rest);
	deferral_free(runner->whole);
	buffer_clear(&runner->text);
	sd_event_unref(runner->loop);
	free(runner);
}

/* Report each cause once, and wait longer before each retry. */
static void tool_runner_fail(struct tool_runner *runner, const char *words)
{
	int64_t now_ms = clock_mono_ms();
	int64_t wait_ms = (int64_t)runner->config.interval_ms
			  << (runner->failures < 8 ? runner->failures : 8);

	if (runner->which + 1 < runner->count) {
		log_debug("monitor: %s; the next command is tried", words);
		runner->which++;
		return;
	}
	runner->which = 0;
	runner->failures++;
	runner->not_before_ms =
		now_ms + (wait_ms < FAILING_MS ? wait_ms : FAILING_MS);
	if (!strcmp(runner->failure, words) ||
	    (*runner->failure && now_ms - runner->told_ms < TELL_MS))
		return;
	snprintf(runner->failure, sizeof(runner->failure), "%s", words);
	runner->told_ms = now_ms;
	log_warning("monitor: %s", words);
	runner->config.failure(runner->config.arg, words);
}

static void succeeded(struct tool_runner *runner)
{
	runner->stuck = false;
	runner->failures = 0;
	runner->failure[0] = 0;
}

void tool_runner_rest(struct tool_runner *runner)
{
	subprocess_cancel(take(runner->tool));
	if (runner->stuck)
		return; /* still not before its time */
	succeeded(runner);
	runner->not_before_ms = 0;
}

const char *tool_runner_failure(const struct tool_runner *runner)
{
	return runner->failure;
}

/* The error text of a failed tool: its stderr, or else its first line. */
static void failure_text(const char *name,
			 const struct subprocess_output *output,
			 char words[SAMPLE_FORMAT_TEXT_MAX])
{
	const char *said = output->complaint;
	size_t size = strlen(said);

	if (!size) {
		said = output->text + strspn(output->text, " \t\r\n");
		size = strcspn(said, "\r\n");
	}
	snprintf(words, SAMPLE_FORMAT_TEXT_MAX, "%s: exit code %d%s%.*s", name,
		 output->exit_code, size ? ": " : "",
		 (int)(size < 300 ? size : 300), said);
	words[strcspn(words, "\n")] = 0;
}

/* Lines behind the header. */
static size_t tool_runner_lines(const struct tool_runner *runner)
{
	const char *at = runner->text.data + runner->header;
	size_t lines = 0;

	for (; (at = strchr(at, '\n')); at++)
		lines++;
	return lines;
}

/* Read what a loop printed at a time. */
static void tool_runner_take(struct tool_runner *runner)
{
	const struct subprocess_output output = { .text = runner->text.data,
						  .size = runner->text.size };
	struct error why;

	loop_timer_stop(runner->rest);
	if (runner->text.size <= runner->header)
		return;
	if (runner->config.output(runner->config.arg, &output, runner->heard_ms,
				  &why) < 0) {
		error_prefix(&why, "%s", runner->name);
		subprocess_cancel(take(runner->tool));
		tool_runner_fail(runner, why.text);
		return;
	}
	succeeded(runner);
	if (!runner->header)
		runner->header = strcspn(runner->text.data, "\n") + 1;
	runner->lines = 0;
	if (runner->header > runner->text.size)
		return;
	runner->lines = tool_runner_lines(runner);
	runner->text.size = runner->header;
	runner->text.data[runner->header] = 0;
}

static int tool_runner_rested(sd_event_source *source, uint64_t usec, void *arg)
{
	tool_runner_take(arg);
	return 0;
}

/* More than fits is not read at all, and fails as no output does. As many lines
 * as before are all that comes at a time: to wait for more costs as much as to
 * read them.
 */
static void tool_runner_heard(void *arg, const char *text, size_t size)
{
	struct tool_runner *runner = arg;

	buffer_append(&runner->text, text, size, NULL);
	runner->heard_ms = clock_mono_ms();
	if (runner->lines && text[size - 1] == '\n' &&
	    tool_runner_lines(runner) == runner->lines) {
		deferral_run(runner->whole);
		return;
	}
	loop_timer(runner->loop, &runner->rest, REST_MS, tool_runner_rested,
		   runner, NULL);
}

static void run_done(void *arg, const struct error *err,
		     const struct subprocess_output *output)
{
	struct tool_runner *runner = arg;
	char words[SAMPLE_FORMAT_TEXT_MAX];
	struct error why;

	runner->tool = NULL;
	if (!err && !output->exit_code && runner->loops &&
	    (runner->header || runner->text.size)) {
		tool_runner_take(runner);
		return;
	}
	if (err) {
		tool_runner_fail(runner, err->text);
		runner->stuck = err->code == EBUSY;
		if (runner->stuck)
			runner->not_before_ms = clock_mono_ms() + STUCK_MS;
		return;
	}
	if (output->exit_code) {
		failure_text(runner->name, output, words);
		tool_runner_fail(runner, words);
		return;
	}
	if (runner->config.output(runner->config.arg, output,
				  runner->started_ms + output->took_ms / 2,
				  &why) < 0) {
		error_prefix(&why, "%s", runner->name);
		tool_runner_fail(runner, why.text);
		return;
	}
	succeeded(runner);
	if (runner->config.rest_ms)
		runner->not_before_ms =
			runner->started_ms + runner->config.rest_ms;
}

const char *tool_runner_name(const struct tool_runner *runner,
			     const struct strings *argvs)
{
	return argvs[runner->which].items[0];
}

void tool_runner_run(struct tool_runner *runner,
		     const struct subprocess_command *command,
		     const struct strings *argvs, size_t count,
		     const char *loop)
{
	owned(strings_clear) struct strings argv = { 0 };
	struct subprocess_command run = *command;
	struct error err;

	if (runner->tool || clock_mono_ms() < runner->not_before_ms)
		return;
	runner->count = count;
	if (strings_copy(&argv, &argvs[runner->which], &err) < 0 ||
	    (loop && strings_add(&argv, loop, &err) < 0)) {
		tool_runner_fail(runner, err.text);
		return;
	}
	run.argv = &argv;
	runner->loops = loop;
	run.heard = loop ? tool_runner_heard : NULL;
	runner->text.size = runner->header = runner->lines = 0;
	snprintf(runner->name, sizeof(runner->name), "%s", argv.items[0]);
	runner->started_ms = clock_mono_ms();
	runner->tool =
		subprocess_run(runner->loop, &run, run_done, runner, &err);
	if (!runner->tool)
		tool_runner_fail(runner, err.text);
}
