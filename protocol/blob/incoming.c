/* incoming.c - receives a blob: writes, hashes and syncs it, then stores
 * it.
 */
#include "protocol/blob/incoming.h"

#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/blob/blob_store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>

#define HASH_STEP (16 << 20) /* bytes hashed in a call; some 60 ms */
#define MIB 1048576.0
#define FLUSH_BYTES (8 << 20) /* written out early */
#define SYNC_MS 50
#define SYNC_PIECE (1 << 20) /* waited for at a time: slow disks take 20 ms */
#define NAME_BYTES 80

struct incoming {
	struct blob_store *blobs;
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

static int open_incoming(struct incoming *incoming, struct error *err)
{
	struct stat st;

	incoming->fd = openat(incoming->blobs->folders[PARTIAL], incoming->name,
			      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (incoming->fd < 0 || fstat(incoming->fd, &st) < 0)
		return error_errno(err, "blob %.12s", incoming->name);
	if (flock(incoming->fd, LOCK_EX | LOCK_NB) < 0)
		return error_set(err, EBUSY,
				 "blob %.12s is already being received",
				 incoming->name);
	incoming->length = (uint64_t)st.st_size;
	if (incoming->length <= incoming->bytes)
		return 0;
	/* The partial file is too long to be a part of this blob. */
	incoming->length = 0;
	return ftruncate(incoming->fd, 0) < 0
		       ? error_errno(err, "blob %.12s", incoming->name)
		       : 0;
}

/* A blob that does not fit is refused at once: a full disk would harm
 * everything else on it.
 */
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
			 "blob %.12s: disk full: %.1f MiB are missing, the "
			 "disk of the state folder has %.1f MiB free; free "
			 "some space there",
			 incoming->name, (double)left / MIB,
			 (double)room / MIB);
}

struct incoming *incoming_new(struct blob_store *blobs, const char *hash,
			      uint64_t bytes, struct error *err)
{
	owned(incoming_free) struct incoming *incoming = NULL;

	if (hash && blob_check_hash(hash, err) < 0)
		return NULL;
	if (bytes > BLOB_BYTES_MAX)
		return error_null(error_set(err, E2BIG,
					    "blob of %" PRIu64
					    " bytes; expected at most %" PRIu64,
					    bytes, BLOB_BYTES_MAX));
	incoming = calloc(1, sizeof(*incoming));
	if (!incoming)
		return error_null(error_nomem(err, "blob"));
	incoming->blobs = blobs;
	incoming->bytes = bytes;
	incoming->known = hash != NULL;
	incoming->fd = -1;
	if (hash)
		snprintf(incoming->name, sizeof(incoming->name), "%s", hash);
	else
		snprintf(incoming->name, sizeof(incoming->name), "new-%" PRIu64,
			 ++blobs->made);
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
			unlinkat(incoming->blobs->folders[PARTIAL],
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
	uint64_t flush = incoming->length - incoming->flushed;

	if (size > incoming->bytes - incoming->length)
		return error_set(err, E2BIG,
				 "blob of more than %" PRIu64 " bytes",
				 incoming->bytes);
	/* Bytes of an earlier sender are hashed at the end. */
	if (incoming->hashed == incoming->length) {
		digest_add(&incoming->digest, data, size);
		incoming->hashed += size;
	}
	if (file_write_at(incoming->fd, data, size, incoming->length) < 0) {
		error_errno(err, "blob %.12s", incoming->name);
		/* The hash includes bytes that were not written: compute it
		 * again at the end. */
		incoming->hashed = 0;
		digest_init(&incoming->digest);
		return -1;
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
	char *piece = incoming->blobs->piece;

	for (size_t done = 0; done < HASH_STEP;) {
		ssize_t got;

		if (incoming->hashed == incoming->length)
			return 0;
		got = pread(incoming->fd, piece, HASH_PIECE,
			    (off_t)incoming->hashed);
		if (got <= 0)
			return error_set(err, EIO, "blob %.12s: %s",
					 incoming->name,
					 got < 0 ? strerror(errno)
						 : "the blob has become "
						   "shorter");
		digest_add(&incoming->digest, piece, (size_t)got);
		incoming->hashed += (uint64_t)got;
		done += (size_t)got;
	}
	return 1;
}

/* Remove the partial file: the next attempt starts from the first byte. */
static void incoming_drop_file(struct incoming *incoming)
{
	unlinkat(incoming->blobs->folders[PARTIAL], incoming->name, 0);
	close(take_fd(&incoming->fd));
}

/* After a failed writeback the kernel marks the pages as clean. Reading them
 * would give bytes that are not on the disk.
 */
static int sync_failed(struct incoming *incoming, struct error *err)
{
	error_errno(err, "blob %.12s", incoming->name);
	incoming_drop_file(incoming);
	return -1;
}

/* Bytes may arrive faster than the disk writes them, and fsync() would wait for
 * a gigabyte at once. 1: call again.
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

static int incoming_settle(struct incoming *incoming, const char *hash,
			   struct error *err)
{
	struct blob_store *blobs = incoming->blobs;
	struct stat st;
	enum place place;

	if (fsync(incoming->fd) < 0)
		return sync_failed(incoming, err);
	place = blob_find(blobs, hash, &st);
	if (place == LOOSE || place == KEPT)
		unlinkat(blobs->folders[PARTIAL], incoming->name, 0);
	else if (renameat(blobs->folders[PARTIAL], incoming->name,
			  blobs->folders[LOOSE], hash) < 0 ||
		 fsync(blobs->folders[LOOSE]) < 0)
		return error_errno(err, "blob %.12s", hash);
	close(take_fd(&incoming->fd));
	return 0;
}

int incoming_finish(struct incoming *incoming, char hash[BLOB_HASH_SIZE],
		    struct error *err)
{
	char found[BLOB_HASH_SIZE];
	int rc;

	if (incoming->known && incoming->length != incoming->bytes)
		return error_set(err, EPROTO,
				 "blob %.12s: incomplete: received %" PRIu64
				 " of %" PRIu64 " bytes",
				 incoming->name, incoming->length,
				 incoming->bytes);
	rc = hash_step(incoming, err);
	if (rc == 0)
		rc = sync_step(incoming, err);
	if (rc)
		return rc;
	digest_hex(&incoming->digest, found);
	/* If incoming_settle() fails, the next call computes the hash again. */
	incoming->hashed = 0;
	if (incoming->known && strcmp(found, incoming->name) != 0) {
		incoming_drop_file(incoming);
		return error_set(err, EBADMSG,
				 "blob %.12s: the received bytes have a "
				 "different hash, %.12s",
				 incoming->name, found);
	}
	if (incoming_settle(incoming, found, err) < 0)
		return -1;
	memcpy(hash, found, sizeof(found));
	return 0;
}
