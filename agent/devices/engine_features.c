/* engine_features.c - what the engine can do for devices: runtimes, CDI
 * devices.
 */
#include "protocol/base/file.h"
#include "agent/devices/device_injection.h"
#include "protocol/base/list.h"
#include "protocol/message/json_get.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CDI_FILES_MAX 256 /* of one folder; with more of them it is skipped */
#define RUNTIMES_MAX 256
#define CDI_DEVICES_MAX 4096
#define CDI_MOUNTS_MAX 4096
#define CDI_NODES_MAX 4096

static void cdi_mounts_clear(struct cdi_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->items[i].kind);
		free(mounts->items[i].path);
	}
	free(mounts->items);
}

static void cdi_nodes_clear(struct cdi_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		free(nodes->items[i].kind);
		free(nodes->items[i].device);
		free(nodes->items[i].path);
		free(nodes->items[i].in_path);
	}
	free(nodes->items);
}

void engine_features_clear(struct engine_features *features)
{
	strings_clear(&features->runtimes);
	strings_clear(&features->cdi);
	cdi_mounts_clear(&features->cdi_mounts);
	cdi_nodes_clear(&features->cdi_nodes);
	strings_clear(&features->unlimited);
	free(features->isolation);
	*features = (struct engine_features){ 0 };
}

static const char *engine_features_find_text(const struct value *map,
					     const char *key)
{
	const struct value *value = value_get(map, key);

	return value && value_kind(value) == VALUE_SCALAR ? value_text(value)
							  : NULL;
}

static int cdi_mounts_add(struct cdi_mounts *mounts, const char *kind,
			  const char *path, bool write, struct error *err)
{
	struct cdi_mount *items =
		realloc(mounts->items, (mounts->count + 1) * sizeof(*items));
	struct cdi_mount *item;

	if (!items)
		return error_nomem(err, "CDI");
	mounts->items = items;
	item = &items[mounts->count++];
	*item = (struct cdi_mount){ strdup(kind), strdup(path), write };
	return item->kind && item->path ? 0 : error_nomem(err, "CDI");
}

static bool cdi_mount_writes(const struct value *mount)
{
	const struct value *options = value_get(mount, "options");

	for (size_t i = 0; options && i < value_count(options); i++) {
		const struct value *option = value_at(options, i);

		if (value_kind(option) == VALUE_SCALAR &&
		    !strcmp(value_text(option), "ro"))
			return false;
	}
	return true;
}

static int cdi_nodes_add(struct cdi_nodes *nodes, const char *kind,
			 const char *device, const struct value *node,
			 struct error *err)
{
	const char *inside = engine_features_find_text(node, "path");
	const char *path = engine_features_find_text(node, "hostPath");
	struct cdi_node *item;

	if (!inside || nodes->count >= CDI_NODES_MAX)
		return 0;
	item = LIST_ADD(nodes->items, nodes->count, err);
	if (!item)
		return -1;
	*item = (struct cdi_node){ .kind = strdup(kind),
				   .path = strdup(path ? path : inside),
				   .in_path = strdup(inside) };
	if (device && asprintf(&item->device, "%s=%s", kind, device) < 0)
		item->device = NULL;
	return item->kind && item->path && item->in_path &&
			       (item->device || !device)
		       ? 0
		       : error_nomem(err, "CDI");
}

/* containerEdits: {mounts: [{hostPath: ..., options: [ro, ...]}], deviceNodes:
 * [{path: ..., hostPath: ...}]}. device: whose edits these are; NULL: all get
 * them.
 */
static int read_edits(const struct value *edits, const char *kind,
		      const char *device, struct engine_features *features,
		      struct error *err)
{
	struct cdi_mounts *found = &features->cdi_mounts;
	const struct value *mounts = value_get(edits, "mounts");
	const struct value *nodes = value_get(edits, "deviceNodes");

	for (size_t i = 0; mounts && i < value_count(mounts); i++) {
		const struct value *mount = value_at(mounts, i);
		const char *path = engine_features_find_text(mount, "hostPath");

		if (path && found->count < CDI_MOUNTS_MAX &&
		    cdi_mounts_add(found, kind, path, cdi_mount_writes(mount),
				   err) < 0)
			return -1;
	}
	for (size_t i = 0; nodes && i < value_count(nodes); i++)
		if (cdi_nodes_add(&features->cdi_nodes, kind, device,
				  value_at(nodes, i), err) < 0)
			return -1;
	return 0;
}

/* One description: {kind: vendor.com/class, devices: [{name: ...,
 * containerEdits: ...}], containerEdits: ...}. listed: the engine names the
 * devices itself.
 */
static int read_description(const char *path, bool listed,
			    struct engine_features *features, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(path, NULL, NULL);
	const struct value *root = document ? document_root(document) : NULL;
	const struct value *devices = value_get(root, "devices");
	const char *kind = engine_features_find_text(root, "kind");

	for (size_t i = 0; kind && devices && i < value_count(devices); i++) {
		const struct value *device = value_at(devices, i);
		const char *name = engine_features_find_text(device, "name");

		if (name && !listed && features->cdi.count < CDI_DEVICES_MAX &&
		    strings_printf(&features->cdi, err, "%s=%s", kind, name) <
			    0)
			return -1;
		if (read_edits(value_get(device, "containerEdits"), kind,
			       name ? name : "", features, err) < 0)
			return -1;
	}
	return kind ? read_edits(value_get(root, "containerEdits"), kind, NULL,
				 features, err)
		    : 0;
}

static int read_folder(const char *path, bool listed,
		       struct engine_features *features, struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };
	char file[PATH_MAX];

	/* A folder that cannot be read has no descriptions. */
	file_list(path, CDI_FILES_MAX, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		const char *dot = strrchr(names.items[i], '.');

		if (!dot ||
		    (strcmp(dot, ".json") != 0 && strcmp(dot, ".yaml") != 0) ||
		    snprintf(file, sizeof(file), "%s/%s", path,
			     names.items[i]) >= PATH_MAX)
			continue;
		if (read_description(file, listed, features, err) < 0)
			return -1;
	}
	return 0;
}

static int read_cdi(const cJSON *info, struct engine_features *features,
		    struct error *err)
{
	struct strings *cdi = &features->cdi;
	const cJSON *item;
	bool listed;

	cJSON_ArrayForEach(item, json_get(info, "DiscoveredDevices")) {
		const char *source = json_get_text(item, "Source");
		const char *id = json_get_text(item, "ID");

		if (source && id && !strcmp(source, "cdi") &&
		    cdi->count < CDI_DEVICES_MAX &&
		    strings_add(cdi, id, err) < 0)
			return -1;
	}
	listed = cdi->count;
	cJSON_ArrayForEach(item, json_get(info, "CDISpecDirs")) {
		const char *path = cJSON_GetStringValue(item);

		if (path && read_folder(path, listed, features, err) < 0)
			return -1;
	}
	return 0;
}

/* A rootless engine may name both options; then it is "rootless". */
static int read_isolation(const cJSON *info, char **isolation,
			  struct error *err)
{
	static const struct {
		const char *option, *word;
	} known[] = {
		{ "name=rootless", "rootless" },
		{ "name=userns", "userns-remap" },
	};
	const cJSON *item;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		cJSON_ArrayForEach(item, json_get(info, "SecurityOptions")) {
			const char *text = cJSON_GetStringValue(item);

			if (!text || strcmp(text, known[i].option) != 0)
				continue;
			*isolation = strdup(known[i].word);
			return *isolation ? 0 : error_nomem(err, "engine");
		}
	}
	return 0;
}

/* An engine that says nothing about a limit is taken to support it. */
static int engine_features_read_limits(const cJSON *info,
				       struct strings *unlimited,
				       struct error *err)
{
	static const struct {
		const char *key, *word;
	} known[] = {
		{ "MemoryLimit", "memory" },
		{ "CpuCfsQuota", "cpu" },
		{ "PidsLimit", "pids" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (cJSON_IsFalse(json_get(info, known[i].key)) &&
		    strings_add(unlimited, known[i].word, err) < 0)
			return -1;
	return 0;
}

int engine_features_rootless(const struct strings *controllers,
			     struct engine_features *features,
			     struct error *err)
{
	static const char *const words[] = { "memory", "cpu", "pids" };
	owned(strings_clear) struct strings unlimited = { 0 };
	char *isolation;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strings_has(controllers, words[i]) &&
		    strings_add(&unlimited, words[i], err) < 0)
			return -1;
	isolation = strdup("rootless");
	if (!isolation)
		return error_nomem(err, "engine");
	free(features->isolation);
	strings_clear(&features->unlimited);
	features->isolation = isolation;
	features->unlimited = unlimited;
	features->ignores_devices = true;
	unlimited = (struct strings){ 0 };
	return 0;
}

bool engine_is_podman(const cJSON *version)
{
	const cJSON *component;

	cJSON_ArrayForEach(component, json_get(version, "Components")) {
		const char *name = json_get_text(component, "Name");

		if (name && !strcmp(name, "Podman Engine"))
			return true;
	}
	return false;
}

int engine_features_podman(const cJSON *info, struct engine_features *features,
			   struct error *err)
{
	const cJSON *host = json_get(info, "host"), *item;
	owned(strings_clear) struct strings controllers = { 0 };

	if (!cJSON_IsTrue(json_get(json_get(host, "security"), "rootless")))
		return 0;
	cJSON_ArrayForEach(item, json_get(host, "cgroupControllers")) {
		const char *text = cJSON_GetStringValue(item);

		if (text && strings_add(&controllers, text, err) < 0)
			return -1;
	}
	return engine_features_rootless(&controllers, features, err);
}

/* Does this runtime do no more than the engine asks for? NULL: it is unknown.
 */
static bool runtime_is_plain(const char *runtime)
{
	static const char *const plain[] = { "runc", "crun", "youki",
					     "io.containerd.runc.v2" };

	for (size_t i = 0; runtime && i < sizeof(plain) / sizeof(*plain); i++)
		if (!strcmp(runtime, plain[i]))
			return true;
	return !runtime;
}

int engine_features_read(const cJSON *info, struct engine_features *features,
			 struct error *err)
{
	owned(engine_features_clear) struct engine_features got = { 0 };
	const cJSON *runtimes = json_get(info, "Runtimes"), *item;

	got.ignores_devices = json_get(info, "BuildahVersion");
	if (got.ignores_devices)
		runtimes = NULL;
	got.reads_selectors =
		got.ignores_devices ||
		!runtime_is_plain(json_get_text(info, "DefaultRuntime"));
	cJSON_ArrayForEach(item, runtimes)
		if (item->string && got.runtimes.count < RUNTIMES_MAX &&
		    strings_add(&got.runtimes, item->string, err) < 0)
			return -1;
	if (read_isolation(info, &got.isolation, err) < 0 ||
	    engine_features_read_limits(info, &got.unlimited, err) < 0)
		return -1;
	if (!got.ignores_devices && read_cdi(info, &got, err) < 0)
		return -1;
	engine_features_clear(features);
	*features = got;
	memset(&got, 0, sizeof(got));
	return 0;
}

int engine_features_add_cdi(const cJSON *version, const char *const *folders,
			    struct engine_features *features, struct error *err)
{
	const char *const system[] = { "/etc/cdi", "/var/run/cdi", NULL };
	const char *text = json_get_text(version, "Version");
	const char *home = getenv("HOME");
	unsigned int major, minor;
	char own[PATH_MAX];

	if (!engine_is_podman(version) || !text ||
	    sscanf(text, "%3u.%3u", &major, &minor) != 2 || major < 5 ||
	    (major == 5 && minor < 4))
		return 0;
	for (size_t i = 0; folders ? folders[i] : system[i]; i++)
		if (read_folder(folders ? folders[i] : system[i], false,
				features, err) < 0)
			return -1;
	if (folders || !home ||
	    snprintf(own, sizeof(own), "%s/.config/cdi", home) >= PATH_MAX)
		return 0;
	return read_folder(own, false, features, err);
}

const char *engine_hanging_runc(const cJSON *version)
{
	const cJSON *component;
	unsigned int minor, patch;

	cJSON_ArrayForEach(component, json_get(version, "Components")) {
		const char *name = json_get_text(component, "Name");
		const char *text = json_get_text(component, "Version");

		if (name && text && !strcmp(name, "runc") &&
		    sscanf(text, "1.%3u.%3u", &minor, &patch) == 2 &&
		    ((minor == 3 && patch <= 5) || (minor == 4 && patch <= 1)))
			return text;
	}
	return NULL;
}
