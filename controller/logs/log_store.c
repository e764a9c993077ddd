/* log_store.c - what the jobs wrote: append-only files whose length is the
 * cursor.
 */
#include "controller/logs/log_store.h"

#include "controller/logs/log_times.h"
#include "protocol/base/file.h"
#include "protocol/message/stream_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define REMOVE_STEP (8 << 20) /* bytes that go at once, some 2 ms on ext4 */

#define TALLIES 64 /* attempts whose number of streams is remembered */

/* More files than this are synced with their whole file system at once. */
#define SYNC_EACH_MAX 64

/* An open stream, in a list with the latest used first. */
struct stream {
	struct stream *next;
	uint64_t job;
	uint32_t attempt;
	char name[LOG_STORE_NAME_MAX + 1];
	int log;
	uint64_t length;
	struct log_times times;
};

struct tally {
	uint64_t job;
	uint32_t attempt;
	uint32_t streams;
};

struct log_store {
	int folder; /* logs/ */
	struct stream *streams;
	size_t open;
	struct tally tallies[TALLIES];
	size_t next_tally;
};

static int open_logs(const char *folder, struct error *err)
{
	owned_free char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/logs", folder) < 0) {
		path = NULL;
		return error_nomem(err, "logstore");
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "%s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? error_errno(err, "%s", path) : fd;
}

struct log_store *log_store_new(const char *folder, struct error *err)
{
	owned_fd int fd = open_logs(folder, err);
	struct log_store *store;

	if (fd < 0)
		return NULL;
	store = calloc(1, sizeof(*store));
	if (store)
		store->folder = take_fd(&fd);
	else
		error_nomem(err, "logstore");
	return store;
}

static void stream_free(struct stream *stream)
{
	if (stream->log >= 0)
		close(stream->log);
	log_times_clear(&stream->times);
	free(stream);
}

void log_store_free(struct log_store *store)
{
	if (!store)
		return;
	while (store->streams) {
		struct stream *stream = store->streams;

		store->streams = stream->next;
		stream_free(stream);
	}
	if (store->folder >= 0)
		close(store->folder);
	free(store);
}

static bool name_valid(const char *name)
{
	size_t length = strnlen(name, LOG_STORE_NAME_MAX + 1);

	return length > 0 && length <= LOG_STORE_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       length &&
	       name[0] != '.' && name[0] != '_' && name[0] != '-';
}

/* "17/1/rank-0.log" below the folder; an empty suffix gives the attempt's own
 * folder. Fits: 20 + 10 + 64 + 6 digits and letters.
 */
struct path {
	char text[128];
};

static struct path path_of(uint64_t job, uint32_t attempt, const char *stream,
			   const char *suffix)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%llu/%u%s%s%s",
		 (unsigned long long)job, attempt, stream ? "/" : "",
		 stream ? stream : "", suffix);
	return path;
}

static int open_attempt(const struct log_store *store, uint64_t job,
			uint32_t attempt)
{
	return openat(store->folder, path_of(job, attempt, NULL, "").text,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int open_file(const struct log_store *store, const char *path, int flags)
{
	return openat(store->folder, path,
		      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags,
		      0600);
}

/* The stream's name, when an entry of the attempt's folder is a log. */
static bool log_name(const char *entry, char name[LOG_STORE_NAME_MAX + 1])
{
	size_t length = strlen(entry);

	if (length <= 4 || length > LOG_STORE_NAME_MAX + 4 ||
	    strcmp(entry + length - 4, ".log") != 0)
		return false;
	memcpy(name, entry, length - 4);
	name[length - 4] = 0;
	return name_valid(name);
}

/* To read the names in an attempt's folder; NULL: there is none. The caller
 * closes it.
 */
static int list_attempt(const struct log_store *store, uint64_t job,
			uint32_t attempt, DIR **dir, struct error *err)
{
	owned_fd int fd = open_attempt(store, job, attempt);

	*dir = fd < 0 ? NULL : fdopendir(fd);
	if (!*dir)
		return fd < 0 && errno == ENOENT
			       ? 0
			       : error_errno(err, "job %llu",
					     (unsigned long long)job);
	take_fd(&fd);
	return 0;
}

static int count_streams(const struct log_store *store, uint64_t job,
			 uint32_t attempt, uint32_t *count, struct error *err)
{
	const struct dirent *entry;
	char name[LOG_STORE_NAME_MAX + 1];
	DIR *dir;

	*count = 0;
	if (list_attempt(store, job, attempt, &dir, err) < 0)
		return -1;
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		*count += log_name(entry->d_name, name);
	closedir(dir);
	return 0;
}

/* How many streams the attempt has: from memory, or by counting once. */
static int tally_of(struct log_store *store, uint64_t job, uint32_t attempt,
		    struct tally **tally, struct error *err)
{
	uint32_t count;

	for (size_t i = 0; i < TALLIES; i++) {
		*tally = &store->tallies[i];
		if ((*tally)->job == job && (*tally)->attempt == attempt)
			return 0;
	}
	if (count_streams(store, job, attempt, &count, err) < 0)
		return -1;
	*tally = &store->tallies[store->next_tally++ % TALLIES];
	**tally = (struct tally){ job, attempt, count };
	return 0;
}

static int make_log(struct log_store *store, uint64_t job, uint32_t attempt,
		    const char *name, struct error *err)
{
	struct path path = path_of(job, attempt, NULL, "");
	struct tally *tally;
	char *slash = strchr(path.text, '/');
	int fd;

	if (tally_of(store, job, attempt, &tally, err) < 0)
		return -1;
	if (tally->streams >= LOG_STORE_STREAMS_MAX)
		return error_set(err, E2BIG,
				 "job %llu: more than %d streams of output",
				 (unsigned long long)job,
				 LOG_STORE_STREAMS_MAX);
	*slash = 0;
	if (mkdirat(store->folder, path.text, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "logs/%s", path.text);
	*slash = '/';
	if (mkdirat(store->folder, path.text, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "logs/%s", path.text);
	path = path_of(job, attempt, name, ".log");
	fd = open_file(store, path.text, O_CREAT | O_EXCL);
	if (fd < 0)
		return error_errno(err, "logs/%s", path.text);
	tally->streams++;
	return fd;
}

static void drop_oldest(struct log_store *store)
{
	struct stream **at = &store->streams;

	if (!*at)
		return;
	while ((*at)->next)
		at = &(*at)->next;
	stream_free(*at);
	*at = NULL;
	store->open--;
}

/* The open stream, first in the list now, or NULL. */
static struct stream *find_open(struct log_store *store, uint64_t job,
				uint32_t attempt, const char *name)
{
	for (struct stream **at = &store->streams; *at; at = &(*at)->next) {
		struct stream *stream = *at;

		if (stream->job != job || stream->attempt != attempt ||
		    strcmp(stream->name, name) != 0)
			continue;
		*at = stream->next;
		stream->next = store->streams;
		store->streams = stream;
		return stream;
	}
	return NULL;
}

static int open_log(struct log_store *store, uint64_t job, uint32_t attempt,
		    const char *name, bool make, uint64_t *length,
		    struct error *err)
{
	struct path path = path_of(job, attempt, name, ".log");
	owned_fd int fd = open_file(store, path.text, 0);
	struct stat st;

	if (fd < 0 && (errno != ENOENT || !make))
		return error_errno(err, "logs/%s", path.text);
	if (fd < 0)
		fd = make_log(store, job, attempt, name, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return error_errno(err, "logs/%s", path.text);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EIO, "logs/%s: not a regular file",
				 path.text);
	*length = (uint64_t)st.st_size;
	return take_fd(&fd);
}

/* Put the stream of an open log in front of the list. */
static struct stream *add_stream(struct log_store *store, uint64_t job,
				 uint32_t attempt, const char *name)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->job = job;
	stream->attempt = attempt;
	memcpy(stream->name, name, strlen(name) + 1);
	stream->log = -1;
	stream->times.fd = -1;
	while (store->open >= LOG_STORE_OPEN_MAX)
		drop_oldest(store);
	stream->next = store->streams;
	store->streams = stream;
	store->open++;
	return stream;
}

/* The stream, open; it is made if `make`, else ENOENT. */
static struct stream *open_stream(struct log_store *store, uint64_t job,
				  uint32_t attempt, const char *name, bool make,
				  struct error *err)
{
	struct stream *stream;
	uint64_t length = 0;
	owned_fd int fd = -1;

	if (!job || !attempt || !name || !name_valid(name)) {
		error_set(err, EPROTO,
			  "not a stream: job %llu, attempt %u, \"%.80s\"; "
			  "expected numbers above 0, a name of a-z 0-9 . _ -, "
			  "at most %d",
			  (unsigned long long)job, attempt, name ? name : "",
			  LOG_STORE_NAME_MAX);
		return NULL;
	}
	stream = find_open(store, job, attempt, name);
	if (stream)
		return stream;
	fd = open_log(store, job, attempt, name, make, &length, err);
	if (fd < 0)
		return NULL;
	stream = add_stream(store, job, attempt, name);
	if (!stream) {
		error_nomem(err, "logstore");
		return NULL;
	}
	stream->log = take_fd(&fd);
	stream->length = length;
	log_times_init(&stream->times, store->folder,
		       path_of(job, attempt, name, ".times").text, length);
	return stream;
}

/* Write at the stream's end; what the disk takes counts, also before an
 * error.
 */
static int write_log(struct stream *stream, const char *data, size_t size,
		     struct error *err)
{
	while (size) {
		ssize_t n =
			pwrite(stream->log, data, size, (off_t)stream->length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EDQUOT || errno == EFBIG))
			errno = ENOSPC;
		if (n < 0)
			return error_errno(err, "logs/%llu/%u/%s.log",
					   (unsigned long long)stream->job,
					   stream->attempt, stream->name);
		data += n;
		size -= (size_t)n;
		stream->length += (uint64_t)n;
	}
	return 0;
}

int log_store_append(struct log_store *store, uint64_t job, uint32_t attempt,
		     const char *name, uint64_t offset, const void *data,
		     size_t size, int64_t now_ms, uint64_t *length,
		     struct error *err)
{
	struct stream *stream;
	int rc;

	*length = 0;
	stream = open_stream(store, job, attempt, name, true, err);
	if (!stream)
		return -1;
	*length = stream->length;
	if (offset != stream->length)
		return error_set(err, EINVAL,
				 "job %llu, %s: bytes from %llu do not "
				 "continue at %llu",
				 (unsigned long long)job, name,
				 (unsigned long long)offset,
				 (unsigned long long)stream->length);
	if (size > (uint64_t)INT64_MAX - offset)
		return error_set(err, EPROTO, "job %llu, %s: too long",
				 (unsigned long long)job, name);
	rc = write_log(stream, data, size, err);
	*length = stream->length;
	if (*length > offset)
		log_times_note(&stream->times, offset, now_ms);
	return rc;
}

int log_store_length(struct log_store *store, uint64_t job, uint32_t attempt,
		     const char *name, uint64_t *length, struct error *err)
{
	struct error why;
	const struct stream *stream =
		open_stream(store, job, attempt, name, false, &why);

	if (stream) {
		*length = stream->length;
		return 0;
	}
	if (why.code != ENOENT)
		return error_set(err, why.code, "%s", why.text);
	*length = 0;
	return 0;
}

int log_store_read(struct log_store *store, uint64_t job, uint32_t attempt,
		   const char *name, uint64_t offset, void *data, size_t size,
		   size_t *got, struct error *err)
{
	const struct stream *stream =
		open_stream(store, job, attempt, name, false, err);
	size_t done = 0;

	if (!stream)
		return -1;
	if (offset > stream->length)
		size = 0;
	else if (size > stream->length - offset)
		size = (size_t)(stream->length - offset);
	while (done < size) {
		ssize_t n = pread(stream->log, (char *)data + done, size - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, "job %llu, %s",
					   (unsigned long long)job, name);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	*got = done;
	return 0;
}

int log_store_time_at(struct log_store *store, uint64_t job, uint32_t attempt,
		      const char *name, uint64_t offset, int64_t *time_ms,
		      struct error *err)
{
	const struct stream *stream =
		open_stream(store, job, attempt, name, false, err);

	if (!stream)
		return -1;
	*time_ms = log_times_at(&stream->times, offset);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **items;
	size_t count;
};

static void names_clear(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}
OWNED_VALUE(struct names, names_clear)

/* The names of the attempt's logs. `dir` is taken over. */
static int read_names(DIR *dir, struct names *names)
{
	const struct dirent *entry;
	int rc = 0;

	while (rc == 0 && (entry = readdir(dir))) {
		char name[LOG_STORE_NAME_MAX + 1];
		char **items;

		if (!log_name(entry->d_name, name))
			continue;
		items = reallocarray(names->items, names->count + 1,
				     sizeof(*items));
		if (items)
			names->items = items;
		if (items && (items[names->count] = strdup(name)))
			names->count++;
		else
			rc = -1;
	}
	closedir(dir);
	return rc;
}

/* Read the names of the attempt's logs in order; *fd is its folder, -1 when
 * there is none.
 */
static int list_names(const struct log_store *store, uint64_t job,
		      uint32_t attempt, struct names *names, int *fd,
		      struct error *err)
{
	owned_fd int copy = -1;
	DIR *dir;

	*fd = open_attempt(store, job, attempt);
	if (*fd < 0)
		return errno == ENOENT ? 0
				       : error_errno(err, "job %llu",
						     (unsigned long long)job);
	copy = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
	dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir)
		return error_errno(err, "job %llu", (unsigned long long)job);
	take_fd(&copy);
	if (read_names(dir, names) < 0)
		return error_nomem(err, "logstore");
	if (names->count)
		qsort(names->items, names->count, sizeof(char *), by_number);
	return 0;
}

int log_store_streams(struct log_store *store, uint64_t job, uint32_t attempt,
		      log_store_stream_fn *fn, void *arg, struct error *err)
{
	owned(names_clear) struct names names = { 0 };
	owned_fd int fd = -1;
	int rc = list_names(store, job, attempt, &names, &fd, err);

	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		struct path path = path_of(0, 0, names.items[i], ".log");
		struct stat st;

		/* Behind the "0/0/" of the path stands the file's name. */
		if (fstatat(fd, path.text + 4, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return error_errno(err, "job %llu, %s",
					   (unsigned long long)job,
					   names.items[i]);
		rc = fn(names.items[i], (uint64_t)st.st_size, arg);
	}
	return rc;
}

static int sync_file(int folder, const char *name, struct error *err)
{
	struct path path = path_of(0, 0, name, ".log");
	owned_fd int fd =
		openat(folder, path.text + 4, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || fdatasync(fd) < 0)
		return error_errno(err, "sync of %s", path.text + 4);
	return 0;
}

int log_store_sync(struct log_store *store, uint64_t job, uint32_t attempt,
		   struct error *err)
{
	owned(names_clear) struct names names = { 0 };
	owned_fd int fd = -1, parent = -1;

	if (list_names(store, job, attempt, &names, &fd, err) < 0)
		return error_prefix(err, "sync");
	if (fd < 0)
		return 0;
	if (names.count > SYNC_EACH_MAX) {
		if (syncfs(fd) < 0)
			return error_errno(err, "sync of job %llu",
					   (unsigned long long)job);
		return 0;
	}
	for (size_t i = 0; i < names.count; i++)
		if (sync_file(fd, names.items[i], err) < 0)
			return error_prefix(err, "job %llu",
					    (unsigned long long)job);
	parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fsync(fd) < 0 || parent < 0 || fsync(parent) < 0 ||
	    fsync(store->folder) < 0)
		return error_errno(err, "sync of job %llu",
				   (unsigned long long)job);
	return 0;
}

void log_store_close(struct log_store *store, uint64_t job, uint32_t attempt)
{
	struct stream **at = &store->streams;

	while (*at) {
		struct stream *stream = *at;

		if (stream->job != job || stream->attempt != attempt) {
			at = &stream->next;
			continue;
		}
		*at = stream->next;
		stream_free(stream);
		store->open--;
	}
}

/* Removing. */

/* Its space in steps, from the end, then the file. */
static int remove_log(int folder, const char *name, int64_t until_ms,
		      uint64_t *freed, struct error *err)
{
	struct path path = path_of(0, 0, name, ".log");
	owned_fd int fd =
		openat(folder, path.text + 4, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat st, now;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%s", path.text + 4);
	for (off_t left = st.st_size; left > REMOVE_STEP;) {
		left -= REMOVE_STEP;
		if (ftruncate(fd, left) < 0)
			return error_errno(err, "%s", path.text + 4);
		if (clock_mono_ms() < until_ms)
			continue;
		if (fstat(fd, &now) == 0 && now.st_blocks < st.st_blocks)
			*freed +=
				(uint64_t)(st.st_blocks - now.st_blocks) * 512;
		return 1;
	}
	if (unlinkat(folder, path.text + 4, 0) < 0)
		return error_errno(err, "%s", path.text + 4);
	*freed += (uint64_t)st.st_blocks * 512;
	return 0;
}

int log_store_remove(struct log_store *store, uint64_t job, uint32_t attempt,
		     int64_t until_ms, uint64_t *freed, struct error *err)
{
	owned(names_clear) struct names names = { 0 };
	struct path path = path_of(job, attempt, NULL, "");
	owned_fd int folder = -1;
	int rc;

	log_store_close(store, job, attempt);
	rc = list_names(store, job, attempt, &names, &folder, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		rc = remove_log(folder, names.items[i], until_ms, freed, err);
	if (rc == 0)
		rc = file_remove_tree(store->folder, path.text, err);
	if (rc != 0)
		return rc;
	/* The job's folder goes with its last attempt. */
	*strchr(path.text, '/') = 0;
	unlinkat(store->folder, path.text, AT_REMOVEDIR);
	return 0;
}

int log_store_usage(struct log_store *store, uint64_t job, uint32_t attempt,
		    uint64_t *bytes, struct error *err)
{
	const struct dirent *entry;
	struct stat st;
	DIR *dir;

	*bytes = 0;
	if (list_attempt(store, job, attempt, &dir, err) < 0)
		return -1;
	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			*bytes += (uint64_t)st.st_blocks * 512;
	closedir(dir);
	return 0;
}
