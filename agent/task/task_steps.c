/* task_steps.c - what a task does in each of its steps.
 *
 * Every engine call ends in one callback, which turns the answer into an event
 * (task.c) or tries again later.
 */
#include "agent/metrics/network.h"
#include "agent/task/command.h"
#include "agent/task/secrets.h"
#include "agent/task/start_error.h"
#include "agent/task/task_internal.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/secret.h"
#include "protocol/hardware/sample_format.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#define CALL_MS 30000   /* an engine call that should take milliseconds */
#define START_MS 120000 /* start may load gigabytes of image metadata */
#define HOSTFILE_MAX (4 << 20)
#define FILE_TEXT_MAX (1 << 20)
#define LACKED_MAX 3
#define SUID_RECORD "suid=1" /* with its NUL: agent/init/init.h */
#define RETRY_MS 1000        /* between tries while the engine is away */
#define REMOVE_PAUSE_MS 1    /* between pieces of a spool */
#define STOP_MARGIN_S 5      /* regatta-init's grace ends before the engine's */

void step_leave(struct task *task)
{
	if (task->call)
		engine_call_cancel(take(task->call));
	preflight_cancel(take(task->preflight));
	if (task->image)
		image_release(take(task->image));
	if (task->build_fd >= 0)
		close(take_fd(&task->build_fd));
	if (task->fetch)
		fetch_release(take(task->fetch));
	workspace_upload_free(take(task->insert));
	loop_timer_stop(task->retry);
	task->retries = 0;
}

void step_fail(struct task *task, enum failure failure, const struct error *err)
{
	task->outcome.failure = failure;
	task->code = err->code;
	snprintf(task->outcome.text, sizeof(task->outcome.text), "%s",
		 err->text);
	task_event(task, EVENT_FAILED);
}

bool step_engine_away(const struct error *err)
{
	return err->code == ECONNREFUSED || err->code == ECONNRESET ||
	       err->code == ETIMEDOUT;
}

static int retry_run(sd_event_source *source, uint64_t usec, void *arg)
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
		step_look(task);
	return 0;
}

void step_retry(struct task *task)
{
	task->retries++;
	loop_timer(task->room->loop, &task->retry, RETRY_MS, retry_run, task,
		   NULL);
}

static int watch_run(sd_event_source *source, const struct inotify_event *event,
		     void *arg)
{
	struct task *task = arg;

	/* The engine tells the end; this is only a file. */
	if (event->len && !strcmp(event->name, "exit.json"))
		step_record_seen(task);
	if (event->len && !strncmp(event->name, "node-", 5))
		streams_look(&task->streams);
	if (event->len && task->ssh && !(event->mask & IN_MODIFY))
		gang_ssh_seen(task->ssh, event->name);
	log_sender_wake(task->room->sender);
	return 0;
}

void step_watch(struct task *task)
{
	char path[PATH_MAX];

	if (task->watch)
		return;
	spool_out_path(task->room->spool, &task->id, path);
	/* Without it we still poll, and the engine tells the end. */
	sd_event_add_inotify(task->room->loop, &task->watch, path,
			     IN_MODIFY | IN_MOVED_TO | IN_CREATE, watch_run,
			     task);
	/* It may have written before the watch was set. */
	if (spool_has_exit(task->room->spool, &task->id))
		step_record_seen(task);
	log_sender_wake(task->room->sender);
}

void step_sample(struct task *task)
{
	char name[SAMPLE_FORMAT_STREAM_SIZE];
	struct error err;
	int fd;

	if (task->samples || !task->room->monitor)
		return;
	sample_format_stream(task->id.rank, name);
	fd = spool_append_stream(task->room->spool, &task->id, name, &err);
	if (fd >= 0)
		task->samples =
			monitor_begin(task->room->monitor, task->id.rank,
				      &task->spec.devices, fd, &err);
	if (!task->samples)
		log_warning("no samples job=%" PRIu64 " rank=%u: %s",
			    task->id.job, task->id.rank, err.text);
}

static void wait_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && step_engine_away(err))
		step_retry(task);
	else
		step_look(task);
}

/* disk_over_fn */
static void disk_over(void *arg, uint64_t bytes)
{
	struct task *task = arg;

	snprintf(task->reason, sizeof(task->reason),
		 "limits.disk: found %" PRIu64
		 " MiB written to the container's "
		 "own disk, allowed by %.60s: %" PRIu64 " MiB",
		 bytes >> 20, node_policy_name(task->room->node_policy),
		 node_policy_disk(task->room->node_policy) >> 20);
	task_stop(task, FAILURE_POLICY);
}

static void limit_disk(struct task *task)
{
	uint64_t limit = node_policy_disk(task->room->node_policy);
	struct error err;

	if (task->disk || !limit)
		return;
	task->disk =
		disk_watch_new(task->room->loop, task->room->engine,
			       task->container, limit, disk_over, task, &err);
	if (!task->disk)
		log_warning("limits.disk: %s", err.text);
}

/* spool_over_fn */
static void output_over(void *arg, const char *why)
{
	struct task *task = arg;

	snprintf(task->reason, sizeof(task->reason), "output: %s", why);
	task_stop(task, FAILURE_POLICY);
}

static void limit_output(struct task *task)
{
	uint64_t limit = task->spec.container.log_limit_bytes;
	struct error err;

	if (task->output)
		return;
	task->output =
		spool_watch_new(task->room->loop, task->room->spool, &task->id,
				limit ? limit : LOG_LIMIT_DEFAULT, output_over,
				task, &err);
	if (!task->output)
		log_warning("output: %s", err.text);
}

static void carry_commands(struct task *task)
{
	struct error err;

	if (task->ssh || !task->spec.container.ssh)
		return;
	task->ssh = gang_ssh_new(task->room->loop, task->room->spool, &task->id,
				 task->room->say, task->room->arg, &err);
	if (!task->ssh)
		log_warning("ssh: %s", err.text);
}

/* What is done while the command runs. */
static void run_leave(struct task *task)
{
	gang_ssh_free(take(task->ssh));
	disk_watch_free(take(task->disk));
	spool_watch_free(take(task->output));
}

void step_run(struct task *task)
{
	struct error err;

	step_watch(task);
	step_sample(task);
	limit_disk(task);
	limit_output(task);
	carry_commands(task);
	task->call = engine_container_wait(task->room->engine, task->container,
					   wait_done, task, &err);
	if (!task->call)
		step_retry(task);
}

static void task_exited(struct task *task, const cJSON *container)
{
	step_conclude(task, container);
	task_event(task, EVENT_EXITED);
}

/* regatta-init lives, and the engine does not know: it was killed while it
 * started the container. false: there is no such thing.
 */
static bool go_on_hidden(struct task *task)
{
	pid_t holder = spool_holder(task->room->spool, &task->id);

	if (!holder)
		return false;
	if (task->step == STEP_START) {
		log_warning("the engine does not know that it runs job=%" PRIu64
			    " rank=%u",
			    task->id.job, task->id.rank);
		task_event(task, EVENT_STARTED);
		return true;
	}
	if (task->step == STEP_STOP && holder > 0)
		kill(holder, SIGTERM);
	step_retry(task);
	return true;
}

/* Go on from what the engine says the container is. */
static void go_on(struct task *task, const cJSON *container, const char *status)
{
	bool runs = !strcmp(status, "running") || !strcmp(status, "paused");
	/* One that the engine lost while it started it may have run. */
	bool created = !strcmp(status, "created") &&
		       !spool_has_exit(task->room->spool, &task->id);
	bool ended = !strcmp(status, "exited") || !strcmp(status, "dead") ||
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
		task_event(task, EVENT_STARTED);
	else if (task->step == STEP_RUN)
		step_run(task);
	else
		step_stop(task);
}

static void look_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	const cJSON *state = cJSON_GetObjectItemCaseSensitive(answer, "State");
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(state, "Status");

	task->call = NULL;
	if (err && err->code == ENOENT)
		task_exited(task, NULL);
	else if (err)
		step_retry(task);
	else
		go_on(task, answer,
		      cJSON_IsString(status) ? status->valuestring : "");
}

void step_look(struct task *task)
{
	struct error err;

	task->call =
		engine_container_inspect(task->room->engine, task->container,
					 CALL_MS, look_done, task, &err);
	if (!task->call)
		step_retry(task);
}

/* Preparing. */

/* Complete the spec for the devices of this node, once. */
static int task_complete(struct task *task, bool probe, struct error *err)
{
	if (task->filled.container.image && !probe)
		return 0;
	codec_clear(&task_spec_schema, &task->filled);
	return device_binding_apply(task->room->allot, &task->spec, probe,
				    &task->filled, err);
}

static void preflight_done(void *arg, const struct error *err, cJSON *facts)
{
	struct task *task = arg;

	task->preflight = NULL;
	cJSON_Delete(task->facts);
	task->facts = facts;
	if (err)
		step_fail(task, FAILURE_PREFLIGHT, err);
	else
		task_event(task, EVENT_CHECKED);
}

/* Where the container runs. in, out: PATH_MAX bytes for its folders. */
static struct container_place place_of(struct task *task, char *in, char *out)
{
	spool_in_path(task->room->spool, &task->id, in);
	spool_out_path(task->room->spool, &task->id, out);
	return (struct container_place){
		.secrets = task_secrets_files(&task->spec),
		.cluster = task->room->cluster,
		.node = task->room->node,
		.init_program = task->room->init_program,
		.in_folder = in,
		.out_folder = out,
		.image = task->image_id ? task->image_id
					: task->spec.container.image,
		.pids = guard_pids(task->room->node_policy),
		.image_user = task->image_user,
		.device_root = task->room->allot->roots->dev,
		.ordered = &task->spec,
	};
}

/* Does the node's policy allow the task? false: it has failed. */
static bool task_allowed(struct task *task, const struct container_place *place)
{
	struct error err;

	if (node_policy_check(task->room->node_policy, task->room->allot,
			      &task->spec, &task->filled, place, &err) == 0)
		return true;
	step_fail(task, err.code == EINVAL ? FAILURE_CREATE : FAILURE_POLICY,
		  &err);
	return false;
}

/* Whose paths answer: what is there, and what is allowed. */
static void check_task(struct task *task)
{
	const struct preflight_room *room = &task->room->preflight;
	char in[PATH_MAX], out[PATH_MAX];
	struct container_place place = place_of(task, in, out);
	struct error err;

	if (!task_allowed(task, &place))
		return;
	if (preflight_check(room, &task->spec, task->room->folder, &err) == 0)
		task->preflight = preflight_begin(room, &task->spec,
						  preflight_done, task, &err);
	if (!task->preflight)
		step_fail(task, FAILURE_PREFLIGHT, &err);
}

static void paths_reached(void *arg, const struct error *err, cJSON *facts)
{
	struct task *task = arg;

	task->preflight = NULL;
	if (err)
		step_fail(task, FAILURE_PREFLIGHT, err);
	else
		check_task(task);
}

void step_check(struct task *task)
{
	const struct container_spec *container = &task->spec.container;
	struct error err;

	if (task_complete(task, true, &err) < 0 ||
	    task_secrets_check(&task->spec, &err) < 0) {
		step_fail(task, FAILURE_PREFLIGHT, &err);
		return;
	}
	if (!container->mounts_count && !container->needs.count) {
		check_task(task);
		return;
	}
	task->preflight = preflight_reach(&task->room->preflight, &task->spec,
					  paths_reached, task, &err);
	if (!task->preflight)
		step_fail(task, FAILURE_PREFLIGHT, &err);
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
		step_retry(task);
	} else if (container_spec_hash(&task->spec, hash, &stranger) < 0) {
		step_fail(task, FAILURE_CREATE, &stranger);
	} else if (cJSON_IsString(label) && !strcmp(label->valuestring, hash)) {
		task_event(task, EVENT_CREATED);
	} else {
		error_set(&stranger, EEXIST,
			  "a container named %s is there that is not of this "
			  "task",
			  task->container);
		step_fail(task, FAILURE_CREATE, &stranger);
	}
}

static void create_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	struct error other;

	task->creating = NULL;
	if (task->step == STEP_REMOVE) {
		step_remove(task);
	} else if (task->step != STEP_CREATE) {
		return; /* it was told to stop: discard removes it */
	} else if (!err) {
		task_event(task, EVENT_CREATED);
	} else if (err->code == EEXIST) {
		task->call =
			engine_container_inspect(task->room->engine,
						 task->container, CALL_MS,
						 conflict_done, task, &other);
		if (!task->call)
			step_retry(task);
	} else if (step_engine_away(err) && task->retries < STEP_RETRIES_MAX) {
		step_retry(task);
	} else if (err->code == ENOENT && task->lacked++ < LACKED_MAX) {
		task_event(task, EVENT_LACKS);
	} else {
		step_fail(task, FAILURE_CREATE, err);
	}
}

void step_create(struct task *task)
{
	char in[PATH_MAX], out[PATH_MAX];
	struct container_place place = place_of(task, in, out);
	struct error err;
	cJSON *body;

	if (task_complete(task, false, &err) < 0) {
		step_fail(task, FAILURE_PREFLIGHT, &err);
		return;
	}
	/* Links may lead elsewhere by now, and the policy may be another. */
	if (!task_allowed(task, &place))
		return;
	body = container_body(&task->filled, &place, &err);
	if (!body) {
		step_fail(task, FAILURE_CREATE, &err);
		return;
	}
	task->creating =
		engine_container_create(task->room->engine, task->container,
					body, CALL_MS, create_done, task, &err);
	cJSON_Delete(body);
	if (!task->creating)
		step_retry(task);
}

void step_ready(struct task *task)
{
	struct error err;

	/* Only node rank 0 meets the others. */
	if (task->id.rank == 0 && task->port_fd < 0 &&
	    preflight_port(&task->port_fd, &task->port, &err) < 0)
		step_fail(task, FAILURE_PREFLIGHT, &err);
}

/* Running and stopping. */

static int write_files(struct task *task, const struct rendezvous *rendezvous,
		       struct error *err)
{
	const struct container_spec *container = &task->spec.container;

	for (size_t i = 0; i < container->files_count; i++) {
		const char *name = container->files[i].name;
		owned(buffer_clear) struct buffer text;

		buffer_init(&text, FILE_TEXT_MAX);
		if (!file_name_valid(name))
			return error_set(err, EINVAL,
					 "the file %.80s has a name that is "
					 "not allowed",
					 name);
		if (command_text(&task->spec, container->files[i].text,
				 rendezvous, &text, err) < 0 ||
		    spool_write_in(task->room->spool, &task->id, name,
				   text.data, text.size, err) < 0)
			return error_prefix(err, "file %s", name);
	}
	return 0;
}

static const char *work_folder(const struct task *task)
{
	const char *folder = task->spec.container.workdir
				     ? task->spec.container.workdir
				     : task->image_workdir;

	return folder && *folder ? folder : "/";
}

static int write_start(struct task *task, const struct container_place *place,
		       struct error *err)
{
	char interface[IF_NAMESIZE];
	struct rendezvous rendezvous = {
		.address = task->address,
		.port = task->rendezvous_port,
		.time_ms = task->start_ms,
		.addresses = task->addresses,
		.interface = network_interface(task->room->address, interface),
	};
	owned(secret_buffer_clear) struct buffer start;
	owned(buffer_clear) struct buffer hosts;

	buffer_init(&start, INIT_START_MAX);
	buffer_init(&hosts, HOSTFILE_MAX);
	if (command_hostfile(&task->spec, &rendezvous, &hosts, err) < 0 ||
	    (hosts.size &&
	     spool_write_in(task->room->spool, &task->id, "hostfile",
			    hosts.data, hosts.size, err) < 0) ||
	    write_files(task, &rendezvous, err) < 0 ||
	    collect_note(task->room->spool, &task->id, &task->spec,
			 work_folder(task), &rendezvous, err) < 0)
		return -1;
	if (command_build(&task->filled, &task->image_argv, &rendezvous, &start,
			  err) < 0 ||
	    task_secrets_add(&task->spec, task->room->registries, &start, err) <
		    0)
		return -1;
	if (guard_suid(task->room->node_policy, &task->filled, place) &&
	    buffer_append(&start, SUID_RECORD, sizeof(SUID_RECORD), err) < 0)
		return -1;
	if (spool_reserve_record(task->room->spool, &task->id, err) < 0)
		return -1;
	return spool_write_start(task->room->spool, &task->id, start.data,
				 start.size, err);
}

static void start_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	struct error why;

	task->call = NULL;
	if (!err) {
		task_event(task, EVENT_STARTED);
	} else if (step_engine_away(err) ||
		   spool_holder(task->room->spool, &task->id)) {
		step_look(task); /* it may have been started all the same */
	} else {
		why = *err;
		start_error_explain(&task->filled.container.ulimits, &why);
		step_fail(task, FAILURE_CREATE, &why);
	}
}

void step_start(struct task *task)
{
	char in[PATH_MAX], out[PATH_MAX];
	struct container_place place = place_of(task, in, out);
	struct error err;

	if (task->port_fd >= 0)
		close(take_fd(&task->port_fd));
	if (task_complete(task, false, &err) < 0) {
		step_fail(task, FAILURE_PREFLIGHT, &err);
		return;
	}
	/* The engine follows links now, and not when it makes the container. */
	if (!task_allowed(task, &place))
		return;
	carry_commands(task);
	/* Of one that is adopted it is there, as its order was. */
	if (task->address && write_start(task, &place, &err) < 0) {
		step_fail(task, FAILURE_CREATE, &err);
		return;
	}
	task->call = engine_container_start(task->room->engine, task->container,
					    START_MS, start_done, task, &err);
	if (!task->call)
		step_retry(task);
}

static void stop_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && err->code != ENOENT)
		step_retry(task);
	else
		step_look(task);
}

void step_stop(struct task *task)
{
	uint32_t grace_ms = task->spec.container.grace_ms;
	uint32_t grace_s = grace_ms / 1000 + STOP_MARGIN_S;
	struct error err;

	run_leave(task);
	step_watch(task);
	if (look_abort(task))
		return;
	task->call = engine_container_stop(task->room->engine, task->container,
					   grace_s, grace_s * 1000 + CALL_MS,
					   stop_done, task, &err);
	if (!task->call)
		step_retry(task);
}

static void collect_done(void *arg)
{
	struct task *task = arg;

	task->room->changed(task->room->arg, task);
}

void step_collect(struct task *task)
{
	struct collect_room room = {
		.loop = task->room->loop,
		.engine = task->room->engine,
		.spool = task->room->spool,
		.contents = task->room->contents,
		.id = &task->id,
		.spec = &task->spec,
		.container = task->container,
		.done = collect_done,
		.arg = task,
	};
	struct error err = { 0 };

	if (task->collect)
		return;
	task->collect = collect_begin(&room, &err);
	if (err.code)
		log_warning("no files are collected job=%" PRIu64
			    " rank=%u: %s",
			    task->id.job, task->id.rank, err.text);
}

void step_ended(struct task *task)
{
	loop_source_free(&task->watch);
	loop_source_free(&task->silent);
	run_leave(task);
	look_drop(task);
	monitor_end(take(task->samples));
	if (task->port_fd >= 0)
		close(take_fd(&task->port_fd));
	if (task->ordered && !task->outcome.failure)
		task->outcome.failure = task->ordered;
	if (*task->reason)
		snprintf(task->outcome.text, sizeof(task->outcome.text), "%s",
			 task->reason);
	log_sender_wake(task->room->sender);
	step_collect(task);
}

/* It is tried for ever; the log says so once. */
static void retry_removal(struct task *task, const char *what,
			  const struct error *err)
{
	if (!task->retries)
		log_warning("%s not removed yet job=%" PRIu64 " rank=%u: %s",
			    what, task->id.job, task->id.rank, err->text);
	step_retry(task);
}

static void remove_spool(struct task *task);

static int remove_on(sd_event_source *source, uint64_t usec, void *arg)
{
	remove_spool(arg);
	return 0;
}

/* A piece in each turn: the loop has others to serve. */
static void remove_spool(struct task *task)
{
	struct error err;
	int rc;

	loop_source_free(&task->retry);
	rc = spool_remove(task->room->spool, &task->id, &err);
	if (rc > 0)
		rc = loop_timer(task->room->loop, &task->retry, REMOVE_PAUSE_MS,
				remove_on, task, &err);
	else if (rc == 0)
		task_event(task, EVENT_REMOVED);
	if (rc < 0)
		retry_removal(task, "spool", &err);
}

/* What the engine did not know of is still there: true, look again. */
static bool end_hidden(struct task *task)
{
	pid_t holder = spool_holder(task->room->spool, &task->id);
	struct error err;

	if (!holder)
		return false;
	if (holder > 0)
		kill(holder, SIGKILL);
	error_set(&err, EBUSY,
		  "its processes live, which the engine does not know");
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
	struct error err;

	loop_source_free(&task->watch);
	run_leave(task);
	look_drop(task);
	monitor_end(take(task->samples));
	collect_free(take(task->collect));
	/* What the engine is about to make would be left behind. */
	if (task->creating)
		return;
	task->call = engine_container_remove(task->room->engine,
					     task->container, true, true,
					     CALL_MS, remove_done, task, &err);
	if (!task->call)
		step_retry(task);
}
