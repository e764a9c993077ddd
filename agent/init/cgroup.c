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
		char *place = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!place)
			continue;
		*place++ = 0;
		place[strcspn(place, "\n")] = 0;
		*v1 = !strcmp(controllers, ":memory");
		if (!*v1 && controllers[1])
			continue;
		found = true;
		snprintf(path, size, "%s", place);
	}
	if (file)
		fclose(file);
	return found;
}

/* The number behind "key " at the start of a line, or, with key "", the number
 * the file begins with. -1: no such file or line.
 */
static int64_t number_in(const char *folder, const char *below,
			 const char *name, const char *key)
{
	char path[2 * PATH_MAX];
	char line[256];
	size_t length = strlen(key);
	int64_t value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s%s/%s", folder, below, name);
	file = fopen(path, "re");
	while (file && value < 0 && fgets(line, sizeof(line), file)) {
		if (length &&
		    (strncmp(line, key, length) != 0 || line[length] != ' '))
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
static int64_t cgroup_number(const char *v1_name, const char *v2_name,
			     const char *key)
{
	char below[PATH_MAX] = "";
	int64_t value;
	bool v1;

	if (!cgroup_find(&v1, below, sizeof(below)))
		return 0;
	value = number_in(v1 ? MEMORY_V1 : MEMORY_V2, below,
			  v1 ? v1_name : v2_name, key);
	if (value < 0)
		value = number_in(v1 ? MEMORY_V1 : MEMORY_V2, "",
				  v1 ? v1_name : v2_name, key);
	return value < 0 ? 0 : value;
}

int64_t cgroup_oom_kills(void)
{
	return cgroup_number("memory.oom_control", "memory.events", "oom_kill");
}

int64_t cgroup_memory_peak(void)
{
	return cgroup_number("memory.max_usage_in_bytes", "memory.peak", "");
}
