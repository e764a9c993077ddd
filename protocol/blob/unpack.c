/* unpack.c - unpacks an untrusted tar file into one folder.
 */
#include "protocol/blob/unpack.h"

#include "protocol/base/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE (64 << 10)
const struct unpack_bounds unpack_tar_bounds = { 60 << 20, 1000,
						 UINT64_C(1) << 40 };
const struct unpack_bounds unpack_text_bounds = { 256 << 20, 100,
						  UINT64_C(64) << 30 };

struct unpacking {
	struct archive *in;
	int root;
	const char *only;
	struct unpack_bounds bounds;
	uint64_t entries_max;
	const struct unpack_owner *owner;
	unpack_refused_fn *refused;
	void *arg;
	struct error *err;
	struct unpack_counts counts;
	struct archive_entry *entry; /* the present one */
	char path[PATH_MAX];         /* its path, cleaned */
	int file;                    /* being written, or -1 */
	uint64_t end;                /* what is written of it */
};

bool unpack_path(const char *from, char to[PATH_MAX])
{
	size_t used = 0, depth = 0;

	to[0] = 0;
	if (!from || *from == '/')
		return false;
	while (*from) {
		size_t size = strcspn(from, "/");

		if (size == 2 && !strncmp(from, "..", 2))
			return false;
		if (size && !(size == 1 && *from == '.')) {
			if (size > NAME_MAX || used + size + 2 > PATH_MAX ||
			    ++depth > UNPACK_DEPTH_MAX)
				return false;
			if (used)
				to[used++] = '/';
			memcpy(to + used, from, size);
			used += size;
			to[used] = 0;
		}
		from += size + (from[size] == '/');
	}
	return true;
}

/* ".." only at the beginning, and never more often than the link is deep: with
 * all links like that, following them cannot leave the root.
 */
static bool link_stays(const char *path, const char *target)
{
	size_t depth = 0;
	bool down = false;

	if (!target || !*target || *target == '/')
		return false;
	for (; *path; path++)
		depth += *path == '/';
	while (*target) {
		size_t size = strcspn(target, "/");

		if (size == 2 && !strncmp(target, "..", 2)) {
			if (down || !depth--)
				return false;
		} else if (size && !(size == 1 && *target == '.')) {
			down = true;
		}
		target += size + (target[size] == '/');
	}
	return true;
}

bool unpack_stays(const char *path, const char *target)
{
	char clean[PATH_MAX];

	return unpack_path(path, clean) && *clean &&
	       (!target || link_stays(clean, target));
}

/* -1 with errno. */
static int give_folder(const struct unpacking *work, int parent,
		       const char *name)
{
	const struct unpack_owner *owner = work->owner;

	if (!owner)
		return 0;
	if (fchownat(parent, name, owner->user, owner->group,
		     AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	return fchmodat(parent, name, 0755 | (owner->open ? 0777 : 0), 0);
}

static int give_file(const struct unpacking *work, int fd, mode_t mode)
{
	const struct unpack_owner *owner = work->owner;

	if (!owner)
		return 0;
	if (fchown(fd, owner->user, owner->group) < 0)
		return -1;
	return fchmod(fd, mode | (owner->open ? 0666 : 0));
}

static int give_link(const struct unpacking *work, int parent, const char *name)
{
	const struct unpack_owner *owner = work->owner;

	return owner ? fchownat(parent, name, owner->user, owner->group,
				AT_SYMLINK_NOFOLLOW)
		     : 0;
}

static int make_parent(const struct unpacking *work, int fd, const char *part)
{
	if (mkdirat(fd, part, 0755) == 0)
		return give_folder(work, fd, part);
	return errno == EEXIST ? 0 : -1;
}

/* Open the folder of the path's last name, *name; missing folders are made. -1
 * with errno: ELOOP or ENOTDIR, not a folder.
 */
static int open_parent(const struct unpacking *work, const char *path,
		       const char **name)
{
	int fd = fcntl(work->root, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	while (fd >= 0 && (slash = strchr(path, '/'))) {
		char part[NAME_MAX + 1];
		int next;

		memcpy(part, path, (size_t)(slash - path));
		part[slash - path] = 0;
		if (make_parent(work, fd, part) < 0)
			next = -1;
		else
			next = openat(fd, part,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					      O_CLOEXEC);
		close(fd);
		fd = next;
		path = slash + 1;
	}
	*name = path;
	return fd;
}

static int unpack_refuse(struct unpacking *work, const char *why)
{
	if (!work->refused)
		return error_set(work->err, EPERM, "\"%.120s\": %s", work->path,
				 why);
	work->counts.refused++;
	work->counts.written--;
	work->refused(work->arg, work->path, why);
	return 0;
}

static int unpack_fail(struct unpacking *work)
{
	return error_errno(work->err, "%.120s", work->path);
}

static int unpack_refuse_archive(struct unpacking *work)
{
	const char *why = archive_error_string(work->in);

	return error_set(work->err, EINVAL, "not a valid tar file: %s",
			 why ? why : "broken");
}

bool unpack_filter(struct archive *in, const void *head, size_t size)
{
	static const struct {
		const char *mark;
		size_t size;
		int filter;
	} marks[] = { { "\x1f\x8b", 2, ARCHIVE_FILTER_GZIP },
		      { "\xfd"
			"7zXZ",
			5, ARCHIVE_FILTER_XZ },
		      { "\x28\xb5\x2f\xfd", 4, ARCHIVE_FILTER_ZSTD },
		      { "BZh", 3, ARCHIVE_FILTER_BZIP2 } };

	/* Left to look for them, libarchive would unpack what comes out, too,
	 * and see no end of what comes out of that.
	 */
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (size > marks[i].size &&
		    !memcmp(head, marks[i].mark, marks[i].size))
			return archive_read_append_filter(in,
							  marks[i].filter) ==
			       ARCHIVE_OK;
	return false;
}

int unpack_check(struct archive *in, const struct unpack_bounds *bounds,
		 uint64_t bytes, struct error *err)
{
	uint64_t from = (uint64_t)archive_filter_bytes(in, -1);

	if (bytes > bounds->bytes)
		return error_set(err, E2BIG,
				 "more than %" PRIu64
				 " unpacked bytes, which is the limit",
				 bounds->bytes);
	if (bytes > bounds->free && bytes / bounds->ratio > from)
		return error_set(err, E2BIG,
				 "%" PRIu64 " unpacked bytes from %" PRIu64
				 "; expected at most %" PRIu64 " times as many",
				 bytes, from, bounds->ratio);
	return 0;
}

/* Count bytes that come out, and check the limits. */
static int count_bytes(struct unpacking *work, uint64_t bytes)
{
	work->counts.bytes += bytes;
	return unpack_check(work->in, &work->bounds, work->counts.bytes,
			    work->err);
}

/* Extend the file: a hole at the end has no data. */
static int stretch(struct unpacking *work, int fd, int64_t size)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return unpack_fail(work);
	if (size <= st.st_size)
		return 0;
	if (count_bytes(work, (uint64_t)(size - st.st_size)) < 0)
		return -1;
	return ftruncate(fd, size) < 0 ? unpack_fail(work) : 0;
}

/* Remove what has this name, unless it is a folder. */
static int unpack_make_room(struct unpacking *work, int parent,
			    const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM
		       ? unpack_refuse(work, "a folder exists in its place") < 0
				 ? -1
				 : 1
		       : unpack_fail(work);
}

static int unpack_put_file(struct unpacking *work, struct archive_entry *entry,
			   int parent, const char *name)
{
	mode_t mode = archive_entry_perm(entry) & 0111 ? 0755 : 0644;

	work->end = 0;
	work->file =
		openat(parent, name,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       mode);
	return work->file < 0 || give_file(work, work->file, mode) < 0
		       ? unpack_fail(work)
		       : 0;
}

static int unpack_end_file(struct unpacking *work)
{
	struct timespec times[2] = { { 0, UTIME_OMIT },
				     { archive_entry_mtime(work->entry), 0 } };
	owned_fd int fd = take_fd(&work->file);

	if (stretch(work, fd, archive_entry_size(work->entry)) < 0)
		return -1;
	futimens(fd, times);
	return 0;
}

/* Write the next bytes of the present file. */
static int unpack_put_piece(struct unpacking *work)
{
	const void *data;
	size_t size;
	la_int64_t offset;
	int rc = archive_read_data_block(work->in, &data, &size, &offset);

	if (rc == ARCHIVE_EOF)
		return unpack_end_file(work);
	if (rc != ARCHIVE_OK || offset < 0 || (uint64_t)offset < work->end)
		return unpack_refuse_archive(work);
	if (count_bytes(work, (uint64_t)offset - work->end + size) < 0)
		return -1;
	if (file_write_at(work->file, data, size, (uint64_t)offset) < 0)
		return unpack_fail(work);
	work->end = (uint64_t)offset + size;
	return 0;
}

static int put_link(struct unpacking *work, struct archive_entry *entry,
		    int parent, const char *name)
{
	const char *target = archive_entry_symlink(entry);

	if (work->owner ? !target || !*target : !link_stays(work->path, target))
		return unpack_refuse(work,
				     "a link that leads out of the folder");
	return symlinkat(target, parent, name) < 0 ||
			       give_link(work, parent, name) < 0
		       ? unpack_fail(work)
		       : 0;
}

static int put_hard_link(struct unpacking *work, const char *target, int parent,
			 const char *name)
{
	char path[PATH_MAX];
	const char *there = NULL;
	owned_fd int from = -1;
	struct stat st;

	if (!unpack_path(target, path) || !*path)
		return unpack_refuse(work,
				     "a link that leads out of the folder");
	from = open_parent(work, path, &there);
	if (from < 0 || fstatat(from, there, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return unpack_refuse(work, "a hard link to a file that is not "
					   "earlier in "
					   "the archive");
	return linkat(from, there, parent, name, 0) < 0 ? unpack_fail(work) : 0;
}

static int unpack_put_folder(struct unpacking *work, int parent,
			     const char *name)
{
	struct stat st;

	if (mkdirat(parent, name, 0755) < 0 &&
	    (errno != EEXIST ||
	     fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	     !S_ISDIR(st.st_mode)))
		return unpack_refuse(work, "a file exists in its place");
	return give_folder(work, parent, name) < 0 ? unpack_fail(work) : 0;
}

static int unpack_put_entry(struct unpacking *work, struct archive_entry *entry)
{
	mode_t type = archive_entry_filetype(entry);
	const char *hard = archive_entry_hardlink(entry);
	const char *name = NULL;
	owned_fd int parent = -1;
	int rc;

	if (!hard && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)
		return unpack_refuse(work, "not a file, folder or link");
	parent = open_parent(work, work->path, &name);
	if (parent < 0 && (errno == ELOOP || errno == ENOTDIR))
		return unpack_refuse(work, "its parent is not a folder");
	if (parent < 0)
		return unpack_fail(work);
	if (!hard && type == AE_IFDIR)
		return unpack_put_folder(work, parent, name);
	rc = unpack_make_room(work, parent, name);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (hard)
		return put_hard_link(work, hard, parent, name);
	return type == AE_IFLNK ? put_link(work, entry, parent, name)
				: unpack_put_file(work, entry, parent, name);
}

static bool unpack_wants_path(const struct unpacking *work)
{
	size_t size = work->only ? strlen(work->only) : 0;

	return !size || (!strncmp(work->path, work->only, size) &&
			 (!work->path[size] || work->path[size] == '/'));
}

static int unpack_take_entry(struct unpacking *work,
			     struct archive_entry *entry)
{
	const char *path = archive_entry_pathname(entry);

	if (++work->counts.entries > work->entries_max)
		return error_set(work->err, E2BIG,
				 "more than %" PRIu64
				 " files, which is the limit",
				 work->entries_max);
	if (!unpack_path(path, work->path)) {
		snprintf(work->path, sizeof(work->path), "%s",
			 path ? path : "");
		work->counts.written++;
		return unpack_refuse(work, "a path that leads out of the "
					   "folder, or is too "
					   "long");
	}
	if (!*work->path || !unpack_wants_path(work))
		return 0;
	work->counts.written++; /* unpack_refuse() takes it back */
	return unpack_put_entry(work, entry);
}

static int unpack_open_archive(struct unpacking *work, int fd)
{
	struct archive *in = work->in;

	/* No bytes at all are an empty folder's. */
	if (archive_read_support_format_tar(in) != ARCHIVE_OK ||
	    (work->owner &&
	     archive_read_support_format_empty(in) != ARCHIVE_OK) ||
	    archive_read_open_fd(in, fd, PIECE) != ARCHIVE_OK)
		return unpack_refuse_archive(work);
	return 0;
}

struct unpacking *unpacking_new(int fd, int dirfd,
				const struct unpack_limits *limits,
				const struct unpack_owner *owner,
				struct error *err)
{
	owned(unpacking_free) struct unpacking *work =
		error_calloc(sizeof(*work), "tar", err);

	if (!work)
		return NULL;
	work->root = dirfd;
	work->file = -1;
	work->bounds = unpack_tar_bounds;
	work->bounds.bytes = limits->bytes;
	work->entries_max = limits->entries;
	work->owner = owner;
	work->err = err;
	work->in = archive_read_new();
	if (!work->in)
		return error_null(error_nomem(err, "tar"));
	return unpack_open_archive(work, fd) < 0 ? NULL : take(work);
}

void unpacking_free(struct unpacking *work)
{
	if (!work)
		return;
	archive_read_free(work->in);
	if (work->file >= 0)
		close(work->file);
	free(work);
}

int unpacking_step(struct unpacking *work, struct error *err)
{
	int rc;

	work->err = err;
	if (work->file >= 0)
		return unpack_put_piece(work) < 0 ? -1 : 1;
	rc = archive_read_next_header(work->in, &work->entry);
	/* ARCHIVE_WARN: a name has letters that the locale lacks. */
	if (rc == ARCHIVE_OK || rc == ARCHIVE_WARN)
		return unpack_take_entry(work, work->entry) < 0 ? -1 : 1;
	return rc == ARCHIVE_EOF ? 0 : unpack_refuse_archive(work);
}

int unpack(int fd, int dirfd, const char *only,
	   const struct unpack_limits *limits, unpack_refused_fn *refused,
	   void *arg, struct unpack_counts *counts, struct error *err)
{
	owned(unpacking_free) struct unpacking *work =
		unpacking_new(fd, dirfd, limits, NULL, err);
	int rc;

	if (!work)
		return -1;
	work->only = only;
	work->refused = refused;
	work->arg = arg;
	while ((rc = unpacking_step(work, err)) > 0)
		;
	if (rc == 0 && counts)
		*counts = work->counts;
	return rc;
}
