/* sweeps.c - sweeps as people see them: all, one, and the text of its file.
 */
#include "controller/api/sweeps.h"
#include "controller/api/api.h"
#include "controller/api/hidden_env.h"
#include "controller/api/page.h"
#include "controller/jobs/job.h"
#include "controller/store/store.h"
#include "protocol/wire/key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct in_sweep {
	uint64_t sweep;
	size_t count;
};

static void count_one(struct job *job, void *arg)
{
	struct in_sweep *in = arg;

	in->count += job_sweep(job) == in->sweep;
}

bool sweep_final(const struct api *api, uint64_t sweep)
{
	struct in_sweep in = { .sweep = sweep };

	if (!store_sweep_over(api->store, sweep))
		return false;
	job_each(api->table, count_one, &in);
	return !in.count;
}

/* Fill *to, which was zero. On failure the caller clears it, too. */
static int sweep_describe(const struct api *api, const struct sweep_row *row,
			  struct sweep_info *to, struct error *err)
{
	char client[KEY_NAME_SIZE] = "";

	/* Behind the name stands the token of the submit. */
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
	return 0;
}

/* What a walk over rows of the store fills. */
struct sweep_listing {
	const struct api *api;
	struct page page;
	struct error *err;
};

static int list_sweep(const struct sweep_row *row, void *arg)
{
	struct sweep_listing *listing = arg;
	struct sweep_info info = { 0 };

	if (!page_room(&listing->page))
		return 0;
	if (sweep_describe(listing->api, row, &info, listing->err) < 0) {
		codec_clear(&sweep_info_schema, &info);
		return -1;
	}
	return page_add(&listing->page, &info, listing->err);
}

int api_sweeps(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct sweep_listing listing = { .api = request->api, .err = err };
	struct reply_sweeps *to = reply;
	int rc;

	page_init(&listing.page, &sweep_info_schema, query->limit);
	rc = store_sweeps(request->api->store, query->after,
			  listing.page.limit + 1, list_sweep, &listing, err);
	to->sweeps = page_take(&listing.page, &to->sweeps_count);
	to->more = listing.page.more;
	return rc < 0 ? -1 : 0;
}

struct describing_sweep {
	const struct api *api;
	struct sweep_info *to;
	struct error *err;
};

static int describe_one(const struct sweep_row *row, void *arg)
{
	struct describing_sweep *describing = arg;

	return sweep_describe(describing->api, row, describing->to,
			      describing->err);
}

int sweep_describe_id(const struct api *api, uint64_t sweep,
		      struct sweep_info *to, struct error *err)
{
	struct describing_sweep describing = { api, to, err };

	return store_sweep(api->store, sweep, describe_one, &describing, err) <
			       0
		       ? -1
		       : 0;
}

int api_sweep(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct reply_sweep *to = reply;
	struct describing_sweep describing = { request->api, &to->sweep, err };

	if (query->id)
		return sweep_describe_id(request->api, query->id, &to->sweep,
					 err);
	if (store_last_sweep(request->api->store, describe_one, &describing,
			     err) < 0)
		return -1;
	return to->sweep.id ? 0 : error_set(err, ENOENT, "no sweeps exist");
}

struct copying {
	char **to;
	struct error *err;
};

static int copy_text(const struct sweep_row *row, void *arg)
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
	return store_sweep(request->api->store, query->id, copy_text, &copying,
			   err) < 0
		       ? -1
		       : 0;
}

/* store_sweep_fn, of which only counts whether it is called */
static int nothing(const struct sweep_row *row, void *arg)
{
	return 0;
}

int sweep_check(const struct api *api, uint64_t sweep, struct error *err)
{
	return store_sweep(api->store, sweep, nothing, NULL, err);
}

struct owning {
	const char *by;
	bool force;
	struct error *err;
};

static int check_owner(const struct sweep_row *row, void *arg)
{
	const struct owning *owning = arg;
	/* "NAME TOKEN" */
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

	return store_sweep(api->store, sweep, check_owner, &owning, err);
}
