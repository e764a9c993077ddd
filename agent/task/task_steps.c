/* task_steps.c - what all steps of a task share: to leave one, to fail, to try
 * again, and to look at the container.
 *
 * Every engine call ends in one callback, which turns the answer into an event
 * (task.c) or tries again later.
 */
#include "agent/task/task_internal.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RETRY_MS 1000 /* between tries while the engine is away */

void step_leave(struct task *task)
{
	engine_call_cancel(take(task->call));
	preflight_cancel(take(task->preflight));
	image_release(take(task->image));
	if (task->build_fd >= 0)
		close(take_fd(&task->build_fd));
	if (task->fetch)
		fetch_release(take(task->fetch));
	workspace_free(take(task->workspace));
	cJSON_Delete(take(task->request));
	resolved_paths_clear(&task->paths);
	loop_timer_stop(task->retry);
	task->retries = 0;
}

void step_outcome(struct task *task, enum failure failure,
		  const struct error *err)
{
	task->outcome.failure = failure;
	task->code = err->code;
	snprintf(task->outcome.text, sizeof(task->outcome.text), "%s",
		 err->text);
}

void step_fail(struct task *task, enum failure failure, const struct error *err)
{
	step_outcome(task, failure, err);
	task_event(task, EVENT_FAILED);
}

bool task_signal(const struct task *task, pid_t pid, int number)
{
	struct spool *spool = task->services->spool;
	owned_fd int process = -1;
	char out[PATH_MAX];
	bool same;

	if (pid <= 1)
		return false;
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	spool_path(spool, &task->id, SPOOL_OUT, out);
	same = spool_has(spool, &task->id, SPOOL_IN, "start")
		       ? spool_holder(spool, &task->id) == pid
		       : release_check_has(pid, out);
	return process >= 0 && same &&
	       syscall(SYS_pidfd_send_signal, process, number, NULL, 0) == 0;
}

static int task_retry_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct task *task = arg;

	if (task->step == STEP_IMAGE)
		step_image(task);
	else if (task->step == STEP_CREATE)
		step_create(task);
	else if (task->step == STEP_INSERT)
		step_insert(task);
	else if (task->step == STEP_REMOVE)
		step_remove(task);
	else
		step_inspect(task);
	return 0;
}

void step_retry(struct task *task)
{
	task->retries++;
	loop_timer(task->services->loop, &task->retry, RETRY_MS, task_retry_run,
		   task, NULL);
}

static void task_exited(struct task *task, const cJSON *container)
{
	step_conclude(task, container);
	task_event(task, EVENT_EXITED);
}

/* If the engine was killed while it started the container, regatta-init may
 * live without its knowledge. False: it does not.
 */
static bool go_on_hidden(struct task *task)
{
	pid_t holder = spool_holder(task->services->spool, &task->id);

	if (!holder)
		return false;
	if (task->step == STEP_START) {
		log_warning("the engine does not report a running container "
			    "job=%" PRIu64 " rank=%u",
			    task->id.job, task->id.rank);
		task->engine_started = true;
		step_release(task, 0);
		return true;
	}
	if (task->step == STEP_STOP)
		task_signal(task, holder, SIGTERM);
	step_retry(task);
	return true;
}

/* Of its process 1, as the engine reports it; 0: none. */
static pid_t container_pid(const cJSON *container)
{
	const cJSON *pid = json_get(json_get(container, "State"), "Pid");

	return cJSON_IsNumber(pid) && pid->valueint > 1 ? pid->valueint : 0;
}

/* Continue from the state that the engine reports. */
static void task_continue(struct task *task, const cJSON *container,
			  const char *status)
{
	bool runs = !strcmp(status, "running") || !strcmp(status, "paused");
	/* A container that the engine lost at its start may have run. */
	bool created = !strcmp(status, "created") &&
		       !spool_has(task->services->spool, &task->id, SPOOL_OUT,
				  "exit.json");
	bool ended =
		!strcmp(status, "exited") || !strcmp(status, "dead") ||
		!strcmp(status, "stopped") || /* Podman, before it cleans up */
		(!created && !strcmp(status, "created"));
	/* Adopted while its start was still under way. */
	bool starting = created && task->step == STEP_RUN &&
			task->retries < STEP_RETRIES_MAX;

	if (!runs && go_on_hidden(task))
		return;
	if (starting || !(runs || created || ended))
		step_retry(task);
	else if (created && task->step == STEP_START)
		step_start(task);
	else if (!runs)
		task_exited(task, container); /* or stopped before it began */
	else if (task->step == STEP_START)
		step_release(task, container_pid(container));
	else if (task->step == STEP_RUN)
		step_run(task);
	else
		step_stop(task);
}

static void task_look_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	const cJSON *state = json_get(answer, "State");

	task->call = NULL;
	if (err && err->code == ENOENT)
		task_exited(task, NULL);
	else if (err)
		step_retry(task);
	else
		task_continue(task, answer,
			      json_get_text_or_empty(state, "Status"));
}

void step_inspect(struct task *task)
{

	task->call = engine_container_inspect(task->services->engine,
					      task->container, CALL_MS,
					      task_look_done, task, NULL);
	if (!task->call)
		step_retry(task);
}
