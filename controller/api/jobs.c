/* jobs.c - queries for jobs, for changed jobs, one job, and events. */
#include "controller/api/jobs.h"
#include "controller/api/hidden_env.h"
#include "controller/api/page.h"
#include "controller/api/sweeps.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"

#include <stdlib.h>
#include <string.h>

#define CHANGED_JOBS_MAX 4096 /* jobs in one answer about changes */
#define CHANGED_EVENTS_MAX (CHANGED_JOBS_MAX / 4)

static int list_job(const struct job_row *row, void *arg)
{
	struct page *page = arg;
	struct job_info *info = page_row(page);

	return info ? job_describe(page->api, row, info, page->err)
		    : page->stop;
}

/* The ids of jobs that changed after query->since, without doubles. */
struct changed_jobs {
	struct page *page;
	uint64_t sweep; /* 0: any */
	uint64_t jobs[CHANGED_JOBS_MAX];
	size_t count;
	uint64_t last;
	size_t events;
};

/* None of them may be left out. */
static int list_changed(const struct job_row *row, void *arg)
{
	struct changed_jobs *changed = arg;
	struct page *page = changed->page;
	struct job_info *info;

	if (changed->sweep && row->sweep != changed->sweep)
		return 0;
	info = page_append(page);
	return info ? job_describe(page->api, row, info, page->err) : -1;
}

static void changed_jobs_add(struct changed_jobs *changed, uint64_t job)
{
	for (size_t i = changed->count; i-- > 0;)
		if (changed->jobs[i] == job)
			return;
	if (changed->count < CHANGED_JOBS_MAX)
		changed->jobs[changed->count++] = job;
}

static int add_change(const struct event_row *row, void *arg)
{
	struct changed_jobs *changed = arg;

	changed->last = row->seq;
	changed->events++;
	changed_jobs_add(changed, row->job);
	return 0;
}

static int ask_changed(struct page *page, const struct message_query *query,
		       struct reply_jobs *reply, struct error *err)
{
	const struct api *api = page->api;
	owned_free struct changed_jobs *changed = calloc(1, sizeof(*changed));
	const struct gang *gang;

	if (!changed)
		return error_nomem(err, "changes");
	changed->page = page;
	changed->sweep = query->id;
	changed->last = query->since;
	if (store_events(api->store, 0, query->since, CHANGED_EVENTS_MAX,
			 add_change, changed, err) < 0)
		return -1;
	for (gang = gang_first(api->table); gang; gang = gang_next(gang))
		if (!job_state_final(job_state(gang_job(gang))))
			changed_jobs_add(changed, job_id(gang_job(gang)));
	for (size_t i = 0; i < changed->count; i++)
		store_job(api->store, changed->jobs[i], list_changed, changed,
			  NULL);
	reply->since = changed->last;
	reply->more = changed->events == CHANGED_EVENTS_MAX;
	return 0;
}

/* Those that take one job at a time, with the class of their last failure. */
static int list_probation(const struct api *api, char **names,
			  struct error *err)
{
	char text[200] = "";

	for (size_t i = 0; i < node_count(api->nodes); i++) {
		const struct node *node = node_at(api->nodes, i);
		const struct node_health *health = &node_view(node)->health;

		if (health->probation_ms && !node_view(node)->removed)
			text_append(text, sizeof(text), "%s%s (%s)",
				    *text ? ", " : "", node_name(node),
				    health->failure);
	}
	return *text ? string_set(names, text, err) : 0;
}

int api_jobs(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	const struct api *api = request->api;
	struct reply_jobs *to = reply;
	struct page page = page_of(api, &job_info_schema, query->limit, err);
	int rc;

	if (query->id) {
		if (sweep_check(api, query->id, err) < 0)
			return -1;
		to->final = sweep_final(api, query->id);
		if (sweep_describe_life(api, query->id, &to->race, &to->paused,
					err) < 0 ||
		    list_probation(api, &to->probation, err) < 0)
			return -1;
	}
	if (query->since)
		rc = ask_changed(&page, query, to, err);
	else
		rc = store_jobs(api->store, query->id, query->after,
				page.limit + 1, list_job, &page, err);
	to->more |= page.more;
	to->jobs = page_take(&page, &to->jobs_count);
	return rc < 0 ? -1 : 0;
}

struct describing_job {
	const struct api *api;
	struct job_info *to;
	struct error *err;
};

static int job_row_describe(const struct job_row *row, void *arg)
{
	struct describing_job *describing = arg;

	return job_describe_whole(describing->api, row, describing->to,
				  describing->err);
}

int api_job(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_job *to = reply;
	struct describing_job describing = { request->api, &to->job, err };

	if (store_job(request->api->store, query->id, job_row_describe,
		      &describing, err) < 0)
		return -1;
	return api_sees_env(request) ? 0 : api_hide_env(to->job.spec, err);
}

static int list_event(const struct event_row *row, void *arg)
{
	struct page *page = arg;
	struct event_info *info = page_row(page);

	return info ? event_describe(row, info, page->err) : page->stop;
}

int api_events(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_events *to = reply;
	struct page page =
		page_of(request->api, &event_info_schema, query->limit, err);
	int rc = store_events(request->api->store, query->id, query->after,
			      page.limit + 1, list_event, &page, err);

	to->more = page.more;
	to->events = page_take(&page, &to->events_count);
	return rc < 0 ? -1 : 0;
}
