/* policy_check.c - whether the policy of a node allows a container.
 */
#include "agent/policy/policy_check.h"

#include "agent/policy/policy_image.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

struct check {
	const struct policy *policy;
	const struct policy_resolver *resolver;
	struct error *err;
	const struct part *part; /* of the request, being checked */
	const cJSON *own;        /* the same part of `own` */
};

typedef int part_fn(const struct check *check, const cJSON *item);

struct part {
	const char *name; /* in the request */
	part_fn *fn;      /* NULL: nothing to check */
	enum policy_list list;
	size_t offset; /* of a size in struct policy_limits */
};

static int policy_check_refuse(const struct check *check, const char *rule,
			       const char *found, const char *allowed)
{
	return policy_refuse(check->policy, rule, found, allowed, check->err);
}

static int refuse_listed(const struct check *check, enum policy_list list,
			 const char *found)
{
	return policy_refuse_listed(check->policy, list, found, check->err);
}

static const char *policy_check_find_text(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

static bool is_own(const struct check *check, const cJSON *item)
{
	const cJSON *other;

	cJSON_ArrayForEach(other, check->own)
		if (cJSON_Compare(item, other, true))
			return true;
	return false;
}

/* Parts of the request. */

static int check_listed(const struct check *check, const cJSON *item)
{
	const char *word = cJSON_GetStringValue(item);

	if (word &&
	    policy_matches(&check->policy->lists[check->part->list], word))
		return 0;
	return refuse_listed(check, check->part->list,
			     word ? word : "a value that is not text");
}

static int policy_check_word(const struct check *check, const cJSON *item)
{
	return cJSON_Compare(item, check->own, true)
		       ? 0
		       : check_listed(check, item);
}

static int policy_check_words(const struct check *check, const cJSON *item)
{
	const cJSON *each;

	cJSON_ArrayForEach(each, item)
		if (!is_own(check, each) && check_listed(check, each) < 0)
			return -1;
	return 0;
}

static const char *policy_check_resolve_path(const struct check *check,
					     const char *path, char *out)
{
	const struct policy_resolver *resolver = check->resolver;

	return resolver && resolver->fn(resolver->arg, path, out) == 0 ? out
								       : path;
}

bool policy_path_below(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	while (size && folder[size - 1] == '/')
		size--;
	return !strncmp(path, folder, size) &&
	       (!path[size] || path[size] == '/');
}

static const char *mounts_in_words(const struct policy *policy, char *text)
{
	size_t used = 0;

	snprintf(text, POLICY_WORDS_BYTES, "nothing");
	for (size_t i = 0;
	     i < policy->mounts_count && used < POLICY_WORDS_BYTES; i++)
		used += (size_t)snprintf(text + used, POLICY_WORDS_BYTES - used,
					 "%s%s%s", i ? ", " : "",
					 policy->mounts[i].host,
					 policy->mounts[i].write
						 ? ""
						 : " (read-only)");
	return text;
}

static bool may_mount(const struct check *check, const char *path, bool write)
{
	const struct policy *policy = check->policy;
	char folder[PATH_MAX];

	for (size_t i = 0; i < policy->mounts_count; i++)
		if ((policy->mounts[i].write || !write) &&
		    policy_path_below(path,
				      policy_check_resolve_path(
					      check, policy->mounts[i].host,
					      folder)))
			return true;
	return false;
}

bool policy_check_may_mount(const struct policy *policy, const char *path,
			    bool write, const struct policy_resolver *resolver)
{
	const struct check check = { .policy = policy, .resolver = resolver };

	return policy->any || may_mount(&check, path, write);
}

static int check_mounts(const struct check *check, const cJSON *item)
{
	char path[PATH_MAX], found[PATH_MAX + 200], text[POLICY_WORDS_BYTES];
	const cJSON *mount;

	cJSON_ArrayForEach(mount, item) {
		const char *source = policy_check_find_text(mount, "Source");
		const char *real =
			policy_check_resolve_path(check, source, path);
		bool write = !cJSON_IsTrue(
			cJSON_GetObjectItemCaseSensitive(mount, "ReadOnly"));
		bool shown;

		if (is_own(check, mount) ||
		    (!strcmp(policy_check_find_text(mount, "Type"), "bind") &&
		     may_mount(check, real, write)))
			continue;
		/* The targets of other links are not disclosed. */
		shown = strcmp(source, real) != 0 &&
			may_mount(check, source, false);
		snprintf(found, sizeof(found), "%.60s%s%.60s%s", source,
			 shown ? " -> " : "", shown ? real : "",
			 write ? " (writable)" : "");
		return policy_check_refuse(check, "mounts", found,
					   mounts_in_words(check->policy,
							   text));
	}
	return 0;
}

static int policy_check_devices(const struct check *check, const cJSON *item)
{
	char path[PATH_MAX];
	const cJSON *device;

	cJSON_ArrayForEach(device, item) {
		const char *node = policy_check_find_text(device, "PathOnHost");

		if (!is_own(check, device) &&
		    !policy_matches(&check->policy->lists[POLICY_DEVICES],
				    policy_check_resolve_path(check, node,
							      path)))
			return refuse_listed(check, POLICY_DEVICES, node);
	}
	return 0;
}

/* Through a driver or a variable of a runtime, a container could get any
 * device.
 */
static int check_own_only(const struct check *check, const cJSON *item)
{
	char *found = NULL;
	const cJSON *each;

	cJSON_ArrayForEach(each, item) {
		if (is_own(check, each))
			continue;
		found = cJSON_PrintUnformatted(each);
		policy_check_refuse(check, "profile",
				    found ? found : check->part->name,
				    "what the node's profile requests");
		cJSON_free(found);
		return -1;
	}
	return 0;
}

static const struct policy_ulimit *ulimit_named(const struct policy *policy,
						const char *name)
{
	for (size_t i = 0; i < policy->ulimits_count; i++)
		if (!strcmp(policy->ulimits[i].name, name))
			return &policy->ulimits[i];
	return NULL;
}

static int check_ulimits(const struct check *check, const cJSON *item)
{
	const cJSON *each;

	cJSON_ArrayForEach(each, item) {
		const char *name = policy_check_find_text(each, "Name");
		const struct policy_ulimit *limit =
			ulimit_named(check->policy, name);
		double hard = cJSON_GetNumberValue(
			cJSON_GetObjectItemCaseSensitive(each, "Hard"));
		char found[60], allowed[60] = "nothing";

		if (is_own(check, each) ||
		    (limit && (limit->max == POLICY_UNLIMITED ||
			       (hard >= 0 && hard <= (double)limit->max))))
			continue;
		snprintf(found, sizeof(found), "%.20s=%.0f", name, hard);
		if (limit)
			snprintf(allowed, sizeof(allowed), "at most %" PRId64,
				 limit->max);
		return policy_check_refuse(check, "ulimits", found, allowed);
	}
	return 0;
}

static int policy_check_size(const struct check *check, const cJSON *item)
{
	uint64_t limit =
		*(const uint64_t *)((const char *)&check->policy->limits +
				    check->part->offset);
	double size = item ? cJSON_GetNumberValue(item) : -1;
	char found[60], allowed[60];

	if (!limit || (size >= 0 && size <= (double)limit))
		return 0;
	if (!item &&
	    check->part->offset == offsetof(struct policy_limits, shm_bytes))
		return 0; /* the engine's default is small */
	snprintf(found, sizeof(found), size < 0 ? "no limit" : "%.0f bytes",
		 size);
	snprintf(allowed, sizeof(allowed), "at most %" PRIu64 " bytes", limit);
	return policy_check_refuse(
		check,
		check->part->offset == offsetof(struct policy_limits, shm_bytes)
			? "limits.shm"
			: "limits.memory",
		found, allowed);
}

static int check_cpus(const struct check *check, const cJSON *item)
{
	double limit = check->policy->limits.cpus;
	double cpus = item ? cJSON_GetNumberValue(item) / 1e9 : 0;
	char found[60], allowed[60];

	if (limit <= 0 || (cpus > 0 && cpus <= limit * (1 + 1e-9)))
		return 0;
	snprintf(found, sizeof(found), "%g processors", cpus);
	snprintf(allowed, sizeof(allowed), "at most %g", limit);
	return policy_check_refuse(check, "limits.cpus",
				   cpus > 0 ? found : "no limit", allowed);
}

/* clang-format off */
static const struct part parts[] = {
	{ .name = "Image" },	/* policy_check_order() */
	{ .name = "Entrypoint" },
	{ .name = "Cmd" },
	{ .name = "Env", .fn = check_own_only },
	{ .name = "Healthcheck" },
	{ .name = "HostConfig" },
	{ .name = "Labels" },
	{ .name = "StopSignal" },
	{ .name = "StopTimeout" },
	{ .name = "User" },	/* rights_check_user() */
	{ .name = "WorkingDir" },
	{ 0 },
};
static const struct part host_parts[] = {
	{ .name = "AutoRemove" },
	{ .name = "CapDrop" },
	{ .name = "CapAdd", .fn = policy_check_words, .list = POLICY_CAPABILITIES },
	{ .name = "DeviceRequests", .fn = check_own_only },
	{ .name = "Devices", .fn = policy_check_devices },
	{ .name = "GroupAdd", .fn = policy_check_words, .list = POLICY_GROUPS },
	{ .name = "Init" },
	{ .name = "IpcMode", .fn = policy_check_word, .list = POLICY_IPC },
	{ .name = "LogConfig" },
	{ .name = "Memory", .fn = policy_check_size,
	  .offset = offsetof(struct policy_limits, memory_bytes) },
	{ .name = "MemorySwap", .fn = policy_check_size,
	  .offset = offsetof(struct policy_limits, memory_bytes) },
	{ .name = "Mounts", .fn = check_mounts },
	{ .name = "NanoCpus", .fn = check_cpus },
	/* The engine needs a network, so each request names one, also that of
	 * an empty spec: equality with it allows nothing. */
	{ .name = "NetworkMode", .fn = check_listed, .list = POLICY_NETWORK },
	{ .name = "PidsLimit" },
	{ .name = "RestartPolicy" },
	{ .name = "Runtime", .fn = policy_check_word, .list = POLICY_RUNTIMES },
	{ .name = "SecurityOpt", .fn = policy_check_words, .list = POLICY_SECURITY },
	{ .name = "ShmSize", .fn = policy_check_size,
	  .offset = offsetof(struct policy_limits, shm_bytes) },
	{ .name = "Tmpfs", .fn = check_own_only },
	{ .name = "Ulimits", .fn = check_ulimits },
	{ 0 },
};
/* clang-format on */

static bool has_part(const struct part *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return true;
	return false;
}

/* Is a limit checked even if the request has no such part? */
static bool checked_when_absent(const struct part *part)
{
	return part->fn == policy_check_size || part->fn == check_cpus;
}

static int check_parts(struct check *check, const struct part *table,
		       const cJSON *object, const cJSON *own)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, object)
		if (!item->string || !has_part(table, item->string))
			return policy_check_refuse(check, "request",
						   item->string ? item->string
								: "a part",
						   "only what its rules cover");
	for (const struct part *part = table; part->name; part++) {
		item = cJSON_GetObjectItemCaseSensitive(object, part->name);
		check->part = part;
		check->own = cJSON_GetObjectItemCaseSensitive(own, part->name);
		if (part->fn && (item || checked_when_absent(part)) &&
		    part->fn(check, item) < 0)
			return -1;
	}
	return 0;
}

int policy_check_request(const struct policy *policy, const cJSON *request,
			 const cJSON *own,
			 const struct policy_resolver *resolver,
			 struct error *err)
{
	struct check check = { .policy = policy,
			       .resolver = resolver,
			       .err = err };

	if (policy->any)
		return 0;
	if (check_parts(&check, parts, request, own) < 0)
		return -1;
	return check_parts(&check, host_parts,
			   cJSON_GetObjectItemCaseSensitive(request,
							    "HostConfig"),
			   cJSON_GetObjectItemCaseSensitive(own, "HostConfig"));
}

/* Tasks. */

int policy_check_folder(const struct policy *policy, const char *build,
			const struct policy_resolver *resolver,
			struct error *err)
{
	struct check check = { .policy = policy,
			       .resolver = resolver,
			       .err = err };
	char path[PATH_MAX], text[POLICY_WORDS_BYTES];

	if (policy->any || !build || *build != '/' ||
	    may_mount(&check, policy_check_resolve_path(&check, build, path),
		      true))
		return 0;
	return policy_check_refuse(&check, "mounts", build,
				   mounts_in_words(policy, text));
}

int policy_check_needs(const struct policy *policy, const struct strings *needs,
		       const struct policy_resolver *resolver,
		       struct error *err)
{
	struct check check = { .policy = policy,
			       .resolver = resolver,
			       .err = err };
	char path[PATH_MAX], text[POLICY_WORDS_BYTES];

	for (size_t i = 0; !policy->any && i < needs->count; i++)
		if (!may_mount(&check,
			       policy_check_resolve_path(&check,
							 needs->items[i], path),
			       false))
			return policy_check_refuse(&check, "mounts",
						   needs->items[i],
						   mounts_in_words(policy,
								   text));
	return 0;
}

int policy_check_order(const struct policy *policy,
		       const struct task_spec *task, struct error *err)
{
	struct check check = { .policy = policy, .err = err };
	const struct container_spec *container = &task->container;
	const char *owner = task->owner ? task->owner : "";
	uint64_t log = policy->limits.log_bytes;
	char allowed[60], found[60];

	if (policy->any)
		return 0;
	if (!policy_matches(&policy->lists[POLICY_USERS], owner))
		return refuse_listed(&check, POLICY_USERS, owner);
	if (log && container->log_limit_bytes > log) {
		snprintf(found, sizeof(found), "%" PRIu64 " bytes",
			 container->log_limit_bytes);
		snprintf(allowed, sizeof(allowed), "at most %" PRIu64 " bytes",
			 log);
		return policy_check_refuse(&check, "limits.log", found,
					   allowed);
	}
	if (container->build && (!policy->build || *container->build == '/' ||
				 !policy_image_may_be_found(container->image)))
		return policy_image_check_build(policy, container->image,
						container->build, err);
	if (task->pin &&
	    policy_image_check_pin(policy, container->image, task->pin))
		return 0;
	return policy_image_check(policy, container->image, err);
}

void policy_check_limit(const struct policy *policy,
			struct container_spec *container)
{
	const struct policy_limits *limits = &policy->limits;

	if (policy->any)
		return;
	if (!container->memory_bytes)
		container->memory_bytes = limits->memory_bytes;
	if (container->cpus == 0)
		container->cpus = limits->cpus;
	if (!container->log_limit_bytes && limits->log_bytes &&
	    limits->log_bytes < LOG_LIMIT_DEFAULT)
		container->log_limit_bytes = limits->log_bytes;
}
