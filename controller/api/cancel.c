/* cancel.c - cancels sweeps and jobs, and retries sweeps. */
#include "controller/api/api.h"
#include "controller/api/jobs.h"
#include "controller/api/sweeps.h"
#include "controller/images/logins.h"
#include "controller/jobs/repeats.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/jobs.h"
#include "controller/jobs/race_rows.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct cancelling {
	uint64_t sweep;
	const char *text;
	uint64_t count, unstored;
};

static void sweep_cancel_job(struct job *job, void *arg)
{
	struct cancelling *cancelling = arg;

	if (job_sweep(job) != cancelling->sweep ||
	    job_state_final(job_state(job)))
		return;
	if (gang_exception(job, FAILURE_CANCELLED, 0, cancelling->text) < 0)
		cancelling->unstored++;
	else
		cancelling->count++;
}

int api_cancel(struct api_request *request, void *reply, struct error *err)
{
	const struct message_cancel *message = request->message;
	const struct api *api = request->api;
	struct reply_cancel *to = reply;
	char text[100];
	struct cancelling cancelling = { .sweep = message->id, .text = text };
	struct job_facts facts;
	struct job *job;

	snprintf(text, sizeof(text), "cancelled by %s", request->by);
	if (!strcmp(message->kind, "sweep")) {
		if (sweep_check_owner(api, message->id, request->by,
				      message->force, err) < 0)
			return -1;
		job_each(api->table, sweep_cancel_job, &cancelling);
	} else if (!strcmp(message->kind, "job")) {
		if (job_facts_read(api, message->id, &facts, err) < 0)
			return -1;
		job = job_find(api->table, message->id);
		if (!job || job_state_final(job_state(job)))
			return error_set(err, ENOENT,
					 "job %" PRIu64 " has ended: %s",
					 message->id,
					 job_state_name(facts.state));
		if (sweep_check_owner(api, job_sweep(job), request->by,
				      message->force, err) < 0)
			return -1;
		cancelling.sweep = job_sweep(job);
		sweep_cancel_job(job, &cancelling);
	} else {
		return error_set(err, EINVAL,
				 "kind: '%.40s' is not valid here; expected "
				 "sweep or job",
				 message->kind);
	}
	log_info("%s %" PRIu64 " cancelled by=%s jobs=%" PRIu64, message->kind,
		 message->id, request->by, cancelling.count);
	to->cancelled = cancelling.count;
	if (cancelling.unstored)
		return error_set(err, ENOBUFS,
				 "the store's queue is full: %" PRIu64
				 " job(s) are cancelled, %" PRIu64
				 " are not; repeat the command",
				 cancelling.count, cancelling.unstored);
	return 0;
}

struct retrying {
	const struct api *api;
	uint64_t count, ending;
	struct error *err;
};

/* What lost a race may win the one that is run again. */
static int retry_lost(const struct job_row *row, void *arg)
{
	const struct retrying *retrying = arg;

	return job_lost_race(row)
		       ? job_revive(retrying->api->jobs, row, retrying->err)
		       : 0;
}

static int retry_one(const struct job_row *row, void *arg)
{
	struct retrying *retrying = arg;

	if (row->state != JOB_FAILED && row->state != JOB_CANCELLED) {
		const struct job *job = job_find(retrying->api->table, row->id);

		retrying->ending += job && job_gang(job) && job_failure(job);
		return 0;
	}
	retrying->count++;
	return job_revive(retrying->api->jobs, row, retrying->err);
}

/* Undo retry_one(). Jobs that it did not reach have a gang, or are not in
 * memory.
 */
static int unrevive_one(const struct job_row *row, void *arg)
{
	const struct retrying *retrying = arg;
	const struct api *api = retrying->api;
	struct job *job = job_find(api->table, row->id);

	if (job && !job_gang(job) && job_state_final(row->state)) {
		job_forget(job);
		repeats_undo(api->jobs, row->sweep, row->cell_index);
		race_undo_retry(api->jobs, row->sweep, row->cell_index);
	}
	return 0;
}

int api_retry(struct api_request *request, void *reply, struct error *err)
{
	const struct message_retry *message = request->message;
	const struct api *api = request->api;
	struct retrying retrying = { .api = api, .err = err };
	struct store_mark mark = store_mark(api->store);
	struct reply_retry *to = reply;

	if (logins_accept(api->logins, message->logins, message->logins_count,
			  request->public, err) < 0 ||
	    sweep_check_owner(api, message->sweep, request->by, message->force,
			      err) < 0)
		return -1;
	if (logins_put(api->logins, message->sweep, message->logins,
		       message->logins_count, err) < 0 ||
	    store_jobs(api->store, message->sweep, 0, 0, retry_one, &retrying,
		       err) < 0 ||
	    (retrying.count && store_jobs(api->store, message->sweep, 0, 0,
					  retry_lost, &retrying, err) < 0) ||
	    jobs_resume_sweep(api->jobs, message->sweep, err) < 0) {
		store_jobs(api->store, message->sweep, 0, 0, unrevive_one,
			   &retrying, NULL);
		store_undo(api->store, &mark);
		return -1;
	}
	log_info("sweep=%" PRIu64 " retried by=%s jobs=%" PRIu64,
		 message->sweep, request->by, retrying.count);
	to->retried = retrying.count;
	to->ending = retrying.ending;
	/* The retry is done, so ENOMEM only shortens the list. */
	logins_gone(api->logins, message->sweep, message->logins,
		    message->logins_count, &to->gone, NULL);
	return 0;
}
