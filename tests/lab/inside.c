/* inside.c - what a container truly got: devices, groups, limits, environment.
 *
 * A line each, in order:
 *
 *	node PATH MAJOR:MINOR open	a device node that is not of every
 *	node PATH MAJOR:MINOR WHY	container, and what open(2) says of it
 *	group N				a supplementary group
 *	capabilities HEX		those in effect
 *	limit NAME SOFT HARD		memlock, stack; -1 is unlimited
 *	shm BYTES			room in /dev/shm
 *	env NAME=VALUE
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

extern char **environ;

/* Docker gives these to every container. */
static const char *const usual[] = {
	"/dev/console", "/dev/full",  "/dev/null",   "/dev/ptmx",
	"/dev/random",  "/dev/tty",   "/dev/zero",   "/dev/urandom",
	"/dev/mqueue",  "/dev/pts",   "/dev/shm",    "/dev/fd",
	"/dev/core",    "/dev/stdin", "/dev/stdout", "/dev/stderr",
};

static bool is_usual(const char *path)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!strcmp(path, usual[i]))
			return true;
	return false;
}

static void show_node(const char *path, const struct stat *st)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	printf("node %s %u:%u %s\n", path, major(st->st_rdev),
	       minor(st->st_rdev), fd < 0 ? strerror(errno) : "open");
	if (fd >= 0)
		close(fd);
}

static void show_nodes(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", folder,
			 entries[i]->d_name);
		if (entries[i]->d_name[0] == '.' || is_usual(path) ||
		    lstat(path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			show_nodes(path);
		else if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
			show_node(path, &st);
	}
}

static void show_groups(void)
{
	gid_t groups[64];
	int count = getgroups(64, groups);

	for (int i = 0; i < count; i++)
		printf("group %u\n", (unsigned)groups[i]);
}

static void show_capabilities(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256], hex[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %63s", hex) == 1)
			printf("capabilities %s\n", hex);
	if (file)
		fclose(file);
}

static void show_limit(const char *name, __rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0)
		printf("limit %s %lld %lld\n", name, (long long)limit.rlim_cur,
		       (long long)limit.rlim_max);
}

int main(void)
{
	struct statvfs shm;

	show_nodes("/dev");
	show_groups();
	show_capabilities();
	show_limit("memlock", RLIMIT_MEMLOCK);
	show_limit("stack", RLIMIT_STACK);
	if (statvfs("/dev/shm", &shm) == 0)
		printf("shm %llu\n",
		       (unsigned long long)shm.f_blocks * shm.f_frsize);
	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	return 0;
}
