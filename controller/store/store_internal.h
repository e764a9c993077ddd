/* store_internal.h - the store's fields: store.c queues rows, store_commit.c
 * writes them, store_read.c reads.
 */
#ifndef CONTROLLER_STORE_STORE_INTERNAL_H
#define CONTROLLER_STORE_STORE_INTERNAL_H

#include "controller/store/schema.h"
#include "controller/store/store.h"
#include "protocol/base/buffer.h"

#include <sqlite3.h>

enum write {
	WRITE_BEGIN,
	WRITE_END,
	WRITE_ACTIVE,
	WRITE_NOT_ACTIVE,
	WRITE_RUN,
	WRITE_COUNT,
	WRITE_SWEEP,
	WRITE_JOB,
	WRITE_JOB_STATE,
	WRITE_STATE,
	WRITE_EVENT,
	WRITE_RESULT,
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
	WRITE_NO_SWEEP,
	WRITE_PIN,
	WRITE_LOGIN,
	WRITE_NO_LOGINS,
	WRITES
};

enum query {
	QUERY_SWEEPS,
	QUERY_SWEEP,
	QUERY_LAST_SWEEP,
	QUERY_ACTIVE,
	QUERY_JOBS,
	QUERY_CELL,
	QUERY_ALL_JOBS,
	QUERY_JOB,
	QUERY_RUNS,
	QUERY_SWEEP_RUNS,
	QUERY_EVENTS,
	QUERY_ALL_EVENTS,
	QUERY_RESULT,
	QUERY_NODES,
	QUERY_KEYS,
	QUERY_AUDIT,
	QUERY_PINS,
	QUERY_LOGINS,
	QUERY_ALL_LOGINS,
	QUERY_COUNTS,
	QUERIES
};

struct store {
	int lock;
	sqlite3 *database;
	sqlite3_stmt *writes[WRITES];
	sqlite3_stmt *queries[QUERIES]; /* NULL while one is in use */
	struct buffer queue;
	uint64_t tally_sweep; /* the sweep that tally belongs to */
	int64_t tally[JOB_STATES];
	size_t queued;
	bool unseen; /* store_unseen() */
	uint64_t next_sweep;
	uint64_t next_job;
	uint64_t next_event;
	uint64_t seen_event; /* committed */
	uint64_t next_audit;
	char audit_chain[AUDIT_CHAIN_SIZE]; /* of the last one queued */
};

#endif
