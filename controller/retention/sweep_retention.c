/* sweep_retention.c - removes sweeps that ended long ago, or that a person
 * names.
 */
#include "controller/retention/sweep_retention.h"
#include "controller/blobs/blob_service.h"
#include "controller/blobs/blob_users.h"
#include "controller/cluster/active_job.h"
#include "controller/logs/log_store.h"
#include "controller/store/store.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/wire/key.h"

#include <errno.h>
#include <inttypes.h>

#define REST_MS 3600000
#define DAY_MS INT64_C(86400000)

struct looking {
	const struct retention_config *with;
	struct sweep_retention *forget;
	int64_t before_ms, until_ms;
	uint64_t stays; /* the job for which the sweep stays: it is not over, or
			   others need its result; 0: none */
	bool needed;    /* they do */
	struct error *err;
};

static int next_sweep(const struct sweep_row *row, void *arg)
{
	struct sweep_retention *forget = arg;

	forget->sweep = row->id;
	return 1;
}

static int last_sweep(const struct sweep_row *row, void *arg)
{
	*(uint64_t *)arg = row->id;
	return 0;
}

static bool is_over(const struct looking *looking, const struct job_row *row)
{
	return job_state_final(row->state) &&
	       row->ended_ms < looking->before_ms &&
	       !job_find(looking->with->table, row->id);
}

/* store_job_fn: may the job be removed? */
static int check_job(const struct job_row *row, void *arg)
{
	struct looking *looking = arg;
	if (clock_mono_ms() >= looking->until_ms)
		return 1;
	if (store_job_origin(looking->with->store, row->id, &looking->needed,
			     looking->err) < 0)
		return -1;
	if (looking->needed || !is_over(looking, row)) {
		looking->stays = row->id;
		return 1;
	}
	looking->forget->after = row->id;
	return 0;
}

/* Its output and files, then its rows. */
static int sweep_retention_job(struct looking *looking,
			       const struct job_row *row)
{
	const struct retention_config *with = looking->with;
	uint64_t bytes = 0;
	int rc = 0;

	for (uint32_t i = 1; rc == 0 && i <= row->attempt && !row->origin; i++)
		rc = log_store_remove(with->logs, row->id, i, looking->until_ms,
				      &bytes, looking->err);
	if (rc == 0)
		rc = blob_users_forget_job(blob_service_store(with->blobs),
					   with->store, row->id, &bytes,
					   looking->err);
	return rc ? rc : store_forget_job(with->store, row->id, looking->err);
}

/* store_job_fn */
static int sweep_retention_forget_job(const struct job_row *row, void *arg)
{
	struct looking *looking = arg;
	struct sweep_retention *forget = looking->forget;
	uint64_t before = forget->after;
	/* A retry may have queued it again meanwhile. */
	int rc = check_job(row, looking);

	if (rc)
		return rc;
	rc = sweep_retention_job(looking, row);
	if (rc)
		forget->after = before; /* the same job again */
	else
		forget->jobs++;
	return rc;
}

static int put_audit(const struct retention_config *with,
		     const struct sweep_retention *forget, struct error *err)
{
	char request[80];
	const struct audit_row row = {
		.time_ms = clock_wall_ms(),
		.who = "controller",
		.role = role_name(ROLE_CONTROLLER),
		.address = "-",
		.act = "sweep-forget",
		.request = request,
	};

	snprintf(request, sizeof(request),
		 "{\"sweep\":%" PRIu64 ",\"jobs\":%" PRIu64 "}", forget->sweep,
		 forget->jobs);
	log_info("sweep=%" PRIu64 " is removed with its %" PRIu64 " job(s)",
		 forget->sweep, forget->jobs);
	return store_put_audit(with->store, &row, err);
}

/* All its jobs are removed. */
static int end_sweep(const struct retention_config *with,
		     const struct sweep_retention *forget, struct error *err)
{
	return store_forget_sweep(with->store, forget->sweep, err) < 0
		       ? -1
		       : put_audit(with, forget, err);
}

/* Begin with the next sweep; false: only the last one is left. */
static bool sweep_retention_begin(const struct retention_config *with,
				  struct sweep_retention *forget)
{
	uint64_t before = forget->sweep, last = 0;

	forget->doomed = false;
	forget->after = forget->jobs = 0;
	store_last_sweep(with->store, last_sweep, &last, NULL);
	store_sweeps(with->store, before, 1, next_sweep, forget, NULL);
	return forget->sweep != before && forget->sweep != last;
}

/* A slice of work on the sweep; 1: nothing more is to do for it. */
static int sweep_retention_go_on(struct looking *looking, struct error *err)
{
	struct sweep_retention *forget = looking->forget;
	int rc = store_jobs(looking->with->store, forget->sweep, forget->after,
			    0,
			    forget->doomed ? sweep_retention_forget_job
					   : check_job,
			    looking, err);

	if (rc < 0)
		return -1;
	if (looking->stays)
		return 1;
	if (rc > 0)
		return 0; /* the slice has ended */
	if (forget->doomed)
		return end_sweep(looking->with, forget, err) < 0 ? -1 : 1;
	forget->doomed = true;
	forget->after = 0;
	return 0;
}

bool sweep_retention_some(const struct retention_config *with,
			  struct sweep_retention *forget, int64_t until_ms)
{
	struct store_mark mark = store_mark(with->store);
	struct error err = { 0 };
	struct looking looking = {
		.with = with,
		.forget = forget,
		.before_ms = clock_wall_ms() -
			     (int64_t)with->keep.sweep_days * DAY_MS,
		.until_ms = until_ms,
		.err = &err,
	};
	int rc;

	/* Queued rows may refer to what would be removed. */
	if (!with->keep.sweep_days || mark.rows ||
	    clock_mono_ms() < forget->rest_until_ms)
		return false;
	if (!forget->sweep && !sweep_retention_begin(with, forget))
		rc = 2;
	else
		rc = sweep_retention_go_on(&looking, &err);
	if (rc < 0 || store_commit(with->store, &err) < 0) {
		log_error("removing an old sweep: %s", err.text);
		store_undo(with->store, &mark);
		rc = 2;
	}
	if (rc == 1 && !sweep_retention_begin(with, forget))
		rc = 2;
	if (rc == 2) {
		*forget = (struct sweep_retention){
			.rest_until_ms = clock_mono_ms() + REST_MS
		};
		return false;
	}
	return true;
}

static int sweep_exists(const struct sweep_row *row, void *arg)
{
	return 0;
}

static int order_begin(const struct retention_config *with,
		       struct sweep_retention *forget, uint64_t sweep,
		       struct error *err)
{
	uint64_t last = 0;

	if (store_sweep(with->store, sweep, sweep_exists, NULL, err) < 0 ||
	    store_last_sweep(with->store, last_sweep, &last, err) < 0)
		return -1;
	if (sweep == last)
		return error_set(err, EBUSY,
				 "sweep %" PRIu64
				 " is the last one; it can be removed when "
				 "there is a newer one",
				 sweep);
	*forget = (struct sweep_retention){ .sweep = sweep };
	return 0;
}

int sweep_retention_order(const struct retention_config *with,
			  struct sweep_retention *forget, uint64_t sweep,
			  int64_t until_ms, bool *more, struct error *err)
{
	struct looking looking = {
		.with = with,
		.forget = forget,
		.before_ms = INT64_MAX,
		.until_ms = until_ms,
		.err = err,
	};
	int rc;

	*more = store_pending(with->store);
	if (*more)
		return 0; /* queued rows may refer to what would be removed */
	if (forget->sweep != sweep && order_begin(with, forget, sweep, err) < 0)
		return -1;
	rc = sweep_retention_go_on(&looking, err);
	*more = rc == 0;
	if (rc)
		forget->sweep = 0;
	if (rc <= 0 || !looking.stays)
		return rc < 0 ? -1 : 0;
	return error_set(err, EBUSY,
			 looking.needed ? "another sweep has the result of job "
					  "%" PRIu64 ", too"
					: "job %" PRIu64
					  " has not ended, or a node still has "
					  "its containers",
			 looking.stays);
}
