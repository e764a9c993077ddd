/* log_store_internal.h - the fields of the log store: log_store.c writes and
 * reads streams, log_files.c handles whole attempts.
 */
#pragma once

#include "controller/logs/log_store.h"
#include "protocol/base/strings.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* Records when the bytes of a log arrived, as (offset, time)
 * pairs.
 *
 * A record is two little-endian 64 bit numbers: an offset in the log, and the
 * wall clock ms at which the byte there arrived. Offsets grow. A record is made
 * at most every LOG_TIMES_MS. The first is kept in memory, and a file is made
 * with the second: without a file, all bytes arrived when the log was changed
 * last. The file is not essential: records that cannot be written or read are
 * left out, and no call here fails an append.
 */

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

#define TALLIES 1024 /* attempts whose number of streams is known */
#define OPEN_CHAINS 256

/* An open stream. */
struct stream {
	TAILQ_ENTRY(stream) by_use;
	LIST_ENTRY(stream) by_name;
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
	uint64_t kinds; /* a bit for each kind of their names: "rank-1" */
};

struct log_store {
	int folder;                       /* logs/ */
	TAILQ_HEAD(streams, stream) used; /* the latest used first */
	/* By job and name. */
	LIST_HEAD(stream_chain, stream) chains[OPEN_CHAINS];
	size_t open;
	struct tally tallies[TALLIES]; /* by the job's number */
};

bool log_name_valid(const char *name);

/* "17/1/rank-0.log" below the folder; an empty suffix gives the attempt's own
 * folder. Fits: 20 + 10 + 64 + 6 digits and letters.
 */
struct log_path {
	char text[128];
};

struct log_path log_path_of(uint64_t job, uint32_t attempt, const char *stream,
			    const char *suffix);

/* Add the names of the attempt's logs, in order; *fd is its folder, -1 when
 * there is none.
 */
int log_names(const struct log_store *store, uint64_t job, uint32_t attempt,
	      struct strings *names, int *fd, struct error *err);

/* log_store_remove(), once the streams of the attempt are closed. */
int log_files_remove(struct log_store *store, uint64_t job, uint32_t attempt,
		     int64_t until_ms, uint64_t *freed, struct error *err);
