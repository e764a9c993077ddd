/* blob_store_test.c - the store of files by their hash.
 */
#include "protocol/blob/blob_store.h"

#include "protocol/base/file.h"
#include "protocol/blob/incoming.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Linked with -Wl,--wrap=fsync,--wrap=sync_file_range,--wrap=clock_mono_ms: a
 * disk that takes WAIT_MS for what is waited for at a time, and fails late.
 */
#define WAIT_MS 30
static int64_t simulated_ms;
static bool slow;
static int late; /* errno of the next fsync() */
static int64_t waited;

int64_t __real_clock_mono_ms(void);
int64_t __wrap_clock_mono_ms(void);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_sync_file_range(int fd, off_t offset, off_t count,
			   unsigned int flags);

int64_t __wrap_clock_mono_ms(void)
{
	return slow ? simulated_ms : __real_clock_mono_ms();
}

int __wrap_fsync(int fd)
{
	errno = late;
	late = 0;
	return errno ? -1 : __real_fsync(fd);
}

int __wrap_sync_file_range(int fd, off_t offset, off_t count,
			   unsigned int flags)
{
	if (flags & SYNC_FILE_RANGE_WAIT_AFTER) {
		simulated_ms += WAIT_MS;
		waited += count;
	}
	return 0;
}

static char top[] = "/tmp/blobs-test-XXXXXX";

static const char *hash_of(const void *data, size_t size)
{
	static char hex[BLOB_HASH_SIZE];
	unsigned char digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(digest, data, size);
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	return hex;
}

static int finish(struct incoming *incoming, char hash[BLOB_HASH_SIZE],
		  struct error *err)
{
	int rc;

	while ((rc = incoming_finish(incoming, hash, err)) > 0)
		;
	return rc;
}

static bool whole(struct blob_store *blobs, const char *hash, uint64_t want)
{
	uint64_t bytes;
	bool all;

	return blob_store_look(blobs, hash, &bytes, &all, NULL) == 0 && all &&
	       bytes == want;
}

static void no_room(struct blob_store *blobs)
{
	struct statvfs fs = { 0 };
	struct error err = { 0 };
	uint64_t room, bytes;
	struct incoming *incoming;
	bool all;

	statvfs(top, &fs);
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (room + (64 << 20) >= BLOB_BYTES_MAX)
		return; /* a disk that anything fits on */
	incoming =
		incoming_new(blobs, hash_of("x", 1), room + (64 << 20), &err);
	ok(!incoming && err.code == ENOSPC, "what does not fit: %s", err.text);
	ok(blob_store_look(blobs, hash_of("x", 1), &bytes, &all, NULL) == 0 &&
		   !bytes,
	   "is not begun");
}

static void expected(struct blob_store *blobs)
{
	char hash[BLOB_HASH_SIZE], text[2];
	struct incoming *incoming;

	memcpy(hash, hash_of("soon", 4), sizeof(hash));
	ok(blob_store_read(blobs, hash, 0, text, 2, NULL) < 0,
	   "of what nobody expects there is nothing");
	is_int(blob_store_expect(blobs, hash, NULL), 0, "it may be expected");
	is_int(blob_store_read(blobs, hash, 0, text, 2, NULL), 0,
	       "then it has not come yet");
	incoming = incoming_new(blobs, hash, 4, NULL);
	ok(incoming && incoming_write(incoming, "soon", 4, NULL) == 0 &&
		   finish(incoming, hash, NULL) == 0 && whole(blobs, hash, 4),
	   "and comes");
	incoming_free(incoming);
	ok(blob_store_expect(blobs, "../x", NULL) < 0, "a path is no hash");
}

static void comes_in(struct blob_store *blobs)
{
	owned(incoming_free) struct incoming *incoming =
		incoming_new(blobs, hash_of("hello", 5), 5, NULL);
	owned(incoming_free) struct incoming *second = NULL;
	char hash[BLOB_HASH_SIZE], text[6] = "";
	struct error err = { 0 };
	uint64_t bytes;
	bool all;

	second = incoming_new(blobs, hash_of("hello", 5), 5, &err);
	ok(!second && err.code == EBUSY, "one at a time: %s", err.text);
	incoming_write(incoming, "hel", 3, NULL);
	ok(finish(incoming, hash, &err) < 0 && err.code == EPROTO,
	   "not before all is there: %s", err.text);
	blob_store_look(blobs, hash_of("hello", 5), &bytes, &all, NULL);
	ok(bytes == 3 && !all, "what has come so far is told");
	ok(blob_store_read(blobs, hash_of("hello", 5), 1, text, 2, NULL) == 1 &&
		   !strcmp(text, "el"),
	   "and can be read");
	ok(blob_store_read(blobs, hash_of("hello", 5), 1, text, 4, NULL) == 0,
	   "the rest has not come yet");
	ok(incoming_write(incoming, "lo.", 3, &err) < 0 && err.code == E2BIG,
	   "more than announced is refused: %s", err.text);
	incoming_write(incoming, "lo", 2, NULL);
	ok(finish(incoming, hash, NULL) == 0 &&
		   !strcmp(hash, hash_of("hello", 5)) && whole(blobs, hash, 5),
	   "then it is whole");
}

static void cut(void)
{
	owned(blob_store_free) struct blob_store *blobs =
		blob_store_new(top, NULL);
	struct incoming *incoming =
		incoming_new(blobs, hash_of("resume", 6), 6, NULL);
	char hash[BLOB_HASH_SIZE], path[300];

	incoming_write(incoming, "res", 3, NULL);
	incoming_free(incoming);
	blob_store_free(take(blobs));
	snprintf(path, sizeof(path), "%s/content/partial/new-7", top);
	file_write(AT_FDCWD, path, "x", 1, 0600, 0, NULL);
	blobs = blob_store_new(top, NULL);
	ok(access(path, F_OK) < 0, "what a killed process was making is gone");
	incoming = incoming_new(blobs, hash_of("resume", 6), 6, NULL);
	is_int((long long)incoming_length(incoming), 3,
	       "it goes on where the process before ended");
	incoming_write(incoming, "ume", 3, NULL);
	ok(finish(incoming, hash, NULL) == 0 && whole(blobs, hash, 6),
	   "and is checked as a whole");
	incoming_free(incoming);
}

static void lies(struct blob_store *blobs)
{
	struct incoming *incoming =
		incoming_new(blobs, hash_of("truth", 5), 5, NULL);
	char hash[BLOB_HASH_SIZE];
	struct error err = { 0 };
	uint64_t bytes;
	bool all;

	incoming_write(incoming, "trash", 5, NULL);
	ok(finish(incoming, hash, &err) < 0 && err.code == EBADMSG,
	   "other bytes than the hash says: %s", err.text);
	blob_store_look(blobs, hash_of("truth", 5), &bytes, &all, NULL);
	ok(bytes == 0 && !all, "are not kept");
	incoming_free(incoming);
	ok(blob_store_look(blobs, "../../etc/passwd", &bytes, &all, &err) < 0 &&
		   err.code == EPROTO,
	   "a path is no hash: %s", err.text);
	ok(blob_store_open(blobs, hash_of("none", 4), &err) < 0 &&
		   err.code == ENOENT,
	   "%s", err.text);
}

static void as_text(struct blob_store *blobs)
{
	struct incoming *incoming = incoming_new(blobs, NULL, 20, NULL);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	char hash[BLOB_HASH_SIZE];
	struct error err = { 0 };

	incoming_write(incoming, "some text", 9, NULL);
	finish(incoming, hash, NULL);
	incoming_free(incoming);
	is_int(blob_store_text(blobs, hash, &text, &err), 0,
	       "a whole one is read as text");
	is(text.data, "some text", "all of it");
	buffer_clear(&text);
	buffer_init(&text, 4);
	ok(blob_store_text(blobs, hash, &text, &err) < 0 && err.code == E2BIG,
	   "within its limit: %s", err.text);
	ok(blob_store_text(blobs, hash_of("none", 4), &text, &err) < 0 &&
		   err.code == ENOENT,
	   "one that is not here is none");
	blob_store_touch(blobs, hash_of("none", 4));
	blob_store_touch(blobs, NULL);
	blob_store_touch(blobs, hash);
}

static void found_out(struct blob_store *blobs)
{
	struct incoming *incoming = incoming_new(blobs, NULL, 20, NULL);
	char hash[BLOB_HASH_SIZE];
	char *large = malloc(40 << 20);
	int steps = 0, rc;

	memset(large, 7, 40 << 20);
	incoming_write(incoming, "new", 3, NULL);
	ok(finish(incoming, hash, NULL) == 0 && whole(blobs, hash, 3) &&
		   !strcmp(hash, hash_of("new", 3)),
	   "the hash of what is made here is found out");
	incoming_free(incoming);
	incoming = incoming_new(blobs, NULL, 20, NULL);
	incoming_write(incoming, "new", 3, NULL);
	ok(finish(incoming, hash, NULL) == 0 && whole(blobs, hash, 3),
	   "made twice, it is there once");
	incoming_free(incoming);
	incoming =
		incoming_new(blobs, hash_of(large, 40 << 20), 40 << 20, NULL);
	incoming_write(incoming, large, 30 << 20, NULL);
	incoming_free(incoming);
	incoming =
		incoming_new(blobs, hash_of(large, 40 << 20), 40 << 20, NULL);
	incoming_write(incoming, large, 10 << 20, NULL);
	while ((rc = incoming_finish(incoming, hash, NULL)) > 0)
		steps++;
	ok(rc == 0 && steps > 1, "what was there before is hashed in steps");
	incoming_free(incoming);
	free(large);
}

static void age(struct blob_store *blobs)
{
	struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	char keep[BLOB_HASH_SIZE], path[300], hash[BLOB_HASH_SIZE];
	struct incoming *incoming;
	struct error err;
	uint64_t bytes = 0;
	bool all;

	memcpy(keep, hash_of("hello", 5), sizeof(keep));
	ok(blob_store_keep(blobs, keep, "job-1", NULL) == 0 &&
		   blob_store_keep(blobs, keep, "job-1", NULL) == 0 &&
		   whole(blobs, keep, 5),
	   "kept, and kept again");
	is_int(blob_store_sync(blobs, &err), 0, "and is so after a power cut");
	ok(blob_store_keep(blobs, hash_of("none", 4), "job-1", &err) < 0 &&
		   err.code == ENOENT,
	   "what is not there cannot be kept");
	snprintf(path, sizeof(path), "%s/content/kept/%s", top, keep);
	utimensat(AT_FDCWD, path, old, 0);
	snprintf(path, sizeof(path), "%s/content/loose/%s", top,
		 hash_of("resume", 6));
	utimensat(AT_FDCWD, path, old, 0);
	incoming = incoming_new(blobs, hash_of("slow", 4), 4, NULL);
	snprintf(path, sizeof(path), "%s/content/partial/%s", top,
		 hash_of("slow", 4));
	utimensat(AT_FDCWD, path, old, 0);
	ok(blob_store_clean(blobs, 60000, &bytes, NULL) == 0 && bytes == 6,
	   "only what is loose and was not used goes");
	ok(whole(blobs, keep, 5) && whole(blobs, hash_of("new", 3), 3),
	   "what is kept or young stays");
	incoming_write(incoming, "slow", 4, NULL);
	ok(finish(incoming, hash, NULL) == 0, "and what is coming in");
	incoming_free(incoming);
	blob_store_look(blobs, hash_of("resume", 6), &bytes, &all, NULL);
	ok(!all && !bytes, "the old one is gone");
}

static void slow_disk(struct blob_store *blobs)
{
	enum { SIZE = 8 << 20 };
	char hash[BLOB_HASH_SIZE], *data = calloc(1, SIZE);
	struct incoming *incoming = incoming_new(blobs, NULL, SIZE, NULL);
	int64_t longest = 0;
	int rc = 1, steps = 0;

	slow = true;
	incoming_write(incoming, data, SIZE, NULL);
	while (rc > 0) {
		int64_t begun = simulated_ms;

		rc = incoming_finish(incoming, hash, NULL);
		if (simulated_ms - begun > longest)
			longest = simulated_ms - begun;
		steps++;
	}
	slow = false;
	incoming_free(incoming);
	ok(!rc && waited >= SIZE && steps > 1 && longest < 100,
	   "a slow disk is waited for in steps");
	ok(whole(blobs, hash, SIZE), "to the end");
	blob_store_clean(blobs, 0, NULL, NULL);
	free(data);
}

static void late_errors(struct blob_store *blobs)
{
	char hash[BLOB_HASH_SIZE];
	struct incoming *incoming;
	struct error err = { 0 };
	uint64_t bytes = 1;
	bool all;

	memcpy(hash, hash_of("late", 4), sizeof(hash));
	incoming = incoming_new(blobs, hash, 4, NULL);
	incoming_write(incoming, "late", 4, NULL);
	late = EIO;
	ok(finish(incoming, hash, &err) < 0 && err.code == EIO,
	   "what the disk did not take is not here: %s", err.text);
	incoming_free(incoming);
	blob_store_look(blobs, hash, &bytes, &all, NULL);
	ok(!all && !bytes, "and comes anew, not from memory");
}

struct used {
	char text[200];
	int64_t ms;
};

static void note_user(void *arg, const char *hash, const char *user,
		      int64_t used_ms)
{
	struct used *used = arg;
	size_t size = strlen(used->text);

	snprintf(used->text + size, sizeof(used->text) - size, "%.4s %s ", hash,
		 user);
	used->ms = used_ms;
}

/* Kept as long as one user needs it. */
static void users(struct blob_store *blobs)
{
	struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	struct used used = { .ms = 0 };
	char hash[BLOB_HASH_SIZE], path[300], want[80];
	struct error err;
	uint64_t bytes = 0;

	memcpy(hash, hash_of("new", 3), sizeof(hash));
	blob_store_release(blobs, hash_of("hello", 5), "job-1", NULL, NULL);
	ok(blob_store_keep(blobs, hash, "job-2", NULL) == 0 &&
		   blob_store_keep(blobs, hash, "sweep-1", NULL) == 0 &&
		   blob_store_release(blobs, hash, "job-2", &bytes, NULL) ==
			   0 &&
		   whole(blobs, hash, 3) && !bytes,
	   "what has two users stays when one goes");
	ok(blob_store_release(blobs, hash, "job-2", NULL, NULL) == 0 &&
		   whole(blobs, hash, 3),
	   "also when it goes twice");
	snprintf(path, sizeof(path), "%s/content/users/%s/sweep-1", top, hash);
	utimensat(AT_FDCWD, path, old, 0);
	blob_store_users(blobs, 100, note_user, &used, NULL);
	snprintf(want, sizeof(want), "%.4s sweep-1 ", hash);
	is(used.text, want, "users are told");
	ok(used.ms == 1000000, "with when they used it");
	blob_store_keep(blobs, hash, "sweep-1", NULL);
	blob_store_users(blobs, 100, note_user, &used, NULL);
	ok(used.ms > 1000000, "which is renewed");
	used.text[0] = 0;
	ok(blob_store_users(blobs, 1, note_user, &used, NULL) == 1,
	   "one at a time, there are more");
	while (blob_store_users(blobs, 1, note_user, &used, NULL) > 0)
		;
	is(used.text, want, "up to the last");
	ok(blob_store_release(blobs, hash, "sweep-1", &bytes, NULL) == 0 &&
		   bytes == 3 && !whole(blobs, hash, 3),
	   "with the last one it goes");
	ok(blob_store_keep(blobs, hash, "../x", &err) < 0 && err.code == EINVAL,
	   "a user that is a path is refused: %s", err.text);
}

int main(void)
{
	owned(blob_store_free) struct blob_store *blobs = NULL;

	tap_begin(40);
	if (sodium_init() < 0 || !mkdtemp(top))
		return 1;
	blobs = blob_store_new(top, NULL);
	no_room(blobs);
	expected(blobs);
	comes_in(blobs);
	blob_store_free(take(blobs));
	cut();
	blobs = blob_store_new(top, NULL);
	lies(blobs);
	as_text(blobs);
	found_out(blobs);
	age(blobs);
	users(blobs);
	slow_disk(blobs);
	late_errors(blobs);
	blob_store_free(take(blobs));
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
