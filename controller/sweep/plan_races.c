/* plan_races.c - describes the races of a sweep before they run.
 */
#include "controller/sweep/plan_races.h"

#include "controller/race/race_words.h"
#include "controller/results/json_object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

cJSON *plan_races(struct sweep *sweep, struct error *err)
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
