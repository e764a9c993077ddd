/* create_body_check.c - checks what a task's spec asks for.
 */
#include "agent/docker/create_body_internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MOUNTS_MAX 128
#define PATH_LENGTH_MAX 4096
#define NAMES_MAX 256 /* of devices in a request, of variables */
#define MEMORY_MIN (UINT64_C(6) << 20)
#define CPUS_MIN 0.01
#define CPUS_MAX 65536.0
#define NAME_CHARACTERS ASCII_LETTERS ASCII_DIGITS

bool container_word(const char *const *table, const char *word, size_t size)
{
	for (; *table; table++)
		if (strlen(*table) == size && !strncmp(*table, word, size))
			return true;
	return false;
}

int container_too_many(const char *field, size_t count, size_t allowed,
		       struct error *err)
{
	return error_set(err, EINVAL, "%s: %zu of them; expected at most %zu",
			 field, count, allowed);
}

int container_path_check(const char *field, const char *path, struct error *err)
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
					 "%s: \"%.80s\" contains a control "
					 "character",
					 field, path);
	for (const char *at = strstr(path, "/.."); at;
	     at = strstr(at + 1, "/.."))
		if (at[3] == '/' || !at[3])
			return error_set(err, EINVAL,
					 "%s: \"%.80s\" contains \"..\"", field,
					 path);
	return 0;
}

/* Write the path without "." and empty parts, so that paths can be compared. */
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

/* The root and /regatta, where Regatta's own mounts are, are not for mounts. */
static bool container_path_reserved(const char *tidy)
{
	return !*tidy ||
	       (!strncmp(tidy, "/regatta", 8) && (!tidy[8] || tidy[8] == '/'));
}

const char *container_workspace(const struct container_spec *spec)
{
	return spec->workspace_folder ? spec->workspace_folder
				      : WORKSPACE_FOLDER;
}

/* In a mount, the engine would make the folder on the host. */
static int workspace_check(const struct container_spec *spec,
			   const struct strings *mounts, struct error *err)
{
	char tidy[PATH_LENGTH_MAX + 1];

	if (!spec->workspace)
		return 0;
	if (container_path_check("workspace", container_workspace(spec), err) <
	    0)
		return -1;
	path_tidy(container_workspace(spec), tidy);
	if (container_path_reserved(tidy))
		return error_set(err, EINVAL,
				 "workspace: \"%.80s\" is not valid here; "
				 "expected a path other than / and /regatta",
				 container_workspace(spec));
	for (size_t i = 0; i < mounts->count; i++) {
		const char *mount = mounts->items[i];
		size_t size = strlen(mount);

		if (!strncmp(tidy, mount, size) &&
		    (!tidy[size] || tidy[size] == '/'))
			return error_set(err, EINVAL,
					 "workspace: \"%.80s\" is in the "
					 "mount at %.80s",
					 container_workspace(spec), mount);
	}
	return 0;
}

static int mounts_check(const struct container_spec *spec, struct error *err)
{
	owned(strings_clear) struct strings taken = { 0 };
	char tidy[PATH_LENGTH_MAX + 1];

	if (spec->mounts_count > MOUNTS_MAX)
		return container_too_many("mounts", spec->mounts_count,
					  MOUNTS_MAX, err);
	for (size_t i = 0; i < spec->mounts_count; i++) {
		const struct mount_spec *mount = &spec->mounts[i];

		if (container_path_check("mounts: host", mount->host, err) <
			    0 ||
		    container_path_check("mounts: container", mount->container,
					 err) < 0)
			return -1;
		path_tidy(mount->container, tidy);
		if (container_path_reserved(tidy))
			return error_set(err, EINVAL,
					 "mounts: container: \"%.80s\" is not "
					 "valid here; expected a path other "
					 "than / and /regatta",
					 mount->container);
		if (strings_has(&taken, tidy))
			return error_set(err, EINVAL,
					 "mounts: container: \"%.80s\" is "
					 "given twice",
					 mount->container);
		if (strings_add(&taken, tidy, err) < 0)
			return -1;
	}
	return workspace_check(spec, &taken, err);
}

static int word_check(const char *field, const char *word,
		      const char *const *allowed, const char *list,
		      struct error *err)
{
	if (!word || container_word(allowed, word, strlen(word)))
		return 0;
	return error_set(err, EINVAL,
			 "%s: \"%.40s\" is not valid here; expected %s", field,
			 word, list);
}

static int sizes_check(const struct container_spec *spec, struct error *err)
{
	if (spec->memory_bytes && (spec->memory_bytes < MEMORY_MIN ||
				   spec->memory_bytes > CONTAINER_BYTES_MAX))
		return error_set(err, EINVAL,
				 "memory_bytes: %" PRIu64
				 " is not valid here; expected 0 (no limit) "
				 "and 6 MiB to 512 TiB",
				 spec->memory_bytes);
	if (spec->shm_bytes > CONTAINER_BYTES_MAX)
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

int container_user_check(const char *field, const char *user, bool group,
			 struct error *err)
{
	const char *colon = group ? strchr(user, ':') : NULL;
	const char *allowed = NAME_CHARACTERS "_.-";
	size_t first = colon ? (size_t)(colon - user) : strlen(user);

	if (!first || first > 64 || strspn(user, allowed) < first ||
	    user[0] == '-' || (colon && !text_is_of(colon + 1, 64, allowed)))
		return error_set(err, EINVAL,
				 "%s: \"%.80s\" is not valid here; expected a "
				 "number or a name%s",
				 field, user,
				 group ? ", optionally with :GROUP" : "");
	return 0;
}

int container_security_check(const char *option, struct error *err)
{
	const char *value = strchr(option, '=');

	if (!strcmp(option, CONTAINER_NO_NEW_PRIVILEGES) ||
	    !strcmp(option, "seccomp=unconfined"))
		return 0;
	if (value &&
	    (!strncmp(option, "apparmor=", 9) ||
	     !strncmp(option, "label=", 6)) &&
	    text_is_of(value + 1, 255, NAME_CHARACTERS "_.:,/-"))
		return 0;
	return error_set(err, EINVAL,
			 "security: \"%.80s\" is not valid here; expected "
			 "no-new-privileges, seccomp=unconfined, "
			 "apparmor=PROFILE and label=TEXT",
			 option);
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

int container_spec_check(const struct container_spec *spec, struct error *err)
{
	if (has_capability(spec, "SETUID") && !has_capability(spec, "KILL"))
		return error_set(err, EINVAL,
				 "capabilities: SETUID requires KILL, because "
				 "processes that change their user could not "
				 "be stopped; add KILL");
	if (word_check("network", spec->network, container_networks,
		       "host, none and bridge", err) < 0 ||
	    word_check("ipc", spec->ipc, container_ipcs,
		       "private, host, shareable and none", err) < 0 ||
	    sizes_check(spec, err) < 0 || mounts_check(spec, err) < 0)
		return -1;
	if (spec->workdir &&
	    container_path_check("workdir", spec->workdir, err) < 0)
		return -1;
	return spec->user ? container_user_check("user", spec->user, true, err)
			  : 0;
}

int container_place_check(const struct container_place *place,
			  struct error *err)
{
	if (!place->cluster || !*place->cluster || !place->node ||
	    !*place->node || !place->image || !*place->image)
		return error_set(err, EINVAL,
				 "place: cluster, node and image are missing");
	if (container_path_check("init program", place->init_program, err) <
		    0 ||
	    container_path_check("init path", place->init_path, err) < 0 ||
	    container_path_check("in folder", place->in_folder, err) < 0)
		return -1;
	return container_path_check("out folder", place->out_folder, err);
}

int container_name_check(const char *field, const char *name, struct error *err)
{
	if (text_is_of(name, 255, NAME_CHARACTERS "_.:,/=+-"))
		return 0;
	return error_set(err, EINVAL,
			 "%s: \"%.80s\" is not valid here; expected a name of "
			 "letters, digits and _.:,/=+-",
			 field, name);
}

int container_names_check(const char *field, const struct strings *names,
			  struct error *err)
{
	if (names->count > NAMES_MAX)
		return container_too_many(field, names->count, NAMES_MAX, err);
	for (size_t i = 0; i < names->count; i++)
		if (container_name_check(field, names->items[i], err) < 0)
			return -1;
	return 0;
}
