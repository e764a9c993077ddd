/* pack.c - packs the files that a task collects into tar files.
 */
#include "agent/init/pack.h"
#include "agent/init/tar_writer.h"
#include "protocol/base/file.h"
#include "protocol/base/printable.h"
#include "protocol/blob/pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Of one path. */
struct packing {
	const struct pack *pack;
	dev_t device;        /* of the layer */
	const char *pattern; /* NULL: all is wanted */
	int reach;           /* folders that it can go down */
	struct tar_writer *tar;
	char name[PATH_MAX]; /* of the present entry, in the tar file */
	size_t base;     /* bytes of it that are above the pattern's reach */
	uint64_t packed; /* entries */
	uint64_t files, older;
	uint64_t unread;
	struct error first; /* of what cannot be read */
	struct error *err;
};

static int pack_tree(struct packing *packing, int parent, const char *name,
		     int depth, bool wanted);

/* Leave the present entry out. */
static int pack_skip(struct packing *packing, const char *why)
{
	if (!packing->unread++)
		error_set(&packing->first, EIO, "%.120s: %s", packing->name,
			  why);
	return 0;
}

static bool pack_wants(const struct packing *packing)
{
	const char *path = packing->name + packing->base;

	return pattern_match(packing->pattern, path, FNM_PERIOD);
}

/* In a layer of overlayfs the content may be missing. Source: the kernel's
 * documentation, "Overlay Filesystem", "Metadata only copy up".
 */
static bool pack_is_empty_shell(const struct packing *packing, int fd)
{
	return packing->pack->layer >= 0 &&
	       fgetxattr(fd, "trusted.overlay.metacopy", NULL, 0) >= 0;
}

static int pack_copy(struct packing *packing, int fd, uint64_t size)
{
	static char piece[128 << 10];
	uint64_t left = size;

	while (left) {
		size_t some =
			left < sizeof(piece) ? (size_t)left : sizeof(piece);
		ssize_t got = read(fd, piece, some);

		if (got < 0 && errno == EINTR)
			continue;
		if (packing->pack->late(packing->pack->arg))
			return error_set(packing->err, ETIMEDOUT,
					 "the task was stopped before all was "
					 "packed");
		if (got <= 0)
			memset(piece, 0, some);
		else
			some = (size_t)got;
		if (tar_writer_data(packing->tar, piece, some, packing->err) <
		    0)
			return -1;
		left -= some;
	}
	return tar_writer_pad(packing->tar, size, packing->err);
}

static int pack_regular(struct packing *packing, int parent, const char *name)
{
	owned_fd int fd = openat(parent, name,
				 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
					 O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return pack_skip(packing, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	if (pack_is_empty_shell(packing, fd))
		return pack_skip(packing, "its content is the image's");
	packing->files++;
	packing->older += st.st_mtim.tv_sec < packing->pack->since;
	if (tar_writer_entry(packing->tar, packing->name, &st, NULL,
			     packing->err) < 0)
		return -1;
	packing->packed++;
	return pack_copy(packing, fd, (uint64_t)st.st_size);
}

static int pack_link(struct packing *packing, int parent, const char *name,
		     const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(parent, name, target, sizeof(target));

	if (size < 0 || size == sizeof(target))
		return pack_skip(packing,
				 strerror(size < 0 ? errno : ENAMETOOLONG));
	target[size] = 0;
	packing->packed++;
	return tar_writer_entry(packing->tar, packing->name, st, target,
				packing->err);
}

/* The name of an entry below the present folder. NULL: it is too long. */
static char *pack_go_down(struct packing *packing, const char *name)
{
	size_t used = strlen(packing->name);
	size_t size = strlen(name);

	if (used + size + 3 > sizeof(packing->name))
		return NULL;
	if (used && packing->name[used - 1] != '/')
		packing->name[used++] = '/';
	memcpy(packing->name + used, name, size + 1);
	return packing->name;
}

static int pack_entries(struct packing *packing, DIR *dir, int depth,
			bool wanted)
{
	size_t used = strlen(packing->name);
	const struct dirent *entry;
	int rc = 0;

	while (rc == 0 && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		if (packing->pack->late(packing->pack->arg))
			return error_set(packing->err, ETIMEDOUT,
					 "the task was stopped before all was "
					 "packed");
		rc = pack_go_down(packing, name)
			     ? pack_tree(packing, dirfd(dir), name, depth + 1,
					 wanted)
			     : pack_skip(packing,
					 "a name below it is too long");
		packing->name[used] = 0;
	}
	return rc;
}

static int pack_folder(struct packing *packing, int parent, const char *name,
		       int depth, bool wanted, const struct stat *st)
{
	size_t used = strlen(packing->name);
	owned_dir DIR *dir = NULL;
	int rc = 0;

	if (wanted && used) {
		memcpy(packing->name + used, "/", 2);
		rc = tar_writer_entry(packing->tar, packing->name, st, NULL,
				      packing->err);
		packing->name[used] = 0;
	}
	packing->packed += wanted;
	if (rc < 0)
		return -1;
	if (!wanted && depth >= packing->reach)
		return 0;
	if (depth == PACK_DEPTH_MAX)
		return pack_skip(packing, "too deep");
	dir = file_open_folder(parent, name);
	if (!dir)
		return pack_skip(packing, strerror(errno));
	return pack_entries(packing, dir, depth, wanted);
}

/* What has that name in the folder, and is called packing->name. */
static int pack_tree(struct packing *packing, int parent, const char *name,
		     int depth, bool wanted)
{
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return pack_skip(packing, strerror(errno));
	if (packing->pack->layer >= 0 && st.st_dev != packing->device)
		return 0;
	if (!wanted && depth)
		wanted = pack_wants(packing);
	if (S_ISDIR(st.st_mode))
		return pack_folder(packing, parent, name, depth, wanted, &st);
	if (!wanted)
		return 0;
	if (S_ISREG(st.st_mode))
		return pack_regular(packing, parent, name);
	return S_ISLNK(st.st_mode) ? pack_link(packing, parent, name, &st) : 0;
}

/* Open the folder, for the names in it. A layer is gone down into name by name,
 * so that no link leads out of it.
 */
static int pack_open_folder(const struct pack *pack, const char *path)
{
	int fd = pack->layer < 0 ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)
				 : fcntl(pack->layer, F_DUPFD_CLOEXEC, 0);

	while (pack->layer >= 0 && fd >= 0 && *path) {
		size_t size = strcspn(path, "/");
		char part[NAME_MAX + 1];
		int next = -1;

		if (size > NAME_MAX) {
			errno = ENAMETOOLONG;
		} else if (size == 2 && !strncmp(path, "..", 2)) {
			errno = EXDEV;
		} else {
			memcpy(part, path, size);
			part[size] = 0;
			next = openat(fd, size ? part : ".",
				      O_PATH | O_DIRECTORY | O_NOFOLLOW |
					      O_CLOEXEC);
		}
		close(fd);
		fd = next;
		path += size + (path[size] == '/');
	}
	return fd;
}

/* Split "/a/b" into the folder "/a" and the name "b"; of "/" and what ends in a
 * dot the name is "." and no entry has it.
 */
static const char *pack_split(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash[1] || !strcmp(slash, "/.") || !strcmp(slash, "/.."))
		return ".";
	*slash = 0;
	return slash + 1;
}

/* "/a//b/" is "/a/b". */
static const char *pack_squeeze(const char *path, char out[PATH_MAX])
{
	size_t used = 0;

	for (; *path && used < PATH_MAX - 1; path++)
		if (*path != '/' || !used || out[used - 1] != '/')
			out[used++] = *path;
	while (used > 1 && out[used - 1] == '/')
		used--;
	out[used] = 0;
	return out;
}

/* The folders that a pattern can go down before a name of it matches. */
static int pack_reach(const char *pattern)
{
	int reach = 1;

	if (strstr(pattern, "**"))
		return PACK_DEPTH_MAX;
	for (; *pattern; pattern++)
		reach += *pattern == '/';
	return reach;
}

/* Pack the path into packing->tar. */
static int pack_path(struct packing *packing, const char *path)
{
	char squeezed[PATH_MAX], folder[PATH_MAX], root[PATH_MAX];
	const char *name;
	owned_fd int parent = -1;
	struct stat st;

	path = pack_squeeze(path, squeezed);
	snprintf(folder, sizeof(folder), "%s", path);
	if (pattern_split(path, root, sizeof(root), &packing->pattern)) {
		if (!*root)
			return error_set(packing->err, EINVAL,
					 "the whole container would have to be "
					 "read; name a folder that contains "
					 "it");
		if (pattern_check(packing->pattern, packing->err) < 0)
			return -1;
		snprintf(folder, sizeof(folder), "%s", root);
		packing->reach = pack_reach(packing->pattern);
	}
	name = pack_split(folder);
	parent = pack_open_folder(packing->pack, *folder ? folder : "/");
	if (parent < 0 || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return error_errno(packing->err, "%.150s", path);
	if (packing->pattern && !S_ISDIR(st.st_mode))
		return error_set(packing->err, ENOTDIR,
				 "%.150s: it is not a folder", root);
	if (strcmp(name, ".") != 0)
		snprintf(packing->name, sizeof(packing->name), "%s", name);
	packing->base = strlen(packing->name) + (*packing->name ? 1 : 0);
	return pack_tree(packing, parent, name, 0, !packing->pattern);
}

/* What is remarkable about a tar file, or why there is none. */
static void pack_explain(const struct packing *packing, struct error *why)
{
	char older[80] = "", unread[320] = "";

	if (!packing->packed && packing->unread) {
		*why = packing->first;
		return;
	}
	if (!packing->packed) {
		error_set(why, ENOENT, "%s",
			  packing->pattern ? "nothing matches"
					   : "not a file, folder or link");
		return;
	}
	if (packing->older)
		snprintf(older, sizeof(older),
			 "%" PRIu64 " of %" PRIu64
			 " files are older than the job",
			 packing->older, packing->files);
	if (packing->unread)
		snprintf(unread, sizeof(unread),
			 "%" PRIu64 " are left out, the first one is %s",
			 packing->unread, packing->first.text);
	if (*older || *unread)
		error_set(why, EIO, "%s%s%s", older,
			  *older && *unread ? "; " : "", unread);
}

/* Write the tar file, which appears once it is whole. Returns its bytes. */
static uint64_t pack_write(const struct pack *pack, const char *path,
			   const char *name, uint64_t limit, struct error *why)
{
	struct tar_writer *tar = error_calloc(sizeof(*tar), "pack", why);
	struct packing packing = { .pack = pack, .tar = tar, .err = why };
	owned_fd int fd = -1;
	uint64_t bytes = 0;
	struct stat st;

	if (!tar)
		return 0;
	if (pack->layer >= 0 && fstat(pack->layer, &st) == 0)
		packing.device = st.st_dev;
	unlinkat(pack->out, "collect.new", 0);
	tar->limit = limit;
	tar->fd = fd =
		openat(pack->out, "collect.new",
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       0644);
	/* The agent may be another user. */
	if (fd < 0 || fchmod(fd, 0644) < 0) {
		error_errno(why, "collect.new");
	} else if (pack_path(&packing, path) == 0 &&
		   tar_writer_end(tar, why) == 0) {
		pack_explain(&packing, why);
		if (packing.packed &&
		    renameat(pack->out, "collect.new", pack->out, name) == 0)
			bytes = tar->bytes;
		else if (packing.packed)
			error_errno(why, "%s", name);
	}
	unlinkat(pack->out, "collect.new", 0);
	free(tar);
	return bytes;
}

static void pack_explain_layer(struct error *why)
{
	static const char text[] = "regatta-init was killed, so only the "
				   "container's own disk was read";

	if (why->code)
		error_prefix(why, "%s", text);
	else
		error_set(why, EIO, "%s", text);
}

void pack_all(const struct pack *pack, bool missing)
{
	uint64_t left = pack->limit;

	for (size_t i = 0; i < pack->count; i++) {
		char tar[40], why[40];
		struct error error = { 0 };

		snprintf(tar, sizeof(tar), "collect-%zu.tar", i);
		snprintf(why, sizeof(why), "collect-%zu.why", i);
		if (missing && (faccessat(pack->out, tar, F_OK, 0) == 0 ||
				faccessat(pack->out, why, F_OK, 0) == 0))
			continue;
		unlinkat(pack->out, tar, 0);
		unlinkat(pack->out, why, 0);
		left -= pack_write(pack, pack->paths[i], tar, left, &error);
		if (pack->layer >= 0)
			pack_explain_layer(&error);
		if (!error.code)
			continue;
		printable(error.text, strlen(error.text));
		file_write(pack->out, why, error.text, strlen(error.text), 0644,
			   0, NULL);
	}
}
