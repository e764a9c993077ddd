/* create_body.c - makes the body of the engine's create call from a task's
 * spec.
 */
#include "agent/docker/create_body_internal.h"
#include "protocol/message/json_get.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OPTIONS_MAX 64 /* ulimits, capabilities, groups, security options */
#define NODES_MAX 512  /* device nodes: 64 devices with several each */
#define STOP_GRACE_S 10
#define CLUSTER_MAX 60 /* bytes of the cluster's name in a container's */

/* Each part of the body adds what it makes; false: out of memory. */

static cJSON *container_append_item(cJSON *array, cJSON *item)
{
	if (cJSON_AddItemToArray(array, item))
		return item;
	cJSON_Delete(item);
	return NULL;
}

static bool container_add_text(cJSON *array, const char *text)
{
	return container_append_item(array, cJSON_CreateString(text));
}

bool container_add_texts(cJSON *array, const struct strings *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!container_add_text(array, texts->items[i]))
			return false;
	return array;
}

bool container_add_mount(cJSON *array, const char *host, const char *inside,
			 bool read_only)
{
	cJSON *mount = container_append_item(array, cJSON_CreateObject());

	return cJSON_AddStringToObject(mount, "Type", "bind") &&
	       cJSON_AddStringToObject(mount, "Source", host) &&
	       cJSON_AddStringToObject(mount, "Target", inside) &&
	       cJSON_AddBoolToObject(mount, "ReadOnly", read_only);
}

/* With Binds, the engine would create a host folder that is missing. */
static bool add_mounts(cJSON *host, const struct container_spec *spec,
		       const struct container_place *place)
{
	cJSON *array = cJSON_AddArrayToObject(host, "Mounts");

	if (!array ||
	    !container_add_mount(array, place->init_program, place->init_path,
				 true) ||
	    !container_add_mount(array, place->in_folder, CONTAINER_IN, true) ||
	    !container_add_mount(array, place->out_folder, CONTAINER_OUT,
				 false) ||
	    (spec->ssh && (!container_add_mount(array, place->init_program,
						CONTAINER_SSH, true) ||
			   !container_add_mount(array, place->init_program,
						CONTAINER_SCP, true))) ||
	    (spec->workspace &&
	     !container_add_mount(array, place->work_folder,
				  container_workspace(spec), false)))
		return false;
	for (size_t i = 0; i < spec->mounts_count; i++)
		if (!container_add_mount(array, spec->mounts[i].host,
					 spec->mounts[i].container,
					 spec->mounts[i].read_only))
			return false;
	return true;
}

/* Read -1, or 0 .. CONTAINER_BYTES_MAX. Returns the text behind it; NULL: it is
 * no such number.
 */
static const char *limit_value(const char *text, int64_t *value)
{
	char *end;

	if (!strncmp(text, "-1", 2) && !isdigit((unsigned char)text[2])) {
		*value = -1;
		return text + 2;
	}
	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*value = strtoll(text, &end, 10);
	return errno || *value > (int64_t)CONTAINER_BYTES_MAX ? NULL : end;
}

static int container_add_ulimit(cJSON *array, const char *text,
				const char *device_root, struct error *err)
{
	size_t size = strcspn(text, "=");
	int64_t soft = 0, hard = 0;
	const char *at = NULL;
	char name[16];
	cJSON *item;

	if (!container_word(container_ulimits, text, size))
		return error_set(err, EINVAL,
				 "ulimits: \"%.40s\": no such limit; expected "
				 "core cpu data fsize locks memlock msgqueue "
				 "nice nofile nproc rss rtprio rttime "
				 "sigpending stack",
				 text);
	if (text[size])
		at = limit_value(text + size + 1, &soft);
	hard = soft;
	if (at && *at == ':')
		at = limit_value(at + 1, &hard);
	if (!at || *at)
		return error_set(err, EINVAL,
				 "ulimits: \"%.40s\" is not valid here; "
				 "expected NAME=SOFT[:HARD], numbers up to "
				 "2^49 or -1 for unlimited",
				 text);
	if (hard != -1 && (soft == -1 || soft > hard))
		return error_set(err, EINVAL,
				 "ulimits: \"%.40s\": the soft limit is above "
				 "the hard one",
				 text);
	snprintf(name, sizeof(name), "%.*s", (int)size, text);
	item = container_append_item(array, cJSON_CreateObject());
	return cJSON_AddStringToObject(item, "Name", name) &&
			       cJSON_AddNumberToObject(item, "Soft",
						       (double)soft) &&
			       cJSON_AddNumberToObject(item, "Hard",
						       (double)hard)
		       ? 0
		       : error_nomem(err, "ulimits");
}

static int add_capability(cJSON *array, const char *text,
			  const char *device_root, struct error *err)
{
	const char *name = text + (strncmp(text, "CAP_", 4) ? 0 : 4);

	if (!strcasecmp(name, "ALL"))
		return error_set(err, EINVAL,
				 "capabilities: ALL is not allowed: name each "
				 "one that is needed");
	if (!container_word(container_capabilities, name, strlen(name)))
		return error_set(err, EINVAL,
				 "capabilities: \"%.40s\": no such capability; "
				 "see capabilities(7), such as SYS_PTRACE",
				 text);
	return container_add_text(array, name)
		       ? 0
		       : error_nomem(err, "capabilities");
}

static int container_add_group(cJSON *array, const char *text,
			       const char *device_root, struct error *err)
{
	if (container_user_check("groups", text, false, err) < 0)
		return -1;
	return container_add_text(array, text) ? 0 : error_nomem(err, "groups");
}

/* add_rights() has given no-new-privileges to the container. */
static int add_security(cJSON *array, const char *text, const char *device_root,
			struct error *err)
{
	if (container_security_check(text, err) < 0)
		return -1;
	if (!strcmp(text, CONTAINER_NO_NEW_PRIVILEGES))
		return 0;
	return container_add_text(array, text) ? 0
					       : error_nomem(err, "security");
}

static bool container_path_below(const char *path, const char *folder)
{
	size_t size = folder ? strlen(folder) : 0;

	return size && !strncmp(path, folder, size) && path[size] == '/';
}

/* "/dev/x", "/dev/x:/dev/y" or "/dev/x:/dev/y:rw". */
int container_add_device(cJSON *array, const char *text,
			 const char *device_root, struct error *err)
{
	char host[256] = "", inside[256] = "", access[4] = "rwm";
	int parts =
		sscanf(text, "%255[^:]:%255[^:]:%3[rwm]", host, inside, access);
	int end = 0;
	cJSON *device;

	if (parts == 1)
		snprintf(inside, sizeof(inside), "%s", host);
	for (const char *c = text; *c; c++)
		end += *c == ':';
	if (parts < 1 || end != parts - 1 ||
	    (!container_path_below(host, "/dev") &&
	     !container_path_below(host, device_root)) ||
	    container_path_check("device_nodes", host, err) < 0 ||
	    container_path_check("device_nodes", inside, err) < 0)
		return error_set(err, EINVAL,
				 "device_nodes: \"%.80s\" is not valid here; "
				 "expected /dev/NAME[:/PATH/INSIDE[:rwm]]",
				 text);
	device = container_append_item(array, cJSON_CreateObject());
	if (!cJSON_AddStringToObject(device, "PathOnHost", host) ||
	    !cJSON_AddStringToObject(device, "PathInContainer", inside) ||
	    !cJSON_AddStringToObject(device, "CgroupPermissions", access))
		return error_nomem(err, "device_nodes");
	return 0;
}

/* The lists of HostConfig, in the order in which they are checked. */
static const struct container_list {
	const char *name; /* in HostConfig */
	const char *field;
	size_t offset; /* of the struct strings in struct container_spec */
	size_t max;
	int (*add)(cJSON *array, const char *text, const char *device_root,
		   struct error *err);
} container_lists[] = {
	{ "Ulimits", "ulimits", offsetof(struct container_spec, ulimits),
	  OPTIONS_MAX, container_add_ulimit },
	{ "CapAdd", "capabilities",
	  offsetof(struct container_spec, capabilities), OPTIONS_MAX,
	  add_capability },
	{ "Devices", "device_nodes",
	  offsetof(struct container_spec, device_nodes), NODES_MAX,
	  container_add_device },
	{ "GroupAdd", "groups", offsetof(struct container_spec, groups),
	  OPTIONS_MAX, container_add_group },
	{ "SecurityOpt", "security", offsetof(struct container_spec, security),
	  OPTIONS_MAX, add_security },
};

static bool add_labels(cJSON *body, const struct task_spec *spec,
		       const struct container_place *place, const char *hash)
{
	cJSON *labels = cJSON_AddObjectToObject(body, "Labels");
	char job[24], attempt[16], rank[16];

	snprintf(job, sizeof(job), "%" PRIu64, spec->job);
	snprintf(attempt, sizeof(attempt), "%u", spec->attempt);
	snprintf(rank, sizeof(rank), "%u", spec->rank);
	return cJSON_AddStringToObject(labels, LABEL_CLUSTER, place->cluster) &&
	       cJSON_AddStringToObject(labels, LABEL_NODE, place->node) &&
	       cJSON_AddStringToObject(labels, LABEL_JOB, job) &&
	       cJSON_AddStringToObject(labels, LABEL_ATTEMPT, attempt) &&
	       cJSON_AddStringToObject(labels, LABEL_RANK, rank) &&
	       cJSON_AddStringToObject(labels, LABEL_SPEC, hash);
}

/* Memory without swap: a benchmark that swaps measures the disk. */
static bool add_limits(cJSON *host, const struct container_spec *spec)
{
	double memory = (double)spec->memory_bytes;
	/* With ipc host it is the host's; Podman then refuses a size. */
	bool own_shm = !spec->ipc || strcmp(spec->ipc, "host") != 0;

	if (spec->ipc && !cJSON_AddStringToObject(host, "IpcMode", spec->ipc))
		return false;
	if (spec->shm_bytes && own_shm &&
	    !cJSON_AddNumberToObject(host, "ShmSize", (double)spec->shm_bytes))
		return false;
	if (spec->memory_bytes &&
	    (!cJSON_AddNumberToObject(host, "Memory", memory) ||
	     !cJSON_AddNumberToObject(host, "MemorySwap", memory)))
		return false;
	return spec->cpus == 0 ||
	       cJSON_AddNumberToObject(host, "NanoCpus",
				       round(spec->cpus * 1e9));
}

/* A tmpfs, so that secrets are never on a disk. */
static bool add_secrets(cJSON *host)
{
	cJSON *tmpfs = cJSON_AddObjectToObject(host, "Tmpfs");

	return tmpfs && cJSON_AddStringToObject(tmpfs, CONTAINER_SECRETS,
						"rw,noexec,nosuid,nodev,size="
						"1m,mode=1777");
}

/* A container has only the capabilities that its spec names, and a setuid
 * program adds none.
 */
static bool add_rights(cJSON *host, const struct container_place *place)
{
	cJSON *dropped = cJSON_AddArrayToObject(host, "CapDrop");
	cJSON *security = cJSON_AddArrayToObject(host, "SecurityOpt");

	return dropped && container_add_text(dropped, "ALL") && security &&
	       container_add_text(security, CONTAINER_NO_NEW_PRIVILEGES) &&
	       (!place->pids ||
		cJSON_AddNumberToObject(host, "PidsLimit", place->pids));
}

static bool container_add_host(cJSON *host, const struct container_spec *spec,
			       const struct container_place *place)
{
	cJSON *log = cJSON_AddObjectToObject(host, "LogConfig");
	cJSON *restart = cJSON_AddObjectToObject(host, "RestartPolicy");

	return cJSON_AddStringToObject(log, "Type", "none") &&
	       cJSON_AddStringToObject(restart, "Name", "no") &&
	       cJSON_AddBoolToObject(host, "AutoRemove", false) &&
	       cJSON_AddBoolToObject(host, "Init", false) &&
	       cJSON_AddStringToObject(host, "NetworkMode",
				       spec->network ? spec->network
						     : "host") &&
	       add_rights(host, place) && add_limits(host, spec) &&
	       (!place->secrets || add_secrets(host)) &&
	       add_mounts(host, spec, place);
}

/* The image's health check would run beside the benchmark, and regatta-init may
 * not handle the image's stop signal.
 */
static bool add_config(cJSON *body, const struct container_spec *spec,
		       const struct container_place *place)
{
	cJSON *health = cJSON_AddObjectToObject(body, "Healthcheck");
	cJSON *test = cJSON_AddArrayToObject(health, "Test");
	cJSON *entry = cJSON_AddArrayToObject(body, "Entrypoint");
	uint32_t grace = spec->grace_ms / 1000 + STOP_GRACE_S;

	return test && container_add_text(test, "NONE") && entry &&
	       container_add_text(entry, place->init_path) &&
	       cJSON_AddStringToObject(body, "Image", place->image) &&
	       cJSON_AddArrayToObject(body, "Cmd") &&
	       container_add_texts(cJSON_AddArrayToObject(body, "Env"),
				   &spec->engine_env) &&
	       cJSON_AddStringToObject(body, "StopSignal", "SIGTERM") &&
	       cJSON_AddNumberToObject(body, "StopTimeout", grace) &&
	       (!spec->workdir ||
		cJSON_AddStringToObject(body, "WorkingDir", spec->workdir)) &&
	       (!spec->user ||
		cJSON_AddStringToObject(body, "User", spec->user));
}

static int container_add_request(cJSON *array,
				 const struct device_request *request,
				 struct error *err)
{
	cJSON *item, *lists;

	if ((*request->driver &&
	     container_name_check("requests: driver", request->driver, err) <
		     0) ||
	    container_names_check("requests: ids", &request->ids, err) < 0 ||
	    container_names_check("requests: capabilities",
				  &request->capabilities, err) < 0)
		return -1;
	item = container_append_item(array, cJSON_CreateObject());
	if (!cJSON_AddStringToObject(item, "Driver", request->driver) ||
	    !cJSON_AddNumberToObject(item, "Count",
				     request->ids.count ? 0 : -1) ||
	    !container_add_texts(cJSON_AddArrayToObject(item, "DeviceIDs"),
				 &request->ids))
		return error_nomem(err, "requests");
	lists = cJSON_AddArrayToObject(item, "Capabilities");
	if (!container_add_texts(container_append_item(lists,
						       cJSON_CreateArray()),
				 &request->capabilities))
		return error_nomem(err, "requests");
	return 0;
}

static int add_requests(cJSON *host, const struct container_spec *spec,
			struct error *err)
{
	cJSON *array;

	if (spec->runtime &&
	    container_name_check("runtime", spec->runtime, err) < 0)
		return -1;
	if (spec->runtime &&
	    !cJSON_AddStringToObject(host, "Runtime", spec->runtime))
		return error_nomem(err, "runtime");
	if (!spec->requests_count)
		return 0;
	if (spec->requests_count > OPTIONS_MAX)
		return container_too_many("requests", spec->requests_count,
					  OPTIONS_MAX, err);
	array = cJSON_AddArrayToObject(host, "DeviceRequests");
	if (!array)
		return error_nomem(err, "requests");
	for (size_t i = 0; i < spec->requests_count; i++)
		if (container_add_request(array, &spec->requests[i], err) < 0)
			return -1;
	return 0;
}

static int container_add_list(cJSON *host, const struct container_list *rule,
			      const struct container_spec *spec,
			      const char *device_root, struct error *err)
{
	const struct strings *list =
		(const void *)((const char *)spec + rule->offset);
	cJSON *array = json_get(host, rule->name);

	if (list->count > rule->max)
		return container_too_many(rule->field, list->count, rule->max,
					  err);
	if (list->count && !array)
		array = cJSON_AddArrayToObject(host, rule->name);
	if (list->count && !array)
		return error_nomem(err, rule->field);
	for (size_t i = 0; i < list->count; i++)
		if (rule->add(array, list->items[i], device_root, err) < 0)
			return -1;
	return 0;
}

static int fill_lists(cJSON *host, const struct container_spec *spec,
		      const char *device_root, struct error *err)
{
	size_t count = sizeof(container_lists) / sizeof(container_lists[0]);

	for (size_t i = 0; i < count; i++)
		if (container_add_list(host, &container_lists[i], spec,
				       device_root, err) < 0)
			return -1;
	return add_requests(host, spec, err);
}

cJSON *container_body(const struct task_spec *spec,
		      const struct container_place *place, struct error *err)
{
	const struct container_spec *container = &spec->container;
	char hash[CONTAINER_HASH_SIZE];
	cJSON *body, *host;

	if (container_place_check(place, err) < 0 ||
	    container_spec_check(container, err) < 0 ||
	    (container->workspace &&
	     container_path_check("work folder", place->work_folder, err) <
		     0) ||
	    container_spec_hash(place->ordered ? place->ordered : spec, hash,
				err) < 0)
		return NULL;
	body = cJSON_CreateObject();
	if (!add_config(body, container, place) ||
	    !add_labels(body, spec, place, hash) ||
	    !(host = cJSON_AddObjectToObject(body, "HostConfig")) ||
	    !container_add_host(host, container, place))
		error_nomem(err, "container");
	else if (fill_lists(host, container, place->device_root, err) == 0)
		return body;
	cJSON_Delete(body);
	return NULL;
}

/* Names, and the labels that find containers. */

static void container_hash_text(const char *text, size_t size,
				char hash[DIGEST_HEX_SIZE])
{
	struct digest digest;

	digest_init(&digest);
	digest_add(&digest, text, size);
	digest_hex(&digest, hash);
}

void container_name(const struct task_spec *spec, const char *cluster,
		    char name[CONTAINER_NAME_MAX])
{
	char safe[CLUSTER_MAX + 1], hash[DIGEST_HEX_SIZE] = "";
	size_t size = strlen(cluster);
	bool exact = size <= CLUSTER_MAX;

	snprintf(safe, sizeof(safe), "%s", cluster);
	for (char *c = safe; *c; c++) {
		if (isalnum((unsigned char)*c) || strchr("_.-", *c))
			continue;
		*c = '-';
		exact = false;
	}
	if (!exact)
		container_hash_text(cluster, size, hash);
	snprintf(name, CONTAINER_NAME_MAX,
		 CONTAINER_NAMES "%s%s%.8s-%" PRIu64 "-%u-%u", safe,
		 exact ? "" : "-", hash, spec->job, spec->attempt, spec->rank);
}

bool container_is_named(const cJSON *container, const char *begin,
			const char *end)
{
	size_t front = strlen(begin), back = strlen(end);
	const cJSON *item;

	cJSON_ArrayForEach(item, json_get(container, "Names")) {
		const char *name = cJSON_GetStringValue(item);
		size_t size;

		name += name && *name == '/';
		size = name ? strlen(name) : 0;
		if (size >= front + back && !strncmp(name, begin, front) &&
		    !strcmp(name + size - back, end))
			return true;
	}
	return false;
}

int container_spec_hash(const struct task_spec *spec,
			char hash[CONTAINER_HASH_SIZE], struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	if (codec_encode(&task_spec_schema, spec, &text, err) < 0)
		return -1;
	container_hash_text(text.data, text.size, hash);
	return 0;
}

int container_filter(const char *cluster, const char *node,
		     struct strings *labels, struct error *err)
{
	struct strings both = { 0 };

	if (strings_printf(&both, err, LABEL_CLUSTER "=%s", cluster) < 0 ||
	    strings_printf(&both, err, LABEL_NODE "=%s", node) < 0) {
		strings_clear(&both);
		return -1;
	}
	*labels = both;
	return 0;
}
