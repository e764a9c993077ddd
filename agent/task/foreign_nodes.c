/* foreign_nodes.c - judges the device nodes of a container that its request did
 * not ask for.
 */
#include "agent/task/foreign_nodes.h"
#include "agent/policy/policy_check.h"
#include "agent/policy/policy_image.h"
#include "agent/task/foreign_mounts.h"
#include "agent/task/mount_table.h"
#include "protocol/base/file.h"
#include "protocol/base/owned.h"
#include "protocol/message/json_get.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FOLDERS_DEEP 8

struct node_walk {
	const struct foreign_nodes *nodes;
	dev_t root, dev;         /* the container's own file systems */
	struct mount_table host; /* empty: not read yet */
	size_t names;
};

static void node_walk_clear(struct node_walk *walk)
{
	mount_table_clear(&walk->host);
}
OWNED_VALUE(struct node_walk, node_walk_clear)

/* Those that every container has. Source: OCI runtime specification, "Default
 * Devices"; Linux Documentation/admin-guide/devices.txt.
 */
static bool number_is_plain(const struct stat *node)
{
	static const struct {
		unsigned int major, minor;
	} plain[] = {
		{ 1, 3 }, { 1, 5 }, { 1, 7 }, { 1, 8 },
		{ 1, 9 }, { 5, 0 }, { 5, 2 },
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (S_ISCHR(node->st_mode) &&
		    node->st_rdev == makedev(plain[i].major, plain[i].minor))
			return true;
	return S_ISCHR(node->st_mode) && major(node->st_rdev) >= 136 &&
	       major(node->st_rdev) <= 143; /* ends of terminals */
}

static bool node_is_same(const struct stat *node, const struct stat *other)
{
	return (node->st_mode & S_IFMT) == (other->st_mode & S_IFMT) &&
	       node->st_rdev == other->st_rdev;
}

/* Those at the requested places have been compared with the node's. */
static bool node_is_asked(const struct foreign_nodes *nodes, const char *path,
			  const struct stat *node)
{
	const cJSON *host = json_get(nodes->request, "HostConfig"), *device;

	cJSON_ArrayForEach(device, json_get(host, "Devices")) {
		int fd = resolved_paths_open(
			nodes->paths,
			json_get_text_or_empty(device, "PathOnHost"));
		struct stat st;

		if (policy_path_below(path, json_get_text_or_empty(device,
								   "PathInConta"
								   "iner")) ||
		    (fd >= 0 && fstat(fd, &st) == 0 && node_is_same(node, &st)))
			return true;
	}
	return false;
}

/* Does the node have this device at the path? */
static bool node_is_at(const struct foreign_nodes *nodes, const char *path,
		       const struct stat *node)
{
	char found[PATH_MAX];
	struct stat st;

	return sysroot_find(nodes->roots, path, found, &st, NULL) == 0 &&
	       node_is_same(node, &st);
}

static bool node_is_vendors(const struct foreign_nodes *nodes, const char *path)
{
	const struct container_rules *rules = nodes->rules;

	return rules && nodes->policy->profile &&
	       (policy_matches(&rules->shared_nodes, path) ||
		policy_matches(&rules->optional_nodes, path) ||
		policy_matches(&rules->runtime_mounts, path));
}

/* Was the CDI device asked for, "nvidia.com/gpu=0"? */
static bool cdi_is_asked(const struct foreign_nodes *nodes, const char *name)
{
	const cJSON *host = json_get(nodes->request, "HostConfig");
	const cJSON *request, *id;

	cJSON_ArrayForEach(request, json_get(host, "DeviceRequests"))
		cJSON_ArrayForEach(id, json_get(request, "DeviceIDs"))
			if (cJSON_IsString(id) &&
			    (!name || !strcmp(id->valuestring, name)))
				return true;
	return false;
}

static bool node_is_described(const struct foreign_nodes *nodes,
			      const char *path, const struct stat *node)
{
	const struct cdi_nodes *cdi = nodes->cdi_nodes;

	for (size_t i = 0; cdi && i < cdi->count; i++) {
		const struct cdi_node *item = &cdi->items[i];

		if (!strcmp(item->in_path, path) &&
		    foreign_cdi_is_of(nodes->rules, item->kind) &&
		    (!item->device || cdi_is_asked(nodes, item->device)) &&
		    node_is_at(nodes, item->path, node))
			return true;
	}
	return false;
}

/* Such as the DRM nodes of a GPU: the kernel says which device has them. */
static bool node_is_of_device(const struct foreign_nodes *nodes,
			      const struct stat *node)
{
	char path[PATH_MAX], link[PATH_MAX], part[64];
	ssize_t size;

	snprintf(path, sizeof(path), "%s/dev/%s/%u:%u", nodes->roots->sys,
		 S_ISCHR(node->st_mode) ? "char" : "block",
		 major(node->st_rdev), minor(node->st_rdev));
	size = readlink(path, link, sizeof(link) - 1);
	if (size <= 0)
		return false;
	link[size] = 0;
	for (size_t i = 0; i < nodes->given->count; i++) {
		size_t index = strtoul(nodes->given->items[i], NULL, 10);
		const char *bus = index < nodes->devices->count
					  ? nodes->devices->list[index].bus_id
					  : NULL;

		snprintf(part, sizeof(part), "/%.50s/", bus ? bus : "");
		if (bus && strstr(link, part))
			return true;
	}
	return false;
}

/* Is it in a file system of the node? foreign_mounts.h has judged its mount. */
static bool node_is_mounted(struct node_walk *walk, const struct stat *node)
{
	owned_fd int self = -1;
	char device[32];

	if (node->st_dev == walk->root || node->st_dev == walk->dev)
		return false;
	if (!walk->host.count) {
		self = open("/proc/self", O_PATH | O_CLOEXEC);
		if (mount_table_read(self, &walk->host, NULL) < 0)
			return false;
	}
	snprintf(device, sizeof(device), "%u:%u", major(node->st_dev),
		 minor(node->st_dev));
	for (size_t i = 0; i < walk->host.count; i++)
		if (!strcmp(walk->host.rows[i].device, device))
			return true;
	return false;
}

static int node_check(struct node_walk *walk, const char *path,
		      const struct stat *node, struct error *err)
{
	const struct foreign_nodes *nodes = walk->nodes;
	const struct strings *allowed = &nodes->policy->lists[POLICY_DEVICES];

	if (number_is_plain(node) || node_is_asked(nodes, path, node) ||
	    ((node_is_vendors(nodes, path) || policy_matches(allowed, path)) &&
	     node_is_at(nodes, path, node)) ||
	    node_is_described(nodes, path, node) ||
	    node_is_of_device(nodes, node) || node_is_mounted(walk, node))
		return 0;
	return error_set(err, EPERM,
			 "devices: a runtime or hook of the engine made %.80s "
			 "(%c %u:%u) in the container; neither the vendor's "
			 "profile nor devices in %.50s name it",
			 path, S_ISCHR(node->st_mode) ? 'c' : 'b',
			 major(node->st_rdev), minor(node->st_rdev),
			 nodes->policy->file);
}

static int node_walk_folder(struct node_walk *walk, int folder,
			    const char *path, int depth, struct error *err);

static int node_walk_name(struct node_walk *walk, int folder, const char *path,
			  const char *name, int depth, struct error *err)
{
	char below[PATH_MAX];
	owned_fd int inner = -1;
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_errno(err, "%.80s/%.80s", path, name);
	if (file_path(below, err, "%s/%s", path, name) < 0)
		return -1;
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		return node_check(walk, below, &st, err);
	if (!S_ISDIR(st.st_mode) || node_is_mounted(walk, &st))
		return 0;
	inner = openat(folder, name,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return inner < 0 ? error_errno(err, "%.150s", below)
			 : node_walk_folder(walk, inner, below, depth + 1, err);
}

static int node_walk_folder(struct node_walk *walk, int folder,
			    const char *path, int depth, struct error *err)
{
	owned_dir DIR *dir = file_open_folder(folder, ".");
	const struct dirent *entry;

	if (!dir)
		return error_errno(err, "%.150s", path);
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (depth > FOLDERS_DEEP || ++walk->names > FOREIGN_NODES_NAMES)
			return error_set(err, EPERM,
					 "devices: /dev of the container is "
					 "too large to be looked through: more "
					 "than %d names, or %d folders inside "
					 "each other",
					 FOREIGN_NODES_NAMES, FOLDERS_DEEP);
		if (node_walk_name(walk, folder, path, entry->d_name, depth,
				   err) < 0)
			return -1;
	}
	return 0;
}

int foreign_nodes_check(const struct foreign_nodes *nodes, int root,
			struct error *err)
{
	owned(node_walk_clear) struct node_walk walk = { .nodes = nodes };
	owned_fd int dev =
		openat(root, "dev",
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat top, own;

	if (dev < 0)
		return errno == ENOENT
			       ? 0
			       : error_errno(err, "/dev of the container");
	if (fstat(root, &top) < 0 || fstat(dev, &own) < 0)
		return error_errno(err, "/dev of the container");
	walk.root = top.st_dev;
	walk.dev = own.st_dev;
	return node_walk_folder(&walk, dev, "/dev", 0, err);
}
