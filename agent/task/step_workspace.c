/* step_workspace.c - fetches a task's code tree, and puts it into the
 * container.
 */
#include "agent/task/task_internal.h"

#include <errno.h>
#include <string.h>

#define STALL_MS 120000 /* the engine may be slow to write */

static void fetch_progress(void *arg, uint64_t bytes, uint64_t total)
{
	struct task *task = arg;
	struct image_progress progress = {
		.phase = (char *)"fetching",
		.done_bytes = bytes,
		.total_bytes = total,
		.tries = 1,
	};

	task->services->progress(task->services->arg, task, &progress);
}

static void fetch_done(void *arg, const struct error *err)
{
	struct task *task = arg;
	struct error why;

	task->fetch = NULL;
	if (!err) {
		task_event(task, EVENT_FETCHED);
		return;
	}
	why = *err;
	error_prefix(&why, "workspace");
	step_fail(task, FAILURE_PREFLIGHT, &why);
}

void step_fetch(struct task *task)
{
	const char *workspace = task->spec.container.workspace;
	struct error err;

	if (!workspace) {
		task_event(task, EVENT_FETCHED);
		return;
	}
	task->fetch = fetch_begin(task->services->fetches, workspace, false,
				  fetch_progress, fetch_done, task, &err);
	if (!task->fetch)
		step_fail(task, FAILURE_PREFLIGHT, &err);
}

static bool is_root(const char *user)
{
	size_t size = strcspn(user, ":");

	return !size || (size == 1 && *user == '0') ||
	       (size == 4 && !strncmp(user, "root", 4));
}

static void insert_done(void *arg, const struct error *err, cJSON *answer)
{
	struct task *task = arg;
	struct error why;

	task->call = NULL;
	workspace_upload_free(take(task->upload));
	if (!err) {
		task_event(task, EVENT_INSERTED);
	} else if (engine_away(err) && task->retries < STEP_RETRIES_MAX) {
		step_retry(task);
	} else {
		why = *err;
		error_prefix(&why, "workspace");
		step_fail(task, FAILURE_CREATE, &why);
	}
}

/* Repeating this after a restart of the agent puts the same files there. */
void step_insert(struct task *task)
{
	const struct container_spec *container = &task->spec.container;
	const char *folder = container->workspace_folder;
	const char *user = container->user ? container->user : task->image_user;
	struct error err;

	if (!container->workspace) {
		task_event(task, EVENT_INSERTED);
		return;
	}
	task->upload = workspace_upload_new(task->services->contents,
					    container->workspace,
					    folder ? folder : WORKSPACE_FOLDER,
					    user && !is_root(user), &err);
	if (!task->upload) {
		step_fail(task, FAILURE_CREATE, &err);
		return;
	}
	task->call = engine_archive_put(task->services->engine, task->container,
					"/", STALL_MS, workspace_upload_read,
					task->upload, insert_done, task, &err);
	if (!task->call) {
		workspace_upload_free(take(task->upload));
		step_retry(task);
	}
}
