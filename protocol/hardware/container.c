/* container.c - from a task's spec to the body of the engine's create call.
 */
#include "protocol/hardware/container.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOUNTS_MAX 128
#define PATH_LENGTH_MAX 4096
#define OPTIONS_MAX 64 /* ulimits, capabilities, groups, security options */
#define NODES_MAX 512  /* device nodes: 64 devices with several each */
#define NAMES_MAX 256  /* of devices in a request, of variables */
#define MEMORY_MIN (UINT64_C(6) << 20)
#define BYTES_MAX (UINT64_C(512) << 40) /* cJSON writes it without exponent */
#define CPUS_MIN 0.01
#define CPUS_MAX 65536.0
#define CLUSTER_MAX 60 /* bytes of the cluster's name in a container's */
#define STOP_GRACE_S 10
#define NO_NEW_PRIVILEGES "no-new-privileges"

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* clang-format off */
const char *const container_networks[] = { "host", "none", "bridge", NULL };
const char *const container_ipcs[] = {
	"private", "host", "shareable", "none", NULL
};
const char *const container_ulimits[] = {
	"core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice",
	"nofile", "nproc", "rss", "rtprio", "rttime", "sigpending", "stack",
	NULL
};
const char *const container_capabilities[] = {
	"AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "BPF",
	"CHECKPOINT_RESTORE", "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH",
	"FOWNER", "FSETID", "IPC_LOCK", "IPC_OWNER", "KILL", "LEASE",
	"LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE", "MKNOD", "NET_ADMIN",
	"NET_BIND_SERVICE", "NET_BROADCAST", "NET_RAW", "PERFMON", "SETFCAP",
	"SETGID", "SETPCAP", "SETUID", "SYSLOG", "SYS_ADMIN", "SYS_BOOT",
	"SYS_CHROOT", "SYS_MODULE", "SYS_NICE", "SYS_PACCT", "SYS_PTRACE",
	"SYS_RAWIO", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG",
	"WAKE_ALARM", NULL
};
/* clang-format on */

static bool in_table(const char *const *table, const char *word, size_t size)
{
	for (; *table; table++)
		if (strlen(*table) == size && !strncmp(*table, word, size))
			return true;
	return false;
}

static bool only(const char *text, const char *allowed, size_t longest)
{
	size_t size = strlen(text);

	return size && size <= longest && strspn(text, allowed) == size;
}

static int too_many(const char *field, size_t count, size_t allowed,
		    struct error *err)
{
	return error_set(err, EINVAL, "%s: %zu of them; expected at most %zu",
			 field, count, allowed);
}

/* Checks. */

/* Absolute, no "..", nothing that a terminal would take badly. */
static int path_check(const char *field, const char *path, struct error *err)
{
	size_t size = path ? strlen(path) : 0;

	if (!size || path[0] != '/')
		return error_set(err, EINVAL,
				 "%s: \"%.80s\" is not an absolute path", field,
				 path ? path : "");
	if (size > PATH_LENGTH_MAX)
		return error_set(err, EINVAL,
				 "%s: %zu bytes; expected at most %d", field,
				 size, PATH_LENGTH_MAX);
	for (const char *c = path; *c; c++)
		if (iscntrl((unsigned char)*c))
			return error_set(err, EINVAL,
					 "%s: \"%.80s\" holds a control "
					 "character",
					 field, path);
	for (const char *at = strstr(path, "/.."); at;
	     at = strstr(at + 1, "/.."))
		if (at[3] == '/' || !at[3])
			return error_set(err, EINVAL,
					 "%s: \"%.80s\" holds \"..\"", field,
					 path);
	return 0;
}

/* Without doubled and trailing slashes and ".": equal places, equal text. */
static void path_tidy(const char *path, char tidy[PATH_LENGTH_MAX + 1])
{
	size_t used = 0;

	while (*path) {
		size_t size = strcspn(path, "/");

		if (size && !(size == 1 && *path == '.')) {
			tidy[used++] = '/';
			memcpy(tidy + used, path, size);
			used += size;
		}
		path += size + (path[size] == '/');
	}
	tidy[used] = 0;
}

/* Where a mount may not be: at the root, or among our own three. */
static bool reserved(const char *tidy)
{
	return !*tidy ||
	       (!strncmp(tidy, "/regatta", 8) && (!tidy[8] || tidy[8] == '/'));
}

static bool taken(const struct container_spec *spec, size_t before,
		  const char *tidy)
{
	char other[PATH_LENGTH_MAX + 1];

	for (size_t i = 0; i < before; i++) {
		path_tidy(spec->mounts[i].container, other);
		if (!strcmp(other, tidy))
			return true;
	}
	return false;
}

static int mounts_check(const struct container_spec *spec, struct error *err)
{
	char tidy[PATH_LENGTH_MAX + 1];

	if (spec->mounts_count > MOUNTS_MAX)
		return too_many("mounts", spec->mounts_count, MOUNTS_MAX, err);
	for (size_t i = 0; i < spec->mounts_count; i++) {
		const struct mount_spec *mount = &spec->mounts[i];

		if (path_check("mounts: host", mount->host, err) < 0 ||
		    path_check("mounts: container", mount->container, err) < 0)
			return -1;
		path_tidy(mount->container, tidy);
		if (reserved(tidy))
			return error_set(err, EINVAL,
					 "mounts: container: \"%.80s\": / and "
					 "/regatta are not free",
					 mount->container);
		if (taken(spec, i, tidy))
			return error_set(err, EINVAL,
					 "mounts: container: \"%.80s\" is "
					 "given twice",
					 mount->container);
	}
	return 0;
}

static int word_check(const char *field, const char *word,
		      const char *const *allowed, const char *list,
		      struct error *err)
{
	if (!word || in_table(allowed, word, strlen(word)))
		return 0;
	return error_set(err, EINVAL,
			 "%s: \"%.40s\" is not valid here; expected %s", field,
			 word, list);
}

static int sizes_check(const struct container_spec *spec, struct error *err)
{
	if (spec->memory_bytes &&
	    (spec->memory_bytes < MEMORY_MIN || spec->memory_bytes > BYTES_MAX))
		return error_set(err, EINVAL,
				 "memory_bytes: %" PRIu64
				 " is not valid here; expected 0 (no limit) "
				 "and 6 MiB to 512 TiB",
				 spec->memory_bytes);
	if (spec->shm_bytes > BYTES_MAX)
		return error_set(err, EINVAL,
				 "shm_bytes: %" PRIu64
				 " is not valid here; expected 0 (the engine's "
				 "default) to 512 TiB",
				 spec->shm_bytes);
	if (spec->cpus != 0 &&
	    !(spec->cpus >= CPUS_MIN && spec->cpus <= CPUS_MAX))
		return error_set(err, EINVAL,
				 "cpus: %g is not valid here; expected 0 (no "
				 "limit) and %g to %g",
				 spec->cpus, CPUS_MIN, CPUS_MAX);
	return 0;
}

static int user_check(const char *field, const char *user, bool group,
		      struct error *err)
{
	const char *colon = group ? strchr(user, ':') : NULL;
	const char *allowed = LOWER UPPER DIGITS "_.-";
	size_t first = colon ? (size_t)(colon - user) : strlen(user);

	if (!first || first > 64 || strspn(user, allowed) < first ||
	    user[0] == '-' || (colon && !only(colon + 1, allowed, 64)))
		return error_set(err, EINVAL,
				 "%s: \"%.80s\" found, expected a number or a "
				 "name%s",
				 field, user,
				 group ? ", and :GROUP if need be" : "");
	return 0;
}

static int security_check(const char *option, struct error *err)
{
	const char *value = strchr(option, '=');

	if (!strcmp(option, NO_NEW_PRIVILEGES) ||
	    !strcmp(option, "seccomp=unconfined"))
		return 0;
	if (value &&
	    (!strncmp(option, "apparmor=", 9) ||
	     !strncmp(option, "label=", 6)) &&
	    only(value + 1, LOWER UPPER DIGITS "_.:,/-", 255))
		return 0;
	return error_set(err, EINVAL,
			 "security: \"%.80s\" is not valid here; expected "
			 "no-new-privileges, seccomp=unconfined, "
			 "apparmor=PROFILE and label=TEXT",
			 option);
}

/* Pieces of the body. Each adds what it makes; a piece that memory ran out
 * for is missing, which the end of container_body() notices.
 */

static bool add(cJSON *object, const char *name, cJSON *item)
{
	if (item && cJSON_AddItemToObject(object, name, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static bool add_text(cJSON *array, const char *text)
{
	cJSON *item = cJSON_CreateString(text);

	if (item && cJSON_AddItemToArray(array, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static bool add_texts(cJSON *array, const struct strings *texts)
{
	for (size_t i = 0; array && i < texts->count; i++)
		if (!add_text(array, texts->items[i]))
			return false;
	return array;
}

static bool add_mount(cJSON *array, const char *host, const char *inside,
		      bool read_only)
{
	cJSON *mount = cJSON_CreateObject();

	if (cJSON_AddStringToObject(mount, "Type", "bind") &&
	    cJSON_AddStringToObject(mount, "Source", host) &&
	    cJSON_AddStringToObject(mount, "Target", inside) &&
	    cJSON_AddBoolToObject(mount, "ReadOnly", read_only) &&
	    cJSON_AddItemToArray(array, mount))
		return true;
	cJSON_Delete(mount);
	return false;
}

/* Mounts and not Binds: of these the engine makes no missing host folder. */
static bool add_mounts(cJSON *host, const struct container_spec *spec,
		       const struct container_place *place)
{
	cJSON *array = cJSON_AddArrayToObject(host, "Mounts");

	if (!array ||
	    !add_mount(array, place->init_program, CONTAINER_INIT, true) ||
	    !add_mount(array, place->in_folder, CONTAINER_IN, true) ||
	    !add_mount(array, place->out_folder, CONTAINER_OUT, false) ||
	    (spec->ssh &&
	     (!add_mount(array, place->init_program, CONTAINER_SSH, true) ||
	      !add_mount(array, place->init_program, CONTAINER_SCP, true))))
		return false;
	for (size_t i = 0; i < spec->mounts_count; i++)
		if (!add_mount(array, spec->mounts[i].host,
			       spec->mounts[i].container,
			       spec->mounts[i].read_only))
			return false;
	return true;
}

/* -1, or 0 .. BYTES_MAX. Returns what follows; NULL: no number. */
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
	return errno || *value > (int64_t)BYTES_MAX ? NULL : end;
}

static int add_ulimit(cJSON *array, const char *text, struct error *err)
{
	size_t size = strcspn(text, "=");
	int64_t soft = 0, hard = 0;
	const char *at = NULL;
	char name[16];
	cJSON *item;

	if (!in_table(container_ulimits, text, size))
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
				 "ulimits: \"%.40s\" found, expected "
				 "NAME=SOFT[:HARD], numbers up to 2^49 or -1 "
				 "for unlimited",
				 text);
	if (hard != -1 && (soft == -1 || soft > hard))
		return error_set(err, EINVAL,
				 "ulimits: \"%.40s\": the soft limit is above "
				 "the hard one",
				 text);
	snprintf(name, sizeof(name), "%.*s", (int)size, text);
	item = cJSON_CreateObject();
	if (cJSON_AddStringToObject(item, "Name", name) &&
	    cJSON_AddNumberToObject(item, "Soft", (double)soft) &&
	    cJSON_AddNumberToObject(item, "Hard", (double)hard) &&
	    cJSON_AddItemToArray(array, item))
		return 0;
	cJSON_Delete(item);
	return error_nomem(err, "ulimits");
}

static int add_capability(cJSON *array, const char *text, struct error *err)
{
	const char *name = text + (strncmp(text, "CAP_", 4) ? 0 : 4);

	if (!strcasecmp(name, "ALL"))
		return error_set(err, EINVAL,
				 "capabilities: ALL is not allowed: name each "
				 "one that is needed");
	if (!in_table(container_capabilities, name, strlen(name)))
		return error_set(err, EINVAL,
				 "capabilities: \"%.40s\": no such capability; "
				 "see capabilities(7), such as SYS_PTRACE",
				 text);
	return add_text(array, name) ? 0 : error_nomem(err, "capabilities");
}

static int add_group(cJSON *array, const char *text, struct error *err)
{
	if (user_check("groups", text, false, err) < 0)
		return -1;
	return add_text(array, text) ? 0 : error_nomem(err, "groups");
}

/* no-new-privileges is there: add_host() gives it to every container. */
static int add_security(cJSON *array, const char *text, struct error *err)
{
	if (security_check(text, err) < 0)
		return -1;
	if (!strcmp(text, NO_NEW_PRIVILEGES))
		return 0;
	return add_text(array, text) ? 0 : error_nomem(err, "security");
}

static int add_list(cJSON *host, const char *name, const char *field,
		    const struct strings *list,
		    int (*one)(cJSON *array, const char *text,
			       struct error *err),
		    struct error *err)
{
	cJSON *array;

	if (!list->count)
		return 0;
	if (list->count > OPTIONS_MAX)
		return too_many(field, list->count, OPTIONS_MAX, err);
	array = cJSON_GetObjectItemCaseSensitive(host, name);
	if (!array)
		array = cJSON_AddArrayToObject(host, name);
	if (!array)
		return error_nomem(err, field);
	for (size_t i = 0; i < list->count; i++)
		if (one(array, list->items[i], err) < 0)
			return -1;
	return 0;
}

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
	/* With ipc host it is the host's: Docker ignores a size, Podman
	 * refuses it.
	 */
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

/* In memory alone: what regatta-init writes there is on no disk. */
static bool add_secrets(cJSON *host)
{
	cJSON *tmpfs = cJSON_AddObjectToObject(host, "Tmpfs");

	return tmpfs && cJSON_AddStringToObject(tmpfs, CONTAINER_SECRETS,
						"rw,noexec,nosuid,nodev,size="
						"1m,mode=1777");
}

/* Root of a container is root of the host where it may use a right: it has
 * those that are asked for, and gains none by running a setuid program.
 */
static bool add_rights(cJSON *host, const struct container_place *place)
{
	cJSON *dropped = cJSON_AddArrayToObject(host, "CapDrop");
	cJSON *security = cJSON_AddArrayToObject(host, "SecurityOpt");

	return dropped && add_text(dropped, "ALL") && security &&
	       add_text(security, NO_NEW_PRIVILEGES) &&
	       (!place->pids ||
		cJSON_AddNumberToObject(host, "PidsLimit", place->pids));
}

static bool add_host(cJSON *host, const struct container_spec *spec,
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

/* The image's health check would run beside the benchmark, and its stop
 * signal is not one that regatta-init knows of.
 */
static bool add_config(cJSON *body, const struct container_spec *spec,
		       const struct container_place *place)
{
	cJSON *health = cJSON_AddObjectToObject(body, "Healthcheck");
	cJSON *test = cJSON_AddArrayToObject(health, "Test");
	cJSON *entry = cJSON_AddArrayToObject(body, "Entrypoint");
	uint32_t grace = spec->grace_ms / 1000 + STOP_GRACE_S;

	return test && add_text(test, "NONE") && entry &&
	       add_text(entry, CONTAINER_INIT) &&
	       cJSON_AddStringToObject(body, "Image", place->image) &&
	       cJSON_AddArrayToObject(body, "Cmd") &&
	       add_texts(cJSON_AddArrayToObject(body, "Env"),
			 &spec->engine_env) &&
	       cJSON_AddStringToObject(body, "StopSignal", "SIGTERM") &&
	       cJSON_AddNumberToObject(body, "StopTimeout", grace) &&
	       (!spec->workdir ||
		cJSON_AddStringToObject(body, "WorkingDir", spec->workdir)) &&
	       (!spec->user ||
		cJSON_AddStringToObject(body, "User", spec->user));
}

static bool has_capability(const struct container_spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->capabilities.count; i++) {
		const char *text = spec->capabilities.items[i];

		if (!strcmp(text + (strncmp(text, "CAP_", 4) ? 0 : 4), name))
			return true;
	}
	return false;
}

static int spec_check(const struct container_spec *spec, struct error *err)
{
	if (has_capability(spec, "SETUID") && !has_capability(spec, "KILL"))
		return error_set(err, EINVAL,
				 "capabilities: SETUID without KILL: what "
				 "changes its user could not be ended; name "
				 "both");
	if (word_check("network", spec->network, container_networks,
		       "host, none and bridge", err) < 0 ||
	    word_check("ipc", spec->ipc, container_ipcs,
		       "private, host, shareable and none", err) < 0 ||
	    sizes_check(spec, err) < 0 || mounts_check(spec, err) < 0)
		return -1;
	if (spec->workdir && path_check("workdir", spec->workdir, err) < 0)
		return -1;
	return spec->user ? user_check("user", spec->user, true, err) : 0;
}

static int place_check(const struct container_place *place, struct error *err)
{
	if (!place->cluster || !*place->cluster || !place->node ||
	    !*place->node || !place->image || !*place->image)
		return error_set(err, EINVAL,
				 "place: cluster, node and image are needed");
	if (path_check("init program", place->init_program, err) < 0 ||
	    path_check("in folder", place->in_folder, err) < 0)
		return -1;
	return path_check("out folder", place->out_folder, err);
}

/* Devices. */

static bool below(const char *path, const char *folder)
{
	size_t size = folder ? strlen(folder) : 0;

	return size && !strncmp(path, folder, size) && path[size] == '/';
}

/* "/dev/x", "/dev/x:/dev/y" or "/dev/x:/dev/y:rw". */
static int add_device(cJSON *array, const char *text, const char *root,
		      struct error *err)
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
	    (!below(host, "/dev") && !below(host, root)) ||
	    path_check("device_nodes", host, err) < 0 ||
	    path_check("device_nodes", inside, err) < 0)
		return error_set(err, EINVAL,
				 "device_nodes: \"%.80s\" is not valid here; "
				 "expected /dev/NAME[:/PATH/INSIDE[:rwm]]",
				 text);
	device = cJSON_CreateObject();
	if (!cJSON_AddStringToObject(device, "PathOnHost", host) ||
	    !cJSON_AddStringToObject(device, "PathInContainer", inside) ||
	    !cJSON_AddStringToObject(device, "CgroupPermissions", access) ||
	    !cJSON_AddItemToArray(array, device)) {
		cJSON_Delete(device);
		return error_nomem(err, "device_nodes");
	}
	return 0;
}

static int add_devices(cJSON *host, const struct strings *nodes,
		       const char *root, struct error *err)
{
	cJSON *array;

	if (!nodes->count)
		return 0;
	if (nodes->count > NODES_MAX)
		return too_many("device_nodes", nodes->count, NODES_MAX, err);
	array = cJSON_AddArrayToObject(host, "Devices");
	if (!array)
		return error_nomem(err, "device_nodes");
	for (size_t i = 0; i < nodes->count; i++)
		if (add_device(array, nodes->items[i], root, err) < 0)
			return -1;
	return 0;
}

/* What a driver, a device or a capability of one may be called. */
static int names_check(const char *field, const struct strings *names,
		       struct error *err)
{
	if (names->count > NAMES_MAX)
		return too_many(field, names->count, NAMES_MAX, err);
	for (size_t i = 0; i < names->count; i++)
		if (!only(names->items[i], LOWER UPPER DIGITS "_.:,/=+-", 255))
			return error_set(err, EINVAL,
					 "%s: \"%.80s\" found, expected a name",
					 field, names->items[i]);
	return 0;
}

static int add_request(cJSON *array, const struct device_request *request,
		       struct error *err)
{
	struct strings driver = { (char **)&request->driver, 1 };
	cJSON *item = cJSON_CreateObject();
	cJSON *lists, *inner;

	if ((*request->driver &&
	     names_check("requests: driver", &driver, err) < 0) ||
	    names_check("requests: ids", &request->ids, err) < 0 ||
	    names_check("requests: capabilities", &request->capabilities, err) <
		    0) {
		cJSON_Delete(item);
		return -1;
	}
	inner = cJSON_CreateArray();
	if (!cJSON_AddItemToArray(array, item) ||
	    !cJSON_AddStringToObject(item, "Driver", request->driver) ||
	    !cJSON_AddNumberToObject(item, "Count",
				     request->ids.count ? 0 : -1) ||
	    !add_texts(cJSON_AddArrayToObject(item, "DeviceIDs"),
		       &request->ids) ||
	    !(lists = cJSON_AddArrayToObject(item, "Capabilities")) ||
	    !add_texts(inner, &request->capabilities) ||
	    !cJSON_AddItemToArray(lists, inner)) {
		cJSON_Delete(inner);
		return error_nomem(err, "requests");
	}
	return 0;
}

static int add_requests(cJSON *host, const struct container_spec *spec,
			struct error *err)
{
	struct strings runtime = { (char **)&spec->runtime, 1 };
	cJSON *array;

	if (spec->runtime && names_check("runtime", &runtime, err) < 0)
		return -1;
	if (spec->runtime &&
	    !cJSON_AddStringToObject(host, "Runtime", spec->runtime))
		return error_nomem(err, "runtime");
	if (!spec->requests_count)
		return 0;
	if (spec->requests_count > OPTIONS_MAX)
		return too_many("requests", spec->requests_count, OPTIONS_MAX,
				err);
	array = cJSON_AddArrayToObject(host, "DeviceRequests");
	if (!array)
		return error_nomem(err, "requests");
	for (size_t i = 0; i < spec->requests_count; i++)
		if (add_request(array, &spec->requests[i], err) < 0)
			return -1;
	return 0;
}

static int lists_fill(cJSON *host, const struct container_spec *spec,
		      const char *device_root, struct error *err)
{
	if (add_list(host, "Ulimits", "ulimits", &spec->ulimits, add_ulimit,
		     err) < 0 ||
	    add_list(host, "CapAdd", "capabilities", &spec->capabilities,
		     add_capability, err) < 0 ||
	    add_devices(host, &spec->device_nodes, device_root, err) < 0 ||
	    add_requests(host, spec, err) < 0 ||
	    add_list(host, "GroupAdd", "groups", &spec->groups, add_group,
		     err) < 0)
		return -1;
	return add_list(host, "SecurityOpt", "security", &spec->security,
			add_security, err);
}

cJSON *container_body(const struct task_spec *spec,
		      const struct container_place *place, struct error *err)
{
	const struct container_spec *container = &spec->container;
	char hash[CONTAINER_HASH_SIZE];
	cJSON *body, *host;

	if (place_check(place, err) < 0 || spec_check(container, err) < 0 ||
	    container_spec_hash(place->ordered ? place->ordered : spec, hash,
				err) < 0)
		return NULL;
	body = cJSON_CreateObject();
	host = cJSON_CreateObject();
	if (!add_config(body, container, place) ||
	    !add_labels(body, spec, place, hash) ||
	    !add_host(host, container, place)) {
		error_nomem(err, "container");
	} else if (lists_fill(host, container, place->device_root, err) == 0) {
		if (add(body, "HostConfig", host))
			return body;
		host = NULL;
		error_nomem(err, "container");
	}
	cJSON_Delete(host);
	cJSON_Delete(body);
	return NULL;
}

/* Names. */

void container_name(const struct task_spec *spec, const char *cluster,
		    char name[CONTAINER_NAME_MAX])
{
	unsigned char digest[crypto_hash_sha256_BYTES];
	char safe[CLUSTER_MAX + 1];
	char mark[16] = "";
	size_t size = strlen(cluster);
	bool exact = size <= CLUSTER_MAX;

	snprintf(safe, sizeof(safe), "%s", cluster);
	for (char *c = safe; *c; c++) {
		if (strchr(LOWER UPPER DIGITS "_.-", *c))
			continue;
		*c = '-';
		exact = false;
	}
	if (!exact) {
		crypto_hash_sha256(digest, (const unsigned char *)cluster,
				   size);
		snprintf(mark, sizeof(mark), "-%02x%02x%02x%02x", digest[0],
			 digest[1], digest[2], digest[3]);
	}
	snprintf(name, CONTAINER_NAME_MAX, "regatta-%s%s-%" PRIu64 "-%u-%u",
		 safe, mark, spec->job, spec->attempt, spec->rank);
}

int container_spec_hash(const struct task_spec *spec,
			char hash[CONTAINER_HASH_SIZE], struct error *err)
{
	owned(buffer_clear) struct buffer text;
	unsigned char digest[crypto_hash_sha256_BYTES];

	buffer_init(&text, SIZE_MAX / 2);
	if (codec_encode(&task_spec_schema, spec, &text, err) < 0)
		return -1;
	crypto_hash_sha256(digest, (const unsigned char *)text.data, text.size);
	sodium_bin2hex(hash, CONTAINER_HASH_SIZE, digest, sizeof(digest));
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
