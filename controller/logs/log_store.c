/* log_store.c - stores the output of jobs in append-only files.
 */
#include "controller/logs/log_store_internal.h"
#include "protocol/base/file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD_BYTES 16

static bool log_times_read_record(const struct log_times *times, uint64_t index,
				  uint64_t *offset, int64_t *ms)
{
	uint64_t words[2];

	if (pread(times->fd, words, RECORD_BYTES,
		  (off_t)(index * RECORD_BYTES)) != RECORD_BYTES)
		return false;
	*offset = le64toh(words[0]);
	*ms = (int64_t)le64toh(words[1]);
	return true;
}

static void log_times_clear(struct log_times *times);

/* Cut the file to its whole records. If that fails, do not use it: records
 * after an incomplete one would be wrong.
 */
static void log_times_cut(struct log_times *times)
{
	if (ftruncate(times->fd, (off_t)(times->records * RECORD_BYTES)) == 0)
		return;
	log_times_clear(times);
	times->damaged = true;
}

static int log_file_open(int folder, const char *path, int flags)
{
	return openat(folder, path,
		      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags,
		      0600);
}

static void log_times_init(struct log_times *times, int folder,
			   const char *path, uint64_t log_length,
			   int64_t changed_ms)
{
	struct stat st;
	uint64_t offset;

	*times = (struct log_times){ .fd = log_file_open(folder, path, 0) };
	if (times->fd < 0) {
		times->damaged = errno != ENOENT;
		if (!times->damaged && log_length) {
			times->records = 1;
			times->first_ms = times->last_ms = changed_ms;
		}
		return;
	}
	if (fstat(times->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		log_times_clear(times);
		times->damaged = true;
		return;
	}
	times->records = (uint64_t)st.st_size / RECORD_BYTES;
	while (times->records &&
	       (!log_times_read_record(times, times->records - 1, &offset,
				       &times->last_ms) ||
		offset >= log_length || times->last_ms <= 0)) {
		times->records--;
		times->last_ms = 0;
	}
	if (times->records * RECORD_BYTES != (uint64_t)st.st_size)
		log_times_cut(times);
}

static void log_times_clear(struct log_times *times)
{
	if (times->fd >= 0)
		close(times->fd);
	*times = (struct log_times){ .fd = -1 };
}

/* Does a byte that arrived now need a record? */
static bool log_times_due(const struct log_times *times, int64_t now_ms)
{
	/* A clock that was set back must not stop the records. */
	return !times->damaged && now_ms > 0 &&
	       !(times->records && now_ms >= times->last_ms &&
		 now_ms - times->last_ms < LOG_TIMES_MS);
}

static bool log_times_write(const struct log_times *times, uint64_t index,
			    uint64_t offset, int64_t ms)
{
	const uint64_t words[2] = { htole64(offset), htole64((uint64_t)ms) };

	return pwrite(times->fd, words, RECORD_BYTES,
		      (off_t)(index * RECORD_BYTES)) == RECORD_BYTES;
}

/* The byte at offset arrived now, and its record is due. */
static void log_times_note(struct log_times *times, int folder,
			   const char *path, uint64_t offset, int64_t now_ms)
{
	if (times->fd < 0 && times->records) {
		times->fd = log_file_open(folder, path, O_CREAT | O_TRUNC);
		if (times->fd < 0)
			return;
		if (!log_times_write(times, 0, 0, times->first_ms))
			times->records = 0;
	}
	if (times->fd < 0) {
		times->first_ms = now_ms;
	} else if (!log_times_write(times, times->records, offset, now_ms)) {
		log_times_cut(times);
		return;
	}
	times->records++;
	times->last_ms = now_ms;
}

/* The time of the last record at or before the offset; 0: unknown. */
static int64_t log_times_at(const struct log_times *times, uint64_t offset)
{
	uint64_t low = 0, high = times->records, at;
	int64_t found = 0, ms;

	if (times->fd < 0)
		return times->first_ms;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!log_times_read_record(times, middle, &at, &ms))
			return 0;
		if (at > offset) {
			high = middle;
		} else {
			low = middle + 1;
			found = ms;
		}
	}
	return found;
}

static int open_logs(const char *folder, struct error *err)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/logs", folder);
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
	if (!store)
		return error_null(error_nomem(err, "logstore"));
	TAILQ_INIT(&store->used);
	store->folder = take_fd(&fd);
	return store;
}

static void close_stream(struct log_store *store, struct stream *stream)
{
	TAILQ_REMOVE(&store->used, stream, by_use);
	LIST_REMOVE(stream, by_name);
	store->open--;
	if (stream->log >= 0)
		close(stream->log);
	log_times_clear(&stream->times);
	free(stream);
}

void log_store_free(struct log_store *store)
{
	if (!store)
		return;
	while (!TAILQ_EMPTY(&store->used))
		close_stream(store, TAILQ_FIRST(&store->used));
	if (store->folder >= 0)
		close(store->folder);
	free(store);
}

static uint32_t name_hash(const char *name, size_t size)
{
	uint32_t hash = 0;

	for (size_t i = 0; i < size; i++)
		hash = hash * 31 + (unsigned char)name[i];
	return hash ^ hash >> 6;
}

/* The bit of names that begin alike, up to their number. */
static uint64_t stream_kind(const char *name)
{
	return UINT64_C(1) << name_hash(name, strcspn(name, "-.")) % 64;
}

static struct stream_chain *chain_of(struct log_store *store, uint64_t job,
				     const char *name)
{
	return &store->chains[(job + name_hash(name, strlen(name))) %
			      OPEN_CHAINS];
}

/* What is known of the attempt without a look at the disk; NULL: nothing. */
static struct tally *tally_known(struct log_store *store, uint64_t job,
				 uint32_t attempt)
{
	struct tally *tally = &store->tallies[job % TALLIES];

	return tally->job == job && tally->attempt == attempt ? tally : NULL;
}

/* The number of the attempt's streams, which is counted once. */
static int tally_of(struct log_store *store, uint64_t job, uint32_t attempt,
		    struct tally **tally, struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };
	owned_fd int fd = -1;

	*tally = tally_known(store, job, attempt);
	if (*tally)
		return 0;
	if (log_names(store, job, attempt, &names, &fd, err) < 0)
		return -1;
	*tally = &store->tallies[job % TALLIES];
	**tally = (struct tally){ .job = job,
				  .attempt = attempt,
				  .streams = (uint32_t)names.count };
	for (size_t i = 0; i < names.count; i++)
		(*tally)->kinds |= stream_kind(names.items[i]);
	return 0;
}

/* Make the folder of the attempt. */
static int make_attempt_folder(const struct log_store *store, uint64_t job,
			       uint32_t attempt, struct error *err)
{
	struct log_path path = log_path_of(job, attempt, NULL, "");
	char *slash = strchr(path.text, '/');

	*slash = 0;
	if (mkdirat(store->folder, path.text, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "logs/%s", path.text);
	*slash = '/';
	if (mkdirat(store->folder, path.text, 0700) < 0 && errno != EEXIST)
		return error_errno(err, "logs/%s", path.text);
	return 0;
}

static int make_log(struct log_store *store, uint64_t job, uint32_t attempt,
		    const char *name, struct error *err)
{
	struct log_path path = log_path_of(job, attempt, name, ".log");
	struct tally *tally;
	int fd;

	if (tally_of(store, job, attempt, &tally, err) < 0)
		return -1;
	if (tally->streams >= LOG_STORE_STREAMS_MAX)
		return error_set(err, E2BIG,
				 "job %llu: more than %d streams of output",
				 (unsigned long long)job,
				 LOG_STORE_STREAMS_MAX);
	if (!tally->streams &&
	    make_attempt_folder(store, job, attempt, err) < 0)
		return -1;
	fd = log_file_open(store->folder, path.text, O_CREAT | O_EXCL);
	if (fd < 0)
		return error_errno(err, "logs/%s", path.text);
	tally->streams++;
	tally->kinds |= stream_kind(name);
	return fd;
}

/* The open stream, which becomes the latest used; NULL: it is not open. */
static struct stream *find_open(struct log_store *store, uint64_t job,
				uint32_t attempt, const char *name)
{
	struct stream *stream;

	LIST_FOREACH(stream, chain_of(store, job, name), by_name) {
		if (stream->job != job || stream->attempt != attempt ||
		    strcmp(stream->name, name) != 0)
			continue;
		TAILQ_REMOVE(&store->used, stream, by_use);
		TAILQ_INSERT_HEAD(&store->used, stream, by_use);
		return stream;
	}
	return NULL;
}

/* *made: it was not there. */
static int open_log(struct log_store *store, uint64_t job, uint32_t attempt,
		    const char *name, bool make, bool *made, struct stat *st,
		    struct error *err)
{
	struct log_path path = log_path_of(job, attempt, name, ".log");
	const struct tally *known = tally_known(store, job, attempt);
	bool absent = known && !(known->kinds & stream_kind(name));
	owned_fd int fd =
		absent ? -1 : log_file_open(store->folder, path.text, 0);

	*made = absent || (fd < 0 && errno == ENOENT);
	if (*made && !make)
		errno = ENOENT;
	if (fd < 0 && (!*made || !make))
		return error_errno(err, "logs/%s", path.text);
	if (fd < 0)
		fd = make_log(store, job, attempt, name, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, st) < 0)
		return error_errno(err, "logs/%s", path.text);
	if (!S_ISREG(st->st_mode))
		return error_set(err, EIO, "logs/%s: not a regular file",
				 path.text);
	return take_fd(&fd);
}

/* Add the stream of an open log, the latest used. */
static struct stream *log_store_add_stream(struct log_store *store,
					   uint64_t job, uint32_t attempt,
					   const char *name)
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
		close_stream(store, TAILQ_LAST(&store->used, streams));
	TAILQ_INSERT_HEAD(&store->used, stream, by_use);
	LIST_INSERT_HEAD(chain_of(store, job, name), stream, by_name);
	store->open++;
	return stream;
}

static bool is_stream(uint64_t job, uint32_t attempt, const char *name)
{
	return job && attempt && name && log_name_valid(name);
}

/* The stream, open; it is made if `make`, else ENOENT. */
static struct stream *log_store_open_stream(struct log_store *store,
					    uint64_t job, uint32_t attempt,
					    const char *name, bool make,
					    struct error *err)
{
	struct stream *stream;
	owned_fd int fd = -1;
	struct stat st = { 0 };
	bool made;

	if (!is_stream(job, attempt, name))
		return error_null(error_set(
			err, EPROTO,
			"not a stream: job %llu, attempt %u, \"%.80s\"; "
			"expected numbers above 0, a name of a-z 0-9 . _ -, "
			"at most %d",
			(unsigned long long)job, attempt, name ? name : "",
			LOG_STORE_NAME_MAX));
	stream = find_open(store, job, attempt, name);
	if (stream)
		return stream;
	fd = open_log(store, job, attempt, name, make, &made, &st, err);
	if (fd < 0)
		return NULL;
	stream = log_store_add_stream(store, job, attempt, name);
	if (!stream)
		return error_null(error_nomem(err, "logstore"));
	stream->log = take_fd(&fd);
	stream->length = (uint64_t)st.st_size;
	if (!made)
		log_times_init(&stream->times, store->folder,
			       log_path_of(job, attempt, name, ".times").text,
			       stream->length,
			       st.st_mtim.tv_sec * 1000 +
				       st.st_mtim.tv_nsec / 1000000);
	return stream;
}

/* Write at the end of the stream. Bytes that were written before an error stay.
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
	stream = log_store_open_stream(store, job, attempt, name, true, err);
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
	if (*length > offset && log_times_due(&stream->times, now_ms))
		log_times_note(&stream->times, store->folder,
			       log_path_of(job, attempt, name, ".times").text,
			       offset, now_ms);
	return rc;
}

int log_store_restore(struct log_store *store, uint64_t job, uint32_t attempt,
		      const char *name, const void *data, size_t size,
		      struct error *err)
{
	struct stream *stream =
		log_store_open_stream(store, job, attempt, name, true, err);
	uint64_t length = stream ? stream->length : 0;
	int rc;

	if (!stream)
		return -1;
	stream->length = 0;
	rc = write_log(stream, data, size, err);
	if (stream->length < length)
		stream->length = length;
	return rc;
}

/* Has the attempt no stream? The disk is read only for the first question. */
static bool is_silent(struct log_store *store, uint64_t job, uint32_t attempt)
{
	struct tally *tally;

	return tally_of(store, job, attempt, &tally, NULL) == 0 &&
	       !tally->streams;
}

int log_store_length(struct log_store *store, uint64_t job, uint32_t attempt,
		     const char *name, uint64_t *length, struct error *err)
{
	const struct stream *stream;
	struct error why;

	if (is_stream(job, attempt, name) && is_silent(store, job, attempt)) {
		*length = 0;
		return 0;
	}
	stream = log_store_open_stream(store, job, attempt, name, false, &why);
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
		log_store_open_stream(store, job, attempt, name, false, err);
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
		log_store_open_stream(store, job, attempt, name, false, err);

	if (!stream)
		return -1;
	*time_ms = log_times_at(&stream->times, offset);
	return 0;
}

void log_store_close(struct log_store *store, uint64_t job, uint32_t attempt)
{
	const struct tally *known = tally_known(store, job, attempt);
	struct stream *stream, *next;

	if (known && !known->streams)
		return;
	for (stream = TAILQ_FIRST(&store->used); stream; stream = next) {
		next = TAILQ_NEXT(stream, by_use);
		if (stream->job == job && stream->attempt == attempt)
			close_stream(store, stream);
	}
}

int log_store_remove(struct log_store *store, uint64_t job, uint32_t attempt,
		     int64_t until_ms, uint64_t *freed, struct error *err)
{
	struct tally *known = tally_known(store, job, attempt);

	log_store_close(store, job, attempt);
	if (known)
		known->job = 0;
	return log_files_remove(store, job, attempt, until_ms, freed, err);
}
