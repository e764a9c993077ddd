/* step_workspace.c - fetches a task's code tree, and unpacks it into the folder
 * of the spool that the container has mounted.
 */
#include "agent/task/task_internal.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/blob/unpack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURN_MS 20 /* of unpacking, in each turn of the loop */

struct workspace {
	int tar, folder;
	struct unpack_owner owner;
	struct unpacking *unpacking;
	sd_event_source *turn;
};

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

/* The number that begins the text, which ends there or at the end character. */
static bool workspace_number(const char *text, char end, uint32_t *number)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 10);

	if (*text < '0' || *text > '9' || value >= UINT32_MAX ||
	    (*rest && *rest != end))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Names are of the image, and users of containers may not be ours: then the
 * tree is writable for everybody, who are those that have it mounted.
 */
static struct unpack_owner workspace_owner(const struct task *task)
{
	const struct engine_features *features =
		task->services->preflight.binding->features;
	const char *user = task->spec.container.user;
	const char *group;
	uint32_t uid = 0, gid = 0;

	if (!user)
		user = task->image_user ? task->image_user : "";
	group = strchr(user, ':');
	if (geteuid() != 0 || features->isolation ||
	    (*user && *user != ':' && strcmp(user, "root") != 0 &&
	     strncmp(user, "root:", 5) != 0 &&
	     !workspace_number(user, ':', &uid)) ||
	    (group && !workspace_number(group + 1, 0, &gid)))
		return (struct unpack_owner){ (uid_t)-1, (gid_t)-1, true };
	return (struct unpack_owner){ uid, gid, false };
}

void workspace_free(struct workspace *workspace)
{
	if (!workspace)
		return;
	loop_source_free(&workspace->turn);
	unpacking_free(workspace->unpacking);
	if (workspace->tar >= 0)
		close(workspace->tar);
	if (workspace->folder >= 0)
		close(workspace->folder);
	free(workspace);
}

static int workspace_open(struct workspace *workspace, struct task *task,
			  struct error *err)
{
	uint64_t files =
		node_policy_rules(task->services->node_policy)->limits.files;
	struct unpack_limits limits = { .entries = files ? files : UINT64_MAX };
	char path[PATH_MAX];
	struct stat st;

	workspace->owner = workspace_owner(task);
	workspace->tar = blob_store_open(task->services->blobs,
					 task->spec.container.workspace, err);
	if (workspace->tar < 0)
		return -1;
	spool_path(task->services->spool, &task->id, SPOOL_WORK, path);
	workspace->folder =
		open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (workspace->folder < 0 || fstat(workspace->tar, &st) < 0 ||
	    fchown(workspace->folder, workspace->owner.user,
		   workspace->owner.group) < 0 ||
	    fchmod(workspace->folder, workspace->owner.open ? 0777 : 0755) < 0)
		return error_errno(err, "%s", path);
	/* With holes it could be larger than the tar file. */
	limits.bytes = (uint64_t)st.st_size;
	workspace->unpacking = unpacking_new(workspace->tar, workspace->folder,
					     &limits, &workspace->owner, err);
	return workspace->unpacking ? 0 : -1;
}

static struct workspace *workspace_new(struct task *task, struct error *err)
{
	owned(workspace_free) struct workspace *workspace =
		error_calloc(sizeof(*workspace), "workspace", err);

	if (!workspace)
		return NULL;
	workspace->tar = workspace->folder = -1;
	return workspace_open(workspace, task, err) < 0 ? NULL
							: take(workspace);
}

/* Unpack a part in each turn of the loop. */
static int workspace_unpack(sd_event_source *source, uint64_t usec, void *arg)
{
	struct task *task = arg;
	int64_t end = clock_mono_ms() + TURN_MS;
	struct error err;
	int rc;

	do {
		rc = unpacking_step(task->workspace->unpacking, &err);
	} while (rc > 0 && clock_mono_ms() < end);
	if (rc > 0)
		rc = loop_timer(task->services->loop, &task->workspace->turn, 0,
				workspace_unpack, task, &err);
	else if (rc == 0)
		task_event(task, EVENT_INSERTED);
	if (rc < 0) {
		error_prefix(&err, "workspace");
		step_fail(task, FAILURE_CREATE, &err);
	}
	return 0;
}

/* Repeating this after a restart of the agent puts the same files there. */
void step_insert(struct task *task)
{
	struct error err;

	if (!task->spec.container.workspace) {
		task_event(task, EVENT_INSERTED);
		return;
	}
	task->workspace = workspace_new(task, &err);
	if (task->workspace &&
	    loop_timer(task->services->loop, &task->workspace->turn, 0,
		       workspace_unpack, task, &err) == 0)
		return;
	error_prefix(&err, "workspace");
	step_fail(task, FAILURE_CREATE, &err);
}
