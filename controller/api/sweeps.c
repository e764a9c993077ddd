/* sweeps.c - queries for all sweeps, one sweep, and the text of its file. */
#include "controller/api/sweeps.h"
#include "controller/api/hidden_env.h"
#include "controller/api/page.h"
#include "controller/jobs/failure_budget.h"
#include "controller/jobs/job.h"
#include "controller/jobs/race.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/wire/key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sweep *sweep_of_request(const struct api_request *request,
			       const char *file, struct error *err)
{
	const struct nodes *nodes = request->api->nodes;
	size_t count = node_count(nodes);
	owned_free struct site_node *list = calloc(count + 1, sizeof(*list));
	struct sweep_site site = { .nodes = list };

	if (!list)
		return error_null(error_nomem(err, "sweep"));
	for (size_t i = 0; i < count; i++) {
		const struct slot *slot = &node_slots(nodes)[i];

		if (slot->usable || slot->cleaning)
			list[site.count++] =
				(struct site_node){ slot->name, slot->vendor };
	}
	return sweep_parse_at(request->payload, request->size, file,
			      request->api->catalog, &site, err);
}

struct in_sweep {
	uint64_t sweep;
	size_t count;
};

static void count_one(struct job *job, void *arg)
{
	struct in_sweep *in = arg;

	in->count += job_sweep(job) == in->sweep;
}

int sweep_check_size(const struct sweep *sweep, struct error *err)
{
	size_t jobs = sweep_totals(sweep)->jobs;

	return jobs <= SWEEP_JOBS_MAX
		       ? 0
		       : error_set(err, E2BIG,
				   "%s: %zu jobs; expected at most %d in one "
				   "sweep",
				   sweep_name(sweep), jobs, SWEEP_JOBS_MAX);
}

bool sweep_final(const struct api *api, uint64_t sweep)
{
	struct in_sweep in = { .sweep = sweep };

	if (!store_sweep_over(api->store, sweep))
		return false;
	job_each(api->table, count_one, &in);
	return !in.count;
}

int sweep_describe_life(const struct api *api, uint64_t sweep, char **race,
			char **paused, struct error *err)
{
	char words[RACE_PROGRESS_MAX];

	if (!api->jobs)
		return 0;
	race_progress(api->jobs, sweep, words, sizeof(words));
	return string_set(race, *words ? words : NULL, err) < 0
		       ? -1
		       : string_set(paused,
				    failure_budget_paused(api->jobs, sweep),
				    err);
}

/* Fill *to, which was zero. On failure the caller clears it, too. */
static int sweep_describe(const struct api *api, const struct sweep_row *row,
			  struct sweep_info *to, struct error *err)
{
	char client[KEY_NAME_SIZE] = "";

	/* row->client is "NAME TOKEN". */
	snprintf(client, sizeof(client), "%.*s", (int)strcspn(row->client, " "),
		 row->client);
	to->id = row->id;
	to->submitted_ms = row->submitted_ms;
	if (string_set(&to->name, row->name, err) < 0 ||
	    string_set(&to->client, client, err) < 0 ||
	    store_sweep_counts(api->store, row->id, to->counts.of, err) < 0)
		return -1;
	for (int i = 1; i < JOB_STATES; i++)
		to->jobs += to->counts.of[i];
	to->final = sweep_final(api, row->id);
	return sweep_describe_life(api, row->id, &to->race, &to->paused, err);
}

static int list_sweep(const struct sweep_row *row, void *arg)
{
	struct page *page = arg;
	struct sweep_info *info = page_row(page);

	return info ? sweep_describe(page->api, row, info, page->err)
		    : page->stop;
}

int api_sweeps(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_sweeps *to = reply;
	struct page page =
		page_of(request->api, &sweep_info_schema, query->limit, err);
	int rc = store_sweeps(request->api->store, query->after, page.limit + 1,
			      list_sweep, &page, err);

	to->more = page.more;
	to->sweeps = page_take(&page, &to->sweeps_count);
	return rc < 0 ? -1 : 0;
}

struct describing {
	const struct api *api;
	struct sweep_info *to;
	struct error *err;
};

static int sweep_row_describe(const struct sweep_row *row, void *arg)
{
	struct describing *describing = arg;

	return sweep_describe(describing->api, row, describing->to,
			      describing->err);
}

int sweep_describe_id(const struct api *api, uint64_t sweep,
		      struct sweep_info *to, struct error *err)
{
	struct describing describing = { api, to, err };

	if (sweep)
		return store_sweep(api->store, sweep, sweep_row_describe,
				   &describing, err);
	if (store_last_sweep(api->store, sweep_row_describe, &describing, err) <
	    0)
		return -1;
	return to->id ? 0
		      : error_set(err, ENOENT,
				  "no sweeps exist; regatta submit SWEEP "
				  "submits one");
}

int api_sweep(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_sweep *to = reply;

	return sweep_describe_id(request->api, query->id, &to->sweep, err);
}

struct copying {
	char **to;
	struct error *err;
};

static int sweep_copy_text(const struct sweep_row *row, void *arg)
{
	struct copying *copying = arg;

	return string_set(copying->to, row->text, copying->err);
}

int api_text(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_text *to = reply;
	struct copying copying = { &to->text, err };

	if (!api_sees_env(request))
		return error_set(err, EPERM,
				 "a viewer may not read sweep files, because "
				 "they contain values of env");
	return store_sweep(request->api->store, query->id, sweep_copy_text,
			   &copying, err);
}

/* store_sweep_fn; ENOENT shows that there is no row. */
static int ignore_row(const struct sweep_row *row, void *arg)
{
	return 0;
}

int sweep_check(const struct api *api, uint64_t sweep, struct error *err)
{
	return store_sweep(api->store, sweep, ignore_row, NULL, err);
}

struct owning {
	const char *by;
	bool force;
	struct error *err;
};

static int sweep_row_check_owner(const struct sweep_row *row, void *arg)
{
	const struct owning *owning = arg;
	int length = (int)strcspn(row->client, " ");

	if (owning->force ||
	    (!strncmp(row->client, owning->by, length) && !owning->by[length]))
		return 0;
	return error_set(owning->err, EPERM,
			 "sweep %" PRIu64 " belongs to %.*s; --force overrides "
			 "this, and the audit log records it",
			 row->id, length, row->client);
}

int sweep_check_owner(const struct api *api, uint64_t sweep, const char *by,
		      bool force, struct error *err)
{
	struct owning owning = { by, force, err };

	return store_sweep(api->store, sweep, sweep_row_check_owner, &owning,
			   err);
}
