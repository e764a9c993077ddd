/* foreign_mounts.c - judges a mount of a container that its request did not ask
 * for.
 */
#include "agent/task/foreign_mounts.h"
#include "agent/policy/policy_check.h"
#include "agent/policy/policy_image.h"
#include "protocol/base/strings.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ID_DIGITS 64 /* hexadecimal, of a container or an anonymous volume */

static bool word_is_in(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

/* The id of the first folder /NAME/ID on the path. NULL: there is none. */
static const char *path_id(const char *path, const char *name)
{
	const char *at = path;

	while ((at = strstr(at, name))) {
		at += strlen(name);
		if (strspn(at, ASCII_DIGITS "abcdef") == ID_DIGITS &&
		    (at[ID_DIGITS] == '/' || !at[ID_DIGITS]))
			return at;
	}
	return NULL;
}

static const char *path_container(const char *path)
{
	const char *id = path_id(path, "/containers/");

	return id ? id : path_id(path, "/overlay-containers/");
}

/* The path of the node where a mount of it shows what the row mounts. false:
 * it shows something else.
 */
static bool row_path(const struct mount_row *host, const struct mount_row *row,
		     char path[PATH_MAX])
{
	const char *rest = row->root;

	if (strcmp(host->device, row->device) != 0 ||
	    !policy_path_below(row->root, host->root))
		return false;
	rest += host->root[1] ? strlen(host->root) : 0;
	snprintf(path, PATH_MAX, "%s%s", host->point[1] ? host->point : "",
		 rest[0] && rest[1] ? rest : "");
	if (!*path)
		snprintf(path, PATH_MAX, "/");
	return true;
}

/* Is it the folder of this container, the one whose files the engine mounted
 * where each container has them?
 */
static bool container_is_own(const struct foreign_mounts *mounts,
			     const char *id)
{
	static const char *const points[] = {
		"/etc/hosts", "/etc/hostname",      "/etc/resolv.conf",
		"/dev/shm",   "/run/.containerenv", NULL
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < mounts->inside->count; i++) {
		const struct mount_row *row = &mounts->inside->rows[i];

		for (size_t j = 0;
		     word_is_in(points, row->point) && j < mounts->host->count;
		     j++) {
			const char *own =
				row_path(&mounts->host->rows[j], row, path)
					? path_container(path)
					: NULL;

			if (own)
				return !strncmp(own, id, ID_DIGITS);
		}
	}
	return false;
}

/* .../volumes/ID/_data */
static bool path_is_volume(const char *path)
{
	const char *id = path_id(path, "/volumes/");

	return id && !strcmp(id + ID_DIGITS, "/_data");
}

/* What an engine keeps for one container: files as /etc/hosts, the memory of
 * /dev/shm, the volumes of an image. Nobody but root makes these folders.
 */
static bool path_is_engines(const struct foreign_mounts *mounts,
			    const char *path)
{
	const char *id = path_container(path);

	return id ? container_is_own(mounts, id) : path_is_volume(path);
}

/* Fresh file systems of the kernel, and those that show the same everywhere. */
static bool is_of_kernel(const struct foreign_mounts *mounts,
			 const struct mount_row *row)
{
	static const char *const fresh[] = { "proc", "tmpfs", "devpts",
					     "mqueue", NULL };
	static const char *const shown[] = {
		"sysfs",   "cgroup",   "cgroup2", "debugfs",  "securityfs",
		"tracefs", "bpf",      "pstore",  "configfs", "selinuxfs",
		"fusectl", "efivarfs", NULL
	};

	if (policy_path_below(row->point, "/sys") &&
	    word_is_in(shown, row->type))
		return true;
	if (!word_is_in(fresh, row->type))
		return false;
	for (size_t i = 0; i < mounts->host->count; i++)
		if (!strcmp(mounts->host->rows[i].device, row->device))
			return false;
	return true;
}

/* Is it in the file system that is the root of the container? */
static bool is_of_image(const struct foreign_mounts *mounts,
			const struct mount_row *row)
{
	for (size_t i = 0; i < mounts->inside->count; i++) {
		const struct mount_row *root = &mounts->inside->rows[i];

		if (!strcmp(root->point, "/") &&
		    !strcmp(root->device, row->device) &&
		    policy_path_below(row->root, root->root))
			return true;
	}
	return false;
}

static bool node_is_plain(const char *path)
{
	static const char *const nodes[] = {
		"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
		"/dev/urandom", "/dev/tty",  NULL
	};

	return word_is_in(nodes, path);
}

static bool path_is_same(const struct foreign_mounts *mounts, const char *named,
			 const char *path)
{
	char real[PATH_MAX];

	if (resolved_paths_resolve(mounts->paths, named, real) < 0)
		return !strcmp(named, path);
	return !strcmp(real, path);
}

/* Of the node: device nodes of the request, which engines without root mount,
 * and its memory, if the job shares it.
 */
static bool path_is_asked(const struct foreign_mounts *mounts, const char *path)
{
	const cJSON *host = json_get(mounts->request, "HostConfig"), *device;

	if (!strcmp(json_get_text_or_empty(host, "IpcMode"), "host") &&
	    (!strcmp(path, "/dev/shm") || !strcmp(path, "/dev/mqueue")))
		return true;
	cJSON_ArrayForEach(device, json_get(host, "Devices"))
		if (path_is_same(mounts,
				 json_get_text_or_empty(device, "PathOnHost"),
				 path))
			return true;
	return false;
}

bool foreign_cdi_is_of(const struct container_rules *rules, const char *kind)
{
	size_t vendor = strcspn(kind, "/") + 1;

	return rules && rules->cdi && !strncmp(rules->cdi, kind, vendor);
}

/* What the vendor's software is known to mount. */
static bool path_is_vendors(const struct foreign_mounts *mounts,
			    const char *path, bool write)
{
	const struct container_rules *rules = mounts->rules;
	const struct cdi_mounts *cdi = mounts->cdi_mounts;

	for (size_t i = 0; cdi && i < cdi->count; i++)
		if (foreign_cdi_is_of(rules, cdi->items[i].kind) &&
		    (cdi->items[i].write || !write) &&
		    path_is_same(mounts, cdi->items[i].path, path))
			return true;
	if (!rules || !mounts->policy->profile)
		return false;
	for (size_t i = 0; i < rules->mounts_count; i++)
		if (policy_path_below(path, rules->mounts[i].host))
			return true;
	return policy_matches(&rules->runtime_mounts, path);
}

static bool path_is_known(const struct foreign_mounts *mounts,
			  const struct mount_row *row, const char *path)
{
	const struct policy_resolver resolver = { resolved_paths_resolve,
						  mounts->paths };

	return path_is_engines(mounts, path) || node_is_plain(path) ||
	       (policy_path_below(path, "/sys") &&
		policy_path_below(row->point, "/sys")) ||
	       path_is_asked(mounts, path) ||
	       path_is_vendors(mounts, path, !row->read_only) ||
	       policy_check_may_mount(mounts->policy, path, !row->read_only,
				      &resolver);
}

int foreign_mounts_check(const struct foreign_mounts *mounts,
			 const struct mount_row *row, struct error *err)
{
	char path[PATH_MAX], shown[PATH_MAX] = "a file system";

	if (is_of_kernel(mounts, row) || is_of_image(mounts, row))
		return 0;
	for (size_t i = 0; i < mounts->host->count; i++) {
		if (!row_path(&mounts->host->rows[i], row, path))
			continue;
		if (path_is_known(mounts, row, path))
			return 0;
		memcpy(shown, path, sizeof(path));
	}
	return error_set(err, EPERM,
			 "mounts: a runtime or hook of the engine mounted "
			 "%.60s at %.50s in the container; neither the "
			 "vendor's profile nor mounts in %.50s name it",
			 shown, row->point, mounts->policy->file);
}
