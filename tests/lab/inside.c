/* inside.c - what a container truly got: devices, groups, limits, environment.
 *
 *	inside [COMMAND [ARGUMENT...]]	which it becomes afterwards
 *
 * A line each, in order, and "end":
 *
 *	node PATH MAJOR:MINOR open	a device node that is not of every
 *	node PATH MAJOR:MINOR WHY	container, and what open(2) says of it
 *	group N				a supplementary group
 *	capabilities HEX		those in effect
 *	seccomp 0|2			no filter, or one
 *	limit NAME SOFT HARD		memlock, stack; -1 is unlimited
 *	shm BYTES			room in /dev/shm
 *	mount PATH ro|rw		but for those of every container
 *	env NAME=VALUE
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <mntent.h>
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

static void show_rights(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256], value[64];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CapEff: %63s", value) == 1)
			printf("capabilities %s\n", value);
		if (sscanf(line, "Seccomp: %63s", value) == 1)
			printf("seccomp %s\n", value);
	}
	if (file)
		fclose(file);
}

#define PROGRAM "/regatta-" /* and a name that nobody knows beforehand */
#define PROGRAM_NAME 32     /* hexadecimal digits */

static bool is_usual_mount(const char *path)
{
	static const char *const folders[] = { "/dev", "/proc", "/sys",
					       "/regatta" };
	static const char *const files[] = { "/", "/etc/hosts", "/etc/hostname",
					     "/etc/resolv.conf" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t size = strlen(folders[i]);

		if (!strncmp(path, folders[i], size) &&
		    (!path[size] || path[size] == '/'))
			return true;
	}
	if (!strncmp(path, PROGRAM, strlen(PROGRAM)) &&
	    strspn(path + strlen(PROGRAM), "0123456789abcdef") ==
		    PROGRAM_NAME &&
	    !path[strlen(PROGRAM) + PROGRAM_NAME])
		return true;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(path, files[i]))
			return true;
	return false;
}

static void show_mounts(void)
{
	FILE *file = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;

	while (file && (mount = getmntent(file)))
		if (!is_usual_mount(mount->mnt_dir))
			printf("mount %s %s\n", mount->mnt_dir,
			       hasmntopt(mount, "ro") ? "ro" : "rw");
	if (file)
		endmntent(file);
}

static void show_limit(const char *name, __rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0)
		printf("limit %s %lld %lld\n", name, (long long)limit.rlim_cur,
		       (long long)limit.rlim_max);
}

int main(int argc, char **argv)
{
	struct statvfs shm;

	show_nodes("/dev");
	show_groups();
	show_rights();
	show_limit("memlock", RLIMIT_MEMLOCK);
	show_limit("stack", RLIMIT_STACK);
	if (statvfs("/dev/shm", &shm) == 0)
		printf("shm %llu\n",
		       (unsigned long long)shm.f_blocks * shm.f_frsize);
	show_mounts();
	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	puts("end");
	fflush(stdout);
	if (argc < 2)
		return 0;
	execv(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
