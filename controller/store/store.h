/* store.h - the controller's durable state: sweeps, jobs, events, results.
 *
 * One SQLite database, `<folder>/regatta.db` (mode 0600, WAL, schema version
 * in PRAGMA user_version). One process at a time: the folder is locked.
 *
 * Writing is group commit. A store_put_*() or store_set_job() copies its row
 * into a queue in memory; store_commit() applies the whole queue in one
 * transaction, in the order of the calls. Until then a row is neither durable
 * nor visible to any read: all reads see committed rows only and never flush
 * the queue. So a turn of the event loop queues its rows, commits, and only
 * then acts on them.
 *
 * After kill -9, a commit that returned 0 is in the database; one that had not
 * returned is there whole or not at all. The same
 * holds after a power cut (database.c).
 *
 * Cost, measured on a two-core virtual machine: a commit 0.3 ms, and in it
 * 1 us a short row, 20 us a new job with a spec of 2 KB. So a turn that may
 * take 100 ms commits a few thousand new jobs, not more. All reads and writes
 * by id, sweep or state stay flat up to a million jobs.
 *
 * Texts are C strings of at most STORE_TEXT_MAX bytes. Times are wall
 * clock milliseconds since 1970, 0: not yet. Errors: ENOSPC disk full, EIO
 * disk failed, EROFS not writable, ENOMEM, EBUSY another process holds the
 * folder, EPROTO the file is of a newer version or another program.
 */
#pragma once

#include "controller/store/audit.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/rate.h"
#include "protocol/message/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_TEXT_MAX (16 << 20)     /* bytes in one text */
#define STORE_PENDING_MAX (256 << 20) /* bytes in the queue; then ENOBUFS */

struct store;

/* Open or make the database in the folder, which must exist. An older schema
 * is upgraded in one transaction; a newer one is refused (EPROTO).
 */
struct store *store_new(const char *folder, struct error *err);

/* Close. What is still queued is lost: commit first. */
void store_free(struct store *store);
OWNED_POINTER(struct store, store_free)

/* The rows. On the way in they are copied; on the way out pointers are valid
 * during the callback only. A text may be NULL only where its comment says so.
 */
struct sweep_row {
	uint64_t id; /* 1 .. */
	const char *name;
	const char *text;   /* the sweep file as submitted */
	const char *client; /* who submitted it */
	int64_t submitted_ms;
	const char *paused; /* why its queued jobs wait, or NULL; set by
			       store_pause_sweep() */
};

struct job_row {
	/* Written once, by store_put_job(). */
	uint64_t id;    /* 1 .. */
	uint64_t sweep; /* of a sweep put before */
	uint64_t cell_index;
	const char *key; /* content address of the cell */
	uint32_t repeat;
	int64_t priority;
	const char *spec; /* JSON, struct job_spec */
	uint64_t origin;  /* the job whose result and output this one took
			     over; 0: none */
	/* Copies from the spec, so that lists need not parse it. */
	const char *cell;   /* NULL: as in the spec */
	const char *vendor; /* NULL: none */
	uint32_t nodes;
	uint32_t devices; /* of each node */
	/* The cached state, replaced as a whole by store_set_job(). */
	enum job_state state;
	uint32_t attempt;
	uint32_t first_attempt; /* since its submit or retry by a person */
	enum failure failure;
	const char *text; /* why it failed, or NULL */
	int64_t queued_ms;
	int64_t started_ms;
	int64_t ended_ms;
	const char *allocation; /* JSON; NULL: it never had one */
	/* Copies from the result, for lists. */
	uint64_t step; /* the last one; 0: none */
	double loss;   /* of it; NAN: not known */
	struct rate rate;
	bool suspect; /* it has flags */
};

struct event_row {
	uint64_t seq; /* counts over all jobs, 1 ..; given by the store */
	uint64_t job; /* of a job put before */
	uint32_t attempt;
	int64_t time_ms;
	const char *kind;
	const char *data; /* JSON; NULL */
};

struct result_row {
	uint64_t job; /* of a job put before; one result per job, the last */
	uint64_t sweep;
	uint32_t attempt;
	const char *json;
	/* Its bytes that are likely to be the same in other results of the
	 * sweep: these are stored once. Equal: none. Reads do not tell. */
	size_t shared_from, shared_to;
};

struct node_row {
	const char *name;
	bool drained;
	const char *facts; /* JSON; NULL */
	int64_t seen_ms;
	const char *settings; /* JSON: its drain, labels and key; NULL */
};

/* A key that may connect, a token, or a key that no longer may. */
struct key_row {
	const char *public;
	const char *name;
	const char *role;
	const char *machine;  /* that it is bound to; NULL: none */
	const char *network;  /* that it may come from; NULL: any. Keys that a
				 token enrols inherit it */
	const char *grants;   /* token: role of the enrolled key; else NULL */
	const char *for_name; /* token: name of the enrolled key; NULL: any */
	uint32_t uses;        /* token: that are left */
	bool renew;           /* token: the key of for_name is replaced */
	int64_t until_ms;     /* token: valid until then */
	const char *by;       /* the user or token that admitted it */
	int64_t since_ms;
	int64_t revoked_ms; /* 0: it is valid */
};

/* What an image's name resolves to in a sweep; written once. */
struct pin_row {
	uint64_t sweep; /* of a sweep put before */
	const char *image;
	const char *found; /* name@sha256:..., or an image's id */
	const char *node;  /* that found it */
};

/* A login for a registry of a sweep's submitter, sealed for the controller. */
struct login_row {
	uint64_t sweep; /* of a sweep put before */
	const char *registry;
	const char *sealed; /* NULL: it was removed */
};

/* The output of a stream, until its file is safe
 * (controller/logs/log_journal.h).
 */
struct output_row {
	uint64_t job;
	uint32_t attempt;
	const char *stream;
	const void *bytes;
	size_t size;
};

/* New ids: one above the largest in the database when it was opened, then
 * counting up. 0 is never an id.
 */
uint64_t store_next_sweep(struct store *store);
uint64_t store_next_job(struct store *store);
/* The id that store_next_job() will return next. */
uint64_t store_coming_job(const struct store *store);

/* Queue a row. EINVAL: a text is NULL, too long, an id 0, a
 * state or failure out of range; ENOBUFS: STORE_PENDING_MAX. A failed call
 * queues nothing. Only store_commit() finds an id that exists already, or
 * refers to no row.
 */
int store_put_sweep(struct store *store, const struct sweep_row *row,
		    struct error *err);
/* paused NULL: it is not paused any more. */
int store_pause_sweep(struct store *store, uint64_t sweep, const char *paused,
		      struct error *err);
int store_put_job(struct store *store, const struct job_row *row,
		  struct error *err);
/* row->seq is ignored: the store gives it. */
int store_put_event(struct store *store, const struct event_row *row,
		    struct error *err);
/* Replace the cached state of job row->id of row->sweep. Its state must be
 * `was` before, else the commit fails (EINVAL). Fields that are written once
 * are ignored; with a NULL allocation the old one stays.
 */
int store_set_job(struct store *store, enum job_state was,
		  const struct job_row *row, struct error *err);
int store_put_result(struct store *store, const struct result_row *row,
		     struct error *err);
/* A node of that name is replaced. */
int store_put_node(struct store *store, const struct node_row *row,
		   struct error *err);
/* No node of that name is success. */
int store_remove_node(struct store *store, const char *name, struct error *err);
/* A key of that public text is replaced. */
int store_put_key(struct store *store, const struct key_row *row,
		  struct error *err);
int store_remove_key(struct store *store, const char *public,
		     struct error *err);
/* row->seq and row->chain are ignored: the store gives them. */
int store_put_audit(struct store *store, const struct audit_row *row,
		    struct error *err);
/* The chain of the row put last; "" while there is none. */
const char *store_audit_head(const struct store *store);
/* Queue the removal of a job with all its rows; of a sweep, which must have no
 * jobs any more. A job whose result others took over must stay, else the commit
 * fails. So call store_job_origin() before, with nothing queued, and commit at
 * once.
 */
int store_forget_job(struct store *store, uint64_t job, struct error *err);
int store_forget_sweep(struct store *store, uint64_t sweep, struct error *err);
int store_job_origin(struct store *store, uint64_t job, bool *is_origin,
		     struct error *err);

/* Queue the removal of the oldest audit rows, at most `most`: rows from before
 * before_ms that are not among the last `keep`. *rows: their number; if it is
 * below `least`, none is removed. Nothing may be queued before the call.
 */
int store_trim_audit(struct store *store, uint64_t keep, int64_t before_ms,
		     uint32_t least, uint32_t most, uint64_t *rows,
		     struct error *err);

/* One of that sweep and image is replaced. */
int store_put_pin(struct store *store, const struct pin_row *row,
		  struct error *err);

/* One of that sweep and registry is replaced. */
int store_put_login(struct store *store, const struct login_row *row,
		    struct error *err);
/* Remove the secrets of the sweep's logins; the names of the registries stay.
 */
int store_drop_logins(struct store *store, uint64_t sweep, struct error *err);

/* Outputs are numbered. Drop those whose number is below `before`; the next one
 * put gets store_coming_output().
 */
int store_put_output(struct store *store, const struct output_row *row,
		     struct error *err);
uint64_t store_coming_output(const struct store *store);
int store_drop_outputs(struct store *store, uint64_t before, struct error *err);

/* Apply the queue in one transaction. On failure nothing was applied and
 * everything stays queued: try again later (ENOSPC, EIO). EINVAL is a bug of
 * the caller (an id that exists, or refers to no row); trying again cannot
 * help. Do not call it from inside a read's callback.
 */
int store_commit(struct store *store, struct error *err);

/* A position of the queue and the ids. */
struct store_mark {
	size_t bytes, rows;
	uint64_t next_sweep, next_job, next_event, next_audit;
	char audit_chain[AUDIT_CHAIN_SIZE];
};

struct store_mark store_mark(const struct store *store);

/* Drop the rows that were queued since the mark was taken, and give their ids
 * again. There must be no commit in between.
 */
void store_undo(struct store *store, const struct store_mark *mark);

/* Are rows queued that reads must see, that is others than events, states and
 * results of committed jobs?
 */
bool store_unseen(const struct store *store);

/* The number of queued rows. */
size_t store_pending(const struct store *store);

/* Reads call fn once per row and return 0; committed rows only. fn returns 0
 * to go on; any other value ends the read, which returns it (so -1 means that
 * fn has set its own error). fn may put rows and start other reads.
 * limit 0: no limit. Single rows that are not there are ENOENT.
 */
typedef int store_sweep_fn(const struct sweep_row *row, void *arg);
typedef int store_job_fn(const struct job_row *row, void *arg);
typedef int store_event_fn(const struct event_row *row, void *arg);
typedef int store_result_fn(const struct result_row *row, void *arg);
typedef int store_node_fn(const struct node_row *row, void *arg);
typedef int store_key_fn(const struct key_row *row, void *arg);
typedef int store_audit_fn(const struct audit_row *row, void *arg);
typedef int store_pin_fn(const struct pin_row *row, void *arg);
typedef int store_login_fn(const struct login_row *row, void *arg);
typedef int store_output_fn(const struct output_row *row, void *arg);

/* Sweeps with id > after, by id. */
int store_sweeps(struct store *store, uint64_t after, uint32_t limit,
		 store_sweep_fn *fn, void *arg, struct error *err);
int store_sweep(struct store *store, uint64_t id, store_sweep_fn *fn, void *arg,
		struct error *err);

/* The sweep with the largest id; without sweeps fn is not called. */
int store_last_sweep(struct store *store, store_sweep_fn *fn, void *arg,
		     struct error *err);

/* Jobs in no final state, by id. */
int store_active_jobs(struct store *store, store_job_fn *fn, void *arg,
		      struct error *err);
/* Jobs with id > after of one sweep (0: of all), by id. */
int store_jobs(struct store *store, uint64_t sweep, uint64_t after,
	       uint32_t limit, store_job_fn *fn, void *arg, struct error *err);
/* All repeats of a cell of a sweep, by id. */
int store_cell(struct store *store, uint64_t sweep, uint64_t cell_index,
	       store_job_fn *fn, void *arg, struct error *err);
int store_job(struct store *store, uint64_t id, store_job_fn *fn, void *arg,
	      struct error *err);

/* Jobs that ran and completed with this key, the newest first: in sweeps of
 * that name, or in all (NULL). The cost does not depend on the size of the
 * store.
 */
int store_runs(struct store *store, const char *key, const char *name,
	       uint32_t limit, store_job_fn *fn, void *arg, struct error *err);

/* Jobs of a sweep that ran and completed, the oldest first. */
int store_sweep_runs(struct store *store, uint64_t sweep, uint32_t limit,
		     store_job_fn *fn, void *arg, struct error *err);

/* Jobs that ran and completed, the newest first, among the newest 5000. */
int store_last_runs(struct store *store, uint32_t limit, store_job_fn *fn,
		    void *arg, struct error *err);

/* Events of a job (0: of all) with seq > after, by seq. */
int store_events(struct store *store, uint64_t job, uint64_t after,
		 uint32_t limit, store_event_fn *fn, void *arg,
		 struct error *err);

/* The number of the last event that reads see. Events after a reply that is
 * read now have larger numbers.
 */
uint64_t store_seen_event(const struct store *store);

/* The result of a job; of a job that was taken over, that of its origin. */
int store_result(struct store *store, uint64_t job, store_result_fn *fn,
		 void *arg, struct error *err);

/* All nodes, by name. */
int store_nodes(struct store *store, store_node_fn *fn, void *arg,
		struct error *err);

/* All keys, in the order in which they came. */
int store_keys(struct store *store, store_key_fn *fn, void *arg,
	       struct error *err);

/* Rows of the audit log with seq > after, by seq. */
int store_audit(struct store *store, uint64_t after, uint32_t limit,
		store_audit_fn *fn, void *arg, struct error *err);

/* All pins of a sweep. */
int store_pins(struct store *store, uint64_t sweep, store_pin_fn *fn, void *arg,
	       struct error *err);

/* All logins of a sweep; of all sweeps (0), those with their secret. */
int store_logins(struct store *store, uint64_t sweep, store_login_fn *fn,
		 void *arg, struct error *err);

/* All outputs of jobs that exist, in the order in which they were put. */
int store_outputs(struct store *store, store_output_fn *fn, void *arg,
		  struct error *err);

/* The number of the sweep's jobs in each state. The cost does not depend on the
 * number of jobs.
 */
int store_sweep_counts(struct store *store, uint64_t sweep,
		       uint64_t counts[JOB_STATES], struct error *err);

/* Are all of its jobs in a final state? False also when it cannot be read. */
bool store_sweep_over(struct store *store, uint64_t sweep);
