/* step_end.c - stops a task, collects its files, removes its container and
 * spool.
 */
#include "agent/init/init.h"
#include "agent/spool/spool.h"
#include "agent/task/task_internal.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#define STOP_MARGIN_S 5 /* regatta-init's grace ends before the engine's */
#define PACK_S (INIT_PACK_MS / 1000)

static void stop_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && err->code != ENOENT)
		step_retry(task);
	else
		step_inspect(task);
}

void step_stop(struct task *task)
{
	uint32_t grace_ms = task->spec.container.grace_ms;
	bool packs = task->spec.container.collect.count;
	uint32_t grace_s = grace_ms / 1000 + STOP_MARGIN_S + packs * PACK_S;

	step_run_leave(task);
	step_watch(task);
	if (task_print_stacks(task))
		return;
	task->call =
		engine_container_stop(task->services->engine, task->container,
				      grace_s, grace_s * 1000 + CALL_MS,
				      stop_done, task, NULL);
	if (!task->call)
		step_retry(task);
}

static void collect_done(void *arg)
{
	struct task *task = arg;

	task->services->changed(task->services->arg, task);
}

void step_collect(struct task *task)
{
	struct collect_services services = {
		.loop = task->services->loop,
		.engine = task->services->engine,
		.spool = task->services->spool,
		.blobs = task->services->blobs,
		.id = &task->id,
		.spec = &task->spec,
		.container = task->container,
		.init_program = task->services->init_program,
		.done = collect_done,
		.arg = task,
	};
	struct error err = { 0 };

	if (task->collect)
		return;
	task->collect = collect_begin(&services, &err);
	if (err.code)
		log_warning("no files are collected job=%" PRIu64
			    " rank=%u: %s",
			    task->id.job, task->id.rank, err.text);
}

void step_ended(struct task *task)
{
	loop_source_free(&task->watch);
	loop_source_free(&task->silent);
	loop_source_free(&task->soon);
	step_run_leave(task);
	task_evidence_drop(task);
	monitor_end(take(task->samples));
	if (task->port_fd >= 0)
		close(take_fd(&task->port_fd));
	if (task->ordered && !task->outcome.failure)
		task->outcome.failure = task->ordered;
	if (*task->reason)
		snprintf(task->outcome.text, sizeof(task->outcome.text), "%s",
			 task->reason);
	log_sender_wake(task->services->sender);
	step_collect(task);
}

/* Removal is retried without a limit, and logged once. */
static void retry_removal(struct task *task, const char *what,
			  const struct error *err)
{
	if (!task->retries)
		log_warning("%s not removed yet job=%" PRIu64 " rank=%u: %s",
			    what, task->id.job, task->id.rank, err->text);
	step_retry(task);
}

static void remove_spool(struct task *task)
{
	struct error err;
	int rc = spool_remove(task->services->spool, &task->id, &err);

	if (rc < 0) {
		retry_removal(task, "spool", &err);
		return;
	}
	if (rc > 0)
		trash_empty(task->services->trash);
	task_event(task, EVENT_REMOVED);
}

/* Kill regatta-init if it lives without the engine's knowledge. True: it lived.
 */
static bool end_hidden(struct task *task)
{
	pid_t holder = spool_holder(task->services->spool, &task->id);
	struct error err;

	if (!holder)
		return false;
	task_signal(task, holder, SIGKILL);
	error_set(&err, EBUSY,
		  "its processes are still running, but the engine reports "
		  "none");
	retry_removal(task, "container", &err);
	return true;
}

static void remove_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && err->code != ENOENT) {
		retry_removal(task, "container", err);
		return;
	}
	if (end_hidden(task))
		return;
	streams_clear(&task->streams);
	remove_spool(task);
}

void step_remove(struct task *task)
{

	loop_source_free(&task->watch);
	step_run_leave(task);
	task_evidence_drop(task);
	monitor_end(take(task->samples));
	collect_free(take(task->collect));
	/* create_done() comes back here, so the new container is removed. */
	if (task->creating)
		return;
	task->call =
		engine_container_remove(task->services->engine, task->container,
					CALL_MS, remove_done, task, NULL);
	if (!task->call)
		step_retry(task);
}
