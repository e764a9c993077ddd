/* plan.c - request for a plan: what would become of a sweep, with the nodes and
 * the queue as they are now.
 */
#include "controller/api/schedule_simulation.h"
#include "controller/api/sweeps.h"
#include "controller/jobs/expected_time.h"
#include "controller/nodes/node.h"
#include "protocol/base/list.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_ROWS_MAX 20000
#define PLAN_ROWS_BYTES_MAX 3000000 /* of a reply of 4 MiB */
#define PLAN_TIMED_MAX 2000         /* cells: some 100 us for each */
#define PLAN_PLACES_MAX 4096        /* images and requests of cells */

/* Images of cells with one request, whose nodes are noted. */
struct plan_place {
	const struct sweep_kind *kind;
	size_t image;
};

struct planning {
	const struct api *api;
	struct sweep *sweep;
	struct reply_plan *reply;
	size_t nodes;
	struct slot *slots; /* owned; private to the simulation */
	uint64_t *times;    /* owned; by cell */
	struct other_jobs others;
	struct plan_place *places; /* owned */
	size_t places_count;
	struct error *err;
};

static void planning_clear(struct planning *planning)
{
	free(planning->slots);
	free(planning->times);
	other_jobs_clear(&planning->others);
	free(planning->places);
}
OWNED_VALUE(struct planning, planning_clear)

/* The nodes. */

static struct plan_policy *
plan_find_policy(struct reply_plan *reply, const char *vendor, const char *text)
{
	for (size_t i = 0; i < reply->policies_count; i++)
		if (!strcmp(reply->policies[i].text, text) &&
		    !strcmp(reply->policies[i].vendor, vendor))
			return &reply->policies[i];
	return NULL;
}

static struct plan_policy *plan_add_policy(struct reply_plan *reply,
					   const char *vendor, const char *text,
					   struct error *err)
{
	struct plan_policy *policy =
		LIST_ADD(reply->policies, reply->policies_count, err);

	return !policy || string_set(&policy->vendor, vendor, err) < 0 ||
			       string_set(&policy->text, text, err) < 0
		       ? NULL
		       : policy;
}

static int plan_note_policy(struct planning *planning,
			    const struct node_view *view)
{
	struct reply_plan *reply = planning->reply;
	const char *text = json_get_text(view->facts, "policy");
	struct plan_policy *policy =
		text ? plan_find_policy(reply, view->vendor, text) : NULL;

	if (!text)
		return 0;
	if (!policy)
		policy = plan_add_policy(reply, view->vendor, text,
					 planning->err);
	return policy ? strings_add(&policy->nodes, view->name, planning->err)
		      : -1;
}

static int plan_note_nodes(struct planning *planning)
{
	const struct nodes *nodes = planning->api->nodes;

	planning->nodes = node_count(nodes);
	planning->slots = calloc(planning->nodes + 1, sizeof(*planning->slots));
	if (!planning->slots)
		return error_nomem(planning->err, "plan");
	if (planning->nodes)
		memcpy(planning->slots, node_slots(nodes),
		       planning->nodes * sizeof(*planning->slots));
	for (size_t i = 0; i < planning->nodes; i++) {
		const struct node_view *view = node_view(node_at(nodes, i));

		if (view->removed)
			continue;
		planning->reply->nodes++;
		planning->reply->usable += planning->slots[i].usable;
		if (plan_note_policy(planning, view) < 0)
			return -1;
	}
	return 0;
}

/* The images. */

static bool plan_image_equals(const struct plan_image *image,
			      const struct container_spec *job)
{
	return !strcmp(image->image, job->image) &&
	       !image->build == !job->build &&
	       (!job->build || !strcmp(image->build, job->build));
}

static struct plan_image *plan_find_image(struct planning *planning,
					  const struct container_spec *job)
{
	struct reply_plan *reply = planning->reply;
	struct plan_image *added;

	/* Neighbouring cells mostly have the same image: search backwards. */
	for (size_t i = reply->images_count; i-- > 0;)
		if (plan_image_equals(&reply->images[i], job))
			return &reply->images[i];
	added = LIST_ADD(reply->images, reply->images_count, planning->err);
	return !added ||
			       string_set(&added->image, job->image,
					  planning->err) < 0 ||
			       string_set(&added->build, job->build,
					  planning->err) < 0
		       ? NULL
		       : added;
}

/* Note the nodes that could run a cell with this request. */
static int plan_note_place(struct planning *planning, struct plan_image *image,
			   const struct sweep_kind *kind)
{
	const struct plan_place place = {
		kind, (size_t)(image - planning->reply->images)
	};
	struct shape shape = schedule_shape(kind);
	struct plan_place *added;

	for (size_t i = planning->places_count; i-- > 0;)
		if (planning->places[i].kind == kind &&
		    planning->places[i].image == place.image)
			return 0;
	if (planning->places_count == PLAN_PLACES_MAX)
		return error_set(planning->err, E2BIG,
				 "%s: more than %d images and requests of "
				 "cells",
				 sweep_name(planning->sweep), PLAN_PLACES_MAX);
	added = LIST_ADD(planning->places, planning->places_count,
			 planning->err);
	if (!added)
		return -1;
	*added = place;
	for (size_t i = 0; i < planning->nodes; i++) {
		const char *name = node_name(node_at(planning->api->nodes, i));

		if (planning->slots[i].usable &&
		    slot_suits(&planning->slots[i], &shape) &&
		    !strings_has(&image->nodes, name) &&
		    strings_add(&image->nodes, name, planning->err) < 0)
			return -1;
	}
	return 0;
}

static int plan_note_images(struct planning *planning)
{
	size_t kept = sweep_totals(planning->sweep)->kept;

	for (size_t i = 0; i < kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };
		struct plan_image *image;

		if (sweep_cell_spec(planning->sweep, i, &spec, planning->err) <
		    0)
			return -1;
		image = plan_find_image(planning, &spec.container);
		if (!image ||
		    plan_note_place(planning, image,
				    sweep_cell_kind(planning->sweep, i)) < 0)
			return -1;
	}
	return 0;
}

/* The cells. */

/* How long the first cells took before. `runs` is of those that are described.
 */
static int plan_note_times(struct planning *planning)
{
	size_t kept = sweep_totals(planning->sweep)->kept;
	struct reply_plan *reply = planning->reply;

	planning->times = calloc(kept + 1, sizeof(*planning->times));
	if (!planning->times)
		return error_nomem(planning->err, "plan");
	for (size_t i = 0; i < kept && i < PLAN_TIMED_MAX; i++) {
		char key[65];
		uint32_t runs;
		int64_t median_ms;

		if (sweep_cell_key(planning->sweep, i, key, planning->err) <
			    0 ||
		    cell_time(planning->api->store, key, &runs, &median_ms,
			      planning->err) < 0)
			return -1;
		reply->timed++;
		if (runs)
			planning->times[i] =
				median_ms > 0 ? (uint64_t)median_ms : 1;
		if (i < reply->cells_count)
			reply->cells[i].runs = runs;
	}
	return 0;
}

static double plan_known(bool known, uint64_t value)
{
	return known ? (double)value : (double)NAN;
}

static int plan_describe_cell(const struct planning *planning,
			      const struct schedule_simulation *simulation,
			      size_t cell)
{
	const struct schedule_simulation_cell *of = &simulation->cells[cell];
	struct plan_cell *to = &planning->reply->cells[cell];

	to->fits = of->shortage == UNSCHEDULABLE_NONE;
	to->time_ms = plan_known(to->runs, planning->times[cell]);
	to->wave = plan_known(of->first_wave, of->first_wave);
	to->last_wave = plan_known(of->first_wave, of->last_wave);
	to->start_ms =
		plan_known(simulation->end_ms && of->first_wave, of->start_ms);
	for (uint32_t i = 0; i < of->slots_count; i++)
		if (strings_add(&to->on,
				node_name(node_at(planning->api->nodes,
						  of->slots[i])),
				planning->err) < 0)
			return -1;
	return string_set(&to->lacks, of->lacks, planning->err);
}

/* Describe as many cells as the reply has space for. */
static int plan_describe_cells(const struct planning *planning,
			       const struct schedule_simulation *simulation)
{
	struct reply_plan *reply = planning->reply;
	size_t bytes = 0, count = 0;

	while (count < reply->cells_count && bytes < PLAN_ROWS_BYTES_MAX) {
		if (plan_describe_cell(planning, simulation, count) < 0)
			return -1;
		bytes += codec_bound(&plan_cell_schema, &reply->cells[count++]);
	}
	reply->cells_count = count;
	return 0;
}

static int plan_simulate(struct planning *planning)
{
	struct reply_plan *reply = planning->reply;
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		schedule_simulation_new(planning->sweep, planning->slots,
					planning->nodes, planning->others.items,
					planning->others.count, planning->times,
					planning->err);

	if (!simulation)
		return -1;
	reply->others = (uint32_t)planning->others.jobs;
	reply->waves = simulation->waves;
	reply->time_ms = plan_known(simulation->end_ms, simulation->end_ms);
	reply->known = simulation->known;
	reply->unknown = simulation->unknown;
	reply->lacking = simulation->lacking;
	reply->cut = simulation->cut;
	return plan_describe_cells(planning, simulation);
}

static int plan_bind(struct sweep *sweep, const struct message_plan *message,
		     struct error *err)
{
	for (size_t i = 0; i < message->workspaces_count; i++)
		if (sweep_bind(sweep, message->workspaces[i].path,
			       message->workspaces[i].content, err) < 0)
			return -1;
	return 0;
}

static int plan_make_rows(struct planning *planning, size_t wanted)
{
	const struct sweep_totals *totals = sweep_totals(planning->sweep);
	struct reply_plan *reply = planning->reply;

	reply->cells_total = totals->kept;
	reply->jobs = totals->jobs;
	if (wanted > PLAN_ROWS_MAX)
		wanted = PLAN_ROWS_MAX;
	reply->cells = calloc(wanted + 1, sizeof(*reply->cells));
	if (!reply->cells)
		return error_nomem(planning->err, "plan");
	reply->cells_count = totals->kept < wanted ? totals->kept : wanted;
	return 0;
}

int api_plan(struct api_request *request, void *reply, struct error *err)
{
	const struct message_plan *message = request->message;
	owned(sweep_free) struct sweep *sweep =
		sweep_of_request(request, message->file, err);
	owned(planning_clear) struct planning planning = {
		.api = request->api,
		.sweep = sweep,
		.reply = reply,
		.err = err,
	};

	if (!sweep || sweep_check_size(sweep, err) < 0 ||
	    plan_bind(sweep, message, err) < 0)
		return -1;
	if (other_jobs_read(&planning.others, request->api->table, err) < 0 ||
	    plan_make_rows(&planning, message->rows) < 0 ||
	    plan_note_nodes(&planning) < 0 || plan_note_times(&planning) < 0 ||
	    (message->images && plan_note_images(&planning) < 0))
		return -1;
	return plan_simulate(&planning);
}
