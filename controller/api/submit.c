/* submit.c - request to submit a sweep. */
#include "controller/api/sweeps.h"
#include "controller/blobs/blob_service.h"
#include "controller/blobs/blob_users.h"
#include "controller/images/logins.h"
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/job.h"
#include "controller/jobs/race_rows.h"
#include "controller/jobs/unschedulable.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/message/result.h"
#include "protocol/registry/login.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBMIT_BYTES_MAX (160 << 20) /* of the specs of one sweep */
#define TOKENS_MAX 256               /* sweeps searched for a repeated submit */
#define DROPPED_MAX 1000 /* dropped cells named in one answer, and waiting */
#define RUNS_MAX 4096    /* of a cell, that are looked at for one repeat */

struct token_search {
	const char *client;
	uint64_t found;
	char *name;
};

static int match_token(const struct sweep_row *row, void *arg)
{
	struct token_search *search = arg;

	if (!strcmp(row->client, search->client)) {
		search->found = row->id;
		free(search->name);
		search->name = strdup(row->name);
	}
	return 0;
}

/* A submit may be sent again after its answer was lost. 1: it was, and is
 * answered as before; 0: it is new.
 */
static int answer_again(const struct api *api, const char *client,
			uint64_t next, struct reply_submit *reply,
			struct error *err)
{
	struct token_search search = { .client = client };
	uint64_t counts[JOB_STATES] = { 0 };

	store_sweeps(api->store, next > TOKENS_MAX ? next - TOKENS_MAX : 0, 0,
		     match_token, &search, NULL);
	if (!search.found)
		return 0;
	store_sweep_counts(api->store, search.found, counts, NULL);
	for (int i = 0; i < JOB_STATES; i++)
		reply->jobs += counts[i];
	reply->sweep = search.found;
	reply->name = search.name;
	return reply->name ? 1 : error_nomem(err, "sweep");
}

/* All jobs of a sweep are committed together, so they must fit the store's
 * queue. Cells are much alike: the first one stands for all.
 */
static int submit_check_bytes(struct sweep *sweep, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SUBMIT_BYTES_MAX);
	size_t jobs = sweep_totals(sweep)->jobs;
	struct job_spec spec;
	int rc;

	if (sweep_job(sweep, 0, &spec, err) < 0)
		return -1;
	rc = codec_encode(&job_spec_schema, &spec, &text, err);
	codec_clear(&job_spec_schema, &spec);
	if (rc < 0 || text.size <= SUBMIT_BYTES_MAX / jobs)
		return rc;
	return error_set(err, E2BIG,
			 "%s: %zu jobs of %zu bytes each; expected at most %d "
			 "MiB in one sweep: submit it in parts",
			 sweep_name(sweep), jobs, text.size,
			 SUBMIT_BYTES_MAX >> 20);
}

static int submit_check_size(struct sweep *sweep, struct error *err)
{
	const struct sweep_totals *totals = sweep_totals(sweep);
	char cell[60] = "", reason[160] = "";

	if (sweep_check_size(sweep, err) < 0)
		return -1;
	if (totals->jobs)
		return submit_check_bytes(sweep, err);
	if (totals->dropped)
		sweep_drop(sweep, 0, cell, sizeof(cell), reason, sizeof(reason),
			   NULL);
	return error_set(err, EINVAL,
			 "%s: nothing to run: all %zu cells are dropped; the "
			 "first: %s: %s",
			 sweep_name(sweep), totals->dropped, cell, reason);
}

/* A sweep on its way into the store. */
struct submitting {
	const struct api *api;
	struct sweep *sweep;
	const char *by;
	int64_t submitted_ms;
	uint64_t id;
	uint64_t first_job;
	bool resume;
	size_t taken;
	bool *was_taken; /* by number in the sweep; no heat was */
	bool until;      /* a cell has `until` */
	size_t further;  /* jobs beyond the repeats of the sweep file */
	struct reply_submit *reply;
	/* The kind of the previous cell, and why no nodes fit it: */
	const struct sweep_kind *kind;
	char lacks[300];
	/* The current job: */
	uint64_t cell;
	struct job_spec spec;
	struct error *err;
};

static int submit_take_over(const struct job_row *row, void *arg)
{
	struct submitting *to = arg;

	if (row->repeat != to->spec.repeat)
		return 0;
	to->taken++;
	return job_take_over(to->api->jobs, to->id, to->cell, &to->spec, row,
			     to->err) < 0
		       ? -1
		       : 1;
}

static int submit_add_note(struct cell_note *list, size_t *count,
			   const char *cell, const char *reason,
			   struct error *err)
{
	struct cell_note *note = &list[(*count)++];

	return string_set(&note->cell, cell, err) < 0
		       ? -1
		       : string_set(&note->reason, reason, err);
}

/* Note a cell that no nodes can run at present. */
static int note_waiting(struct submitting *to)
{
	const struct sweep_kind *kind = sweep_cell_kind(to->sweep, to->cell);
	struct shape shape = spec_shape(&to->spec);
	struct reply_submit *reply = to->reply;

	if (kind != to->kind) {
		to->kind = kind;
		if (unschedulable_of(node_slots(to->api->nodes),
				     node_count(to->api->nodes), &shape,
				     to->lacks,
				     sizeof(to->lacks)) == UNSCHEDULABLE_NONE)
			to->lacks[0] = 0;
	}
	if (!to->lacks[0] || reply->waiting_count >= DROPPED_MAX)
		return 0;
	return submit_add_note(reply->waiting, &reply->waiting_count,
			       to->spec.cell, to->lacks, to->err);
}

/* A job may be taken over only if all jobs that it follows were, and if it does
 * not run for the winner of a race that is run again.
 */
static bool may_take(const struct submitting *to)
{
	for (size_t i = 0; i < to->spec.after_count; i++)
		if (!to->was_taken[to->spec.after[i].job - to->first_job])
			return false;
	return to->resume;
}

static int submit_put_job(struct submitting *to, size_t job, bool first)
{
	int rc = 0;

	if (may_take(to))
		rc = store_runs(to->api->store, to->spec.key,
				sweep_name(to->sweep), RUNS_MAX,
				submit_take_over, to, to->err);
	to->was_taken[job] = rc > 0 && !to->spec.race.heat;
	to->until |= to->spec.until.width > 0;
	if (rc)
		return rc < 0 ? -1 : 0;
	if (first && note_waiting(to) < 0)
		return -1;
	return job_submit(to->api->jobs, to->id, to->cell, &to->spec, to->err);
}

/* With a preflight nodes must have been accepted since max_age before now. */
static int submit_add_preflight(struct submitting *to)
{
	static const char label[] = ACCEPTED_LABEL "=-";
	struct job_spec *spec = &to->spec;
	owned_free char *was = NULL;
	char *rest;
	int64_t since_s;

	if (!spec->labels || strncmp(spec->labels, label, sizeof(label) - 1))
		return 0;
	was = take(spec->labels);
	since_s = to->submitted_ms / 1000 -
		  strtoll(was + sizeof(label) - 1, &rest, 10);
	return asprintf(&spec->labels, ACCEPTED_LABEL "=%" PRId64 "%s", since_s,
			rest) < 0
		       ? -1
		       : 0;
}

/* Fill to->spec as it is stored; the caller clears it. */
static int make_spec(struct submitting *to, size_t job)
{
	if (sweep_job(to->sweep, job, &to->spec, to->err) < 0)
		return -1;
	for (size_t i = 0; i < to->spec.after_count; i++)
		to->spec.after[i].job += to->first_job;
	to->spec.owner = strdup(to->by);
	if (to->spec.owner && submit_add_preflight(to) == 0)
		return 0;
	codec_clear(&job_spec_schema, &to->spec);
	return error_nomem(to->err, "sweep");
}

/* The spec of the repeat after that of to->spec. Without dependencies only its
 * number differs.
 */
static int next_spec(struct submitting *to, size_t job)
{
	if (!to->spec.after_count) {
		to->spec.repeat++;
		return 0;
	}
	codec_clear(&job_spec_schema, &to->spec);
	return make_spec(to, job);
}

static int submit_put_cell(struct submitting *to, size_t first,
			   uint32_t repeats)
{
	int rc = make_spec(to, first);

	for (uint32_t i = 0; rc == 0 && i < repeats; i++) {
		if (i)
			rc = next_spec(to, first + i);
		if (rc == 0)
			rc = submit_put_job(to, first + i, i == 0);
	}
	codec_clear(&job_spec_schema, &to->spec);
	return rc;
}

/* The newest run of each repeat, by number. */
struct newest {
	uint64_t *jobs;
	uint32_t count;
};

static int note_newest(const struct job_row *row, void *arg)
{
	struct newest *newest = arg;

	if (row->repeat < newest->count && !newest->jobs[row->repeat])
		newest->jobs[row->repeat] = row->id;
	return 0;
}

static int take_further(struct submitting *to, uint32_t repeats)
{
	struct newest newest = { .count = to->spec.until.max };
	owned_free uint64_t *jobs = calloc(newest.count, sizeof(*jobs));
	int rc;

	if (!jobs)
		return error_nomem(to->err, "sweep");
	newest.jobs = jobs;
	rc = store_runs(to->api->store, to->spec.key, sweep_name(to->sweep),
			RUNS_MAX, note_newest, &newest, to->err);
	for (uint32_t i = repeats; rc >= 0 && i < newest.count; i++) {
		if (!jobs[i])
			continue;
		to->spec.repeat = i;
		rc = store_job(to->api->store, jobs[i], submit_take_over, to,
			       to->err);
		to->further++;
	}
	return rc < 0 ? -1 : 0;
}

/* Take over repeats of the cell beyond those of the sweep file, too. If no job
 * of the cell is left to run, decide now whether it has enough repeats.
 */
static int put_further(struct submitting *to, uint32_t repeats)
{
	if (to->spec.until.width <= 0 || !may_take(to))
		return 0;
	if (take_further(to, repeats) < 0)
		return -1;
	return adaptive_repeats_resume(to->api->jobs, to->id, to->cell,
				       &to->spec, to->err);
}

static int put_all_further(struct submitting *to)
{
	const struct sweep_totals *totals = sweep_totals(to->sweep);

	for (to->cell = 0; to->cell < totals->kept; to->cell++) {
		uint32_t repeats;
		size_t first = sweep_cell_job(to->sweep, to->cell, &repeats);
		int rc = make_spec(to, first + repeats - 1);

		if (rc == 0) {
			rc = put_further(to, repeats);
			codec_clear(&job_spec_schema, &to->spec);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int put_jobs(struct submitting *to)
{
	const struct sweep_totals *totals = sweep_totals(to->sweep);
	owned_free bool *was_taken = calloc(totals->jobs, 1);

	if (!was_taken)
		return error_nomem(to->err, "sweep");
	to->was_taken = was_taken;
	for (to->cell = 0; to->cell < totals->kept; to->cell++) {
		uint32_t repeats;
		size_t first = sweep_cell_job(to->sweep, to->cell, &repeats);

		if (submit_put_cell(to, first, repeats) < 0)
			return -1;
	}
	/* These come last, because specs number jobs from the first one. */
	return to->resume && to->until ? put_all_further(to) : 0;
}

/* Are the values of all secrets sent along? */
static int check_secrets(const struct sweep *sweep,
			 const struct message_submit *message,
			 struct error *err)
{
	const struct secret_sources *secrets = sweep_secrets(sweep);
	char name[LOGIN_VARIABLE_MAX + 2];

	for (size_t i = 0; i < secrets->count; i++) {
		login_secret_name(name, secrets->items[i].name,
				  secrets->items[i].as_file);
		if (!logins_find(message->logins, message->logins_count, name))
			return error_set(err, EINVAL,
					 "%s: secrets.%s: its value was not "
					 "sent, because the command line lacks "
					 "the folder of models and frameworks "
					 "(--images)",
					 sweep_name(sweep), name + 1);
	}
	return 0;
}

/* The blob of all workspaces must be here. */
static int bind_workspaces(const struct api *api, struct sweep *sweep,
			   const struct message_submit *message,
			   struct error *err)
{
	const char *path;
	uint64_t bytes;
	bool whole;

	for (size_t i = 0; i < message->workspaces_count; i++) {
		const struct submit_workspace *item = &message->workspaces[i];

		if (sweep_bind(sweep, item->path, item->content, err) < 0 ||
		    blob_store_look(blob_service_store(api->blobs),
				    item->content, &bytes, &whole, err) < 0)
			return -1;
		if (!whole)
			return error_set(err, ENOENT,
					 "workspace %.80s: the controller does "
					 "not have blob %.12s",
					 item->path, item->content);
	}
	path = sweep_unbound(sweep);
	return path ? error_set(err, EINVAL,
				"%s: workspace %.80s was not sent along: the "
				"command line needs the folder of models and "
				"frameworks (--images) to find it",
				sweep_name(sweep), path)
		    : 0;
}

/* Keep the blob for the jobs of the sweep. */
static int keep_workspaces(const struct api *api, uint64_t sweep,
			   const struct message_submit *message,
			   struct error *err)
{
	struct blob_store *blobs = blob_service_store(api->blobs);

	for (size_t i = 0; i < message->workspaces_count; i++)
		if (blob_users_keep_workspace(blobs, sweep,
					      message->workspaces[i].content,
					      err) < 0)
			return -1;
	return blob_store_sync(blobs, err);
}

/* Remove the rows and jobs of a refused sweep. */
static void undo_submit(struct submitting *to, const struct store_mark *mark)
{
	const struct api *api = to->api;
	uint64_t end = store_coming_job(api->store);

	for (uint64_t id = to->first_job; id < end; id++) {
		struct job *job = job_find(api->table, id);

		if (job)
			job_forget(job);
	}
	for (size_t i = 0; i < sweep_totals(to->sweep)->kept; i++) {
		repeats_undo(api->jobs, to->id, i);
		race_undo_submit(api->jobs, to->id, i);
	}
	store_undo(api->store, mark);
}

static int submit_add_dropped(struct sweep *sweep, struct reply_submit *reply,
			      struct error *err)
{
	char cell[CELL_WORDS_BYTES], reason[SWEEP_REASON_BYTES];
	size_t dropped = sweep_totals(sweep)->dropped;

	reply->waiting = calloc(DROPPED_MAX, sizeof(*reply->waiting));
	reply->dropped = calloc(DROPPED_MAX, sizeof(*reply->dropped));
	if (!reply->waiting || !reply->dropped)
		return error_nomem(err, "sweep");
	for (size_t i = 0; i < dropped && i < DROPPED_MAX; i++) {
		sweep_drop(sweep, i, cell, sizeof(cell), reason, sizeof(reason),
			   NULL);
		if (submit_add_note(reply->dropped, &reply->dropped_count, cell,
				    reason, err) < 0)
			return -1;
	}
	return 0;
}

/* Queue all rows of the sweep, or none. */
static int submit_put_sweep(struct submitting *to, const struct sweep_row *row,
			    const struct message_submit *message,
			    struct error *err)
{
	const struct api *api = to->api;
	struct store_mark mark = store_mark(api->store);

	if (keep_workspaces(api, row->id, message, err) < 0 ||
	    store_put_sweep(api->store, row, err) < 0 ||
	    logins_put(api->logins, row->id, message->logins,
		       message->logins_count, err) < 0) {
		store_undo(api->store, &mark);
		return -1;
	}
	to->first_job = store_coming_job(api->store);
	if (put_jobs(to) < 0) {
		undo_submit(to, &mark);
		return -1;
	}
	return 0;
}

static int submit_store(struct submitting *to, const struct sweep_row *row,
			const struct message_submit *message, struct error *err)
{
	struct reply_submit *reply = to->reply;

	to->id = row->id;
	if (submit_add_dropped(to->sweep, reply, err) < 0 ||
	    string_set(&reply->name, row->name, err) < 0 ||
	    submit_put_sweep(to, row, message, err) < 0)
		return -1;
	log_info("sweep=%" PRIu64 " name=%s jobs=%zu taken=%zu by=%s", row->id,
		 row->name, sweep_totals(to->sweep)->jobs, to->taken, to->by);
	reply->sweep = row->id;
	reply->jobs = sweep_totals(to->sweep)->jobs + to->further;
	reply->taken = to->taken;
	return 0;
}

int api_submit(struct api_request *request, void *reply, struct error *err)
{
	const struct message_submit *message = request->message;
	const struct api *api = request->api;
	owned(sweep_free) struct sweep *sweep = NULL;
	owned_free char *text = NULL;
	char client[160];
	struct sweep_row row = { .client = client };
	struct submitting to = {
		.api = api,
		.by = request->by,
		.resume = message->resume,
		.reply = reply,
		.err = err,
	};
	int again;

	if (logins_accept(api->logins, message->logins, message->logins_count,
			  request->public, err) < 0)
		return -1;
	if (strlen(message->token) > 64)
		return error_set(err, EPROTO, "token: longer than 64 bytes");
	snprintf(client, sizeof(client), "%s %s", request->by, message->token);
	sweep = sweep_of_request(request, message->file, err);
	if (!sweep || submit_check_size(sweep, err) < 0 ||
	    check_secrets(sweep, message, err) < 0 ||
	    bind_workspaces(api, sweep, message, err) < 0)
		return -1;
	text = strndup(request->payload, request->size);
	if (!text)
		return error_nomem(err, "sweep");
	row.id = store_next_sweep(api->store);
	again = answer_again(api, client, row.id, reply, err);
	if (again)
		return again < 0 ? -1 : 0;
	row.name = sweep_name(sweep);
	row.text = text;
	row.submitted_ms = clock_wall_ms();
	to.sweep = sweep;
	to.submitted_ms = row.submitted_ms;
	return submit_store(&to, &row, message, err);
}
