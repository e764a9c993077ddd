/* log_times.c - records when the bytes of a log arrived, as (offset, time)
 * pairs.
 */
#include "controller/logs/log_times.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
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

static int log_times_open(int folder, const char *path, int flags)
{
	return openat(folder, path,
		      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags,
		      0600);
}

void log_times_init(struct log_times *times, int folder, const char *path,
		    uint64_t log_length, int64_t changed_ms)
{
	struct stat st;
	uint64_t offset;

	*times = (struct log_times){ .fd = log_times_open(folder, path, 0) };
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

void log_times_clear(struct log_times *times)
{
	if (times->fd >= 0)
		close(times->fd);
	*times = (struct log_times){ .fd = -1 };
}

bool log_times_due(const struct log_times *times, int64_t now_ms)
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

void log_times_note(struct log_times *times, int folder, const char *path,
		    uint64_t offset, int64_t now_ms)
{
	if (times->fd < 0 && times->records) {
		times->fd = log_times_open(folder, path, O_CREAT);
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

int64_t log_times_at(const struct log_times *times, uint64_t offset)
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
