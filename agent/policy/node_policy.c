/* node_policy.c - the policy of this node: read, reloaded, applied to tasks.
 */
#include "agent/policy/node_policy.h"
#include "agent/policy/rights_check.h"
#include "protocol/base/file.h"
#include "agent/policy/policy_check.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

struct node_policy {
	char *path; /* NULL: everything is allowed */
	bool optional;
	struct policy *policy;
	char *text; /* of the file; NULL: as node_policy_text() */
};

int node_policy_reload(struct node_policy *node_policy, struct error *err)
{
	const char *path = node_policy->path;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(POLICY_FILE_MAX);
	struct policy *policy;

	if (!path)
		policy = policy_any(err);
	else if (node_policy->optional && access(path, F_OK) < 0 &&
		 errno == ENOENT)
		policy = policy_default(err);
	else if (file_read_any(path, &text, err) < 0)
		return -1;
	else
		policy = policy_parse(text.size ? text.data : "", text.size,
				      path, err);
	if (!policy)
		return -1;
	free(node_policy->text);
	node_policy->text =
		path && text.size <= NODE_POLICY_TEXT_MAX
			? strndup(text.size ? text.data : "", text.size)
			: NULL;
	policy_free(node_policy->policy);
	node_policy->policy = policy;
	return 0;
}

struct node_policy *node_policy_new(const char *path, bool optional,
				    struct error *err)
{
	owned(node_policy_free) struct node_policy *node_policy =
		calloc(1, sizeof(*node_policy));

	if (!node_policy || (path && !(node_policy->path = strdup(path))))
		return error_null(error_nomem(err, "policy"));
	node_policy->optional = optional;
	return node_policy_reload(node_policy, err) < 0 ? NULL
							: take(node_policy);
}

void node_policy_free(struct node_policy *node_policy)
{
	if (!node_policy)
		return;
	policy_free(node_policy->policy);
	free(node_policy->path);
	free(node_policy->text);
	free(node_policy);
}

const struct policy *node_policy_rules(const struct node_policy *node_policy)
{
	return node_policy->policy;
}

const char *node_policy_text(const struct node_policy *node_policy)
{
	return node_policy->text;
}

int node_policy_build(const struct node_policy *node_policy, const char *image,
		      const char *build, struct error *err)
{
	owned(resolved_paths_clear) struct resolved_paths paths = { 0 };
	const struct policy_resolver resolver = { resolved_paths_resolve,
						  &paths };

	return policy_image_check_build(node_policy->policy, image, build,
					err) < 0
		       ? -1
		       : policy_check_folder(node_policy->policy, build,
					     &resolver, err);
}

/* The request that this node makes by itself for these devices. */
static cJSON *own_request(const struct node_policy *node_policy,
			  const struct device_binding_source *binding,
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
		.container = { .image = task->container.image,
			       .ssh = task->container.ssh,
			       .workspace = task->container.workspace,
			       .workspace_folder =
				       task->container.workspace_folder },
	};
	owned(task_spec_clear) struct task_spec completed = { 0 };

	if (!node_policy->policy->profile)
		return container_body(&bare, place, err);
	if (device_binding_apply(binding, &bare, false, &completed, err) < 0)
		return NULL;
	return container_body(&completed, place, err);
}

static int node_policy_check_disk(const struct node_policy *node_policy,
				  const char *folder, struct error *err)
{
	uint64_t needed = node_policy->policy->limits.disk_free_bytes;
	struct statvfs fs;
	uint64_t room;

	if (!needed)
		return 0;
	if (statvfs(folder, &fs) < 0)
		return error_errno(err, "limits.disk_free: %s", folder);
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room < needed)
		return error_set(err, ENOSPC,
				 "limits.disk_free: %llu MiB are free; %.60s "
				 "requires at least %llu MiB",
				 (unsigned long long)room >> 20,
				 node_policy->policy->file,
				 (unsigned long long)needed >> 20);
	return 0;
}

/* The user of an image that is not there yet is checked before it is used. */
static int node_policy_check_user(const struct node_policy *node_policy,
				  const struct task_spec *completed,
				  const struct container_place *place,
				  struct error *err)
{
	const char *user = completed->container.user ? completed->container.user
						     : place->image_user;

	return user ? rights_check_user(node_policy->policy, user, err) : 0;
}

int node_policy_check(const struct node_policy *node_policy,
		      const struct device_binding_source *binding,
		      const struct task_spec *task,
		      const struct task_spec *completed,
		      const struct container_place *place,
		      struct resolved_paths *paths, struct error *err)
{
	const struct policy_resolver resolver = { resolved_paths_resolve,
						  paths };
	owned(cJSON_Delete) cJSON *request = NULL;
	owned(cJSON_Delete) cJSON *own = NULL;

	if (node_policy->policy->any)
		return 0;
	if (policy_check_order(node_policy->policy, task, err) < 0 ||
	    policy_check_needs(node_policy->policy, &task->container.needs,
			       &resolver, err) < 0 ||
	    policy_check_folder(node_policy->policy, task->container.build,
				&resolver, err) < 0)
		return -1;
	if (node_policy_check_user(node_policy, completed, place, err) < 0)
		return -1;
	request = container_body(completed, place, err);
	own = request ? own_request(node_policy, binding, task, place, err)
		      : NULL;
	if (!own || policy_check_request(node_policy->policy, request, own,
					 &resolver, err) < 0)
		return -1;
	return node_policy_check_disk(node_policy, place->out_folder, err);
}

bool node_policy_suid(const struct node_policy *node_policy,
		      const struct task_spec *completed,
		      const struct container_place *place,
		      struct resolved_paths *paths)
{
	const struct policy_resolver resolver = { resolved_paths_resolve,
						  paths };
	owned(cJSON_Delete) cJSON *request =
		container_body(completed, place, NULL);

	return request &&
	       rights_check_suid(node_policy->policy, request, &resolver);
}
