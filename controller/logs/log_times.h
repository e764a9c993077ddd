/* log_times.h - records when the bytes of a log arrived, as (offset, time)
 * pairs.
 *
 * A record is two little-endian 64 bit numbers: an offset in the log, and the
 * wall clock ms at which the byte there arrived. Offsets grow. A record is made
 * at most every LOG_TIMES_MS. The first is kept in memory, and a file is made
 * with the second: without a file, all bytes arrived when the log was changed
 * last. The file is not essential: records that cannot be written or read are
 * left out, and no call here fails an append.
 */
#ifndef CONTROLLER_LOGS_LOG_TIMES_H
#define CONTROLLER_LOGS_LOG_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_TIMES_MS 100

struct log_times {
	int fd;       /* -1: no file */
	bool damaged; /* no record can be added */
	uint64_t records;
	int64_t first_ms, last_ms;
};

/* Open the file at path in the folder, if there is one. Records that a crash
 * left incomplete, or at or behind the log's length, are cut off. changed_ms:
 * when the log was changed last.
 */
void log_times_init(struct log_times *times, int folder, const char *path,
		    uint64_t log_length, int64_t changed_ms);
void log_times_clear(struct log_times *times);

/* Does a byte that arrived now need a record? */
bool log_times_due(const struct log_times *times, int64_t now_ms);

/* The byte at offset arrived now, and its record is due. */
void log_times_note(struct log_times *times, int folder, const char *path,
		    uint64_t offset, int64_t now_ms);

/* The time of the last record at or before the offset; 0: unknown. */
int64_t log_times_at(const struct log_times *times, uint64_t offset);

#endif
