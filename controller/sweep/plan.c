/* plan.c - describes a sweep as JSON: which cells run, which are dropped, and
 * why.
 */
#include "controller/sweep/plan.h"
#include "controller/race/race_words.h"
#include "controller/results/json_object.h"
#include "controller/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Describes the races of a sweep before they run. */

/* A list, an object for each race:
 *
 *	{"race": "vendor=nvidia",	keys that separate it, or ""
 *	 "heats": 72, "steps": 10, "margin": 0.05, "repeat": 3,
 *	 "prunable": 17,	the most cells that need no less memory than one
 *	 "first": "micro=1", "last": "micro=8",
 *	 "ladder": false,	of micro batches (`fit`): not all are tried
 *	 "order": [{"cell": "micro=1", "index": 0, "memory_gib": 31.2,
 *		    "prunable": 17}]}	in the order of the heats
 *
 * index: in the plan's list of kept cells. memory_gib: estimated, of a device;
 * null: not known. prunable: cells that never run if this one runs out.
 *
 * Of a sweep with more than PLAN_RACES_CELLS cells only those are looked at.
 * The caller deletes it; an empty list: no cell races.
 */
#define PLAN_RACES_CELLS 2000

#define GROUP_BYTES 400

struct planned {
	char group[GROUP_BYTES];
	char *cell, *rest;
	size_t kept; /* number of the cell in the plan */
	struct race_needs needs;
	struct race_spec spec;
};

struct planned_list {
	struct planned *items;
	size_t count;
};

static void planned_clear(struct planned_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].cell);
		free(list->items[i].rest);
		codec_clear(&race_spec_schema, &list->items[i].spec);
	}
	free(list->items);
}
OWNED_VALUE(struct planned_list, planned_clear)

static int planned_add(struct planned_list *list, struct job_spec *spec,
		       size_t kept, struct error *err)
{
	struct planned *to = &list->items[list->count];

	if (!spec->race.steps)
		return 0;
	race_group(&spec->race, spec->values, spec->cell, to->group,
		   GROUP_BYTES);
	to->needs = race_needs_of(&spec->race, &spec->measure, &spec->layout);
	to->rest = race_rest(spec->values);
	to->cell = take(spec->cell);
	to->kept = kept;
	to->spec = spec->race;
	spec->race = (struct race_spec){ 0 };
	list->count++;
	to->needs.rest = to->rest;
	return to->rest ? 0 : error_nomem(err, "plan");
}

/* By their races, and there by their heats. */
static int compare_planned(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;
	int groups = strcmp(x->group, y->group);

	if (groups)
		return groups;
	if (x->spec.order < y->spec.order || x->spec.order > y->spec.order)
		return x->spec.order < y->spec.order ? -1 : 1;
	return x->kept < y->kept ? -1 : x->kept > y->kept;
}

/* How many cells of the race need at least the memory of this one. */
static size_t count_more(const struct planned *race, size_t count,
			 const struct planned *cell)
{
	size_t more = 0;

	for (size_t i = 0; i < count; i++)
		more += race_needs_more(&cell->needs, &race[i].needs);
	return more;
}

static cJSON *planned_heat(const struct planned *cell, size_t more,
			   bool *failed)
{
	cJSON *to = cJSON_CreateObject();

	json_add_text(to, "cell", cell->cell, failed);
	json_add_number(to, "index", (double)cell->kept, failed);
	json_add_number(to, "memory_gib",
			cell->spec.sized ? cell->spec.order / (1 << 30)
					 : (double)NAN,
			failed);
	json_add_number(to, "prunable", (double)more, failed);
	return to;
}

static cJSON *planned_race(const struct planned *race, size_t count,
			   bool *failed)
{
	cJSON *to = cJSON_CreateObject(), *order = cJSON_CreateArray();
	size_t prunable = 0;

	for (size_t i = 0; i < count; i++) {
		size_t more = count_more(race, count, &race[i]);

		prunable = more > prunable ? more : prunable;
		json_add(order, NULL, planned_heat(&race[i], more, failed),
			 failed);
	}
	json_add_text(to, "race", race->group, failed);
	json_add_number(to, "heats", (double)count, failed);
	json_add_number(to, "steps", race->spec.steps, failed);
	json_add_number(to, "margin", race->spec.margin, failed);
	json_add_number(to, "repeat", race->spec.repeat, failed);
	json_add_number(to, "prunable", (double)prunable, failed);
	json_add_text(to, "first", race->cell, failed);
	json_add_text(to, "last", race[count - 1].cell, failed);
	json_add(to, "ladder", cJSON_CreateBool(race->spec.fit), failed);
	json_add(to, "order", order, failed);
	return to;
}

static cJSON *planned_races(const struct planned_list *list, bool *failed)
{
	cJSON *races = cJSON_CreateArray();

	for (size_t i = 0, end; i < list->count; i = end) {
		for (end = i + 1;
		     end < list->count &&
		     !strcmp(list->items[end].group, list->items[i].group);)
			end++;
		json_add(races, NULL,
			 planned_race(&list->items[i], end - i, failed),
			 failed);
	}
	return races;
}

static cJSON *plan_races(struct sweep *sweep, struct error *err)
{
	owned(planned_clear) struct planned_list list = { 0 };
	size_t kept = sweep_totals(sweep)->kept;
	cJSON *races;
	bool failed = false;

	if (kept > PLAN_RACES_CELLS)
		kept = PLAN_RACES_CELLS;
	list.items = calloc(kept + 1, sizeof(*list.items));
	if (!list.items)
		return error_null(error_nomem(err, "plan"));
	for (size_t cell = 0; cell < kept; cell++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };

		if (sweep_job(sweep, sweep_cell_job(sweep, cell, NULL), &spec,
			      err) < 0 ||
		    planned_add(&list, &spec, cell, err) < 0)
			return NULL;
	}
	qsort(list.items, list.count, sizeof(*list.items), compare_planned);
	races = planned_races(&list, &failed);
	if (races && !failed)
		return races;
	cJSON_Delete(races);
	return error_null(error_nomem(err, "plan"));
}

static bool plan_add_number(cJSON *object, const char *name, double number)
{
	return cJSON_AddNumberToObject(object, name, number) != NULL;
}

static bool plan_add_totals(cJSON *plan, const struct sweep_totals *totals)
{
	cJSON *object = cJSON_AddObjectToObject(plan, "totals");

	return object &&
	       plan_add_number(object, "cells", (double)totals->cells) &&
	       plan_add_number(object, "kept", (double)totals->kept) &&
	       plan_add_number(object, "dropped", (double)totals->dropped) &&
	       plan_add_number(object, "jobs", (double)totals->jobs) &&
	       plan_add_number(object, "nodes_max", totals->nodes_max) &&
	       plan_add_number(object, "node_jobs",
			       (double)totals->node_jobs) &&
	       plan_add_number(object, "timeout_ms",
			       (double)totals->timeout_ms);
}

/* An empty object at the end of the list; NULL when memory runs out. */
static cJSON *plan_add_row(cJSON *list)
{
	cJSON *row = cJSON_CreateObject();

	return cJSON_AddItemToArray(list, row) ? row : NULL;
}

/* The format of the log; "auto": to be detected. */
static const char *log_of(const struct measure_spec *measure)
{
	if (measure->log)
		return measure->log;
	return measure->framework ? measure->framework : "auto";
}

/* Add "missing" if the absolute path of a build folder has no Dockerfile here.
 * Other names are folders below the images folder of the nodes.
 */
static bool add_missing(cJSON *row, const char *build)
{
	owned_free char *path = NULL;

	if (!build || *build != '/')
		return true;
	if (asprintf(&path, "%s/Dockerfile", build) < 0) {
		path = NULL;
		return false;
	}
	return access(path, F_OK) == 0 ||
	       cJSON_AddStringToObject(row, "missing", path) != NULL;
}

static int add_kept(struct sweep *sweep, size_t cell, cJSON *list,
		    struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
	cJSON *row = plan_add_row(list);
	uint32_t repeats = 0;
	size_t job = sweep_cell_job(sweep, cell, &repeats);

	if (!row)
		return error_nomem(err, "plan");
	if (sweep_job(sweep, job, &spec, err) < 0)
		return -1;
	if (!cJSON_AddStringToObject(row, "cell", spec.cell) ||
	    !cJSON_AddStringToObject(row, "key", spec.key) ||
	    !plan_add_number(row, "repeats", repeats) ||
	    (spec.until.width > 0 &&
	     !plan_add_number(row, "repeats_max", spec.until.max)) ||
	    (spec.follows &&
	     !cJSON_AddStringToObject(row, "after", spec.follows)) ||
	    !cJSON_AddStringToObject(row, "vendor", spec.vendor) ||
	    !plan_add_number(row, "nodes", spec.nodes) ||
	    !plan_add_number(row, "devices", spec.devices) ||
	    !cJSON_AddStringToObject(row, "image", spec.container.image) ||
	    (spec.container.build &&
	     !cJSON_AddStringToObject(row, "build", spec.container.build)) ||
	    !add_missing(row, spec.container.build) ||
	    !cJSON_AddStringToObject(row, "log", log_of(&spec.measure)) ||
	    !cJSON_AddItemToObject(row, "values", spec.values))
		return error_nomem(err, "plan");
	spec.values = NULL; /* it is the row's now */
	return 0;
}

static int plan_add_dropped(struct sweep *sweep, size_t drop, cJSON *list,
			    struct error *err)
{
	char cell[CELL_WORDS_BYTES];
	char reason[SWEEP_REASON_BYTES];
	cJSON *row = plan_add_row(list);

	if (!row)
		return error_nomem(err, "plan");
	if (sweep_drop(sweep, drop, cell, sizeof(cell), reason, sizeof(reason),
		       err) < 0)
		return -1;
	if (!cJSON_AddStringToObject(row, "cell", cell) ||
	    !cJSON_AddStringToObject(row, "reason", reason))
		return error_nomem(err, "plan");
	return 0;
}

cJSON *plan_new(struct sweep *sweep, size_t rows, struct error *err)
{
	const struct sweep_totals *totals = sweep_totals(sweep);
	owned(cJSON_Delete) cJSON *plan = cJSON_CreateObject();
	cJSON *kept = NULL, *dropped = NULL, *races;

	if (!plan ||
	    !cJSON_AddStringToObject(plan, "sweep", sweep_name(sweep)) ||
	    !plan_add_totals(plan, totals) ||
	    !(kept = cJSON_AddArrayToObject(plan, "kept")) ||
	    !(dropped = cJSON_AddArrayToObject(plan, "dropped")))
		return error_null(error_nomem(err, "plan"));
	for (size_t i = 0; i < totals->kept && i < rows; i++)
		if (add_kept(sweep, i, kept, err) < 0)
			return NULL;
	for (size_t i = 0; i < totals->dropped && i < rows; i++)
		if (plan_add_dropped(sweep, i, dropped, err) < 0)
			return NULL;
	races = plan_races(sweep, err);
	if (!races)
		return NULL;
	if (!cJSON_GetArraySize(races))
		cJSON_Delete(races);
	else if (!cJSON_AddItemToObject(plan, "races", races))
		return error_null(error_nomem(err, "plan"));
	return take(plan);
}
