/* job_queue.c - describes why a job is queued: who holds what it needs, its
 * place, and when it will probably start.
 */
#include "controller/api/jobs.h"
#include "controller/api/schedule_simulation.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The waiting jobs, and which of them come before this one. */
static void queue_find_place(const struct other_jobs *others,
			     const struct schedule_other *own,
			     struct queue_info *to)
{
	to->place = 1;
	for (size_t i = 0; i < others->count; i++) {
		const struct schedule_other *other = &others->items[i];

		if (!other->shape)
			continue;
		to->length++;
		to->place += other->priority > own->priority ||
			     (other->priority == own->priority &&
			      other->job < own->job);
	}
}

static int note_holder_owner(const struct sweep_row *row, void *arg)
{
	char **client = arg;

	*client = strdup(row->client);
	return *client ? 0 : -1;
}

static int note_holder_cell(const struct job_row *row, void *arg)
{
	struct holder_info *holder = arg;

	holder->sweep = row->sweep;
	return string_set(&holder->cell, row->cell, NULL);
}

static int holder_describe(struct store *store,
			   const struct schedule_other *other,
			   struct holder_info *to, struct error *err)
{
	to->job = other->job;
	to->rest_ms = other->time_ms ? (double)other->time_ms : (double)NAN;
	if (store_job(store, to->job, note_holder_cell, to, err) < 0)
		return -1;
	return store_sweep(store, to->sweep, note_holder_owner, &to->owner,
			   err);
}

static struct holder_info *queue_holder(struct queue_info *queue, uint64_t job)
{
	for (size_t i = 0; i < queue->holders_count; i++)
		if (queue->holders[i].job == job)
			return &queue->holders[i];
	return NULL;
}

/* The jobs on nodes that would suit this one. */
static int queue_find_holders(const struct api *api,
			      const struct other_jobs *others,
			      const struct shape *shape, struct queue_info *to,
			      struct error *err)
{
	const struct slot *slots = node_slots(api->nodes);

	to->holders = calloc(QUEUE_HOLDERS_MAX, sizeof(*to->holders));
	if (!to->holders)
		return error_nomem(err, "queue");
	for (size_t i = 0; i < others->count; i++) {
		const struct schedule_other *other = &others->items[i];
		struct holder_info *holder;

		if (other->shape ||
		    !slot_suits(&slots[other->held.slot], shape))
			continue;
		holder = queue_holder(to, other->job);
		if (!holder && to->holders_count == QUEUE_HOLDERS_MAX) {
			to->more = true;
			continue;
		}
		if (!holder) {
			holder = &to->holders[to->holders_count++];
			if (holder_describe(api->store, other, holder, err) < 0)
				return -1;
		}
		if (strings_add(&holder->nodes,
				node_name(
					node_at(api->nodes, other->held.slot)),
				err) < 0)
			return -1;
	}
	return 0;
}

static int queue_find_start(const struct api *api,
			    const struct other_jobs *others, size_t own,
			    struct queue_info *to, struct error *err)
{
	size_t count = node_count(api->nodes);
	owned_free struct slot *slots = calloc(count + 1, sizeof(*slots));
	uint64_t start_ms;

	if (!slots)
		return error_nomem(err, "queue");
	if (count)
		memcpy(slots, node_slots(api->nodes), count * sizeof(*slots));
	if (schedule_start(slots, count, others->items, others->count, own,
			   &start_ms, err) < 0)
		return -1;
	to->start_ms = start_ms ? (double)start_ms : (double)NAN;
	return 0;
}

int job_describe_queue(const struct api *api, uint64_t job,
		       struct queue_info **to, struct error *err)
{
	owned(other_jobs_clear) struct other_jobs others = { 0 };
	const struct schedule_other *own;
	size_t at = 0;

	if (other_jobs_read(&others, api->table, err) < 0)
		return -1;
	while (at < others.count &&
	       (others.items[at].job != job || !others.items[at].shape))
		at++;
	if (at == others.count)
		return 0;
	*to = calloc(1, sizeof(**to));
	if (!*to)
		return error_nomem(err, "queue");
	own = &others.items[at];
	queue_find_place(&others, own, *to);
	if (queue_find_holders(api, &others, own->shape, *to, err) < 0)
		return -1;
	return queue_find_start(api, &others, at, *to, err);
}
