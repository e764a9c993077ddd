/* results.c - queries for results and curves. */
#include "controller/api/api.h"
#include "controller/api/jobs.h"
#include "controller/api/page.h"
#include "controller/api/sweeps.h"
#include "controller/catalog/published.h"
#include "controller/cell/seed.h"
#include "controller/store/store.h"

#include <stdlib.h>
#include <string.h>

/* A job's curves are some 100 KiB of JSON to read. */
#define SERIES_ROWS_MAX 32

/* clang-format off */
/* Of a job's spec, what a row of results shows. */
static const struct schema seed_schema = SCHEMA(container_spec,
	FIELD_OPTIONAL(container_spec, argv),
	FIELD_OPTIONAL(container_spec, env));
static const struct schema shown_spec_schema = SCHEMA_NAMED(job_spec, "spec",
	FIELD_OPTIONAL(job_spec, cell),
	FIELD_OPTIONAL(job_spec, values),
	FIELD_OPTIONAL(job_spec, about),
	FIELD_OPTIONAL(job_spec, vendor),
	FIELD_OPTIONAL(job_spec, nodes),
	FIELD_OPTIONAL(job_spec, devices),
	FIELD_OPTIONAL(job_spec, follows),
	FIELD_EMBED_SOME(job_spec, container, seed_schema),
	FIELD_EMBED(job_spec, race, race_spec_schema),
	FIELD_EMBED(job_spec, layout, layout_spec_schema),
	FIELD_EMBED(job_spec, measure, measure_spec_schema));

static const struct schema series_schema = SCHEMA(stored_result,
	FIELD_NULLABLE(stored_result, series));
/* clang-format on */

static int result_take_seed(struct container_spec *container,
			    struct result_info *to, struct error *err)
{
	char seed[SEED_SIZE];
	int rc = container_seed(container, seed)
			 ? string_set(&to->seed, seed, err)
			 : 0;

	codec_clear(&seed_schema, container);
	return rc;
}

static int result_take_spec(const char *text, struct result_info *to,
			    struct error *err)
{
	struct job_spec spec;
	int rc;

	to->setup = calloc(1, sizeof(*to->setup));
	if (!to->setup)
		return error_nomem(err, "results");
	if (codec_decode_other(&shown_spec_schema, text, strlen(text), &spec,
			       err) < 0)
		return -1;
	to->cell = spec.cell;
	to->values = spec.values;
	to->follows = spec.follows;
	to->nodes = spec.nodes;
	to->devices = spec.nodes * (spec.devices ? spec.devices : 1);
	*to->setup = (struct setup){ .measure = spec.measure,
				     .vendor = spec.vendor,
				     .layout = spec.layout,
				     .about = spec.about };
	rc = result_take_seed(&spec.container, to, err);
	if (rc < 0 || !spec.race.steps) {
		codec_clear(&race_spec_schema, &spec.race);
		return rc;
	}
	to->race = malloc(sizeof(*to->race));
	if (!to->race) {
		codec_clear(&race_spec_schema, &spec.race);
		return error_nomem(err, "results");
	}
	*to->race = spec.race;
	return 0;
}

static void result_take_stored(struct stored_result *stored,
			       struct result_info *to)
{
	to->result = take(stored->result);
	to->provenance = take(stored->provenance);
	to->reason = take(stored->reason);
	/* The number of devices that it held, not of those requested. */
	if (to->provenance)
		to->devices = (uint32_t)to->provenance->devices;
	codec_clear(&stored_figures_schema, stored);
}

/* The rates of a cell's runs, the newest first. */
struct run_rates {
	char key[65]; /* of the cell; "": none was read */
	struct run_rate {
		uint64_t job;
		struct rate rate;
	} of[CELL_RUNS_MAX];
	size_t count;
};

/* A page of results, whose neighbours often are of one cell. */
struct results_page {
	struct page page;
	struct run_rates runs;
};

static int note_rate(const struct job_row *row, void *arg)
{
	struct run_rates *runs = arg;

	if (row->rate.unit)
		runs->of[runs->count++] =
			(struct run_rate){ row->id, row->rate };
	return 0;
}

static int rates_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Which run of its cell the row is, and how fast all of them were. */
static int result_add_runs(struct results_page *of, const struct job_row *row,
			   struct result_info *to, struct error *err)
{
	struct rate own = result_rate(to->result);
	struct run_rates *runs = &of->runs;
	double rates[CELL_RUNS_MAX];
	struct cell_history *store;
	size_t n = 0, before = 0;

	if (!own.unit)
		return 0;
	if (strcmp(runs->key, row->key) != 0) {
		*runs = (struct run_rates){ 0 };
		if (store_runs(of->page.api->store, row->key, NULL,
			       CELL_RUNS_MAX, note_rate, runs, err) < 0)
			return -1;
		snprintf(runs->key, sizeof(runs->key), "%s", row->key);
	}
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->of[i].rate.unit != own.unit)
			continue;
		rates[n++] = runs->of[i].rate.value;
		before += runs->of[i].job <=
			  (row->origin ? row->origin : row->id);
	}
	if (!before)
		return 0; /* older than those that count */
	qsort(rates, n, sizeof(*rates), rates_compare);
	store = to->store = malloc(sizeof(*store));
	if (!store)
		return error_nomem(err, "results");
	*store = (struct cell_history){
		.run = before,
		.runs = n,
		.best = rates[n - 1],
		.median = (rates[(n - 1) / 2] + rates[n / 2]) / 2,
		.worst = rates[0],
	};
	return 0;
}

static int list_result(const struct job_row *row, void *arg)
{
	struct results_page *of = arg;
	struct page *page = &of->page;
	struct result_info *info = page_row(page);
	struct stored_result stored;

	if (!info)
		return page->stop;
	info->job = row->id;
	info->repeat = row->repeat;
	if (result_take_spec(row->spec, info, page->err) < 0)
		return -1;
	job_stored_read(page->api, row->id, &stored_figures_schema, &stored);
	result_take_stored(&stored, info);
	if (row->state == JOB_COMPLETED &&
	    (result_add_runs(of, row, info, page->err) < 0 ||
	     published_find(page->api->catalog, info, &info->published,
			    page->err) < 0))
		return -1;
	return string_set(&info->state, job_state_name(row->state), page->err) <
				       0 ||
			       string_set(&info->failure,
					  failure_name(row->failure),
					  page->err) < 0 ||
			       string_set(&info->text, row->text, page->err) < 0
		       ? -1
		       : job_describe_origin(page->api, row, &info->from,
					     page->err);
}

int api_results(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct results_page of = { .page = page_of(request->api,
						   &result_info_schema,
						   query->limit, err) };
	struct reply_results *to = reply;
	int rc;

	if (sweep_describe_id(request->api, query->id, &to->sweep, err) < 0)
		return -1;
	rc = store_jobs(request->api->store, query->id, query->after,
			of.page.limit + 1, list_result, &of, err);
	to->more = of.page.more;
	to->rows = page_take(&of.page, &to->rows_count);
	return rc < 0 ? -1 : 0;
}

static int list_series(const struct job_row *row, void *arg)
{
	struct page *page = arg;
	struct series_info *info = page_row(page);
	struct stored_result stored;

	if (!info)
		return page->stop;
	info->job = row->id;
	job_stored_read(page->api, row->id, &series_schema, &stored);
	info->series = stored.series;
	return 0;
}

int api_series(struct api_request *request, void *reply, struct error *err)
{
	const struct message_query *query = request->message;
	struct page page =
		page_of(request->api, &series_info_schema, query->limit, err);
	struct reply_series *to = reply;
	int rc;

	if (page.limit > SERIES_ROWS_MAX)
		page.limit = SERIES_ROWS_MAX;
	rc = store_jobs(request->api->store, query->id, query->after,
			page.limit + 1, list_series, &page, err);
	to->more = page.more;
	to->rows = page_take(&page, &to->rows_count);
	return rc < 0 ? -1 : 0;
}
