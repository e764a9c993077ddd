/* task.c - the life of one task: one container, from its image to its end.
 */
#include "agent/tasks/task.h"
#include "agent/engine/container.h"
#include "agent/init/init.h"
#include "agent/tasks/command.h"
#include "agent/tasks/outcome.h"
#include "agent/tasks/preflight.h"
#include "protocol/file.h"
#include "protocol/log.h"
#include "protocol/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#define CALL_MS 30000   /* an engine call that should take milliseconds */
#define START_MS 120000 /* start may load gigabytes of image metadata */
#define RETRY_MS 1000   /* between tries while the engine is away */
#define RETRIES_MAX 120 /* of create, then the task fails */
#define STOP_MARGIN_S 5 /* regatta-init's grace ends before the engine's */

enum step {
	STEP_NONE, /* no such transition: the event is ignored */
	STEP_IMAGE,
	STEP_CREATE,
	STEP_READY,
	STEP_START,
	STEP_RUN,
	STEP_STOP,
	STEP_ENDED,
	STEP_REMOVE,
	STEP_GONE,
	STEPS
};

enum event {
	EVENT_IMAGE,   /* the image is there */
	EVENT_CREATED, /* the container is */
	EVENT_STARTED,
	EVENT_EXITED, /* the command ended: an outcome is known */
	EVENT_FAILED, /* it never began */
	EVENT_REMOVED,
	ORDER_START,
	ORDER_STOP,
	ORDER_DISCARD,
	EVENTS
};

/* clang-format off */
static const enum step next_step[STEPS][EVENTS] = {
	[STEP_IMAGE] = {
		[EVENT_IMAGE] = STEP_CREATE,
		[EVENT_FAILED] = STEP_ENDED,
		[ORDER_STOP] = STEP_ENDED,
		[ORDER_DISCARD] = STEP_REMOVE,
	},
	[STEP_CREATE] = {
		[EVENT_CREATED] = STEP_READY,
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
	[STEP_IMAGE] = TASK_PREPARING,
	[STEP_CREATE] = TASK_PREPARING,
	[STEP_READY] = TASK_READY,
	[STEP_START] = TASK_STARTING,
	[STEP_RUN] = TASK_RUNNING,
	[STEP_STOP] = TASK_STOPPING,
	[STEP_ENDED] = TASK_ENDED,
	[STEP_REMOVE] = TASK_ENDED,
};
/* clang-format on */

struct task {
	const struct task_room *room;
	struct task_id id;
	struct task_spec spec;
	enum step step;
	char container[CONTAINER_NAME_MAX];
	char *image_id;
	struct strings image_argv; /* the image's entry point and command */
	struct image_wait *image;
	struct engine_call *call; /* at most one; of the present step */
	sd_event_source *retry, *watch;
	unsigned int retries;
	int port_fd; /* holds the rendezvous port until the start */
	uint32_t port;
	char *address; /* given with the order to start */
	uint32_t rendezvous_port;
	enum failure ordered; /* why it was told to stop */
	struct outcome outcome;
	int code; /* errno value behind a failure before the run */
	struct pump_stream *streams[INIT_PROCESSES_MAX];
	size_t streams_count;
};

static void task_event(struct task *task, enum event event);
static void task_look(struct task *task);
static void enter_image(struct task *task);
static void enter_create(struct task *task);
static void enter_start(struct task *task);
static void enter_stop(struct task *task);
static void enter_remove(struct task *task);

/* Leave what the old step was waiting for. */
static void leave_step(struct task *task)
{
	if (task->call)
		engine_call_cancel(take(task->call));
	if (task->image)
		image_release(take(task->image));
	loop_timer_stop(task->retry);
	task->retries = 0;
}

static void task_fail(struct task *task, enum failure failure,
		      const struct error *err)
{
	task->outcome.failure = failure;
	task->code = err->code;
	snprintf(task->outcome.text, sizeof(task->outcome.text), "%s",
		 err->text);
	task_event(task, EVENT_FAILED);
}

/* The engine is away or hangs; its answer may come to the next try. */
static bool engine_away(const struct error *err)
{
	return err->code == ECONNREFUSED || err->code == ECONNRESET ||
	       err->code == ETIMEDOUT;
}

static int retry_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct task *task = arg;

	if (task->step == STEP_IMAGE)
		enter_image(task);
	else if (task->step == STEP_CREATE)
		enter_create(task);
	else if (task->step == STEP_REMOVE)
		enter_remove(task);
	else
		task_look(task);
	return 0;
}

static void retry_later(struct task *task)
{
	task->retries++;
	loop_timer(task->room->loop, &task->retry, RETRY_MS, retry_run, task,
		   NULL);
}

/* Streams. */

static int add_streams(struct task *task, bool fresh, struct error *err)
{
	uint32_t count = task->spec.container.processes;
	char name[32];

	if (count > INIT_PROCESSES_MAX)
		return error_set(err, EINVAL,
				 "processes: found %u, allowed are 0 to %d",
				 count, INIT_PROCESSES_MAX);
	for (uint32_t i = 0; i < (count ? count : 1); i++) {
		snprintf(name, sizeof(name), "rank-%u",
			 task->spec.first_rank + i);
		task->streams[i] =
			pump_add(task->room->pump, &task->id, name, fresh, err);
		if (!task->streams[i])
			return -1;
		task->streams_count++;
	}
	return 0;
}

/* The end of the command. */

/* Read the exit record: true when there is one. */
static bool read_outcome(struct task *task)
{
	owned(exit_record_clear) struct exit_record record = { 0 };
	struct error err = { 0 };
	uint64_t written = 0, there = 0;

	if (spool_read_exit(task->room->spool, &task->id, &record, &err) < 0) {
		if (err.code != ENOENT)
			log_warning("unreadable exit record job=%" PRIu64
				    " rank=%u: %s",
				    task->id.job, task->id.rank, err.text);
		return false;
	}
	outcome_from_record(&task->outcome, &record, task->ordered);
	for (size_t i = 0; i < record.processes_count; i++)
		written += record.processes[i].log_bytes;
	for (size_t i = 0; i < task->streams_count; i++)
		there += pump_size(task->streams[i]);
	if (there < written && !task->outcome.failure) {
		task->outcome.failure = FAILURE_NODE_LOST;
		snprintf(task->outcome.text, sizeof(task->outcome.text),
			 "%" PRIu64 " of %" PRIu64
			 " bytes of output were lost on the node",
			 written - there, written);
	}
	return true;
}

static int watch_run(sd_event_source *source, const struct inotify_event *event,
		     void *arg)
{
	struct task *task = arg;

	if ((event->mask & IN_MOVED_TO) && event->len &&
	    !strcmp(event->name, "exit.json") && read_outcome(task))
		task_event(task, EVENT_EXITED);
	else
		pump_wake(task->room->pump);
	return 0;
}

static void watch_spool(struct task *task)
{
	char path[PATH_MAX];

	if (task->watch)
		return;
	spool_out_path(task->room->spool, &task->id, path);
	/* Without it we still poll, and the engine tells the end. */
	sd_event_add_inotify(task->room->loop, &task->watch, path,
			     IN_MODIFY | IN_MOVED_TO | IN_CREATE, watch_run,
			     task);
}

static void wait_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && engine_away(err))
		retry_later(task);
	else
		task_look(task);
}

static void enter_run(struct task *task)
{
	struct error err;

	watch_spool(task);
	/* It may have ended before the watch was set. */
	if (read_outcome(task)) {
		task_event(task, EVENT_EXITED);
		return;
	}
	task->call = engine_container_wait(task->room->engine, task->container,
					   wait_done, task, &err);
	if (!task->call)
		retry_later(task);
}

static void task_exited(struct task *task, const cJSON *container)
{
	outcome_from_engine(&task->outcome, container, task->ordered);
	task_event(task, EVENT_EXITED);
}

/* Go on from what the engine says the container is. */
static void go_on(struct task *task, const cJSON *container, const char *status)
{
	bool runs = !strcmp(status, "running") || !strcmp(status, "paused");

	bool created = !strcmp(status, "created");

	if (created && task->step == STEP_START)
		enter_start(task);
	else if (created || !strcmp(status, "exited") ||
		 !strcmp(status, "dead"))
		task_exited(task, container); /* or stopped before it began */
	else if (runs && task->step == STEP_START)
		task_event(task, EVENT_STARTED);
	else if (runs && task->step == STEP_RUN)
		enter_run(task);
	else if (runs)
		enter_stop(task);
	else
		retry_later(task);
}

static void look_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	const cJSON *state = cJSON_GetObjectItemCaseSensitive(answer, "State");
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(state, "Status");

	task->call = NULL;
	if (read_outcome(task))
		task_event(task, EVENT_EXITED);
	else if (err && err->code == ENOENT)
		task_exited(task, NULL);
	else if (err)
		retry_later(task);
	else
		go_on(task, answer,
		      cJSON_IsString(status) ? status->valuestring : "");
}

static void task_look(struct task *task)
{
	struct error err;

	task->call =
		engine_container_inspect(task->room->engine, task->container,
					 CALL_MS, look_done, task, &err);
	if (!task->call)
		retry_later(task);
}

/* Preparing. */

static int keep_image(struct task *task, const struct image *image)
{
	const cJSON *lists[] = { image->entrypoint, image->command };
	const cJSON *item;

	free(task->image_id);
	task->image_id = strdup(image->id);
	strings_clear(&task->image_argv);
	for (size_t i = 0; i < 2; i++) {
		cJSON_ArrayForEach(item, lists[i])
		{
			if (cJSON_IsString(item) &&
			    strings_add(&task->image_argv, item->valuestring,
					NULL) < 0)
				return -1;
		}
	}
	return task->image_id ? 0 : -1;
}

static void image_done(void *arg, const struct error *err,
		       const struct image *image)
{
	struct task *task = arg;
	struct error nomem;

	task->image = NULL;
	/* A time-out is the registry's: it was tried again already. */
	if (err && engine_away(err) && err->code != ETIMEDOUT &&
	    task->retries < RETRIES_MAX) {
		retry_later(task);
	} else if (err) {
		task_fail(task, FAILURE_IMAGE, err);
	} else if (keep_image(task, image) < 0) {
		error_nomem(&nomem, "image");
		task_fail(task, FAILURE_IMAGE, &nomem);
	} else {
		task_event(task, EVENT_IMAGE);
	}
}

static void image_progress(void *arg, const struct image_progress *progress)
{
	struct task *task = arg;

	task->room->progress(task->room->arg, task, progress);
}

static void enter_image(struct task *task)
{
	const struct container_spec *container = &task->spec.container;
	struct error err;

	if (preflight_check(&task->spec, task->room->folder, &err) < 0) {
		task_fail(task, FAILURE_PREFLIGHT, &err);
		return;
	}
	task->image = image_ensure(task->room->images, container->image,
				   container->build, image_progress, image_done,
				   task, &err);
	if (!task->image)
		task_fail(task, FAILURE_IMAGE, &err);
}

/* The name is in use: by the container of this very task, made before an agent
 * ended or an answer was lost, or by a stranger.
 */
static void conflict_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	const cJSON *config =
		cJSON_GetObjectItemCaseSensitive(answer, "Config");
	const cJSON *labels =
		cJSON_GetObjectItemCaseSensitive(config, "Labels");
	const cJSON *label =
		cJSON_GetObjectItemCaseSensitive(labels, LABEL_SPEC);
	char hash[CONTAINER_HASH_SIZE];
	struct error stranger;

	task->call = NULL;
	if (err) {
		retry_later(task);
	} else if (container_spec_hash(&task->spec, hash, &stranger) < 0) {
		task_fail(task, FAILURE_CREATE, &stranger);
	} else if (cJSON_IsString(label) && !strcmp(label->valuestring, hash)) {
		task_event(task, EVENT_CREATED);
	} else {
		error_set(&stranger, EEXIST,
			  "a container named %s is there that is not of this "
			  "task",
			  task->container);
		task_fail(task, FAILURE_CREATE, &stranger);
	}
}

static void create_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	struct error other;

	task->call = NULL;
	if (!err) {
		task_event(task, EVENT_CREATED);
	} else if (err->code == EEXIST) {
		task->call =
			engine_container_inspect(task->room->engine,
						 task->container, CALL_MS,
						 conflict_done, task, &other);
		if (!task->call)
			retry_later(task);
	} else if (engine_away(err) && task->retries < RETRIES_MAX) {
		retry_later(task);
	} else {
		task_fail(task, FAILURE_CREATE, err);
	}
}

static void enter_create(struct task *task)
{
	char in[PATH_MAX], out[PATH_MAX];
	struct container_place place = {
		.cluster = task->room->cluster,
		.node = task->room->node,
		.init_program = task->room->init_program,
		.in_folder = in,
		.out_folder = out,
		.image = task->image_id,
	};
	struct error err;
	cJSON *body;

	spool_in_path(task->room->spool, &task->id, in);
	spool_out_path(task->room->spool, &task->id, out);
	body = container_body(&task->spec, &place, &err);
	if (!body) {
		task_fail(task, FAILURE_CREATE, &err);
		return;
	}
	task->call =
		engine_container_create(task->room->engine, task->container,
					body, CALL_MS, create_done, task, &err);
	cJSON_Delete(body);
	if (!task->call)
		retry_later(task);
}

static void enter_ready(struct task *task)
{
	struct error err;

	/* Only node rank 0 meets the others. */
	if (task->id.rank == 0 && task->port_fd < 0 &&
	    preflight_port(&task->port_fd, &task->port, &err) < 0)
		task_fail(task, FAILURE_PREFLIGHT, &err);
}

/* Running and stopping. */

static int write_start(struct task *task, struct error *err)
{
	struct rendezvous rendezvous = { task->address, task->rendezvous_port };
	owned(buffer_clear) struct buffer start;

	buffer_init(&start, INIT_START_MAX);
	if (command_build(&task->spec, &task->image_argv, &rendezvous, &start,
			  err) < 0)
		return -1;
	return spool_write_start(task->room->spool, &task->id, start.data,
				 start.size, err);
}

static void start_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (!err)
		task_event(task, EVENT_STARTED);
	else if (engine_away(err))
		task_look(task); /* it may have been started all the same */
	else
		task_fail(task, FAILURE_CREATE, err);
}

static void enter_start(struct task *task)
{
	struct error err;

	if (task->port_fd >= 0)
		close(take_fd(&task->port_fd));
	if (write_start(task, &err) < 0) {
		task_fail(task, FAILURE_CREATE, &err);
		return;
	}
	task->call = engine_container_start(task->room->engine, task->container,
					    START_MS, start_done, task, &err);
	if (!task->call)
		retry_later(task);
}

static void stop_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && err->code != ENOENT)
		retry_later(task);
	else
		task_look(task);
}

static void enter_stop(struct task *task)
{
	uint32_t grace_ms = task->spec.container.grace_ms;
	uint32_t grace_s = grace_ms / 1000 + STOP_MARGIN_S;
	struct error err;

	watch_spool(task);
	task->call = engine_container_stop(task->room->engine, task->container,
					   grace_s, grace_s * 1000 + CALL_MS,
					   stop_done, task, &err);
	if (!task->call)
		retry_later(task);
}

static void enter_ended(struct task *task)
{
	loop_source_free(&task->watch);
	if (task->port_fd >= 0)
		close(take_fd(&task->port_fd));
	if (task->ordered && !task->outcome.failure)
		task->outcome.failure = task->ordered;
	pump_wake(task->room->pump);
}

static void remove_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	struct error other;

	task->call = NULL;
	if (err && err->code != ENOENT) {
		retry_later(task);
		return;
	}
	for (size_t i = 0; i < task->streams_count; i++)
		pump_remove(task->streams[i]);
	task->streams_count = 0;
	if (spool_remove(task->room->spool, &task->id, &other) < 0) {
		log_warning("spool not removed job=%" PRIu64 " rank=%u: %s",
			    task->id.job, task->id.rank, other.text);
		retry_later(task);
		return;
	}
	task_event(task, EVENT_REMOVED);
}

static void enter_remove(struct task *task)
{
	struct error err;

	loop_source_free(&task->watch);
	task->call = engine_container_remove(task->room->engine,
					     task->container, true, true,
					     CALL_MS, remove_done, task, &err);
	if (!task->call)
		retry_later(task);
}

/* The machine. */

/* Change the step; true when it changed. Entry actions follow. */
static bool task_move(struct task *task, enum event event)
{
	enum step to = next_step[task->step][event];

	if (to == STEP_NONE)
		return false;
	leave_step(task);
	task->step = to;
	return true;
}

static void task_enter(struct task *task)
{
	/* clang-format off */
	static void (*const enter[STEPS])(struct task *) = {
		[STEP_IMAGE] = enter_image,
		[STEP_CREATE] = enter_create,
		[STEP_READY] = enter_ready,
		[STEP_START] = enter_start,
		[STEP_RUN] = enter_run,
		[STEP_STOP] = enter_stop,
		[STEP_ENDED] = enter_ended,
		[STEP_REMOVE] = enter_remove,
	};
	/* clang-format on */

	if (enter[task->step])
		enter[task->step](task);
}

static void task_event(struct task *task, enum event event)
{
	enum step before = task->step;

	if (!task_move(task, event))
		return;
	if (task->step == STEP_GONE) {
		task->room->gone(task->room->arg, task);
		task_free(task);
		return;
	}
	task_enter(task);
	/* An entry action may have moved on, and then told of it already. */
	if (step_state[task->step] != step_state[before])
		task->room->changed(task->room->arg, task);
}

static struct task *task_make(const struct task_room *room,
			      const struct task_id *id, struct error *err)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task) {
		error_nomem(err, "task");
		return NULL;
	}
	task->room = room;
	task->id = *id;
	task->port_fd = -1;
	return task;
}

struct task *task_new(const struct task_room *room,
		      const struct task_spec *spec, struct error *err)
{
	struct task_id id = task_spec_id(spec);
	owned(task_free) struct task *task = task_make(room, &id, err);

	if (!task)
		return NULL;
	/* The spec is read back: what lies on disk is what is run. */
	if (spool_create(room->spool, spec, err) < 0 ||
	    spool_read_spec(room->spool, &id, &task->spec, err) < 0 ||
	    add_streams(task, true, err) < 0)
		return NULL;
	container_name(&task->spec, room->cluster, task->container);
	task->step = STEP_IMAGE;
	enter_image(task);
	return take(task);
}

struct task *task_adopt(const struct task_room *room, const struct task_id *id,
			const cJSON *container, struct error *err)
{
	owned(task_free) struct task *task = task_make(room, id, err);
	const cJSON *state =
		cJSON_GetObjectItemCaseSensitive(container, "State");
	bool created =
		cJSON_IsString(state) && !strcmp(state->valuestring, "created");

	if (!task)
		return NULL;
	if (spool_read_spec(room->spool, id, &task->spec, err) < 0 ||
	    add_streams(task, false, err) < 0)
		return NULL;
	container_name(&task->spec, room->cluster, task->container);
	if (read_outcome(task)) {
		task->step = STEP_ENDED;
	} else if (container && !created) {
		task->step = STEP_RUN;
		watch_spool(task);
		task_look(task);
	} else if (spool_started(room->spool, id)) {
		outcome_from_engine(&task->outcome, NULL, FAILURE_NONE);
		task->step = STEP_ENDED;
	} else {
		task->step = STEP_IMAGE;
		enter_image(task);
	}
	return take(task);
}

void task_free(struct task *task)
{
	if (!task)
		return;
	leave_step(task);
	for (size_t i = 0; i < task->streams_count; i++)
		pump_remove(task->streams[i]);
	loop_source_free(&task->retry);
	loop_source_free(&task->watch);
	if (task->port_fd >= 0)
		close(task->port_fd);
	strings_clear(&task->image_argv);
	codec_clear(&task_spec_schema, &task->spec);
	free(task->image_id);
	free(task->address);
	free(task);
}

const struct task_id *task_id(const struct task *task)
{
	return &task->id;
}

void task_start(struct task *task, const char *address, uint32_t port)
{
	char *copy;

	if (task->step != STEP_READY)
		return;
	copy = strdup(address);
	if (!copy)
		return; /* the order comes again with the next report */
	free(task->address);
	task->address = copy;
	task->rendezvous_port = port;
	task_event(task, ORDER_START);
}

void task_stop(struct task *task, enum failure reason)
{
	if (!next_step[task->step][ORDER_STOP])
		return;
	task->ordered = reason;
	task_event(task, ORDER_STOP);
}

void task_discard(struct task *task)
{
	task_event(task, ORDER_DISCARD);
}

static int copy_text(char **to, const char *from)
{
	*to = from && *from ? strdup(from) : NULL;
	return *to || !from || !*from ? 0 : -1;
}

static int copy_streams(struct task *task, struct task_status *status)
{
	status->streams = calloc(task->streams_count, sizeof(*status->streams));
	if (!status->streams)
		return -1;
	for (; status->streams_count < task->streams_count;
	     status->streams_count++) {
		struct pump_stream *from = task->streams[status->streams_count];
		struct stream_size *to =
			&status->streams[status->streams_count];

		to->size = pump_size(from);
		if (copy_text(&to->name, pump_name(from)) < 0)
			return -1;
	}
	return 0;
}

int task_status(struct task *task, struct task_status *status,
		struct error *err)
{
	enum task_state state = step_state[task->step];
	const struct outcome *outcome = &task->outcome;

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
	};
	if (copy_text(&status->state, task_state_name(state)) < 0 ||
	    copy_text(&status->failure, failure_name(outcome->failure)) < 0 ||
	    copy_text(&status->text, outcome->text) < 0 ||
	    copy_text(&status->image_id, task->image_id) < 0 ||
	    (state == TASK_ENDED && copy_streams(task, status) < 0)) {
		codec_clear(&task_status_schema, status);
		return error_nomem(err, "task");
	}
	return 0;
}
