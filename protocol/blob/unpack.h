/* unpack.h - unpacks an untrusted tar file into one folder.
 *
 * Regular files, folders, symbolic links that stay within, and hard links to
 * files that came before. Refused: absolute names, "..", names below a link,
 * links that lead out, devices, FIFOs, sockets. Nothing is ever written through
 * a link: folders are opened one by one, without following any. Owners are
 * those of the process, modes 0755 or 0644, set-id bits are dropped; times are
 * kept. Only plain tar is read, so what comes out can be more than what goes in
 * by holes alone. A file of the same name is replaced, a folder is gone into.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNPACK_DEPTH_MAX 128

/* How much may come out of a file that others made: a few bytes can be a hole
 * of exabytes, or such a text.
 */
struct unpack_bounds {
	uint64_t free;  /* bytes, whatever went in */
	uint64_t ratio; /* bytes for each that went in, after these */
	uint64_t bytes; /* in all */
};
/* Of a tar file; of a text, whose every line is looked at. */
extern const struct unpack_bounds unpack_tar_bounds, unpack_text_bounds;

/* Call it for each piece; bytes: that came out so far. E2BIG: too many. */
struct archive;
int unpack_check(struct archive *in, const struct unpack_bounds *bounds,
		 uint64_t bytes, struct error *err);

/* Is a file that begins with head compressed by gzip, xz, zstd or bzip2? Then
 * `in`, which is not open yet, unpacks that, once, and runs no other program.
 */
#define UNPACK_HEAD_SIZE 6
bool unpack_filter(struct archive *in, const void *head, size_t size);

/* What is the most that may come out; a hole counts as bytes. */
struct unpack_limits {
	uint64_t bytes;
	uint64_t entries;
};

struct unpack_counts {
	uint64_t bytes;
	uint64_t entries; /* in the tar file */
	uint64_t written;
	uint64_t refused;
};

/* An entry is left out, and why. */
typedef void unpack_refused_fn(void *arg, const char *path, const char *why);

/* "a//./b/" as "a/b". False: absolute, with "..", too long or too deep. Pure.
 */
bool unpack_path(const char *path, char clean[PATH_MAX]);

/* Would an entry of this path, a symbolic link to target or (NULL) something
 * else, stay within the folder? Pure.
 */
bool unpack_stays(const char *path, const char *target);

/* Unpack what fd holds, from where it stands, into the folder dirfd. only: the
 * path of an entry, alone or with all below it, or NULL: all. With refused, an
 * entry that may not be is told and left out; without (NULL), it is an error
 * (EPERM). E2BIG: past a limit; EINVAL: no tar file, or a broken one. What was
 * unpacked before an error stays.
 */
int unpack(int fd, int dirfd, const char *only,
	   const struct unpack_limits *limits, unpack_refused_fn *refused,
	   void *arg, struct unpack_counts *counts, struct error *err);

/* The same in steps, for a folder that only its owner will read: symbolic links
 * may lead anywhere, no bytes at all are an empty folder, and an entry that may
 * not be is an error. Unpacking once more over an earlier result gives the
 * same.
 */
struct unpack_owner {
	uid_t user; /* -1: the process's own */
	gid_t group;
	bool open; /* writable for everybody */
};

struct unpacking;

/* fd, dirfd and owner are borrowed until unpacking_free(). */
struct unpacking *unpacking_new(int fd, int dirfd,
				const struct unpack_limits *limits,
				const struct unpack_owner *owner,
				struct error *err);
void unpacking_free(struct unpacking *unpacking);
OWNED_POINTER(struct unpacking, unpacking_free)

/* One entry, or a piece of at most 64 KiB. 1: there is more; 0: the end; -1 as
 * for unpack(), and no further call.
 */
int unpacking_step(struct unpacking *unpacking, struct error *err);
