/* plan_races.c - describes the races of a sweep before they run.
 */
#include "controller/sweep/plan_races.h"

#include "controller/race/race_words.h"
#include "controller/results/json_object.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 400

struct planned {
	char group[GROUP_BYTES];
	char *cell, *rest;
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
		       struct error *err)
{
	struct planned *to = &list->items[list->count];

	if (!spec->race.steps)
		return 0;
	race_group(spec->values, &spec->race.per, to->group, GROUP_BYTES);
	to->needs = race_needs_of(&spec->measure, &spec->layout);
	to->rest = race_rest(spec->values);
	to->cell = take(spec->cell);
	to->spec = spec->race;
	spec->race = (struct race_spec){ 0 };
	list->count++;
	to->needs.rest = to->rest;
	return to->rest ? 0 : error_nomem(err, "plan");
}

/* How many cells need at least the memory of this one. */
static size_t count_more(const struct planned_list *list, size_t cell)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += !strcmp(list->items[i].group,
				 list->items[cell].group) &&
			 race_needs_more(&list->items[cell].needs,
					 &list->items[i].needs);
	return count;
}

static cJSON *planned_race(const struct planned_list *list, size_t first,
			   bool *failed)
{
	const struct planned *begins = &list->items[first], *low = begins,
			     *high = begins;
	cJSON *to = cJSON_CreateObject();
	size_t heats = 0, prunable = 0;

	for (size_t i = first; i < list->count; i++) {
		const struct planned *cell = &list->items[i];
		size_t more;

		if (strcmp(cell->group, begins->group) != 0)
			continue;
		heats++;
		more = count_more(list, i);
		if (more > prunable)
			prunable = more;
		if (cell->spec.order < low->spec.order)
			low = cell;
		if (cell->spec.order >= high->spec.order)
			high = cell;
	}
	json_add_text(to, "race", begins->group, failed);
	json_add_number(to, "heats", (double)heats, failed);
	json_add_number(to, "steps", begins->spec.steps, failed);
	json_add_number(to, "margin", begins->spec.margin, failed);
	json_add_number(to, "repeat", begins->spec.repeat, failed);
	json_add_number(to, "prunable", (double)prunable, failed);
	json_add_text(to, "first", low->cell, failed);
	json_add_text(to, "last", high->cell, failed);
	return to;
}

/* Is a cell before this one in its race? */
static bool race_is_listed(const struct planned_list *list, size_t cell)
{
	for (size_t i = 0; i < cell; i++)
		if (!strcmp(list->items[i].group, list->items[cell].group))
			return true;
	return false;
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
		    planned_add(&list, &spec, err) < 0)
			return NULL;
		if (!list.count)
			break; /* a sweep whose first cell does not race */
	}
	races = cJSON_CreateArray();
	for (size_t i = 0; i < list.count; i++)
		if (!race_is_listed(&list, i))
			json_add(races, NULL, planned_race(&list, i, &failed),
				 &failed);
	if (races && !failed)
		return races;
	cJSON_Delete(races);
	return error_null(error_nomem(err, "plan"));
}
