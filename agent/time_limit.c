/* time_limit.c - asks Slurm repeatedly when an allocation ends.
 */
#include "agent/time_limit.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "protocol/slurm/scontrol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PAUSE_MAX_MS INT64_C(300000)
#define PAUSE_MIN_MS 10000
#define OUTPUT_MAX ((size_t)1 << 20)

struct time_limit {
	sd_event *loop;
	char job[24];
	int64_t end_ms;
	time_limit_fn *changed;
	void *arg;
	sd_event_source *timer;
	struct subprocess *tool;
	bool failure_logged;
};

static int ask_run(sd_event_source *source, uint64_t usec, void *arg);

/* Ask again after a quarter of the time that is left. */
static int plan(struct time_limit *limit, struct error *err)
{
	int64_t pause_ms = (limit->end_ms - clock_wall_ms()) / 4;

	if (!limit->end_ms || pause_ms > PAUSE_MAX_MS)
		pause_ms = PAUSE_MAX_MS;
	if (pause_ms < PAUSE_MIN_MS)
		pause_ms = PAUSE_MIN_MS;
	return loop_timer(limit->loop, &limit->timer, (uint64_t)pause_ms,
			  ask_run, limit, err);
}

static void answered(void *arg, const struct error *err,
		     const struct subprocess_output *output)
{
	struct time_limit *limit = arg;
	struct error why = { 0 };
	int64_t end_ms = 0;

	limit->tool = NULL;
	if (err)
		why = *err;
	else if (output->exit_code)
		error_set(&why, EIO, "%s", output->complaint);
	else
		scontrol_read_end(limit->job, output->text, &end_ms, &why);
	if (why.code && !limit->failure_logged)
		log_warning("the end of the allocation can no longer be "
			    "read: %s",
			    why.text);
	limit->failure_logged = why.code;
	if (!why.code && end_ms != limit->end_ms) {
		limit->end_ms = end_ms;
		limit->changed(limit->arg, end_ms);
	}
	plan(limit, NULL);
}

static int time_limit_ask(struct time_limit *limit, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 }, env = { 0 };
	const struct subprocess_command command = {
		.argv = &argv,
		.env = &env,
		.timeout_ms = SCONTROL_MS,
		.output_max = OUTPUT_MAX,
	};

	if (scontrol_command("job", limit->job, &argv, &env, err) < 0)
		return -1;
	limit->tool =
		subprocess_run(limit->loop, &command, answered, limit, err);
	return limit->tool ? 0 : -1;
}

static int ask_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct time_limit *limit = arg;
	struct error err;

	if (time_limit_ask(limit, &err) < 0) {
		log_warning("scontrol: %s", err.text);
		plan(limit, NULL);
	}
	return 0;
}

struct time_limit *time_limit_new(sd_event *loop, const char *job,
				  int64_t end_ms, time_limit_fn *changed,
				  void *arg, struct error *err)
{
	owned(time_limit_free) struct time_limit *limit =
		calloc(1, sizeof(*limit));

	if (!limit)
		return error_null(error_nomem(err, "time limit"));
	limit->loop = loop;
	snprintf(limit->job, sizeof(limit->job), "%s", job);
	limit->end_ms = end_ms;
	limit->changed = changed;
	limit->arg = arg;
	if (plan(limit, err) < 0)
		return NULL;
	return take(limit);
}

void time_limit_free(struct time_limit *limit)
{
	if (!limit)
		return;
	loop_source_free(&limit->timer);
	subprocess_cancel(limit->tool);
	free(limit);
}
