/* step_run.c - watches a task's command while it runs.
 */
#include "agent/task/task_internal.h"
#include "protocol/base/log.h"
#include "protocol/hardware/sample_format.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>

/* What regatta-init has read is nowhere any more; an agent that came since the
 * release gives it again.
 */
static void secrets_settle(struct task *task)
{
	struct spool *spool = task->services->spool;
	struct error err;

	if (!spool_has(spool, &task->id, SPOOL_IN, SECRETS_PIPE))
		return;
	if (spool_has(spool, &task->id, SPOOL_OUT, "read")) {
		if (task->secrets_fd >= 0)
			close(take_fd(&task->secrets_fd));
		spool_forget(spool, &task->id, SPOOL_IN, SECRETS_PIPE);
	} else if (task_give_secrets(task, &err) < 0) {
		log_warning("secrets do not reach the container job=%" PRIu64
			    " rank=%u: %s",
			    task->id.job, task->id.rank, err.text);
	}
}

static int task_watch_run(sd_event_source *source,
			  const struct inotify_event *event, void *arg)
{
	struct task *task = arg;

	/* It has its lock; the call may end the task, and with it the watch. */
	if (event->len && (event->mask & IN_MODIFY) &&
	    !strcmp(event->name, "started") && task->step == STEP_START) {
		step_release(task, 0);
		return 0;
	}
	if (event->len && !strcmp(event->name, "read"))
		secrets_settle(task);
	/* The record is only a hint; the engine reports the end. */
	if (event->len && !strcmp(event->name, "exit.json"))
		step_record_seen(task);
	if (event->len && !strncmp(event->name, "node-", 5))
		streams_look(&task->streams);
	if (event->len && task->ssh && !(event->mask & IN_MODIFY))
		gang_ssh_seen(task->ssh, event->name);
	log_sender_wake(task->services->sender);
	return 0;
}

void step_watch(struct task *task)
{
	char path[PATH_MAX];

	if (task->watch)
		return;
	spool_path(task->services->spool, &task->id, SPOOL_OUT, path);
	/* Without the watch files are polled, and the engine reports the end.
	 */
	sd_event_add_inotify(task->services->loop, &task->watch, path,
			     IN_MODIFY | IN_MOVED_TO | IN_CREATE,
			     task_watch_run, task);
	/* The record may have been written before the watch was set. */
	if (spool_has(task->services->spool, &task->id, SPOOL_OUT, "exit.json"))
		step_record_seen(task);
	log_sender_wake(task->services->sender);
}

void step_sample(struct task *task)
{
	char name[SAMPLE_FORMAT_STREAM_SIZE];
	struct error err;
	int fd;

	if (task->samples || !task->services->monitor)
		return;
	sample_format_stream(task->id.rank, name);
	fd = spool_append_stream(task->services->spool, &task->id, name, &err);
	if (fd >= 0)
		task->samples =
			monitor_begin(task->services->monitor, task->id.rank,
				      &task->spec.devices, fd, &err);
	if (!task->samples)
		log_warning("no samples job=%" PRIu64 " rank=%u: %s",
			    task->id.job, task->id.rank, err.text);
}

static void wait_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && engine_away(err))
		step_retry(task);
	else
		step_inspect(task);
}

/* write_over_fn */
static void wrote_too_much(void *arg, const char *why)
{
	struct task *task = arg;

	snprintf(task->reason, sizeof(task->reason), "%s", why);
	task_stop(task, FAILURE_POLICY);
}

static void limit_writes(struct task *task)
{
	uint64_t output = task->spec.container.log_limit_bytes;
	const struct task_services *services = task->services;
	const struct write_watch_config config = {
		.loop = services->loop,
		.engine = services->engine,
		.container = task->container,
		.node_policy = services->node_policy,
		.spool = services->spool,
		.id = &task->id,
		.output_bytes = (output ? output : LOG_LIMIT_DEFAULT) +
				collect_limit(&task->spec),
		.init_program = services->init_program,
		.over = wrote_too_much,
		.arg = task,
	};
	struct error err;

	if (task->writes)
		return;
	task->writes = write_watch_new(&config, &err);
	if (!task->writes)
		log_warning("what the container writes is not limited: %s",
			    err.text);
}

void step_carry_commands(struct task *task)
{
	struct error err;

	if (task->ssh || !task->spec.container.ssh)
		return;
	task->ssh = gang_ssh_new(task->services->loop, task->services->spool,
				 &task->id, task->services->say,
				 task->services->arg, &err);
	if (!task->ssh)
		log_warning("ssh: %s", err.text);
}

void step_run_leave(struct task *task)
{
	gang_ssh_free(take(task->ssh));
	write_watch_free(take(task->writes));
}

void step_run(struct task *task)
{

	step_watch(task);
	secrets_settle(task);
	step_sample(task);
	limit_writes(task);
	step_carry_commands(task);
	task->call =
		engine_container_wait(task->services->engine, task->container,
				      wait_done, task, NULL);
	if (!task->call)
		step_retry(task);
	step_inspect_soon(task);
}
