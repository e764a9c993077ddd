/* cgroup.c - what the kernel counts for this container: memory, OOM kills. */
#include "agent/init/cgroup.h"

#include <limits.h>
#include <stdbool.h>

#define MEMORY_V1 "/sys/fs/cgroup/memory"
#define MEMORY_V2 "/sys/fs/cgroup"

/* The path of our cgroup below its mount: of the v1 memory controller, or, on
 * a machine without it, of the one v2 tree. Lines: "id:controllers:path".
 */
static bool cgroup_find(bool *v1, char *path, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 64];
	bool found = false;

	*v1 = false;
	while (file && !*v1 && fgets(line, sizeof(line), file)) {
		char *controllers = strchr(line, ':');
		char *value = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!value)
			continue;
		*value++ = 0;
		value[strcspn(value, "\n")] = 0;
		*v1 = !strcmp(controllers, ":memory");
		if (!*v1 && controllers[1])
			continue;
		found = true;
		snprintf(path, size, "%s", value);
	}
	if (file)
		fclose(file);
	return found;
}

/* A file of a cgroup, and a line of it: "key number". */
struct cgroup_value {
	const char *name;
	const char *key;
};

/* -1: no such file or line. */
static int64_t number_in(const char *folder, const char *below,
			 const struct cgroup_value *which)
{
	char path[2 * PATH_MAX];
	char line[256];
	size_t length = strlen(which->key);
	int64_t value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s%s/%s", folder, below, which->name);
	file = fopen(path, "re");
	while (file && value < 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, which->key, length) != 0 ||
		    line[length] != ' ')
			continue;
		value = strtoll(line + length, NULL, 10);
	}
	if (file)
		fclose(file);
	return value;
}

/* In a container the mount shows the container's own cgroup as its root,
 * while /proc/self/cgroup may still tell the path on the host: so first the
 * path, then the root.
 */
static int64_t cgroup_number(const struct cgroup_value *in_v1,
			     const struct cgroup_value *in_v2)
{
	char below[PATH_MAX] = "";
	int64_t value;
	bool v1;

	if (!cgroup_find(&v1, below, sizeof(below)))
		return 0;
	value = number_in(v1 ? MEMORY_V1 : MEMORY_V2, below,
			  v1 ? in_v1 : in_v2);
	if (value < 0)
		value = number_in(v1 ? MEMORY_V1 : MEMORY_V2, "",
				  v1 ? in_v1 : in_v2);
	return value < 0 ? 0 : value;
}

int64_t cgroup_oom_kills(void)
{
	return cgroup_number(&(struct cgroup_value){ "memory.oom_control",
						     "oom_kill" },
			     &(struct cgroup_value){ "memory.events",
						     "oom_kill" });
}

int64_t cgroup_memory_used(void)
{
	return cgroup_number(&(struct cgroup_value){ "memory.stat",
						     "total_rss" },
			     &(struct cgroup_value){ "memory.stat", "anon" }) +
	       cgroup_number(&(struct cgroup_value){ "memory.stat",
						     "total_shmem" },
			     &(struct cgroup_value){ "memory.stat", "shmem" });
}
