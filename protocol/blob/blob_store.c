/* blob_store.c - a store of files by their SHA-256.
 */
#include "protocol/blob/blob_store_internal.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

static const char *const places[PLACES] = { "partial", "loose", "kept" };

bool blob_hash_valid(const char *hash)
{
	return hash && digest_hex_valid(hash);
}

int blob_check_hash(const char *hash, struct error *err)
{
	return blob_hash_valid(hash)
		       ? 0
		       : error_set(err, EPROTO,
				   "blob: '%.70s' is not valid here; "
				   "expected a SHA-256 in hex",
				   hash ? hash : "");
}

/* Remove blobs without a hash that an earlier process did not finish. */
static void drop_unfinished(struct blob_store *blobs)
{
	owned_dir DIR *dir = file_open_folder(blobs->folders[PARTIAL], ".");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "new-", 4))
			unlinkat(dirfd(dir), entry->d_name, 0);
}

static int blob_store_open_folder(const char *folder, const char *name,
				  struct error *err)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/content/%s", folder, name);
	if (file_make_folders(path, 0700, err) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? error_errno(err, "%s", path) : fd;
}

struct blob_store *blob_store_new(const char *folder, struct error *err)
{
	owned(blob_store_free) struct blob_store *blobs =
		calloc(1, sizeof(*blobs));

	if (!blobs || !(blobs->piece = malloc(HASH_PIECE)))
		return error_null(error_nomem(err, "blobs"));
	for (int i = 0; i < PLACES; i++)
		blobs->folders[i] = -1;
	blobs->users = blob_store_open_folder(folder, "users", err);
	if (blobs->users < 0)
		return NULL;
	for (int i = 0; i < PLACES; i++) {
		blobs->folders[i] =
			blob_store_open_folder(folder, places[i], err);
		if (blobs->folders[i] < 0)
			return NULL;
	}
	drop_unfinished(blobs);
	return take(blobs);
}

void blob_store_free(struct blob_store *blobs)
{
	if (!blobs)
		return;
	for (int i = 0; i < PLACES; i++)
		if (blobs->folders[i] > 0)
			close(blobs->folders[i]);
	if (blobs->users > 0)
		close(blobs->users);
	if (blobs->walk)
		closedir(blobs->walk);
	free(blobs->piece);
	free(blobs);
}

enum place blob_find(struct blob_store *blobs, const char *hash,
		     struct stat *st)
{
	for (int i = PLACES - 1; i >= 0; i--)
		if (fstatat(blobs->folders[i], hash, st, AT_SYMLINK_NOFOLLOW) ==
		    0)
			return (enum place)i;
	return PLACES;
}

int blob_store_look(struct blob_store *blobs, const char *hash, uint64_t *bytes,
		    bool *whole, struct error *err)
{
	enum place place;
	struct stat st;

	if (blob_check_hash(hash, err) < 0)
		return -1;
	place = blob_find(blobs, hash, &st);
	*bytes = place == PLACES ? 0 : (uint64_t)st.st_size;
	*whole = place == LOOSE || place == KEPT;
	return 0;
}

static int blob_store_open_place(struct blob_store *blobs, const char *hash,
				 enum place from, enum place *place,
				 struct error *err)
{
	for (int i = PLACES - 1; i >= (int)from; i--) {
		int fd = openat(blobs->folders[i], hash,
				O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

		*place = (enum place)i;
		if (fd >= 0)
			return fd;
		if (errno != ENOENT)
			return error_errno(err, "blob %.12s", hash);
	}
	return error_set(err, ENOENT, "blob %.12s does not exist here", hash);
}

int blob_store_open(struct blob_store *blobs, const char *hash,
		    struct error *err)
{
	enum place place;
	int fd;

	if (blob_check_hash(hash, err) < 0)
		return -1;
	fd = blob_store_open_place(blobs, hash, LOOSE, &place, err);
	if (fd >= 0)
		futimens(fd, NULL);
	return fd;
}

int blob_store_text(struct blob_store *blobs, const char *hash,
		    struct buffer *text, struct error *err)
{
	owned_fd int fd = blob_store_open(blobs, hash, err);
	char name[32];

	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "blob %.12s", hash);
	return file_read_fd(fd, name, text, err);
}

void blob_store_touch(struct blob_store *blobs, const char *hash)
{
	int fd = hash ? blob_store_open(blobs, hash, NULL) : -1;

	if (fd >= 0)
		close(fd);
}

int blob_store_expect(struct blob_store *blobs, const char *hash,
		      struct error *err)
{
	owned_fd int fd = -1;

	if (blob_check_hash(hash, err) < 0)
		return -1;
	fd = openat(blobs->folders[PARTIAL], hash,
		    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? error_errno(err, "blob %.12s", hash) : 0;
}

int blob_store_read(struct blob_store *blobs, const char *hash, uint64_t offset,
		    void *data, size_t size, struct error *err)
{
	enum place place;
	owned_fd int fd = -1;
	ssize_t got;

	if (blob_check_hash(hash, err) < 0)
		return -1;
	fd = blob_store_open_place(blobs, hash, PARTIAL, &place, err);
	if (fd < 0)
		return -1;
	got = pread(fd, data, size, (off_t)offset);
	if (got < 0)
		return error_errno(err, "blob %.12s", hash);
	if ((size_t)got == size)
		return 1;
	return place == PARTIAL ? 0
				: error_set(err, EPROTO,
					    "blob %.12s: the requested "
					    "bytes are beyond its end",
					    hash);
}

/* Kept. */

static int blob_check_user(const char *user, struct error *err)
{
	if (text_is_of(user, BLOB_USER_MAX, ASCII_LOWER ASCII_DIGITS "-"))
		return 0;
	return error_set(err, EINVAL,
			 "blob: the user '%.50s' is not valid here; "
			 "expected "
			 "1 to %d of a-z, 0-9 and '-'",
			 user, BLOB_USER_MAX);
}

/* The folder with the users of a blob; -1 with errno. */
static int open_users(const struct blob_store *blobs, const char *hash)
{
	return openat(blobs->users, hash,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* The user's file is written before the blob moves to kept/, so no kept
 * blob lacks a user.
 */
static int add_user(struct blob_store *blobs, const char *hash,
		    const char *user, struct error *err)
{
	owned_fd int users = -1;
	owned_fd int mark = -1;

	if (mkdirat(blobs->users, hash, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "blob %.12s", hash);
	users = open_users(blobs, hash);
	if (users >= 0 && utimensat(users, user, NULL, 0) == 0)
		return 0;
	if (users >= 0)
		mark = openat(users, user,
			      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			      0600);
	if (mark < 0 || fsync(users) < 0)
		return error_errno(err, "blob %.12s", hash);
	blobs->unsynced = true;
	return 0;
}

int blob_store_keep(struct blob_store *blobs, const char *hash,
		    const char *user, struct error *err)
{
	struct stat st;
	enum place place;

	if (blob_check_hash(hash, err) < 0 || blob_check_user(user, err) < 0)
		return -1;
	place = blob_find(blobs, hash, &st);
	if (place != KEPT && place != LOOSE)
		return error_set(err, ENOENT, "blob %.12s does not exist here",
				 hash);
	if (add_user(blobs, hash, user, err) < 0)
		return -1;
	if (place == KEPT)
		return 0;
	blobs->unsynced = true;
	return renameat(blobs->folders[LOOSE], hash, blobs->folders[KEPT],
			hash) < 0
		       ? error_errno(err, "blob %.12s", hash)
		       : 0;
}

bool blob_store_keeps(const struct blob_store *blobs, const char *hash,
		      const char *user)
{
	char path[BLOB_HASH_SIZE + BLOB_USER_MAX];

	if (blob_check_hash(hash, NULL) < 0 || blob_check_user(user, NULL) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/%s", hash, user);
	return faccessat(blobs->users, path, F_OK, 0) == 0;
}

int blob_store_sync(struct blob_store *blobs, struct error *err)
{
	if (blobs->unsynced &&
	    (fsync(blobs->users) < 0 || fsync(blobs->folders[KEPT]) < 0))
		return error_errno(err, "content/%s", places[KEPT]);
	blobs->unsynced = false;
	return 0;
}

int blob_store_release(struct blob_store *blobs, const char *hash,
		       const char *user, uint64_t *bytes, struct error *err)
{
	owned_fd int users = -1;
	struct stat st;

	if (blob_check_hash(hash, err) < 0 || blob_check_user(user, err) < 0)
		return -1;
	users = open_users(blobs, hash);
	if (users < 0 || unlinkat(users, user, 0) < 0)
		return errno == ENOENT ? 0
				       : error_errno(err, "blob %.12s", hash);
	/* This fails while there is another user. */
	if (unlinkat(blobs->users, hash, AT_REMOVEDIR) < 0)
		return errno == ENOTEMPTY || errno == EEXIST
			       ? 0
			       : error_errno(err, "blob %.12s", hash);
	if (fstatat(blobs->folders[KEPT], hash, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    unlinkat(blobs->folders[KEPT], hash, 0) < 0)
		return errno == ENOENT ? 0
				       : error_errno(err, "blob %.12s", hash);
	if (bytes)
		*bytes += (uint64_t)st.st_size;
	return 0;
}

static void users_of(struct blob_store *blobs, const char *hash,
		     blob_store_user_fn *fn, void *arg)
{
	owned_dir DIR *dir = file_open_folder(blobs->users, hash);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			fn(arg, hash, entry->d_name,
			   (int64_t)st.st_mtim.tv_sec * 1000);
}

int blob_store_users(struct blob_store *blobs, size_t count,
		     blob_store_user_fn *fn, void *arg, struct error *err)
{
	struct dirent *entry = NULL;

	if (!blobs->walk)
		blobs->walk = file_open_folder(blobs->users, ".");
	if (!blobs->walk)
		return error_errno(err, "content/users");
	for (size_t i = 0; i < count; i++) {
		entry = readdir(blobs->walk);
		if (!entry)
			break;
		if (blob_hash_valid(entry->d_name))
			users_of(blobs, entry->d_name, fn, arg);
	}
	if (entry)
		return 1;
	closedir(take(blobs->walk));
	return 0;
}

static bool in_use(int folder, const char *name)
{
	owned_fd int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

	/* A file that cannot be opened counts as used. */
	return fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0;
}

static int clean_folder(struct blob_store *blobs, enum place place,
			uint64_t age_ms, uint64_t *bytes, struct error *err)
{
	int folder = blobs->folders[place];
	owned_dir DIR *dir = file_open_folder(folder, ".");
	int64_t limit = clock_wall_ms() - (int64_t)age_ms;
	struct dirent *entry;
	struct stat st;

	if (!dir)
		return error_errno(err, "content/%s", places[place]);
	while ((entry = readdir(dir))) {
		if (fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) <
			    0 ||
		    !S_ISREG(st.st_mode) ||
		    (int64_t)st.st_mtim.tv_sec * 1000 > limit ||
		    in_use(folder, entry->d_name))
			continue;
		if (unlinkat(folder, entry->d_name, 0) == 0)
			*bytes += (uint64_t)st.st_size;
	}
	return 0;
}

int blob_store_clean(struct blob_store *blobs, uint64_t age_ms, uint64_t *bytes,
		     struct error *err)
{
	uint64_t sum = 0;

	if (clean_folder(blobs, PARTIAL, age_ms, &sum, err) < 0 ||
	    clean_folder(blobs, LOOSE, age_ms, &sum, err) < 0)
		return -1;
	if (bytes)
		*bytes = sum;
	return 0;
}
