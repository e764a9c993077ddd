/* step_create.c - checks a task against its node, and creates its container.
 */
#include "agent/task/secrets.h"
#include "agent/task/task_internal.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define LACKED_MAX 3

int step_complete(struct task *task, bool probe, struct error *err)
{
	if (task->filled.container.image && !probe)
		return 0;
	codec_clear(&task_spec_schema, &task->filled);
	return device_binding_apply(task->services->binding, &task->spec, probe,
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

struct container_place step_place(struct task *task, struct task_paths *paths)
{
	const struct policy *policy =
		node_policy_rules(task->services->node_policy);

	spool_path(task->services->spool, &task->id, SPOOL_IN, paths->in);
	spool_path(task->services->spool, &task->id, SPOOL_OUT, paths->out);
	spool_path(task->services->spool, &task->id, SPOOL_WORK, paths->work);
	return (struct container_place){
		.secrets = task_secrets_files(&task->spec),
		.cluster = task->services->cluster,
		.node = task->services->node,
		.init_program = task->services->init_program,
		.init_path = task->init_path,
		.in_folder = paths->in,
		.out_folder = paths->out,
		.work_folder = paths->work,
		.image = task->image_id ? task->image_id
					: task->spec.container.image,
		.pids = (uint32_t)policy->limits.pids,
		.image_user = task->image_user,
		.device_root = task->services->binding->roots->dev,
		.ordered = &task->spec,
	};
}

bool step_allowed(struct task *task, const struct container_place *place,
		  struct resolved_paths *paths)
{
	struct error err;

	if (node_policy_check(task->services->node_policy,
			      task->services->binding, &task->spec,
			      &task->filled, place, paths, &err) == 0)
		return true;
	step_fail(task, err.code == EINVAL ? FAILURE_CREATE : FAILURE_POLICY,
		  &err);
	return false;
}

/* The paths answer: check the policy, then that they exist. */
static void check_task(struct task *task)
{
	const struct preflight_services *services = &task->services->preflight;
	struct task_paths paths;
	struct container_place place = step_place(task, &paths);
	owned(resolved_paths_clear) struct resolved_paths resolved = { 0 };
	struct error err;

	if (!step_allowed(task, &place, &resolved))
		return;
	if (preflight_check(services, &task->spec, task->services->folder,
			    &err) == 0)
		task->preflight = preflight_begin(services, &task->spec,
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

	if (step_complete(task, true, &err) < 0 ||
	    task_secrets_check(&task->spec, &err) < 0) {
		step_fail(task, FAILURE_PREFLIGHT, &err);
		return;
	}
	if (!container->mounts_count && !container->needs.count) {
		check_task(task);
		return;
	}
	task->preflight =
		preflight_reach(&task->services->preflight, &task->spec,
				paths_reached, task, &err);
	if (!task->preflight)
		step_fail(task, FAILURE_PREFLIGHT, &err);
}

/* The name is in use: by this task, if an earlier create was not answered, or
 * by a foreign container.
 */
static void conflict_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	const cJSON *config = json_get(answer, "Config");
	const cJSON *labels = json_get(config, "Labels");
	const char *label = json_get_text_or_empty(labels, LABEL_SPEC);
	char hash[CONTAINER_HASH_SIZE];
	struct error stranger;

	task->call = NULL;
	if (err) {
		step_retry(task);
	} else if (container_spec_hash(&task->spec, hash, &stranger) < 0) {
		step_fail(task, FAILURE_CREATE, &stranger);
	} else if (!strcmp(label, hash)) {
		task_event(task, EVENT_CREATED);
	} else {
		error_set(&stranger, EEXIST,
			  "the container %s exists, but does not belong to "
			  "this task",
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
		return; /* the task was stopped; task_discard() removes the
			   container */
	} else if (!err) {
		task_event(task, EVENT_CREATED);
	} else if (err->code == EEXIST) {
		task->call =
			engine_container_inspect(task->services->engine,
						 task->container, CALL_MS,
						 conflict_done, task, &other);
		if (!task->call)
			step_retry(task);
	} else if (engine_away(err) && task->retries < STEP_RETRIES_MAX) {
		step_retry(task);
	} else if (err->code == ENOENT && task->lacked++ < LACKED_MAX) {
		task_event(task, EVENT_LACKS);
	} else {
		step_fail(task, FAILURE_CREATE, err);
	}
}

void step_create(struct task *task)
{
	struct task_paths paths;
	struct container_place place = step_place(task, &paths);
	owned(resolved_paths_clear) struct resolved_paths resolved = { 0 };
	struct error err;
	cJSON *body;

	if (step_complete(task, false, &err) < 0) {
		step_fail(task, FAILURE_PREFLIGHT, &err);
		return;
	}
	/* Links and the policy may have changed since the check. */
	if (!step_allowed(task, &place, &resolved))
		return;
	body = container_body(&task->filled, &place, &err);
	if (!body) {
		step_fail(task, FAILURE_CREATE, &err);
		return;
	}
	task->creating =
		engine_container_create(task->services->engine, task->container,
					body, CALL_MS, create_done, task, &err);
	cJSON_Delete(body);
	if (!task->creating)
		step_retry(task);
}

void step_ready(struct task *task)
{
	struct error err;

	/* Only node rank 0 provides the rendezvous port. */
	if (task->id.rank == 0 && task->port_fd < 0 &&
	    preflight_port(&task->port_fd, &task->port, &err) < 0)
		step_fail(task, FAILURE_PREFLIGHT, &err);
}
