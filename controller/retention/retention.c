/* retention.c - removes old output and old rows of the audit log.
 */
#include "controller/retention/retention.h"
#include "controller/blobs/blob_service.h"
#include "controller/blobs/blob_users.h"
#include "controller/cluster/active_job.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_store.h"
#include "controller/retention/sweep_retention.h"
#include "controller/store/store.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/wire/key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define SLICE_MS 3      /* of work at a time */
#define AUDIT_ROWS 1000 /* of the audit log that are removed at a time */
#define BREAK_MS 12     /* between slices */
#define LOOK_MS 2000    /* between checks whether there is too much */
#define REST_MS 600000  /* when nothing was left to remove */
#define AUDIT_MS 3600000
#define DAY_MS INT64_C(86400000)

/* A walk over the jobs, which counts or removes their output. */
struct walk {
	struct retention *retention;
	bool removes;
	bool dry_run;      /* it counts what it would remove */
	bool by_itself;    /* it removes no more than necessary */
	int64_t before_ms; /* it removes only the output of jobs that ended
			      earlier */
	int64_t until_ms;  /* monotonic; the end of this slice */
	uint64_t jobs, bytes;
	uint64_t after; /* the last job that is done */
	bool more;
	struct error *err;
};

struct retention {
	struct retention_config with;
	char *state;
	sd_event_source *timer;
	/* The walk by itself; fields as in struct walk. */
	bool busy, removes;
	uint64_t after, jobs, bytes;
	bool known;       /* `total` and `stored` are known */
	bool fresh;       /* they were counted since the last removal */
	uint64_t total;   /* bytes of all output when it was counted */
	uint64_t stored;  /* log_ingest_stored_bytes() at that time */
	uint64_t counted; /* the job that `jobs` counted last */
	int64_t rest_until_ms, audit_ms;
	struct sweep_retention forget;
	struct sweep_retention order; /* of a person */
};

/* Removing: the event is committed first. */

struct stored_output {
	uint32_t attempt;
	int64_t time_ms;
};

static int find_removed(const struct event_row *row, void *arg)
{
	struct stored_output *finding = arg;

	if (row->attempt == finding->attempt &&
	    !strcmp(row->kind, RETENTION_REMOVED))
		finding->time_ms = row->time_ms;
	return 0;
}

int64_t retention_removed(struct retention *retention, uint64_t job,
			  uint32_t attempt)
{
	struct stored_output finding = { .attempt = attempt };

	store_events(retention->with.store, job, 0, 0, find_removed, &finding,
		     NULL);
	return finding.time_ms;
}

static int put_removed_event(const struct retention *retention, uint64_t job,
			     uint32_t attempt, const char *kind, uint64_t bytes,
			     struct error *err)
{
	char data[40];
	const struct event_row event = {
		.job = job,
		.attempt = attempt,
		.time_ms = clock_wall_ms(),
		.kind = kind,
		.data = data,
	};

	snprintf(data, sizeof(data), "{\"bytes\":%" PRIu64 "}", bytes);
	return store_put_event(retention->with.store, &event, err);
}

/* 1: call it again after the next commit. */
static int remove_output(struct walk *walk, const struct job_row *row,
			 struct error *err)
{
	struct retention *retention = walk->retention;
	bool noted = false;

	for (uint32_t i = 1; i <= row->attempt; i++) {
		uint64_t bytes;
		int rc = log_store_usage(retention->with.logs, row->id, i,
					 &bytes, err);

		if (rc == 0 && bytes &&
		    !retention_removed(retention, row->id, i)) {
			/* The event may be among the queued rows. */
			if (!noted && store_pending(retention->with.store))
				return 1;
			noted = true;
			rc = put_removed_event(retention, row->id, i,
					       RETENTION_REMOVED, bytes, err);
		} else if (rc == 0 && bytes) {
			rc = log_store_remove(retention->with.logs, row->id, i,
					      walk->until_ms, &walk->bytes,
					      err);
		}
		if (rc)
			return rc;
	}
	return noted;
}

/* Files that other jobs also collected stay, and do not count. */
static int retention_remove_files(struct walk *walk, const struct job_row *row,
				  struct error *err)
{
	const struct retention_config *with = &walk->retention->with;
	uint64_t bytes = 0;
	int rc = blob_users_forget_job(blob_service_store(with->blobs),
				       with->store, row->id, &bytes, err);

	walk->bytes += bytes;
	return rc == 0 && bytes
		       ? put_removed_event(walk->retention, row->id,
					   row->attempt,
					   RETENTION_FILES_REMOVED, bytes, err)
		       : rc;
}

static int count_output(struct walk *walk, const struct job_row *row,
			struct error *err)
{
	for (uint32_t i = 1; i <= row->attempt; i++) {
		uint64_t bytes;

		if (log_store_usage(walk->retention->with.logs, row->id, i,
				    &bytes, err) < 0)
			return -1;
		walk->bytes += bytes;
	}
	return 0;
}

/* The bytes that must be removed, or 0. A walk that removes goes 5 % further,
 * so that the next walk is not due at once.
 */
static uint64_t excess_of_disk(const struct retention *retention)
{
	uint64_t wanted = retention->with.keep.free_bytes, there;
	struct statvfs disk;

	if (!wanted || statvfs(retention->state, &disk) < 0)
		return 0;
	there = (uint64_t)disk.f_bavail * disk.f_frsize;
	wanted += retention->busy ? wanted / 20 : 0;
	return there < wanted ? wanted - there : 0;
}

static uint64_t excess_of_output(const struct retention *retention)
{
	const struct keep *keep = &retention->with.keep;
	uint64_t total = retention->total +
			 log_ingest_stored_bytes(retention->with.ingest) -
			 retention->stored;
	uint64_t most = keep->logs_bytes -
			(retention->busy ? keep->logs_bytes / 20 : 0);

	return keep->logs_bytes && retention->known && total > most
		       ? total - most
		       : 0;
}

static bool excess(const struct retention *retention)
{
	return excess_of_disk(retention) || excess_of_output(retention);
}

/* Removing collected files frees disk space, but they are no output. */
static int remove_all(struct walk *walk, const struct job_row *row,
		      struct error *err)
{
	int rc = remove_output(walk, row, err);

	if (rc == 0 && (!walk->by_itself || excess_of_disk(walk->retention)))
		rc = retention_remove_files(walk, row, err);
	return rc;
}

/* store_job_fn */
static int walk_job(const struct job_row *row, void *arg)
{
	struct walk *walk = arg;
	struct retention *retention = walk->retention;
	uint64_t *counted = &retention->counted;
	uint64_t bytes = walk->bytes;
	/* A job in memory has tasks or containers that are not removed. */
	bool over = job_state_final(row->state) &&
		    row->ended_ms < walk->before_ms &&
		    !job_find(walk->retention->with.table, row->id);
	int rc = 0;

	if (clock_mono_ms() >= walk->until_ms) {
		walk->more = true;
		return 1;
	}
	if (!row->origin && !walk->removes && (over || !walk->dry_run))
		rc = count_output(walk, row, walk->err);
	else if (!row->origin && over && walk->removes)
		rc = remove_all(walk, row, walk->err);
	/* A job that takes several slices counts once. */
	if (walk->bytes > bytes && *counted != row->id) {
		*counted = row->id;
		walk->jobs++;
	}
	if (walk->removes)
		retention->total -= walk->bytes - bytes < retention->total
					    ? walk->bytes - bytes
					    : retention->total;
	if (rc)
		walk->more = true; /* the same job again */
	else
		walk->after = row->id;
	if (rc == 0 && walk->by_itself && !excess(retention))
		rc = walk->more = true;
	return rc;
}

static int walk_on(struct walk *walk, struct error *err)
{
	walk->until_ms = clock_mono_ms() + SLICE_MS;
	walk->err = err;
	return store_jobs(walk->retention->with.store, 0, walk->after, 0,
			  walk_job, walk, err) < 0
		       ? -1
		       : 0;
}

static int order_sweep(struct retention *retention, uint64_t sweep,
		       struct reply_gc *reply, struct error *err)
{
	struct sweep_retention *order = &retention->order;
	uint64_t before = order->sweep == sweep ? order->jobs : 0;

	if (sweep_retention_order(&retention->with, order, sweep,
				  clock_mono_ms() + SLICE_MS, &reply->more,
				  err) < 0)
		return -1;
	reply->jobs = order->jobs - before;
	return 0;
}

int retention_order(struct retention *retention,
		    const struct message_gc *message, struct reply_gc *reply,
		    struct error *err)
{
	struct walk walk = {
		.retention = retention,
		.removes = !message->dry_run,
		.dry_run = message->dry_run,
		.before_ms = clock_wall_ms(),
		.after = message->after,
	};

	if (message->sweep)
		return order_sweep(retention, message->sweep, reply, err);
	if (message->older_ms > INT64_MAX / 2)
		return error_set(err, EINVAL, "older: out of range");
	if (!message->goes_on)
		retention->counted = 0;
	walk.before_ms -= (int64_t)message->older_ms;
	if (walk_on(&walk, err) < 0)
		return -1;
	reply->jobs = walk.jobs;
	reply->bytes = walk.bytes;
	reply->after = walk.after;
	reply->more = walk.more;
	return 0;
}

/* Automatic removal. */

static void retention_begin(struct retention *retention, bool removes)
{
	retention->busy = true;
	retention->fresh = false;
	retention->removes = removes;
	retention->after = retention->jobs = retention->bytes = 0;
	retention->counted = 0;
}

static void retention_end(struct retention *retention)
{
	retention->busy = false;
	if (retention->removes && retention->jobs)
		log_info("to free space, the output of jobs=%" PRIu64
			 " was removed: %" PRIu64 " bytes",
			 retention->jobs, retention->bytes);
}

/* The walk has reached the last job. */
static void walked(struct retention *retention)
{
	retention_end(retention);
	if (!retention->removes) {
		retention->known = retention->fresh = true;
		retention->total = retention->bytes;
		retention->stored =
			log_ingest_stored_bytes(retention->with.ingest);
	} else {
		log_warning("too much is stored, and no output of finished "
			    "jobs can be removed; increase %s",
			    retention->state);
		retention->known = false; /* counted again */
		retention->rest_until_ms = clock_mono_ms() + REST_MS;
	}
}

static void work(struct retention *retention)
{
	struct walk walk = {
		.retention = retention,
		.removes = retention->removes,
		.by_itself = retention->removes,
		.before_ms = INT64_MAX,
		.after = retention->after,
	};
	struct error err;

	if (retention->removes && !excess(retention)) {
		retention_end(retention);
		return;
	}
	if (walk_on(&walk, &err) < 0) {
		log_error("retention: %s", err.text);
		retention_end(retention);
		retention->rest_until_ms = clock_mono_ms() + REST_MS;
		return;
	}
	retention->after = walk.after;
	retention->jobs += walk.jobs;
	retention->bytes += walk.bytes;
	if (!walk.more)
		walked(retention);
}

/* Remove old rows of the audit log, and add a row about that. */
static bool trim_audit(struct retention *retention)
{
	const struct keep *keep = &retention->with.keep;
	char request[80];
	struct audit_row row = {
		.time_ms = clock_wall_ms(),
		.who = "controller",
		.role = role_name(ROLE_CONTROLLER),
		.address = "-",
		.act = "audit-trim",
		.request = request,
	};
	uint64_t rows = 0;
	int64_t oldest_ms = row.time_ms - (int64_t)keep->audit_days * DAY_MS;
	struct error err;

	if (!keep->audit_rows)
		return false;
	/* Not for a few rows, because each removal adds one. */
	if (store_trim_audit(retention->with.store, keep->audit_rows, oldest_ms,
			     (uint32_t)(keep->audit_rows / 100 + 1 < AUDIT_ROWS
						? keep->audit_rows / 100 + 1
						: AUDIT_ROWS),
			     AUDIT_ROWS, &rows, &err) < 0) {
		log_error("audit: %s", err.text);
		return false;
	}
	if (!rows)
		return false;
	snprintf(request, sizeof(request),
		 "{\"rows\":%" PRIu64 ",\"keep\":%" PRIu64 ",\"days\":%" PRIu64
		 "}",
		 rows, keep->audit_rows, keep->audit_days);
	if (store_put_audit(retention->with.store, &row, &err) < 0)
		log_error("audit: %s", err.text);
	return rows == AUDIT_ROWS;
}

static void check_excess(struct retention *retention)
{
	bool counts = retention->with.keep.logs_bytes;

	if (counts && !retention->known)
		retention_begin(retention, false);
	else if (excess(retention))
		retention_begin(retention, !counts || retention->fresh);
}

static int retention_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct retention *retention = arg;
	int64_t now = clock_mono_ms();
	bool more = sweep_retention_some(&retention->with, &retention->forget,
					 now + SLICE_MS);

	/* Reads do not see queued rows. */
	if (now >= retention->audit_ms &&
	    !store_pending(retention->with.store) && !trim_audit(retention))
		retention->audit_ms = now + AUDIT_MS;
	more |= now >= retention->audit_ms;
	if (retention->busy)
		work(retention);
	else if (now >= retention->rest_until_ms)
		check_excess(retention);
	loop_timer(retention->with.loop, &retention->timer,
		   more || retention->busy ? BREAK_MS : LOOK_MS, retention_run,
		   retention, NULL);
	return 0;
}

struct retention *retention_new(const struct retention_config *config,
				const char *state, struct error *err)
{
	owned(retention_free) struct retention *retention =
		calloc(1, sizeof(*retention));

	if (!retention || !(retention->state = strdup(state)))
		return error_null(error_nomem(err, "retention"));
	retention->with = *config;
	return loop_timer(config->loop, &retention->timer, BREAK_MS,
			  retention_run, retention, err) < 0
		       ? NULL
		       : take(retention);
}

void retention_free(struct retention *retention)
{
	if (!retention)
		return;
	loop_source_free(&retention->timer);
	free(retention->state);
	free(retention);
}
