/* blob_store.c - files by their SHA-256: a store of what is sent between us.
 */
#include "protocol/blob/blob_store.h"

#include "protocol/base/digest.h"
#include "protocol/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define HASH_STEP (16 << 20) /* bytes hashed in a call; some 60 ms */
#define HASH_PIECE (256 << 10)
#define TEXT_PIECE (64 << 10)
#define MIB 1048576.0
#define FLUSH_BYTES                                                            \
	(8 << 20) /* written out early, so that the end is quick               \
		   */
#define SYNC_MS 50
#define SYNC_PIECE (1 << 20) /* waited for at a time: slow disks take 20 ms */
#define NAME_BYTES 80

enum place { PARTIAL, LOOSE, KEPT, PLACES };
static const char *const places[PLACES] = { "partial", "loose", "kept" };

struct blob_store {
	int folders[PLACES];
	int users;     /* the folder */
	DIR *walk;     /* through it, under way */
	bool unsynced; /* kept/ has names that a power cut may take */
	uint64_t made; /* names of the new ones */
	char *piece;   /* HASH_PIECE */
};

struct incoming {
	struct blob_store *contents;
	char name[NAME_BYTES]; /* in partial/ */
	bool known;            /* the name is its hash */
	int fd;
	uint64_t bytes;
	uint64_t length;
	uint64_t hashed;
	uint64_t flushed;
	uint64_t synced; /* of it, when all has come */
	struct digest digest;
};

bool content_hash_valid(const char *hash)
{
	return hash && strlen(hash) == CONTENT_HASH_SIZE - 1 &&
	       strspn(hash, "0123456789abcdef") == CONTENT_HASH_SIZE - 1;
}

static int check_hash(const char *hash, struct error *err)
{
	return content_hash_valid(hash)
		       ? 0
		       : error_set(err, EPROTO,
				   "content '%.70s': not a SHA-256 in hex",
				   hash ? hash : "");
}

/* What a process before us was making, of unknown hash, has no use. */
static void drop_unfinished(struct blob_store *contents)
{
	int copy = fcntl(contents->folders[PARTIAL], F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "new-", 4))
			unlinkat(contents->folders[PARTIAL], entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

static int open_folder(const char *folder, const char *name, struct error *err)
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
	owned(blob_store_free) struct blob_store *contents =
		calloc(1, sizeof(*contents));

	if (!contents || !(contents->piece = malloc(HASH_PIECE))) {
		error_nomem(err, "contents");
		return NULL;
	}
	for (int i = 0; i < PLACES; i++)
		contents->folders[i] = -1;
	contents->users = open_folder(folder, "users", err);
	if (contents->users < 0)
		return NULL;
	for (int i = 0; i < PLACES; i++) {
		contents->folders[i] = open_folder(folder, places[i], err);
		if (contents->folders[i] < 0)
			return NULL;
	}
	drop_unfinished(contents);
	return take(contents);
}

void blob_store_free(struct blob_store *contents)
{
	if (!contents)
		return;
	for (int i = 0; i < PLACES; i++)
		if (contents->folders[i] > 0)
			close(contents->folders[i]);
	if (contents->users > 0)
		close(contents->users);
	if (contents->walk)
		closedir(contents->walk);
	free(contents->piece);
	free(contents);
}

/* Where it is, whole ones first; PLACES: nowhere. */
static enum place find(struct blob_store *contents, const char *hash,
		       struct stat *st)
{
	for (int i = PLACES - 1; i >= 0; i--)
		if (fstatat(contents->folders[i], hash, st,
			    AT_SYMLINK_NOFOLLOW) == 0)
			return (enum place)i;
	return PLACES;
}

int blob_store_look(struct blob_store *contents, const char *hash,
		    uint64_t *bytes, bool *whole, struct error *err)
{
	enum place place;
	struct stat st;

	if (check_hash(hash, err) < 0)
		return -1;
	place = find(contents, hash, &st);
	*bytes = place == PLACES ? 0 : (uint64_t)st.st_size;
	*whole = place == LOOSE || place == KEPT;
	return 0;
}

static int open_in(struct blob_store *contents, const char *hash,
		   enum place from, enum place *place, struct error *err)
{
	for (int i = PLACES - 1; i >= (int)from; i--) {
		int fd = openat(contents->folders[i], hash,
				O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

		*place = (enum place)i;
		if (fd >= 0)
			return fd;
		if (errno != ENOENT)
			return error_errno(err, "content %.12s", hash);
	}
	return error_set(err, ENOENT, "content %.12s: not here", hash);
}

int blob_store_open(struct blob_store *contents, const char *hash,
		    struct error *err)
{
	enum place place;
	int fd;

	if (check_hash(hash, err) < 0)
		return -1;
	fd = open_in(contents, hash, LOOSE, &place, err);
	if (fd >= 0)
		futimens(fd, NULL);
	return fd;
}

int blob_store_text(struct blob_store *contents, const char *hash,
		    struct buffer *text, struct error *err)
{
	owned_fd int fd = blob_store_open(contents, hash, err);
	ssize_t got = 1;

	if (fd < 0)
		return -1;
	while (got > 0) {
		if (buffer_reserve(text, TEXT_PIECE, err) < 0)
			return error_prefix(err, "content %.12s", hash);
		got = read(fd, text->data + text->size, TEXT_PIECE);
		if (got > 0)
			text->size += (size_t)got;
	}
	text->data[text->size] = 0;
	return got < 0 ? error_errno(err, "content %.12s", hash) : 0;
}

void blob_store_touch(struct blob_store *contents, const char *hash)
{
	int fd = hash ? blob_store_open(contents, hash, NULL) : -1;

	if (fd >= 0)
		close(fd);
}

int blob_store_expect(struct blob_store *contents, const char *hash,
		      struct error *err)
{
	owned_fd int fd = -1;

	if (check_hash(hash, err) < 0)
		return -1;
	fd = openat(contents->folders[PARTIAL], hash,
		    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? error_errno(err, "content %.12s", hash) : 0;
}

int blob_store_read(struct blob_store *contents, const char *hash,
		    uint64_t offset, void *data, size_t size, struct error *err)
{
	enum place place;
	owned_fd int fd = -1;
	ssize_t got;

	if (check_hash(hash, err) < 0)
		return -1;
	fd = open_in(contents, hash, PARTIAL, &place, err);
	if (fd < 0)
		return -1;
	got = pread(fd, data, size, (off_t)offset);
	if (got < 0)
		return error_errno(err, "content %.12s", hash);
	if ((size_t)got == size)
		return 1;
	return place == PARTIAL
		       ? 0
		       : error_set(err, EPROTO,
				   "content %.12s: asked for bytes behind its "
				   "end",
				   hash);
}

/* Kept. */

static int check_user(const char *user, struct error *err)
{
	size_t size = strlen(user);

	if (size && size <= CONTENT_USER_MAX &&
	    strspn(user, "abcdefghijklmnopqrstuvwxyz0123456789-") == size)
		return 0;
	return error_set(err, EINVAL, "content: '%.50s' is no user", user);
}

/* The folder of those who use it; -1 with errno. */
static int open_users(const struct blob_store *contents, const char *hash)
{
	return openat(contents->users, hash,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* The mark stands before it is kept, so nothing is ever kept for nobody. */
static int add_user(struct blob_store *contents, const char *hash,
		    const char *user, struct error *err)
{
	owned_fd int users = -1;
	owned_fd int mark = -1;

	if (mkdirat(contents->users, hash, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "content %.12s", hash);
	users = open_users(contents, hash);
	if (users >= 0 && utimensat(users, user, NULL, 0) == 0)
		return 0;
	if (users >= 0)
		mark = openat(users, user,
			      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			      0600);
	if (mark < 0 || fsync(users) < 0)
		return error_errno(err, "content %.12s", hash);
	contents->unsynced = true;
	return 0;
}

int blob_store_keep(struct blob_store *contents, const char *hash,
		    const char *user, struct error *err)
{
	struct stat st;
	enum place place;

	if (check_hash(hash, err) < 0 || check_user(user, err) < 0)
		return -1;
	place = find(contents, hash, &st);
	if (place != KEPT && place != LOOSE)
		return error_set(err, ENOENT, "content %.12s: not here", hash);
	if (add_user(contents, hash, user, err) < 0)
		return -1;
	if (place == KEPT)
		return 0;
	contents->unsynced = true;
	return renameat(contents->folders[LOOSE], hash, contents->folders[KEPT],
			hash) < 0
		       ? error_errno(err, "content %.12s", hash)
		       : 0;
}

int blob_store_sync(struct blob_store *contents, struct error *err)
{
	if (contents->unsynced &&
	    (fsync(contents->users) < 0 || fsync(contents->folders[KEPT]) < 0))
		return error_errno(err, "content/%s", places[KEPT]);
	contents->unsynced = false;
	return 0;
}

int blob_store_release(struct blob_store *contents, const char *hash,
		       const char *user, uint64_t *bytes, struct error *err)
{
	owned_fd int users = -1;
	struct stat st;

	if (check_hash(hash, err) < 0 || check_user(user, err) < 0)
		return -1;
	users = open_users(contents, hash);
	if (users < 0 || unlinkat(users, user, 0) < 0)
		return errno == ENOENT
			       ? 0
			       : error_errno(err, "content %.12s", hash);
	/* It cannot go while there is another one. */
	if (unlinkat(contents->users, hash, AT_REMOVEDIR) < 0)
		return errno == ENOTEMPTY || errno == EEXIST
			       ? 0
			       : error_errno(err, "content %.12s", hash);
	if (fstatat(contents->folders[KEPT], hash, &st, AT_SYMLINK_NOFOLLOW) <
		    0 ||
	    unlinkat(contents->folders[KEPT], hash, 0) < 0)
		return errno == ENOENT
			       ? 0
			       : error_errno(err, "content %.12s", hash);
	if (bytes)
		*bytes += (uint64_t)st.st_size;
	return 0;
}

static void users_of(struct blob_store *contents, const char *hash,
		     blob_store_user_fn *fn, void *arg)
{
	int users = open_users(contents, hash);
	DIR *dir = users < 0 ? NULL : fdopendir(users);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (fstatat(users, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
			    0 &&
		    S_ISREG(st.st_mode))
			fn(arg, hash, entry->d_name,
			   (int64_t)st.st_mtim.tv_sec * 1000);
	if (dir)
		closedir(dir);
	else if (users >= 0)
		close(users);
}

int blob_store_users(struct blob_store *contents, size_t count,
		     blob_store_user_fn *fn, void *arg, struct error *err)
{
	int copy = contents->walk ? -1
				  : openat(contents->users, ".",
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry = NULL;

	if (!contents->walk)
		contents->walk = copy < 0 ? NULL : fdopendir(copy);
	if (!contents->walk) {
		error_errno(err, "content/users");
		if (copy >= 0)
			close(copy);
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		entry = readdir(contents->walk);
		if (!entry)
			break;
		if (content_hash_valid(entry->d_name))
			users_of(contents, entry->d_name, fn, arg);
	}
	if (entry)
		return 1;
	closedir(take(contents->walk));
	return 0;
}

static bool in_use(int folder, const char *name)
{
	owned_fd int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);

	/* Without a descriptor nobody can tell. */
	return fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0;
}

static int clean_folder(struct blob_store *contents, enum place place,
			uint64_t age_ms, uint64_t *bytes, struct error *err)
{
	int copy = openat(contents->folders[place], ".",
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	int64_t limit = clock_wall_ms() - (int64_t)age_ms;
	struct dirent *entry;
	struct stat st;

	if (!dir) {
		error_errno(err, "content/%s", places[place]);
		if (copy >= 0)
			close(copy);
		return -1;
	}
	while ((entry = readdir(dir))) {
		if (fstatat(copy, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) <
			    0 ||
		    !S_ISREG(st.st_mode) ||
		    (int64_t)st.st_mtim.tv_sec * 1000 > limit ||
		    in_use(copy, entry->d_name))
			continue;
		if (unlinkat(copy, entry->d_name, 0) == 0)
			*bytes += (uint64_t)st.st_size;
	}
	closedir(dir);
	return 0;
}

int blob_store_clean(struct blob_store *contents, uint64_t age_ms,
		     uint64_t *bytes, struct error *err)
{
	uint64_t sum = 0;

	if (clean_folder(contents, PARTIAL, age_ms, &sum, err) < 0 ||
	    clean_folder(contents, LOOSE, age_ms, &sum, err) < 0)
		return -1;
	if (bytes)
		*bytes = sum;
	return 0;
}

/* Coming in. */

static int open_incoming(struct incoming *incoming, struct error *err)
{
	struct stat st;

	incoming->fd =
		openat(incoming->contents->folders[PARTIAL], incoming->name,
		       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (incoming->fd < 0 || fstat(incoming->fd, &st) < 0)
		return error_errno(err, "content %.12s", incoming->name);
	if (flock(incoming->fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, EBUSY, "content %.12s: coming in already",
				 incoming->name);
	incoming->length = (uint64_t)st.st_size;
	if (incoming->length <= incoming->bytes)
		return 0;
	/* Not the same that was begun: it will not have this hash. */
	incoming->length = 0;
	return ftruncate(incoming->fd, 0) < 0
		       ? error_errno(err, "content %.12s", incoming->name)
		       : 0;
}

/* What does not fit is not begun: a full disk is bad for all else on it. */
static int check_room(const struct incoming *incoming, struct error *err)
{
	uint64_t left = incoming->bytes - incoming->length, room;
	struct statvfs fs;

	if (!incoming->known || fstatvfs(incoming->fd, &fs) < 0)
		return 0;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (left <= room)
		return 0;
	return error_set(err, ENOSPC,
			 "content %.12s: disk full: %.1f MiB are to come, the "
			 "disk of the state folder has %.1f MiB free; make "
			 "room there",
			 incoming->name, (double)left / MIB,
			 (double)room / MIB);
}

struct incoming *incoming_new(struct blob_store *contents, const char *hash,
			      uint64_t bytes, struct error *err)
{
	owned(incoming_free) struct incoming *incoming = NULL;

	if (hash && check_hash(hash, err) < 0)
		return NULL;
	if (bytes > CONTENT_BYTES_MAX) {
		error_set(err, E2BIG,
			  "content of %" PRIu64
			  " bytes; expected at most %" PRIu64,
			  bytes, CONTENT_BYTES_MAX);
		return NULL;
	}
	incoming = calloc(1, sizeof(*incoming));
	if (!incoming) {
		error_nomem(err, "content");
		return NULL;
	}
	incoming->contents = contents;
	incoming->bytes = bytes;
	incoming->known = hash != NULL;
	incoming->fd = -1;
	if (hash)
		snprintf(incoming->name, sizeof(incoming->name), "%s", hash);
	else
		snprintf(incoming->name, sizeof(incoming->name), "new-%" PRIu64,
			 ++contents->made);
	digest_init(&incoming->digest);
	if (open_incoming(incoming, err) < 0 || check_room(incoming, err) < 0)
		return NULL;
	return take(incoming);
}

void incoming_free(struct incoming *incoming)
{
	if (!incoming)
		return;
	if (incoming->fd >= 0) {
		if (!incoming->known)
			unlinkat(incoming->contents->folders[PARTIAL],
				 incoming->name, 0);
		close(incoming->fd);
	}
	free(incoming);
}

uint64_t incoming_length(const struct incoming *incoming)
{
	return incoming->length;
}

int incoming_write(struct incoming *incoming, const void *data, size_t size,
		   struct error *err)
{
	const char *from = data;
	uint64_t flush = incoming->length - incoming->flushed;

	if (size > incoming->bytes - incoming->length)
		return error_set(err, E2BIG,
				 "content of more than %" PRIu64 " bytes",
				 incoming->bytes);
	/* What was there already is hashed at the end. */
	if (incoming->hashed == incoming->length) {
		digest_add(&incoming->digest, data, size);
		incoming->hashed += size;
	}
	for (size_t done = 0; done < size;) {
		ssize_t put = pwrite(incoming->fd, from + done, size - done,
				     (off_t)(incoming->length + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			error_errno(err, "content %.12s", incoming->name);
			/* The hash went ahead: begin it anew at the end. */
			incoming->hashed = 0;
			digest_init(&incoming->digest);
			return -1;
		}
		done += (size_t)put;
	}
	incoming->length += size;
	if (flush + size >= FLUSH_BYTES) {
		sync_file_range(incoming->fd, (off_t)incoming->flushed,
				(off_t)(flush + size), SYNC_FILE_RANGE_WRITE);
		incoming->flushed = incoming->length;
	}
	return 0;
}

/* 1: there is more to hash. */
static int hash_step(struct incoming *incoming, struct error *err)
{
	char *piece = incoming->contents->piece;

	for (size_t done = 0; done < HASH_STEP;) {
		ssize_t got;

		if (incoming->hashed == incoming->length)
			return 0;
		got = pread(incoming->fd, piece, HASH_PIECE,
			    (off_t)incoming->hashed);
		if (got <= 0)
			return error_set(err, EIO, "content %.12s: %s",
					 incoming->name,
					 got < 0 ? strerror(errno)
						 : "shorter than it was");
		digest_add(&incoming->digest, piece, (size_t)got);
		incoming->hashed += (uint64_t)got;
		done += (size_t)got;
	}
	return 1;
}

/* It has no use: the next try begins anew. */
static void drop(struct incoming *incoming)
{
	unlinkat(incoming->contents->folders[PARTIAL], incoming->name, 0);
	close(take_fd(&incoming->fd));
}

/* After a write that failed late the pages count as clean: what would be read
 * again, and hashed, is not what the disk has.
 */
static int sync_failed(struct incoming *incoming, struct error *err)
{
	error_errno(err, "content %.12s", incoming->name);
	drop(incoming);
	return -1;
}

/* A gigabyte may come faster than the disk takes it, and fsync() would wait for
 * all of that at once. 1: there is more to wait for.
 */
static int sync_step(struct incoming *incoming, struct error *err)
{
	int64_t begun = clock_mono_ms();

	while (incoming->synced < incoming->length) {
		if (clock_mono_ms() - begun >= SYNC_MS)
			return 1;
		if (sync_file_range(incoming->fd, (off_t)incoming->synced,
				    SYNC_PIECE,
				    SYNC_FILE_RANGE_WAIT_BEFORE |
					    SYNC_FILE_RANGE_WRITE |
					    SYNC_FILE_RANGE_WAIT_AFTER) < 0 &&
		    errno != ENOSYS && errno != EINVAL)
			return sync_failed(incoming, err);
		incoming->synced += SYNC_PIECE;
	}
	return 0;
}

static int settle(struct incoming *incoming, const char *hash,
		  struct error *err)
{
	struct blob_store *contents = incoming->contents;
	struct stat st;
	enum place place;

	if (fsync(incoming->fd) < 0)
		return sync_failed(incoming, err);
	place = find(contents, hash, &st);
	if (place == LOOSE || place == KEPT)
		unlinkat(contents->folders[PARTIAL], incoming->name, 0);
	else if (renameat(contents->folders[PARTIAL], incoming->name,
			  contents->folders[LOOSE], hash) < 0 ||
		 fsync(contents->folders[LOOSE]) < 0)
		return error_errno(err, "content %.12s", hash);
	close(take_fd(&incoming->fd));
	return 0;
}

int incoming_finish(struct incoming *incoming, char hash[CONTENT_HASH_SIZE],
		    struct error *err)
{
	char found[CONTENT_HASH_SIZE];
	int rc;

	if (incoming->known && incoming->length != incoming->bytes)
		return error_set(err, EPROTO,
				 "content %.12s: %" PRIu64 " bytes of %" PRIu64,
				 incoming->name, incoming->length,
				 incoming->bytes);
	rc = hash_step(incoming, err);
	if (rc == 0)
		rc = sync_step(incoming, err);
	if (rc)
		return rc;
	digest_hex(&incoming->digest, found);
	/* Asked again after a failure below, it is hashed again. */
	incoming->hashed = 0;
	if (incoming->known && strcmp(found, incoming->name) != 0) {
		drop(incoming);
		return error_set(err, EBADMSG,
				 "content %.12s: the bytes that came have "
				 "another hash, %.12s",
				 incoming->name, found);
	}
	if (settle(incoming, found, err) < 0)
		return -1;
	memcpy(hash, found, sizeof(found));
	return 0;
}
