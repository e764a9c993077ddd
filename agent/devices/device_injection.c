/* device_injection.c - completes a container's spec for its devices.
 */
#include "agent/devices/device_injection.h"
#include "protocol/base/list.h"
#include "protocol/hardware/sysroot.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_FILE "/etc/group"

/* Nodes of RDMA adapters, which accelerators of every vendor use. Source:
 * Linux Documentation/infiniband/user_verbs.rst, user_mad.rst.
 */
static const char *const rdma_nodes[] = { "/dev/infiniband/rdma_cm",
					  "/dev/infiniband/uverbs*",
					  "/dev/infiniband/umad*",
					  "/dev/infiniband/issm*", NULL };

/* Lists of the spec. */

static int add_once(struct strings *list, const char *text, struct error *err)
{
	return strings_has(list, text) ? 0 : strings_add(list, text, err);
}

static int injection_add_all(struct strings *list, const struct strings *from,
			     int (*add)(struct strings *list, const char *text,
					struct error *err),
			     struct error *err)
{
	for (size_t i = 0; i < from->count; i++)
		if (add(list, from->items[i], err) < 0)
			return -1;
	return 0;
}

/* "NAME=..." is added unless the list has a NAME. */
static int add_named(struct strings *list, const char *text, struct error *err)
{
	size_t size = strcspn(text, "=");

	for (size_t i = 0; i < list->count; i++)
		if (!strncmp(list->items[i], text, size) &&
		    list->items[i][size] == '=')
			return 0;
	return strings_add(list, text, err);
}

/* Groups. */

/* The engine would look up a group's name in the image, so the number on the
 * host is passed. A group that the host does not have is left out.
 */
static int injection_add_group(struct strings *groups, const char *name,
			       struct error *err)
{
	owned_file FILE *file = NULL;
	const struct group *group;
	char number[24];

	if (strspn(name, ASCII_DIGITS) == strlen(name))
		return add_once(groups, name, err);
	file = fopen(GROUP_FILE, "re");
	while (file && (group = fgetgrent(file))) {
		if (strcmp(group->gr_name, name) != 0)
			continue;
		snprintf(number, sizeof(number), "%u", group->gr_gid);
		return add_once(groups, number, err);
	}
	return 0;
}

/* A user other than root can open the node only through its group. */
static int add_node_group(struct strings *groups, const struct stat *st,
			  struct error *err)
{
	char number[24];

	if (!st->st_gid || (st->st_mode & 06) == 06 || !(st->st_mode & 060))
		return 0;
	snprintf(number, sizeof(number), "%u", st->st_gid);
	return add_once(groups, number, err);
}

/* Device nodes. */

/* Is the node "/host[:/inside[:rwm]]" at this path inside? */
static bool injection_node_at(const char *text, const char *inside)
{
	const char *colon = strchr(text, ':');
	size_t size;

	text = colon ? colon + 1 : text;
	size = strcspn(text, ":");
	return strlen(inside) == size && !strncmp(text, inside, size);
}

static int injection_add_node(struct container_spec *spec, const char *host,
			      const char *inside, const struct stat *st,
			      struct error *err)
{
	for (size_t i = 0; i < spec->device_nodes.count; i++)
		if (injection_node_at(spec->device_nodes.items[i], inside))
			return 0;
	if (st && add_node_group(&spec->groups, st, err) < 0)
		return -1;
	return strings_printf(&spec->device_nodes, err, "%s:%s", host, inside);
}

/* Add the device nodes in a folder such as /dev/dri. */
static int add_folder(const struct device_injection *injection,
		      const char *folder, struct container_spec *spec,
		      struct error *err)
{
	owned(strings_clear) struct strings paths = { 0 };
	owned_free char *pattern = NULL;

	if (asprintf(&pattern, "%s/*", folder) < 0)
		return error_nomem(err, folder);
	if (sysroot_glob(injection->roots, pattern, false, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.count; i++) {
		char found[PATH_MAX];
		struct stat st;

		if (sysroot_find_node(injection->roots, paths.items[i], found,
				      &st, NULL) == 0 &&
		    injection_add_node(spec, found, paths.items[i], &st, err) <
			    0)
			return -1;
	}
	return 0;
}

/* A node, or a folder of nodes. */
static int add_path(const struct device_injection *injection, const char *path,
		    struct container_spec *spec, struct error *err)
{
	char found[PATH_MAX];
	struct stat st;

	if (!injection->roots)
		return injection_add_node(spec, path, path, NULL, err);
	if (sysroot_find(injection->roots, path, found, &st, err) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return add_folder(injection, path, spec, err);
	if (sysroot_find_node(injection->roots, path, found, &st, err) < 0)
		return -1;
	return injection_add_node(spec, found, path, &st, err);
}

/* Add the paths that exist. */
static int add_optional(const struct device_injection *injection,
			const char *pattern, struct container_spec *spec,
			struct error *err)
{
	owned(strings_clear) struct strings paths = { 0 };
	struct error why;

	if (!injection->roots)
		return strchr(pattern, '*')
			       ? 0
			       : injection_add_node(spec, pattern, pattern,
						    NULL, err);
	if (sysroot_glob(injection->roots, pattern, false, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.count; i++)
		if (add_path(injection, paths.items[i], spec, &why) < 0 &&
		    why.code == ENOMEM)
			return error_nomem(err, pattern);
	return 0;
}

static int add_optional_all(const struct device_injection *injection,
			    struct container_spec *spec, struct error *err)
{
	const struct strings *patterns =
		&injection->profile->container.optional_nodes;

	for (size_t i = 0; i < patterns->count; i++) {
		const char *pattern = patterns->items[i];
		char path[PATH_MAX];

		if (!strchr(pattern, '{')) {
			if (add_optional(injection, pattern, spec, err) < 0)
				return -1;
			continue;
		}
		for (size_t d = 0; d < injection->count; d++)
			if (device_path(injection->devices[d], pattern, path,
					NULL) == 0 &&
			    add_optional(injection, path, spec, err) < 0)
				return -1;
	}
	return 0;
}

static int add_device_nodes(const struct device_injection *injection,
			    struct container_spec *spec, struct error *err)
{
	const struct strings *patterns =
		&injection->profile->container.device_nodes;
	char path[PATH_MAX];

	for (size_t d = 0; d < injection->count; d++)
		for (size_t i = 0; i < patterns->count; i++)
			if (device_path(injection->devices[d],
					patterns->items[i], path, err) < 0 ||
			    add_path(injection, path, spec, err) < 0)
				return error_prefix(err, "device %u",
						    injection->devices[d]
							    ->index);
	return 0;
}

static int add_rdma(const struct device_injection *injection,
		    struct container_spec *spec, struct error *err)
{
	size_t before = spec->device_nodes.count;

	for (const char *const *node = rdma_nodes; *node; node++)
		if (add_optional(injection, *node, spec, err) < 0)
			return -1;
	if (spec->device_nodes.count == before)
		return 0;
	if (add_named(&spec->ulimits, "memlock=-1", err) < 0)
		return -1;
	return add_once(&spec->capabilities, "IPC_LOCK", err);
}

static int add_nodes(const struct device_injection *injection,
		     struct container_spec *spec, struct error *err)
{
	const struct strings *shared =
		&injection->profile->container.shared_nodes;

	if (add_device_nodes(injection, spec, err) < 0)
		return -1;
	for (size_t i = 0; i < shared->count; i++)
		if (add_path(injection, shared->items[i], spec, err) < 0)
			return error_prefix(err, "%s needs",
					    injection->profile->vendor);
	if (add_optional_all(injection, spec, err) < 0)
		return -1;
	return injection->whole && injection->roots && injection->count &&
			       injection->profile->container.device_nodes.count
		       ? add_rdma(injection, spec, err)
		       : 0;
}

/* The vendor's software: runtime, CDI, request. */

static const char *injection_name_device(const struct device_info *device,
					 const struct naming *naming)
{
	if (naming->by == NAME_UUID)
		return device->uuid;
	return naming->number ? device_number(device, naming->number) : NULL;
}

/* Add the names of the devices; no name means all devices. */
static int names_add(const struct device_injection *injection,
		     const struct naming *naming, const char *what,
		     struct strings *names, struct error *err)
{
	if (naming->by == NAME_ALL) {
		if (injection->whole)
			return 0;
		return error_set(err, EINVAL,
				 "%s: devices of %s cannot be shared; jobs "
				 "need whole nodes",
				 what, injection->profile->vendor);
	}
	for (size_t i = 0; i < injection->count; i++) {
		const char *name =
			injection_name_device(injection->devices[i], naming);

		if (!name)
			return error_set(err, EINVAL,
					 "%s: the %s of device %u is unknown",
					 what,
					 naming->by == NAME_UUID
						 ? "uuid"
						 : naming->number,
					 injection->devices[i]->index);
		if (strings_add(names, name, err) < 0)
			return -1;
	}
	return 0;
}

/* Add NAME=value,value ... unless the list has a NAME. */
static int injection_add_variable(struct strings *env, const char *name,
				  const struct strings *values,
				  struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(CODEC_STRING_MAX);

	if (buffer_printf(&text, err, "%s=", name) < 0)
		return -1;
	for (size_t i = 0; i < values->count; i++)
		if (buffer_printf(&text, err, "%s%s", i ? "," : "",
				  values->items[i]) < 0)
			return -1;
	return add_named(env, text.data, err);
}

static int add_selector(const struct device_injection *injection,
			struct container_spec *spec, struct error *err)
{
	const struct selector *selector =
		&injection->profile->container.selector;
	owned(strings_clear) struct strings names = { 0 };

	if (!selector->name)
		return 0;
	if (names_add(injection, &selector->naming, selector->name, &names,
		      err) < 0 ||
	    (!names.count && strings_add(&names, "all", err) < 0))
		return -1;
	return injection_add_variable(&spec->engine_env, selector->name, &names,
				      err);
}

/* Where the engine reads the selector of each container, the value of an image
 * must not open devices.
 */
static int add_no_device(const struct device_injection *injection,
			 struct container_spec *spec, struct error *err)
{
	const struct selector *selector =
		&injection->profile->container.selector;
	owned(strings_clear) struct strings none = { 0 };

	if (!selector->none || !injection->features->reads_selectors)
		return 0;
	if (strings_add(&none, selector->none, err) < 0)
		return -1;
	return injection_add_variable(&spec->engine_env, selector->name, &none,
				      err);
}

static int add_runtime(const struct device_injection *injection,
		       struct container_spec *spec, struct error *err)
{
	const char *runtime = injection->profile->container.runtime;

	if (!spec->runtime && !(spec->runtime = strdup(runtime)))
		return error_nomem(err, "runtime");
	return add_selector(injection, spec, err);
}

static struct device_request *request_add(struct container_spec *spec,
					  const char *driver, struct error *err)
{
	struct device_request *request =
		LIST_ADD(spec->requests, spec->requests_count, err);

	return request && string_set(&request->driver, driver, err) == 0
		       ? request
		       : NULL;
}

/* Name all devices in this way. False: the engine does not have one of them. */
static bool cdi_names(const struct device_injection *injection,
		      const struct naming *naming, struct strings *names)
{
	const char *kind = injection->profile->container.cdi;

	for (size_t i = 0; i < injection->count; i++) {
		const char *name =
			injection_name_device(injection->devices[i], naming);

		if (!name ||
		    strings_printf(names, NULL, "%s=%s", kind, name) < 0 ||
		    !strings_has(&injection->features->cdi, names->items[i])) {
			strings_clear(names);
			return false;
		}
	}
	return injection->count;
}

/* 1: added; 0: the engine does not have the devices. */
static int add_cdi(const struct device_injection *injection,
		   struct container_spec *spec, struct error *err)
{
	const struct device_info *first = injection->devices[0];
	struct naming naming = { .by = NAME_UUID };
	struct strings names = { 0 };
	struct device_request *request;
	bool found = cdi_names(injection, &naming, &names);

	naming.by = NAME_NUMBER;
	for (size_t i = 0; !found && i < first->numbers_count; i++) {
		naming.number = first->numbers[i].name;
		found = cdi_names(injection, &naming, &names);
	}
	if (!found)
		return 0;
	request = request_add(spec, "cdi", err);
	if (!request) {
		strings_clear(&names);
		return -1;
	}
	request->ids = names;
	return 1;
}

static bool program_there(const struct sysroot *roots, const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	if (!name || !roots)
		return true;
	if (sysroot_simulated(roots))
		path = roots->bin;
	while (path && *path) {
		size_t size = strcspn(path, ":");

		if (snprintf(file, sizeof(file), "%.*s/%s", (int)size, path,
			     name) < (int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return true;
		path += size + (path[size] == ':');
	}
	return false;
}

static int injection_add_request(const struct device_injection *injection,
				 struct container_spec *spec, struct error *err)
{
	const struct request_rules *rules =
		&injection->profile->container.request;
	struct device_request *request = request_add(spec, rules->driver, err);

	if (!request || names_add(injection, &rules->naming, "device request",
				  &request->ids, err) < 0)
		return -1;
	return injection_add_all(&request->capabilities, &rules->capabilities,
				 add_once, err);
}

static int add_software(const struct device_injection *injection,
			struct container_spec *spec, struct error *err)
{
	const struct container_rules *rules = &injection->profile->container;
	const struct engine_features *features = injection->features;
	int done;

	/* A sweep with a device request of its own gets nothing else. */
	if (spec->requests_count)
		return 0;
	if (!injection->count)
		return add_no_device(injection, spec, err);
	if (!features->ignores_devices && rules->runtime &&
	    (spec->runtime ? !strcmp(spec->runtime, rules->runtime)
			   : strings_has(&features->runtimes, rules->runtime)))
		return add_runtime(injection, spec, err);
	if (!features->ignores_devices && spec->runtime)
		return 0;
	done = rules->cdi ? add_cdi(injection, spec, err) : 0;
	if (done < 0)
		return -1;
	if (!done && features->ignores_devices)
		return add_selector(injection, spec, err);
	if (!done && rules->request.driver &&
	    program_there(injection->roots, rules->request.program))
		return injection_add_request(injection, spec, err);
	return add_no_device(injection, spec, err);
}

/* The rest. */

static bool mounted(const struct container_spec *spec, const char *container)
{
	for (size_t i = 0; i < spec->mounts_count; i++)
		if (!strcmp(spec->mounts[i].container, container))
			return true;
	return false;
}

/* The path is mounted as it is, because the engine resolves links itself. On a
 * simulated machine it is resolved below its root.
 */
static int mount_host(const struct sysroot *roots, const char *host,
		      char out[PATH_MAX], struct error *err)
{
	struct stat st;

	if (roots && roots->files)
		return sysroot_find(roots, host, out, &st, err);
	if (snprintf(out, PATH_MAX, "%s", host) >= PATH_MAX)
		return error_set(err, ENAMETOOLONG, "%.100s: too long", host);
	return roots && access(host, F_OK) < 0 ? error_errno(err, "%s", host)
					       : 0;
}

static int injection_add_mount(const struct device_injection *injection,
			       const struct profile_mount *mount,
			       struct container_spec *spec, struct error *err)
{
	struct mount_spec *mounts;
	char host[PATH_MAX];

	if (mounted(spec, mount->container))
		return 0;
	if (mount_host(injection->roots, mount->host, host, err) < 0) {
		if (mount->optional)
			return 0;
		return error_prefix(err, "%s needs",
				    injection->profile->vendor);
	}
	mounts = LIST_ADD(spec->mounts, spec->mounts_count, err);
	if (!mounts)
		return -1;
	*mounts = (struct mount_spec){
		.host = strdup(host),
		.container = strdup(mount->container),
		.read_only = mount->read_only,
	};
	return mounts->host && mounts->container ? 0
						 : error_nomem(err, "mounts");
}

/* The variable that the framework reads: 0 .. n - 1, or the host's numbers. */
static int injection_add_visible(const struct device_injection *injection,
				 const struct visible *visible,
				 struct strings *env, struct error *err)
{
	const struct naming naming = { NAME_NUMBER, visible->number };
	owned(strings_clear) struct strings numbers = { 0 };

	if (visible->number &&
	    names_add(injection, &naming, visible->name, &numbers, err) < 0)
		return -1;
	for (size_t i = numbers.count; i < injection->count; i++)
		if (strings_printf(&numbers, err, "%zu", i) < 0)
			return -1;
	return injection_add_variable(env, visible->name, &numbers, err);
}

static int add_rest(const struct device_injection *injection,
		    struct container_spec *spec, struct error *err)
{
	const struct profile *profile = injection->profile;
	const struct container_rules *rules = &profile->container;

	for (size_t i = 0; i < rules->mounts_count; i++)
		if (injection_add_mount(injection, &rules->mounts[i], spec,
					err) < 0)
			return -1;
	for (size_t i = 0; injection->count && i < profile->visible_count; i++)
		if (injection_add_visible(injection, &profile->visible[i],
					  &spec->env, err) < 0)
			return -1;
	if (!spec->shm_bytes)
		spec->shm_bytes = rules->shm_bytes;
	if (!spec->ipc && rules->ipc && !(spec->ipc = strdup(rules->ipc)))
		return error_nomem(err, "ipc");
	if (injection_add_all(&spec->groups, &rules->groups,
			      injection_add_group, err) < 0 ||
	    injection_add_all(&spec->env, &rules->env, add_named, err) < 0 ||
	    injection_add_all(&spec->ulimits, &rules->ulimits, add_named, err) <
		    0 ||
	    injection_add_all(&spec->capabilities, &rules->capabilities,
			      add_once, err) < 0)
		return -1;
	return injection_add_all(&spec->security, &rules->security, add_once,
				 err);
}

/* Replace each path of the spec that has a * by the paths that exist. */
static int add_asked(const struct device_injection *injection,
		     struct container_spec *spec, struct error *err)
{
	struct strings *nodes = &spec->device_nodes;

	for (size_t i = 0; i < nodes->count;) {
		owned_free char *pattern = NULL;

		if (!strchr(nodes->items[i], '*')) {
			i++;
			continue;
		}
		pattern = nodes->items[i];
		memmove(&nodes->items[i], &nodes->items[i + 1],
			(--nodes->count - i) * sizeof(*nodes->items));
		if (add_optional(injection, pattern, spec, err) < 0)
			return -1;
	}
	return 0;
}

int device_injection_apply(const struct device_injection *injection,
			   struct container_spec *spec, struct error *err)
{
	if (add_asked(injection, spec, err) < 0 ||
	    add_nodes(injection, spec, err) < 0 ||
	    add_software(injection, spec, err) < 0)
		return -1;
	return add_rest(injection, spec, err);
}

static bool is_rootless(const struct engine_features *features)
{
	return features && features->isolation &&
	       !strcmp(features->isolation, "rootless");
}

int device_injection_probe(const struct device_injection *injection,
			   struct error *err)
{
	for (size_t d = 0; d < injection->count; d++) {
		owned(strings_clear) struct strings nodes = { 0 };

		if (device_nodes(injection->profile, injection->roots,
				 injection->devices[d], &nodes, err) < 0)
			return -1;
		for (size_t i = 0; i < nodes.count; i++) {
			owned_fd int fd = -1;

			*strrchr(nodes.items[i], ':') = 0;
			fd = open(nodes.items[i],
				  O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
			if (fd < 0 && (errno == ENXIO || errno == ENODEV ||
				       errno == EIO || errno == EBUSY))
				return error_errno(err,
						   "device %u does not "
						   "respond: %s",
						   injection->devices[d]->index,
						   nodes.items[i]);
			if (fd < 0 && errno == EACCES &&
			    is_rootless(injection->features))
				return error_set(err, EACCES,
						 "device %u: the agent's user "
						 "may not open %s, so a "
						 "rootless engine cannot "
						 "pass it on",
						 injection->devices[d]->index,
						 nodes.items[i]);
		}
	}
	return 0;
}
