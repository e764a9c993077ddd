/* plan.c - describes a sweep as JSON: which cells run, which are dropped, and
 * why.
 */
#include "controller/sweep/plan.h"

#include "controller/sweep/plan_races.h"

#include <string.h>
#include <unistd.h>

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
