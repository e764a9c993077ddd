/* node_history.c - what the store tells of a node over weeks: how often jobs
 * failed there, and how its validations changed.
 */
#include "controller/api/node_history.h"
#include "controller/api/jobs.h"
#include "controller/nodes/lemons.h"
#include "controller/nodes/node.h"
#include "controller/results/steady.h"
#include "controller/store/store.h"
#include "controller/validation/peers.h"
#include "protocol/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_BEGUN 30000 /* the last ones, that are read first of all */
#define LAST_RUNS 2000     /* among which its validations are looked for */
#define CELLS_MAX 8        /* of its last validation */
#define RUNS_MAX 50        /* of a cell */

struct taking {
	struct lemons *lemons;
	struct error *err;
};

static int take_event(const struct event_row *row, void *arg)
{
	struct taking *taking = arg;

	return lemons_take(taking->lemons, row, taking->err);
}

int node_history_read(const struct api *api, struct error *err)
{
	struct taking taking = { api->lemons, err };
	uint64_t seen = lemons_seen(api->lemons);
	uint64_t last = store_seen_event(api->store);

	if (last > seen + EVENTS_BEGUN)
		seen = last - EVENTS_BEGUN;
	return store_events(api->store, 0, seen, EVENTS_BEGUN, take_event,
			    &taking, err);
}

int node_history_lemon(const struct api *api, struct node_info *to,
		       struct error *err)
{
	struct node_lemon lemon = { 0 };
	bool slow = to->rate && to->rate->outlier && to->rate->percent < 0;
	int known = lemons_of(api->lemons, to->name, node_count(api->nodes),
			      slow, clock_wall_ms(), &lemon, err);

	if (known <= 0)
		return known;
	to->lemon = malloc(sizeof(*to->lemon));
	if (!to->lemon) {
		codec_clear(&node_lemon_schema, &lemon);
		return error_nomem(err, "node");
	}
	*to->lemon = lemon;
	return 0;
}

/* The validations of a node. */

/* The cells of the last sweep with a cell of this node. */
struct node_cells {
	const char *node;
	uint64_t sweep;
	struct strings keys;
	struct error *err;
};

/* Does the label of a cell have the word "node=n3"? */
static bool cell_is_of(const char *cell, const char *node)
{
	size_t length = strlen(node);

	for (const char *at = cell; (at = strstr(at, "node=")); at++)
		if ((at == cell || at[-1] == ' ') &&
		    !strncmp(at + 5, node, length) &&
		    (!at[5 + length] || at[5 + length] == ' '))
			return true;
	return false;
}

static int note_node_cell(const struct job_row *row, void *arg)
{
	struct node_cells *cells = arg;

	if (row->nodes != 1 || !row->cell ||
	    !cell_is_of(row->cell, cells->node) ||
	    (cells->sweep && row->sweep != cells->sweep) ||
	    cells->keys.count == CELLS_MAX ||
	    strings_has(&cells->keys, row->key))
		return 0;
	cells->sweep = row->sweep;
	return strings_add(&cells->keys, row->key, cells->err);
}

/* The runs of a cell, the newest first. */
struct cell_runs {
	struct cell_run {
		uint64_t job;
		int64_t ended_ms;
		double rate;
		struct stored_result stored;
	} of[RUNS_MAX];
	size_t count;
};

static int note_run(const struct job_row *row, void *arg)
{
	struct cell_runs *runs = arg;

	runs->of[runs->count++] =
		(struct cell_run){ .job = row->origin ? row->origin : row->id,
				   .ended_ms = row->ended_ms,
				   .rate = row->rate.unit ? row->rate.value
							  : (double)NAN };
	return 0;
}

static void cell_runs_clear(struct cell_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		codec_clear(&stored_figures_schema, &runs->of[i].stored);
}
OWNED_VALUE(struct cell_runs, cell_runs_clear)

/* The value of a test in a run; NAN: it has none. */
static double run_value(const struct cell_run *run, const char *test)
{
	const struct result *result = run->stored.result;

	if (!strcmp(test, "rate"))
		return run->rate;
	for (size_t i = 0; result && i < result->metrics_count; i++)
		if (!strcmp(result->metrics[i].name, test))
			return result->metrics[i].number;
	return NAN;
}

/* The last run against the median of those before it. */
static int test_add(const struct cell_runs *runs, const char *test,
		    struct node_info *to, struct error *err)
{
	double values[RUNS_MAX], last = run_value(&runs->of[0], test);
	double before, spread, worse;
	size_t count = 0, oldest = 0;
	struct node_test *made;

	for (size_t i = 1; i < runs->count; i++) {
		double value = run_value(&runs->of[i], test);

		if (!isfinite(value))
			continue;
		values[count++] = value;
		oldest = i;
	}
	if (!isfinite(last) || !count)
		return 0;
	sort_values(values, count);
	before = quantile(values, count, 0.5);
	spread = quantile(values, count, 0.75) - quantile(values, count, 0.25);
	worse = test_less(test) ? last - before : before - last;
	made = realloc(to->tests, (to->tests_count + 1) * sizeof(*made));
	if (!made)
		return error_nomem(err, "node");
	to->tests = made;
	made += to->tests_count;
	*made = (struct node_test){
		.last = last,
		.before = before,
		.worse_pct = before ? 100 * worse / fabs(before) : (double)NAN,
		.runs = count,
		.since_ms = runs->of[oldest].ended_ms,
	};
	to->tests_count++;
	made->fell = count >= NODE_TEST_RUNS && worse > 2 * spread &&
		     made->worse_pct >= 100 * test_threshold(test);
	return string_set(&made->test, test, err);
}

static int cell_add(const struct api *api, const char *key,
		    struct node_info *to, struct error *err)
{
	owned(cell_runs_clear) struct cell_runs runs = { .count = 0 };
	const struct result *last;

	if (store_runs(api->store, key, NULL, RUNS_MAX, note_run, &runs, err) <
	    0)
		return -1;
	for (size_t i = 0; i < runs.count; i++)
		job_stored_read(api, runs.of[i].job, &stored_figures_schema,
				&runs.of[i].stored);
	if (!runs.count)
		return 0;
	if (test_add(&runs, "rate", to, err) < 0)
		return -1;
	last = runs.of[0].stored.result;
	for (size_t i = 0; last && i < last->metrics_count; i++)
		if (test_add(&runs, last->metrics[i].name, to, err) < 0)
			return -1;
	return 0;
}

int node_history_tests(const struct api *api, struct node_info *to,
		       struct error *err)
{
	struct node_cells cells = { .node = to->name, .err = err };
	int rc = store_last_runs(api->store, LAST_RUNS, note_node_cell, &cells,
				 err);

	for (size_t i = 0; rc == 0 && i < cells.keys.count; i++)
		rc = cell_add(api, cells.keys.items[i], to, err);
	strings_clear(&cells.keys);
	return rc < 0 ? -1 : 0;
}
