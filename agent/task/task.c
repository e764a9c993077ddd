/* task.c - the life of one task: one container, from its image to its end.
 */
#include "agent/task/task.h"
#include "agent/images/registry_access.h"
#include "agent/task/task_internal.h"
#include "protocol/base/loop.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const enum step next_step[STEPS][EVENTS] = {
	[STEP_CHECK] = {
		[EVENT_CHECKED] = STEP_IMAGE,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_IMAGE] = {
		[EVENT_IMAGE] = STEP_FETCH,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_FETCH] = {
		[EVENT_FETCHED] = STEP_CREATE,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_CREATE] = {
		[EVENT_CREATED] = STEP_INSERT,
		[EVENT_LACKS] = STEP_IMAGE,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_INSERT] = {
		[EVENT_INSERTED] = STEP_READY,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_READY] = {
		[ORDER_START] = STEP_START,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_START] = {
		[EVENT_STARTED] = STEP_RUN,
		[EVENT_EXITED] = STEP_ENDED,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_STOP,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_RUN] = {
		[EVENT_EXITED] = STEP_ENDED,
		[ORDER_STOP] = STEP_STOP,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_STOP] = {
		[EVENT_EXITED] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_ENDED] = {
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_REMOVE] = {
		[EVENT_REMOVED] = STEP_GONE,
	},
};

static const enum task_state step_state[STEPS] = {
	[STEP_CHECK] = TASK_PREPARING,
	[STEP_IMAGE] = TASK_PREPARING,
	[STEP_FETCH] = TASK_PREPARING,
	[STEP_CREATE] = TASK_PREPARING,
	[STEP_INSERT] = TASK_PREPARING,
	[STEP_READY] = TASK_READY,
	[STEP_START] = TASK_STARTING,
	[STEP_RUN] = TASK_RUNNING,
	[STEP_STOP] = TASK_STOPPING,
	[STEP_ENDED] = TASK_ENDED,
	[STEP_REMOVE] = TASK_ENDED,
};
/* clang-format on */

/* Change the step; true when it changed. Entry actions follow. */
static bool task_move(struct task *task, enum event event)
{
	enum step to = next_step[task->step][event];

	if (to == STEP_NONE)
		return false;
	step_leave(task);
	task->step = to;
	return true;
}

static void task_enter(struct task *task)
{
	/* clang-format off */
	static step_fn *const enter[STEPS] = {
		[STEP_CHECK] = step_check,
		[STEP_IMAGE] = step_image,
		[STEP_FETCH] = step_fetch,
		[STEP_CREATE] = step_create,
		[STEP_INSERT] = step_insert,
		[STEP_READY] = step_ready,
		[STEP_START] = step_start,
		[STEP_RUN] = step_run,
		[STEP_STOP] = step_stop,
		[STEP_ENDED] = step_ended,
		[STEP_REMOVE] = step_remove,
	};
	/* clang-format on */

	if (enter[task->step])
		enter[task->step](task);
}

void task_event(struct task *task, enum event event)
{
	enum task_state state;

	if (!task_move(task, event))
		return;
	if (task->step == STEP_GONE) {
		task->services->gone(task->services->arg, task);
		task_free(task);
		return;
	}
	task_enter(task);
	/* An entry action may have changed the step and reported it. */
	state = step_state[task->step];
	if (state != task->told) {
		task->told = state;
		task->services->changed(task->services->arg, task);
	}
}

static struct task *task_make(const struct task_services *services,
			      const struct task_id *id, struct error *err)
{
	struct task *task = error_calloc(sizeof(*task), "task", err);
	uint64_t random[2];

	if (!task)
		return NULL;
	task->services = services;
	task->id = *id;
	task->port_fd = -1;
	task->build_fd = -1;
	task->secrets_fd = -1;
	randombytes_buf(random, sizeof(random));
	snprintf(task->init_path, sizeof(task->init_path),
		 CONTAINER_INIT_PREFIX "%016" PRIx64 "%016" PRIx64, random[0],
		 random[1]);
	return task;
}

struct task *task_new(const struct task_services *services,
		      const struct task_spec *spec, struct error *err)
{
	struct task_id id = task_spec_id(spec);
	owned(task_free) struct task *task = task_make(services, &id, err);

	if (!task)
		return NULL;
	/* The spec is read back, so that the task runs what is on disk. */
	if (spool_create(services->spool, spec, err) < 0 ||
	    spool_read_spec(services->spool, &id, &task->spec, err) < 0 ||
	    streams_open(&task->streams, services->sender, services->spool,
			 &task->spec, true, err) < 0)
		return NULL;
	container_name(&task->spec, services->cluster, task->container);
	task->step = STEP_CHECK;
	task->told = TASK_PREPARING;
	step_check(task);
	return take(task);
}

struct task *task_adopt(const struct task_services *services,
			const struct task_id *id, const cJSON *container,
			struct error *err)
{
	owned(task_free) struct task *task = task_make(services, id, err);
	const char *state = json_get_text_or_empty(container, "State");
	bool created = !strcmp(state, "created");
	bool runs = !strcmp(state, "running");
	bool started, released;

	if (!task)
		return NULL;
	if (spool_read_spec(services->spool, id, &task->spec, err) < 0 ||
	    streams_open(&task->streams, services->sender, services->spool,
			 &task->spec, false, err) < 0)
		return NULL;
	container_name(&task->spec, services->cluster, task->container);
	started = spool_has(services->spool, id, SPOOL_OUT, "started");
	released = spool_has(services->spool, id, SPOOL_IN, "start");
	if (step_concluded(task)) {
		task->step = STEP_ENDED;
		step_collect(task);
	} else if (container &&
		   (released ? !created || started : !created && !runs)) {
		/* A start that is under way is "created" to the engine. One
		 * that was not released either ended before, or waits for it.
		 */
		task->step = STEP_RUN;
		step_watch(task);
		step_sample(task);
		step_inspect(task);
	} else if (container &&
		   (released ||
		    spool_has(services->spool, id, SPOOL_IN, "start.new"))) {
		/* The engine may be starting it, so nothing may be changed in
		 * it. A second start order is harmless.
		 */
		task->step = STEP_START;
		step_start(task);
	} else if (started) {
		step_conclude(task, NULL);
		task->step = STEP_ENDED;
		step_collect(task);
	} else {
		/* If the logins cannot be opened, the controller sends the
		 * order again.
		 */
		if (!container &&
		    registry_access_check(services->registries,
					  task->spec.logins,
					  task->spec.logins_count, err) < 0)
			return NULL;
		task->step = STEP_CHECK;
		step_check(task);
	}
	return take(task);
}

void task_free(struct task *task)
{
	if (!task)
		return;
	step_leave(task);
	engine_call_cancel(task->creating);
	task_evidence_drop(task);
	monitor_end(task->samples);
	collect_free(task->collect);
	streams_clear(&task->streams);
	loop_source_free(&task->retry);
	loop_source_free(&task->watch);
	loop_source_free(&task->silent);
	loop_source_free(&task->soon);
	write_watch_free(task->writes);
	gang_ssh_free(task->ssh);
	if (task->port_fd >= 0)
		close(task->port_fd);
	if (task->secrets_fd >= 0)
		close(task->secrets_fd);
	strings_clear(&task->image_argv);
	codec_clear(&task_spec_schema, &task->spec);
	codec_clear(&task_spec_schema, &task->filled);
	cJSON_Delete(task->facts);
	strings_clear(&task->ulimits);
	free(task->ends);
	free(task->image_id);
	free(task->image_pin);
	free(task->image_user);
	free(task->image_workdir);
	free(task->address);
	strings_clear(&task->addresses);
	free(task);
}

const struct task_id *task_id(const struct task *task)
{
	return &task->id;
}

void task_start(struct task *task, const struct rendezvous *rendezvous)
{
	char *copy;

	if (task->step != STEP_READY)
		return;
	strings_clear(&task->addresses);
	if (strings_copy(&task->addresses, &rendezvous->addresses, NULL) < 0)
		return; /* the order comes again with the next report */
	copy = strdup(rendezvous->address);
	if (!copy)
		return;
	free(task->address);
	task->address = copy;
	task->rendezvous_port = rendezvous->port;
	task->start_ms = rendezvous->time_ms;
	task_event(task, ORDER_START);
}

void task_stop(struct task *task, enum failure reason)
{
	if (!next_step[task->step][ORDER_STOP])
		return;
	task->ordered = reason;
	task_event(task, ORDER_STOP);
}

void task_command(struct task *task, const struct message_command *command,
		  const void *data, size_t size)
{
	if (task->ssh)
		gang_ssh_run(task->ssh, command, data, size);
}

void task_command_answer(struct task *task,
			 const struct message_command_answer *answer,
			 const void *data, size_t size)
{
	if (task->ssh)
		gang_ssh_answered(task->ssh, answer, data, size);
}

void task_discard(struct task *task)
{
	task_event(task, ORDER_DISCARD);
}

static int task_copy_text(char **to, const char *from)
{
	*to = from && *from ? strdup(from) : NULL;
	return *to || !from || !*from ? 0 : -1;
}

void task_touch(const struct task *task)
{
	if (task->collect)
		collect_touch(task->collect);
}

static int copy_ends(const struct task *task, struct task_status *status)
{
	if (!task->ends_count)
		return 0;
	status->ends = calloc(task->ends_count, sizeof(*status->ends));
	if (!status->ends)
		return -1;
	memcpy(status->ends, task->ends,
	       task->ends_count * sizeof(*status->ends));
	status->ends_count = task->ends_count;
	return 0;
}

int task_status(struct task *task, struct task_status *status,
		struct error *err)
{
	enum task_state state = step_state[task->step];
	const struct exit_status *outcome = &task->outcome;

	*status = (struct task_status){
		.job = task->id.job,
		.attempt = task->id.attempt,
		.rank = task->id.rank,
		.code = task->code,
		.port = task->step == STEP_READY ? task->port : 0,
		.exit_code = outcome->exit_code,
		.started_ms = outcome->started_ms,
		.ended_ms = outcome->ended_ms,
		.memory_peak_bytes = outcome->memory_peak_bytes,
		.collecting = task->collect && !collect_is_done(task->collect),
		.facts =
			task->facts ? cJSON_Duplicate(task->facts, true) : NULL,
	};
	if (task_copy_text(&status->state, task_state_name(state)) < 0 ||
	    task_copy_text(&status->failure, failure_name(outcome->failure)) <
		    0 ||
	    task_copy_text(&status->text, outcome->text) < 0 ||
	    task_copy_text(&status->image_id, task->image_id) < 0 ||
	    task_copy_text(&status->image_pin, task->image_pin) < 0 ||
	    strings_copy(&status->ulimits, &task->ulimits, NULL) < 0 ||
	    copy_ends(task, status) < 0 ||
	    (state >= TASK_RUNNING &&
	     streams_list(&task->streams, &status->streams,
			  &status->streams_count) < 0) ||
	    (task->collect && collect_is_done(task->collect) &&
	     collect_list(task->collect, &status->files, &status->files_count) <
		     0)) {
		codec_clear(&task_status_schema, status);
		return error_nomem(err, "task");
	}
	return 0;
}
