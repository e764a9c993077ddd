/* store_internal.h - the store's fields: store.c queues rows, store_commit.c
 * writes them, store_read.c reads.
 */
#pragma once

#include "controller/store/database.h"
#include "controller/store/store.h"
#include "protocol/base/buffer.h"

#include <sqlite3.h>

#define SHARED_KNOWN 1024     /* shared texts in memory */
#define SHARED_DIGITS_SIZE 33 /* with the 0: 128 bits of a SHA-256 */

enum write_kind {
	WRITE_BEGIN,
	WRITE_END,
	WRITE_ACTIVE,
	WRITE_NOT_ACTIVE,
	WRITE_RUN,
	WRITE_COUNT,
	WRITE_SWEEP,
	WRITE_PAUSE,
	WRITE_JOB,
	WRITE_JOB_STATE,
	WRITE_STATE,
	WRITE_EVENT,
	WRITE_RESULT,
	WRITE_SHARED,
	WRITE_NODE,
	WRITE_NO_NODE,
	WRITE_KEY,
	WRITE_NO_KEY,
	WRITE_AUDIT,
	WRITE_OLD_AUDIT,
	WRITE_NO_RESULT,
	WRITE_NO_EVENTS,
	WRITE_NO_RUN,
	WRITE_NO_STATE,
	WRITE_NO_JOB,
	WRITE_NO_PINS,
	WRITE_LOGINS_GONE,
	WRITE_NO_COUNTS,
	WRITE_NO_SHARED,
	WRITE_NO_SWEEP,
	WRITE_PIN,
	WRITE_LOGIN,
	WRITE_NO_LOGINS,
	WRITE_OUTPUT,
	WRITE_NO_OUTPUTS,
	WRITES
};

enum read_kind {
	READ_SWEEPS,
	READ_SWEEP,
	READ_LAST_SWEEP,
	READ_ACTIVE,
	READ_JOBS,
	READ_CELL,
	READ_ALL_JOBS,
	READ_JOB,
	READ_RUNS,
	READ_SWEEP_RUNS,
	READ_LAST_RUNS,
	READ_EVENTS,
	READ_ALL_EVENTS,
	READ_RESULT,
	READ_NODES,
	READ_KEYS,
	READ_AUDIT,
	READ_PINS,
	READ_LOGINS,
	READ_ALL_LOGINS,
	READ_COUNTS,
	READ_OUTPUTS,
	READS
};

/* A text that results share, which is queued or stored. */
struct known_text {
	uint64_t sweep;  /* whose rows have it; 0: none */
	uint64_t commit; /* store->commits when it was queued */
	char *text;
	char digits[SHARED_DIGITS_SIZE];
};

struct store {
	int lock;
	sqlite3 *database;
	sqlite3_stmt *writes[WRITES];
	sqlite3_stmt *queries[READS]; /* NULL while one is in use */
	struct buffer queue;
	uint64_t tally_sweep; /* the sweep that tally belongs to */
	int64_t tally[JOB_STATES];
	struct known_text *shared; /* SHARED_KNOWN of them, by their text */
	uint64_t commits;
	size_t queued;
	bool unseen; /* store_unseen() */
	uint64_t next_sweep;
	uint64_t next_job;
	uint64_t next_event;
	uint64_t seen_event; /* committed */
	uint64_t next_audit;
	uint64_t next_output;               /* numbers may have gaps */
	char audit_chain[AUDIT_CHAIN_SIZE]; /* of the last one queued */
};
