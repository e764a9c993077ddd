/* guard.c - the policy of this node: read, read again, held against tasks.
 */
#include "agent/policy/guard.h"
#include "agent/policy/judge.h"
#include "agent/policy/judge_rights.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

struct guard {
	char *path; /* NULL: nothing is judged */
	bool optional;
	struct policy *policy;
};

static void task_spec_clear(struct task_spec *spec)
{
	codec_clear(&task_spec_schema, spec);
}
OWNED_VALUE(struct task_spec, task_spec_clear)

static void json_free(cJSON *json)
{
	cJSON_Delete(json);
}
OWNED_POINTER(cJSON, json_free)

int guard_reload(struct guard *guard, struct error *err)
{
	struct policy *policy;

	if (!guard->path)
		policy = policy_any(err);
	else if (guard->optional && access(guard->path, F_OK) < 0 &&
		 errno == ENOENT)
		policy = policy_default(err);
	else
		policy = policy_read(guard->path, err);
	if (!policy)
		return -1;
	policy_free(guard->policy);
	guard->policy = policy;
	return 0;
}

struct guard *guard_new(const char *path, bool optional, struct error *err)
{
	owned(guard_free) struct guard *guard = calloc(1, sizeof(*guard));

	if (!guard || (path && !(guard->path = strdup(path)))) {
		error_nomem(err, "policy");
		return NULL;
	}
	guard->optional = optional;
	return guard_reload(guard, err) < 0 ? NULL : take(guard);
}

void guard_free(struct guard *guard)
{
	if (!guard)
		return;
	policy_free(guard->policy);
	free(guard->path);
	free(guard);
}

const char *guard_name(const struct guard *guard)
{
	return guard->policy->file;
}

void guard_limit(const struct guard *guard, struct container_spec *container)
{
	judge_limit(guard->policy, container);
}

int guard_load(const struct guard *guard, struct error *err)
{
	return judge_load(guard->policy, err);
}

int guard_save(const struct guard *guard, const char *image, struct error *err)
{
	return judge_image(guard->policy, image, err);
}

int guard_insecure(const struct guard *guard, const char *registry,
		   struct error *err)
{
	return judge_insecure(guard->policy, registry, err);
}

int guard_build(const struct guard *guard, const char *image, const char *build,
		struct error *err)
{
	return judge_build(guard->policy, image, build, err);
}

int guard_remove(const struct guard *guard, const char *image, bool ours,
		 struct error *err)
{
	return judge_remove(guard->policy, image, ours, err);
}

static int resolve(const char *path, char *out)
{
	return realpath(path, out) ? 0 : -1;
}

/* What this node puts into a request by itself, for these devices. */
static cJSON *own_request(const struct guard *guard,
			  const struct allot_source *allot,
			  const struct task_spec *task,
			  const struct container_place *place,
			  struct error *err)
{
	const struct task_spec bare = {
		.job = task->job,
		.attempt = task->attempt,
		.rank = task->rank,
		.nodes = task->nodes,
		.devices = task->devices,
		.shared = task->shared,
		.container = { .image = task->container.image },
	};
	owned(task_spec_clear) struct task_spec completed = { 0 };

	if (!guard->policy->profile)
		return container_body(&bare, place, err);
	if (allot_spec(allot, &bare, false, &completed, err) < 0)
		return NULL;
	return container_body(&completed, place, err);
}

uint64_t guard_disk(const struct guard *guard)
{
	return guard->policy->limits.disk_bytes;
}

uint32_t guard_pids(const struct guard *guard)
{
	return (uint32_t)guard->policy->limits.pids;
}

static int check_disk(const struct guard *guard, const char *folder,
		      struct error *err)
{
	uint64_t needed = guard->policy->limits.disk_free_bytes;
	struct statvfs fs;
	uint64_t room;

	if (!needed)
		return 0;
	if (statvfs(folder, &fs) < 0)
		return error_errno(err, "limits.disk_free: %s", folder);
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room < needed)
		return error_set(err, ENOSPC,
				 "limits.disk_free: found %llu MiB free, "
				 "allowed by %.60s: %llu MiB and more",
				 (unsigned long long)room >> 20,
				 guard->policy->file,
				 (unsigned long long)needed >> 20);
	return 0;
}

bool guard_pin_allowed(const struct guard *guard, const char *name,
		       const char *pin)
{
	return guard->policy->any || judge_pin(guard->policy, name, pin);
}

/* An image that is not there yet says nothing; it is asked before it is used.
 */
static int check_user(const struct guard *guard,
		      const struct task_spec *completed,
		      const struct container_place *place, struct error *err)
{
	const char *user = completed->container.user ? completed->container.user
						     : place->image_user;

	return user ? judge_user(guard->policy, user, err) : 0;
}

int guard_check(const struct guard *guard, const struct allot_source *allot,
		const struct task_spec *task, const struct task_spec *completed,
		const struct container_place *place, struct error *err)
{
	owned(json_free) cJSON *request = NULL;
	owned(json_free) cJSON *own = NULL;

	if (guard->policy->any)
		return 0;
	if (judge_order(guard->policy, task, err) < 0)
		return -1;
	if (check_user(guard, completed, place, err) < 0)
		return -1;
	request = container_body(completed, place, err);
	own = request ? own_request(guard, allot, task, place, err) : NULL;
	if (!own ||
	    judge_request(guard->policy, request, own, resolve, err) < 0)
		return -1;
	return check_disk(guard, place->out_folder, err);
}

bool guard_suid(const struct guard *guard, const struct task_spec *completed,
		const struct container_place *place)
{
	owned(json_free) cJSON *request =
		container_body(completed, place, NULL);

	return request && judge_suid(guard->policy, request, resolve);
}
