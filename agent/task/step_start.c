/* step_start.c - writes the files that a container starts with, and starts it.
 */
#include "agent/docker/pod_driver.h"
#include "agent/metrics/network.h"
#include "agent/task/command.h"
#include "agent/task/secrets.h"
#include "agent/task/start_error.h"
#include "agent/task/task_internal.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/secret.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#define LOST_MAX 3        /* times that a container is created again */
#define INIT_TRIES_MAX 30 /* a second apart, until regatta-init begins */
#define START_MS 120000   /* start may load gigabytes of image metadata */
#define HOSTFILE_MAX (4 << 20)
#define FILE_TEXT_MAX (1 << 20)
/* With their NUL: agent/init/init.h. */
#define SUID_RECORD "suid=1"
#define SECRETS_RECORD "secrets=1"

static int write_files(struct task *task, const struct rendezvous *rendezvous,
		       struct error *err)
{
	const struct container_spec *container = &task->spec.container;

	for (size_t i = 0; i < container->files_count; i++) {
		const char *name = container->files[i].name;
		owned(buffer_clear) struct buffer text =
			BUFFER_INIT(FILE_TEXT_MAX);

		if (!file_name_valid(name))
			return error_set(err, EINVAL,
					 "file: the name %.80s is not valid "
					 "here",
					 name);
		if (command_text(&task->spec, container->files[i].text,
				 rendezvous, &text, err) < 0 ||
		    spool_write(task->services->spool, &task->id, SPOOL_IN,
				name, text.data, text.size, err) < 0)
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

/* A single task meets on the loopback address, if the engine's network is its
 * own.
 */
static void meet_inside(const struct task *task, struct rendezvous *rendezvous)
{
	static char *loopback[] = { (char *)"127.0.0.1" };

	if (task->spec.nodes > 1 ||
	    !task->services->preflight.binding->features->separate_network)
		return;
	rendezvous->address = loopback[0];
	if (rendezvous->addresses.count)
		rendezvous->addresses =
			(struct strings){ .items = loopback, .count = 1 };
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
	};
	owned(buffer_clear) struct buffer start = BUFFER_INIT(INIT_START_MAX);
	owned(buffer_clear) struct buffer hosts = BUFFER_INIT(HOSTFILE_MAX);

	if (task->spec.nodes > 1)
		rendezvous.interface =
			network_interface(task->services->address, interface);
	meet_inside(task, &rendezvous);
	if (command_hostfile(&task->spec, &rendezvous, &hosts, err) < 0 ||
	    (hosts.size &&
	     spool_write(task->services->spool, &task->id, SPOOL_IN, "hostfile",
			 hosts.data, hosts.size, err) < 0) ||
	    write_files(task, &rendezvous, err) < 0)
		return -1;
	if (command_build(&task->filled, &task->image_argv, &rendezvous, &start,
			  err) < 0 ||
	    (task_secrets_any(&task->spec) &&
	     buffer_append(&start, SECRETS_RECORD, sizeof(SECRETS_RECORD),
			   err) < 0) ||
	    collect_note(task->services->spool, &task->id, &task->spec,
			 work_folder(task), &rendezvous, &start, err) < 0)
		return err->code == E2BIG
			       ? error_prefix(err, "command and environment")
			       : -1;
	if (node_policy_suid(task->services->node_policy, &task->filled, place,
			     &task->paths) &&
	    buffer_append(&start, SUID_RECORD, sizeof(SUID_RECORD), err) < 0)
		return -1;
	if (spool_reserve_record(task->services->spool, &task->id, err) < 0)
		return -1;
	return spool_write(task->services->spool, &task->id, SPOOL_IN,
			   "start.new", start.data, start.size, err);
}

int task_give_secrets(struct task *task, struct error *err)
{
	owned(secret_buffer_clear) struct buffer records;

	buffer_init(&records, INIT_START_MAX);
	if (task->secrets_fd >= 0 || !task_secrets_any(&task->spec))
		return 0;
	if (task_secrets_add(&task->spec, task->services->registries, &records,
			     err) < 0)
		return -1;
	task->secrets_fd =
		spool_pipe(task->services->spool, &task->id, SECRETS_PIPE,
			   records.data, records.size, err);
	return task->secrets_fd < 0 ? -1 : 0;
}

static bool is_released(const struct task *task)
{
	return spool_has(task->services->spool, &task->id, SPOOL_IN, "start");
}

/* What this agent cannot look at is told, and counts if the policy says so. */
static int not_compared(const struct task *task, const char *what,
			struct error *err)
{
	const struct policy *policy =
		node_policy_rules(task->services->node_policy);

	if (policy->any)
		return 0;
	if (policy->checked)
		return error_set(err, EPERM,
				 "checked: the agent cannot compare all of the "
				 "container with %.60s: %.100s",
				 policy->file, what);
	log_warning("the agent cannot compare all of a container with its "
		    "policy job=%" PRIu64 " rank=%u: %s",
		    task->id.job, task->id.rank, what);
	return 0;
}

/* 0: nothing differs. pid -1: of another PID namespace. */
static int container_check(const struct task *task, pid_t pid, bool begun,
			   struct error *err)
{
	const char *user = task->filled.container.user;
	const struct device_binding_source *binding = task->services->binding;
	const struct profile *profile = inventory_profile(binding->inventory);
	const struct release_check check = {
		.policy = node_policy_rules(task->services->node_policy),
		.init_program = task->services->init_program,
		.user = user ? user : task->image_user,
		.request = task->request,
		.rules = profile ? &profile->container : NULL,
		.cdi_mounts = &binding->features->cdi_mounts,
		.cdi_nodes = &binding->features->cdi_nodes,
		.roots = binding->roots,
		.devices = inventory_devices(binding->inventory),
		.given = &task->spec.devices,
		/* It is opened already, so nothing is added. */
		.paths = (struct resolved_paths *)&task->paths,
	};
	struct error why;

	/* The pod decides what the container may do, not the policy; but what
	 * has to be compared cannot be.
	 */
	if (pod_engine_named(engine_host(task->services->engine)))
		return check.policy->checked
			       ? not_compared(task, "it is a pod's", err)
			       : 0;
	if (pid < 0)
		return not_compared(task,
				    "its processes are in another PID "
				    "namespace",
				    err);
	if (!begun)
		return release_check_mounts(&check, pid, err);
	if (release_check_run(&check, pid, &why) == 0)
		return 0;
	if (why.code == EACCES)
		return not_compared(task, why.text, err);
	*err = why;
	return -1;
}

static void refuse_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->call = NULL;
	if (err && err->code != ENOENT)
		log_warning("the refused container may still run "
			    "job=%" PRIu64 " rank=%u: %s",
			    task->id.job, task->id.rank, err->text);
	task_event(task, EVENT_FAILED);
}

/* Nothing of it has run, and nothing may. pid: of its process 1, if what names
 * it is right; otherwise the engine is to end it.
 */
static void task_refuse(struct task *task, pid_t pid, const struct error *err)
{
	step_outcome(task, err->code == EPERM ? FAILURE_POLICY : FAILURE_CREATE,
		     err);
	if (!task_signal(task, pid, SIGKILL)) {
		engine_call_cancel(take(task->call));
		loop_timer_stop(task->retry);
		task->call = engine_container_stop(task->services->engine,
						   task->container, 0, CALL_MS,
						   refuse_done, task, NULL);
		if (task->call)
			return;
	}
	task_event(task, EVENT_FAILED);
}

/* regatta-init has not begun. Something may stand in the way of its folders. */
static void await_init(struct task *task, pid_t pid)
{
	struct error err;

	if (pid > 0 && container_check(task, pid, false, &err) < 0 &&
	    err.code == EPERM) {
		task_refuse(task, pid, &err);
	} else if (task->retries < INIT_TRIES_MAX) {
		step_retry(task);
	} else {
		error_set(&err, ETIMEDOUT,
			  "regatta-init has not begun in the container");
		task_refuse(task, pid, &err);
	}
}

void step_release(struct task *task, pid_t pid)
{
	pid_t holder = spool_holder(task->services->spool, &task->id);
	struct error err;

	if (task->outcome.failure)
		return; /* it was refused, and is being ended */
	task->engine_started |= pid > 0;
	if (!is_released(task)) {
		if (!holder) {
			if (task->engine_started)
				await_init(task, pid);
			return;
		}
		if (container_check(task, holder, true, &err) < 0) {
			if (err.code == ESRCH)
				step_retry(task);
			else
				task_refuse(task, holder, &err);
			return;
		}
		if (holder > 0 && task->spec.container.collect.count)
			collect_note_layer(task->services->spool, &task->id,
					   holder);
		if ((holder > 0 &&
		     spool_note_init(task->services->spool, &task->id, holder,
				     &err) < 0) ||
		    task_give_secrets(task, &err) < 0 ||
		    spool_release(task->services->spool, &task->id, &err) < 0) {
			task_refuse(task, holder, &err);
			return;
		}
	}
	if (task->engine_started)
		task_event(task, EVENT_STARTED);
}

/* The container is there again; or somebody stopped the task meanwhile. */
static void create_again_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;

	task->creating = NULL;
	if (task->step == STEP_REMOVE)
		step_remove(task);
	else if (task->step != STEP_START)
		return;
	else if (!err || err->code == EEXIST)
		step_start(task);
	else if (engine_away(err))
		step_inspect(task);
	else
		step_fail(task, FAILURE_CREATE, err);
}

/* Somebody removed the container before its start: `docker container prune`
 * does that. Nothing of it has run.
 */
static bool create_again(struct task *task)
{
	struct error err;

	if (is_released(task) || !task->request || task->creating ||
	    task->lost++ >= LOST_MAX)
		return false;
	log_warning("the container was removed before its start, and is "
		    "created again job=%" PRIu64 " rank=%u",
		    task->id.job, task->id.rank);
	task->creating =
		engine_container_create(task->services->engine, task->container,
					task->request, CALL_MS,
					create_again_done, task, &err);
	return task->creating;
}

static void start_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	struct error why;

	task->call = NULL;
	if (!err) {
		task->engine_started = true;
		step_release(task, 0);
	} else if (engine_away(err) ||
		   spool_holder(task->services->spool, &task->id)) {
		step_inspect(task); /* it may have been started all the same */
	} else if (err->code != ENOENT || !create_again(task)) {
		why = *err;
		start_error_explain(&task->filled.container.ulimits, &why);
		step_fail(task, FAILURE_CREATE, &why);
	}
}

void step_start(struct task *task)
{
	struct task_paths paths;
	struct container_place place = step_place(task, &paths);
	struct error err;

	if (task->port_fd >= 0)
		close(take_fd(&task->port_fd));
	if (step_complete(task, false, &err) < 0) {
		step_fail(task, FAILURE_PREFLIGHT, &err);
		return;
	}
	/* The engine follows links at the start, not at the creation of the
	 * container. What is resolved here is compared with what it mounts.
	 */
	cJSON_Delete(take(task->request));
	resolved_paths_clear(&task->paths);
	if (!step_allowed(task, &place, &task->paths))
		return;
	task->request = container_body(&task->filled, &place, &err);
	if (!task->request) {
		step_fail(task, FAILURE_CREATE, &err);
		return;
	}
	release_check_prepare(task->request, &task->paths);
	step_carry_commands(task);
	/* An adopted task has no address here, but its start file exists. */
	if (task->address && !is_released(task) &&
	    write_start(task, &place, &err) < 0) {
		step_fail(task, FAILURE_CREATE, &err);
		return;
	}
	step_watch(task);
	task->engine_started = false;
	task->call =
		engine_container_start(task->services->engine, task->container,
				       START_MS, start_done, task, &err);
	if (!task->call)
		step_retry(task);
}
