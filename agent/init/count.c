/* count.c - counts what a task keeps on the disks of its node.
 */
#include "agent/init/count.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define GROUPS_DEEP 8
#define DELETED " (deleted)"

enum place { PLACE_OTHER, PLACE_OWN, PLACE_OUT };

/* A mount of the container. */
struct count_mount {
	int id;
	enum place place;
	char *point;
};

struct count {
	const char *folder; /* of the task, and its last name */
	const char *name;
	pid_t pid;
	uint64_t most;
	char *const *volumes;
	uint64_t own_bytes, out_bytes, files;
	dev_t root, out; /* of the layer; of the spool */
	struct count_mount *mounts;
	size_t mounts_count;
	char *layer;
	void *seen; /* of (device, inode), by tsearch(3) */
};

struct count_inode {
	dev_t device;
	ino_t inode;
};

static int inode_compare(const void *a, const void *b)
{
	const struct count_inode *one = a, *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return (one->inode > other->inode) - (one->inode < other->inode);
}

/* Is it the first time? Out of memory counts as such. */
static bool inode_is_new(struct count *count, const struct stat *st)
{
	struct count_inode *inode = malloc(sizeof(*inode));
	struct count_inode **found;

	if (!inode)
		return true;
	*inode = (struct count_inode){ st->st_dev, st->st_ino };
	found = tsearch(inode, &count->seen, inode_compare);
	if (found && *found != inode)
		free(inode);
	return !found || *found == inode;
}

static bool count_is_over(const struct count *count)
{
	return count->files > count->most;
}

/* Files with names. */

static void count_tree(struct count *count, int parent, const char *name,
		       unsigned int depth, uint64_t *bytes)
{
	owned_dir DIR *dir = file_open_folder(parent, name);
	const struct dirent *entry;
	struct stat st;

	while (dir && !count_is_over(count) && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, "..") ||
		    fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		count->files++;
		if (st.st_nlink < 2 || S_ISDIR(st.st_mode) ||
		    inode_is_new(count, &st))
			*bytes += (uint64_t)st.st_blocks * 512;
		if (!S_ISDIR(st.st_mode))
			continue;
		if (depth == COUNT_DEPTH_MAX)
			count->files = count->most + 1;
		else
			count_tree(count, dirfd(dir), entry->d_name, depth + 1,
				   bytes);
	}
}

/* The container's mounts. */

static bool text_ends(const char *text, const char *folder, const char *name)
{
	char end[NAME_MAX + 16];
	size_t size, all = strlen(text);

	snprintf(end, sizeof(end), "/%s/%s", folder, name);
	size = strlen(end);
	return all >= size && !strcmp(text + all - size, end);
}

/* Blanks are \040; a layer with a comma in its path is not counted. */
static char *layer_path(const char *options)
{
	static const char key[] = ",upperdir=";
	const char *at = strstr(options, key);

	if (!at || strchr(at, '\\'))
		return NULL;
	at += sizeof(key) - 1;
	return strndup(at, strcspn(at, ",\n"));
}

/* By the last two names of its folder, of which one is an id. */
static bool root_is_volume(const struct count *count, const char *root)
{
	for (char *const *volume = count->volumes; *volume; volume++) {
		const char *end = strrchr(*volume, '/');
		size_t size, all = strlen(root);

		while (end && end > *volume && *--end != '/')
			;
		size = end ? strlen(end) : 0;
		if (size && all >= size && !strcmp(root + all - size, end))
			return true;
	}
	return false;
}

static void mount_add(struct count *count, int id, const char *root,
		      const char *point, const char *rest)
{
	struct count_mount *grown =
		LIST_ADD(count->mounts, count->mounts_count, NULL);

	if (!grown)
		return;
	*grown = (struct count_mount){ .id = id, .point = strdup(point) };
	if (!strcmp(point, "/") && !count->layer)
		count->layer = layer_path(rest);
	if (!strcmp(point, "/") || text_ends(root, count->name, "work") ||
	    root_is_volume(count, root))
		grown->place = PLACE_OWN;
	else if (text_ends(root, count->name, "out"))
		grown->place = PLACE_OUT;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS... */
static void mounts_read(struct count *count)
{
	owned_free char *line = NULL;
	owned_file FILE *file = NULL;
	char path[64];
	size_t room = 0;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)count->pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		char *words[5], *rest = line;
		size_t i = 0;

		while (i < 5 && (words[i] = strsep(&rest, " ")))
			i++;
		if (i == 5 && rest)
			mount_add(count, (int)strtol(words[0], NULL, 10),
				  words[3], words[4], rest);
	}
}

/* Files without a name. */

static enum place mount_place(const struct count *count, int id)
{
	for (size_t i = 0; i < count->mounts_count; i++)
		if (count->mounts[i].id == id)
			return count->mounts[i].place;
	return PLACE_OUT; /* of a mount that the command made for itself */
}

/* By the mount that a descriptor says it is of. */
static enum place fd_place(const struct count *count, int process,
			   const char *name)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	const char *line = NULL;
	char path[64];

	snprintf(path, sizeof(path), "fdinfo/%.20s", name);
	if (file_read(process, path, &text, NULL) == 0 && text.size)
		line = strstr(text.data, "mnt_id:");
	return mount_place(count, line ? (int)strtol(line + 7, NULL, 10) : -1);
}

/* By the longest path of a mount. */
static enum place path_place(const struct count *count, const char *path)
{
	enum place place = PLACE_OUT;
	size_t longest = 0;

	for (size_t i = 0; i < count->mounts_count; i++) {
		const char *point = count->mounts[i].point;
		size_t size = point ? strlen(point) : 0;

		if (size > longest && !strncmp(path, point, size) &&
		    (path[size] == '/' || size == 1)) {
			longest = size;
			place = count->mounts[i].place;
		}
	}
	return place;
}

/* A link of /proc/PID/fd or map_files. */
static void nameless_link(struct count *count, int process, int folder,
			  const char *name, bool mapped)
{
	char path[PATH_MAX];
	ssize_t size = readlinkat(folder, name, path, sizeof(path) - 1);
	size_t tail = sizeof(DELETED) - 1;
	enum place place;
	struct stat st;

	if (size < (ssize_t)tail || memcmp(path + size - tail, DELETED, tail) ||
	    fstatat(folder, name, &st, 0) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_nlink ||
	    (st.st_dev != count->root && st.st_dev != count->out))
		return;
	path[size] = 0;
	place = st.st_dev == count->root ? PLACE_OWN
		: mapped                 ? path_place(count, path)
					 : fd_place(count, process, name);
	if (place == PLACE_OTHER || !inode_is_new(count, &st))
		return;
	count->files++;
	*(place == PLACE_OWN ? &count->own_bytes : &count->out_bytes) +=
		(uint64_t)st.st_blocks * 512;
}

static void nameless_links(struct count *count, int process, const char *name,
			   bool mapped)
{
	owned_dir DIR *dir = file_open_folder(process, name);
	const struct dirent *entry;

	while (dir && !count_is_over(count) && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			nameless_link(count, process, dirfd(dir), entry->d_name,
				      mapped);
}

/* Threads share the table of descriptors, unless they were made without. */
static void count_threads(struct count *count, int process, pid_t pid)
{
	owned_dir DIR *dir = file_open_folder(process, "task");
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
		owned_fd int fd = -1;

		if (thread <= 0 || thread == pid ||
		    !syscall(SYS_kcmp, pid, thread, KCMP_FILES, 0, 0))
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_PATH | O_DIRECTORY | O_CLOEXEC);
		nameless_links(count, fd, "fd", false);
	}
}

static void count_process(struct count *count, pid_t pid)
{
	owned_fd int process = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return;
	nameless_links(count, process, "fd", false);
	nameless_links(count, process, "map_files", true);
	count_threads(count, process, pid);
}

/* The processes of a cgroup, and of those below it. false: there is none. */
static bool count_group(struct count *count, int parent, const char *path,
			unsigned int depth)
{
	owned_dir DIR *dir = file_open_folder(parent, path);
	int fd = dir ? openat(dirfd(dir), "cgroup.procs", O_RDONLY | O_CLOEXEC)
		     : -1;
	owned_file FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	const struct dirent *entry;
	char line[32];

	if (!file)
		return false;
	while (!count_is_over(count) && fgets(line, sizeof(line), file))
		count_process(count, (pid_t)strtol(line, NULL, 10));
	while (depth < GROUPS_DEEP && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			count_group(count, dirfd(dir), entry->d_name,
				    depth + 1);
	return true;
}

/* "ID:CONTROLLERS:PATH", of either version. */
static bool count_group_line(struct count *count, char *line)
{
	char *names = strchr(line, ':');
	char *path = names ? strchr(names + 1, ':') : NULL;
	char whole[2 * PATH_MAX];

	if (!path || !path[1] || !path[2] || path[2] == '\n')
		return false; /* the root: everybody's */
	*path++ = 0;
	path[strcspn(path, "\n")] = 0;
	names++;
	names += strncmp(names, "name=", 5) ? 0 : 5;
	snprintf(whole, sizeof(whole), CGROUPS "/%s%s", names, path);
	if (count_group(count, AT_FDCWD, whole, 0))
		return true;
	snprintf(whole, sizeof(whole), CGROUPS "/unified%s", path);
	return !*names && count_group(count, AT_FDCWD, whole, 0);
}

static void count_nameless(struct count *count)
{
	owned_file FILE *file = NULL;
	char path[64], line[PATH_MAX + 64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)count->pid);
	if (stat(path, &st) == 0)
		count->root = st.st_dev;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)count->pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (count_group_line(count, line))
			return;
}

int count_main(const char *folder, const char *pid, const char *most,
	       char *const *volumes)
{
	struct count count = { .folder = folder,
			       .pid = (pid_t)strtol(pid, NULL, 10),
			       .most = strtoull(most, NULL, 10),
			       .volumes = volumes };
	struct rlimit limit;
	uint64_t ignored = 0;
	struct stat st;
	char path[PATH_MAX];

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	count.name = strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder;
	if (stat(folder, &st) == 0)
		count.out = st.st_dev;
	snprintf(path, sizeof(path), "%s/work", folder);
	count_tree(&count, AT_FDCWD, path, 0, &count.own_bytes);
	for (; *volumes; volumes++)
		count_tree(&count, AT_FDCWD, *volumes, 0, &count.own_bytes);
	if (count.pid > 0) {
		mounts_read(&count);
		if (count.layer)
			count_tree(&count, AT_FDCWD, count.layer, 0, &ignored);
		count_nameless(&count);
	}
	return printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", count.own_bytes,
		      count.files, count.out_bytes) < 0;
}
