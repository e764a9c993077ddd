/* schedule_simulation.c - simulates which nodes would run which jobs of a
 * sweep, and when.
 */
#include "controller/api/schedule_simulation.h"
#include "controller/jobs/expected_time.h"
#include "controller/nodes/node.h"
#include "protocol/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define TIMED_MAX 500 /* jobs: some 100 us for each */

void other_jobs_clear(struct other_jobs *others)
{
	free(others->items);
	*others = (struct other_jobs){ 0 };
}

static void others_append(struct other_jobs *others,
			  const struct schedule_other *other)
{
	if (others->count == others->room) {
		size_t room = others->room * 2 + 64;
		struct schedule_other *items =
			reallocarray(others->items, room, sizeof(*items));

		if (!items) {
			others->rc = error_nomem(others->err, "jobs");
			return;
		}
		others->items = items;
		others->room = room;
	}
	others->items[others->count++] = *other;
}

/* How long the job still takes; 0: unknown. */
static uint64_t rest_ms(struct other_jobs *others, const struct job *job)
{
	int64_t started_ms = job_started_ms(job), rest;

	if (others->timed++ >= TIMED_MAX)
		return 0;
	rest = expected_time(job);
	if (!rest)
		return 0;
	if (started_ms)
		rest -= others->now_ms - started_ms;
	return rest > 1000 ? (uint64_t)rest : 1000;
}

static void others_add_holding(struct other_jobs *others,
			       struct schedule_other *other,
			       const struct gang *gang)
{
	for (uint32_t rank = 0; rank < gang_nodes(gang) && others->rc == 0;
	     rank++) {
		struct task_hold *hold = task_hold(gang_task(gang, rank));

		if (!hold->held)
			continue;
		other->held = (struct placement){ node_index(hold->node),
						  hold->devices };
		others_append(others, other);
	}
}

/* job_fn: in the order of their numbers, as the queue has them. */
static void others_add_job(struct job *job, void *arg)
{
	struct other_jobs *others = arg;
	struct schedule_other other = { .priority = job_priority(job),
					.job = job_id(job) };

	if (others->rc < 0)
		return;
	others->jobs++;
	if (!job_gang(job) && job_state(job) != JOB_QUEUED)
		return;
	other.time_ms = rest_ms(others, job);
	if (job_gang(job)) {
		others_add_holding(others, &other, job_gang(job));
	} else {
		other.shape = job_shape(job);
		others_append(others, &other);
	}
}

int other_jobs_read(struct other_jobs *others, struct job_table *table,
		    struct error *err)
{
	others->now_ms = clock_wall_ms();
	others->err = err;
	job_each(table, others_add_job, others);
	return others->rc;
}

#define LACKS_BYTES 320
#define OTHER_JOB UINT32_MAX

/* The requirements of cells; many cells share one. */
struct kind {
	const struct sweep_kind *of;
	struct shape shape;
	enum unschedulable shortage;
	char lacks[LACKS_BYTES];
};

/* A job that follows others, or that others follow. */
struct held {
	uint32_t missing; /* jobs that must still end before it */
	uint32_t first;   /* the job whose nodes it gets, + 1; 0: any nodes */
	uint32_t behind;  /* edge + 1 to a job that follows it; 0: none */
	uint32_t *pins;   /* owned */
	uint32_t pins_count;
};

struct edge {
	uint32_t job;
	uint32_t next; /* edge + 1 */
};

/* A job that holds its slots. */
struct running {
	uint64_t end;
	uint32_t job; /* OTHER_JOB: of another sweep */
	uint32_t count;
	struct placement *placements; /* owned */
};

struct play {
	struct schedule_simulation *simulation;
	struct sweep *sweep; /* borrowed */
	struct slot *slots;
	size_t slot_count;
	struct kind *kinds; /* in the order of their first cell */
	size_t kind_count;
	size_t jobs;
	const struct schedule_other *others; /* borrowed */
	size_t others_count;
	uint64_t
		watched; /* another job, from 1, whose start is looked for; 0 */
	size_t left;     /* jobs of the sweep that can run and have not ended;
			    1: the watched one has not started */
	uint64_t median; /* of the known times; 1: none is known */
	bool counted;    /* the present wave */
	uint32_t *cell_of; /* by job */
	uint64_t *times;   /* by cell, none of them 0 */
	struct held *held; /* by job; NULL: none follows another */
	struct edge *edges;
	size_t edge_count;
	struct queue *queue;
	struct running *heap; /* the one that ends first at the top */
	size_t running;
	uint64_t now;
	uint64_t end;
	bool failed; /* out of memory inside a callback */
};

void schedule_simulation_free(struct schedule_simulation *simulation)
{
	struct play *play = simulation ? simulation->memory : NULL;

	if (!simulation)
		return;
	for (size_t i = 0; simulation->cells && i < simulation->count; i++)
		free((uint32_t *)simulation->cells[i].slots);
	free(simulation->cells);
	if (play) {
		free(play->kinds);
		free(play->cell_of);
		free(play->times);
		queue_free(play->queue);
		for (size_t i = 0; i < play->running; i++)
			free(play->heap[i].placements);
		for (size_t i = 0; play->held && i < play->jobs; i++)
			free(play->held[i].pins);
		free(play->held);
		free(play->edges);
		free(play->heap);
		free(play);
	}
	free(simulation);
}

/* Kinds. */

struct shape schedule_shape(const struct sweep_kind *kind)
{
	return (struct shape){ .vendor = kind->vendor,
			       .chip = kind->chip,
			       .labels = kind->labels,
			       .nodes = kind->nodes,
			       .devices = kind->devices,
			       .shared = kind->shared };
}

static struct kind *play_add_kind(struct play *play,
				  const struct sweep_kind *of)
{
	struct kind *kind = &play->kinds[play->kind_count++];

	kind->of = of;
	kind->shape = schedule_shape(of);
	kind->shortage =
		unschedulable_of(play->slots, play->slot_count, &kind->shape,
				 kind->lacks, sizeof(kind->lacks));
	return kind;
}

/* The kind of a cell. The newest kinds are tried first. */
static struct kind *kind_of(struct play *play, const struct sweep_kind *of)
{
	for (size_t i = play->kind_count; i-- > 0;)
		if (play->kinds[i].of == of)
			return &play->kinds[i];
	return play_add_kind(play, of);
}

/* Hold the job until the jobs that it follows have ended. */
static int play_hold(struct play *play, struct sweep *sweep, size_t cell,
		     uint32_t repeat, size_t job, struct error *err)
{
	uint32_t before[CELL_ORDER_BEFORE_MAX];
	bool same_nodes;
	int count = sweep_after(sweep, cell, repeat, before, &same_nodes, err);
	struct edge *edges;

	if (count <= 0)
		return count;
	if (!play->held)
		play->held = calloc(play->jobs, sizeof(*play->held));
	edges = reallocarray(play->edges, play->edge_count + (size_t)count,
			     sizeof(*edges));
	play->edges = edges ? edges : play->edges;
	if (!play->held || !edges)
		return error_nomem(err, "plan");
	for (int i = 0; i < count; i++) {
		struct held *to = &play->held[before[i]];

		edges[play->edge_count] =
			(struct edge){ (uint32_t)job, to->behind };
		to->behind = (uint32_t)++play->edge_count;
	}
	play->held[job].missing = (uint32_t)count;
	play->held[job].first = same_nodes ? before[0] + 1 : 0;
	return count;
}

/* Find the kind of the cell; queue its jobs if nodes can run them. */
static int enter_cell(struct play *play, struct sweep *sweep, size_t cell,
		      struct error *err)
{
	struct schedule_simulation_cell *to = &play->simulation->cells[cell];
	const struct kind *kind = kind_of(play, sweep_cell_kind(sweep, cell));
	uint32_t repeats;
	size_t first = sweep_cell_job(sweep, cell, &repeats);

	to->shortage = kind->shortage;
	to->lacks = kind->shortage ? kind->lacks : NULL;
	for (size_t job = first; job < first + repeats; job++) {
		int held = play_hold(play, sweep, cell, (uint32_t)(job - first),
				     job, err);

		if (held < 0)
			return -1;
		play->cell_of[job] = (uint32_t)cell;
		play->left += !kind->shortage;
		if (!kind->shortage && !held &&
		    queue_add(play->queue, &kind->shape,
			      play->others_count + job + 1, kind->of->priority,
			      err) < 0)
			return -1;
	}
	return 0;
}

/* Running jobs. */

static void running_swap(struct running *heap, size_t a, size_t b)
{
	struct running swap = heap[a];

	heap[a] = heap[b];
	heap[b] = swap;
}

static void heap_add(struct play *play, struct running running)
{
	struct running *heap = play->heap;
	size_t at = play->running++;

	heap[at] = running;
	for (; at && heap[at].end < heap[(at - 1) / 2].end; at = (at - 1) / 2)
		running_swap(heap, at, (at - 1) / 2);
}

static void heap_pop(struct play *play)
{
	struct running *heap = play->heap;
	size_t at = 0, below;

	heap[0] = heap[--play->running];
	while ((below = 2 * at + 1) < play->running) {
		if (below + 1 < play->running &&
		    heap[below + 1].end < heap[below].end)
			below++;
		if (heap[at].end <= heap[below].end)
			return;
		running_swap(heap, at, below);
		at = below;
	}
}

/* The job gets these slots for so long. */
static bool play_start(struct play *play, uint32_t job, uint64_t time_ms,
		       const struct placement *placements, uint32_t count)
{
	struct running running = { .job = job,
				   .end = play->now + time_ms,
				   .count = count };

	running.placements = calloc(count, sizeof(*placements));
	if (!running.placements)
		return false;
	memcpy(running.placements, placements, count * sizeof(*placements));
	heap_add(play, running);
	return true;
}

static bool note_start(struct play *play, uint32_t cell,
		       const struct placement *placements, uint32_t count)
{
	struct schedule_simulation_cell *to = &play->simulation->cells[cell];
	uint32_t *slots;

	play->simulation->waves += !play->counted;
	play->counted = true;
	to->last_wave = play->simulation->waves;
	if (to->first_wave)
		return true;
	to->first_wave = play->simulation->waves;
	to->start_ms = play->now;
	slots = calloc(count, sizeof(*slots));
	for (uint32_t i = 0; slots && i < count; i++)
		slots[i] = (uint32_t)placements[i].slot;
	to->slots = slots;
	to->slots_count = slots ? count : 0;
	return slots != NULL;
}

static uint64_t other_time(const struct play *play,
			   const struct schedule_other *other)
{
	return other->time_ms ? other->time_ms : play->median;
}

/* place_fn */
static bool play_place(void *arg, uint64_t id, const struct shape *shape,
		       const struct placement *placements)
{
	struct play *play = arg;
	bool other = id <= play->others_count;
	uint32_t job =
		other ? OTHER_JOB : (uint32_t)(id - play->others_count - 1);
	uint32_t cell = other ? 0 : play->cell_of[job];
	uint64_t time = other ? other_time(play, &play->others[id - 1])
			      : play->times[cell];

	if (id == play->watched)
		play->left = 0;
	play->failed |=
		!play_start(play, job, time, placements, shape->nodes) ||
		(!other && !note_start(play, cell, placements, shape->nodes));
	return !play->failed;
}

/* Queue the jobs of other sweeps, or let them run on. */
static int enter_others(struct play *play, struct error *err)
{
	for (size_t i = 0; i < play->others_count; i++) {
		const struct schedule_other *other = &play->others[i];

		if (other->shape ? queue_add(play->queue, other->shape, i + 1,
					     other->priority, err) < 0
				 : !play_start(play, OTHER_JOB,
					       other_time(play, other),
					       &other->held, 1))
			return error_nomem(err, "plan");
	}
	return 0;
}

static void let_go(struct play *play, uint32_t job)
{
	struct held *held = &play->held[job];
	const struct kind *kind =
		kind_of(play, sweep_cell_kind(play->sweep, play->cell_of[job]));
	struct shape shape = kind->shape;

	shape.pins = held->pins;
	shape.pins_count = held->pins_count;
	if (!kind->shortage &&
	    queue_add(play->queue, &shape, play->others_count + job + 1,
		      kind->of->priority, NULL) < 0)
		play->failed = true;
}

static void pin(struct play *play, struct held *held,
		const struct running *done)
{
	held->pins = calloc(done->count + 1, sizeof(*held->pins));
	play->failed |= !held->pins;
	for (uint32_t i = 0; held->pins && i < done->count; i++)
		held->pins[held->pins_count++] =
			(uint32_t)done->placements[i].slot;
}

/* A job has ended: release the jobs that waited only for it. */
static void play_release(struct play *play, const struct running *done)
{
	uint32_t edge = play->held ? play->held[done->job].behind : 0;

	while (edge) {
		uint32_t job = play->edges[edge - 1].job;
		struct held *held = &play->held[job];

		if (held->first == done->job + 1)
			pin(play, held, done);
		if (!--held->missing)
			let_go(play, job);
		edge = play->edges[edge - 1].next;
	}
}

/* Advance the time to the next end of jobs. */
static void end_some(struct play *play)
{
	play->now = play->heap[0].end;
	while (play->running && play->heap[0].end == play->now) {
		struct running done = play->heap[0];

		heap_pop(play);
		for (uint32_t i = 0; i < done.count; i++)
			slot_release(&play->slots[done.placements[i].slot],
				     done.placements[i].devices);
		if (done.job != OTHER_JOB) {
			play->end = play->now;
			play->left--;
			play_release(play, &done);
		}
		free(done.placements);
	}
}

static int play_run(struct play *play, struct error *err)
{
	struct schedule_simulation *simulation = play->simulation;
	uint64_t work = 0;

	while (play->left && work < SCHEDULE_SIMULATION_WORK) {
		play->counted = false;
		if (scheduler_run(play->queue, play->slots, play->slot_count,
				  NULL, NULL, play_place, play, err) < 0)
			return -1;
		if (play->failed)
			return error_nomem(err, "plan");
		/* Nothing runs and nothing started: the other jobs cannot run.
		 */
		if (!play->running || !play->left)
			break;
		end_some(play);
		work += play->slot_count * (play->kind_count + 1);
	}
	simulation->cut = play->left && work >= SCHEDULE_SIMULATION_WORK;
	return 0;
}

/* The times of jobs: cells without a time get the median of the others. */

static int times_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* 0: no cell has run before. */
static uint64_t median_time(const uint64_t *times, size_t count,
			    struct error *err)
{
	uint64_t *known = calloc(count + 1, sizeof(*known));
	uint64_t median = 0;
	size_t n = 0;

	if (!known) {
		error_nomem(err, "plan");
		return UINT64_MAX;
	}
	for (size_t i = 0; i < count; i++)
		if (times[i])
			known[n++] = times[i];
	qsort(known, n, sizeof(*known), times_compare);
	if (n)
		median = known[n / 2];
	free(known);
	return median;
}

static int play_set_times(struct play *play, const uint64_t *times, bool *known,
			  struct error *err)
{
	size_t count = play->simulation->count;
	uint64_t median = median_time(times, count, err);

	if (median == UINT64_MAX)
		return -1;
	*known = median;
	play->median = median ? median : 1;
	for (size_t i = 0; i < count; i++)
		play->times[i] = times[i] ? times[i] : play->median;
	return 0;
}

static void play_sum_up(struct play *play, const uint64_t *times, bool known)
{
	struct schedule_simulation *simulation = play->simulation;

	for (size_t i = 0; i < simulation->count; i++) {
		struct schedule_simulation_cell *cell = &simulation->cells[i];

		if (!cell->first_wave && !cell->shortage && !simulation->cut) {
			cell->shortage = UNSCHEDULABLE_DOWN;
			cell->lacks = "the cell on which it depends cannot "
				      "run, or runs on unsuitable nodes";
		}
		simulation->lacking += cell->shortage != UNSCHEDULABLE_NONE;
		simulation->known += !cell->shortage && times[i];
		simulation->unknown += !cell->shortage && !times[i];
		if (!known)
			cell->start_ms = 0;
	}
	simulation->end_ms = known && !simulation->cut ? play->end : 0;
}

static int play_make_room(struct play *play, struct sweep *sweep,
			  struct error *err)
{
	static const struct sweep_totals none;
	const struct sweep_totals *totals = sweep ? sweep_totals(sweep) : &none;

	play->kinds = calloc((sweep ? sweep_kinds(sweep) : 0) + 1,
			     sizeof(*play->kinds));
	play->times = calloc(totals->kept + 1, sizeof(*play->times));
	play->cell_of = calloc(totals->jobs + 1, sizeof(*play->cell_of));
	play->heap = calloc(totals->jobs + play->others_count + 1,
			    sizeof(*play->heap));
	if (!play->kinds || !play->times || !play->cell_of || !play->heap)
		return error_nomem(err, "plan");
	play->queue = queue_new(err);
	return play->queue ? 0 : -1;
}

/* sweep NULL: only of the other jobs. */
static struct schedule_simulation *play_new(struct sweep *sweep,
					    struct slot *slots, size_t count,
					    const struct schedule_other *others,
					    size_t others_count,
					    struct error *err)
{
	struct schedule_simulation *simulation = calloc(1, sizeof(*simulation));
	struct play *play = simulation ? calloc(1, sizeof(*play)) : NULL;

	if (simulation) {
		simulation->memory = play;
		simulation->count = sweep ? sweep_totals(sweep)->kept : 0;
		simulation->cells = calloc(simulation->count + 1,
					   sizeof(*simulation->cells));
	}
	if (!play || !simulation->cells) {
		schedule_simulation_free(simulation);
		return error_null(error_nomem(err, "plan"));
	}
	play->simulation = simulation;
	play->sweep = sweep;
	play->jobs = sweep ? sweep_totals(sweep)->jobs : 0;
	play->slots = slots;
	play->slot_count = count;
	play->others = others;
	play->others_count = others_count;
	return simulation;
}

struct schedule_simulation *
schedule_simulation_new(struct sweep *sweep, struct slot *slots, size_t count,
			const struct schedule_other *others,
			size_t others_count, const uint64_t *times,
			struct error *err)
{
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		play_new(sweep, slots, count, others, others_count, err);
	struct play *play = simulation ? simulation->memory : NULL;
	bool known = false;

	if (!play || play_make_room(play, sweep, err) < 0 ||
	    play_set_times(play, times, &known, err) < 0 ||
	    enter_others(play, err) < 0)
		return NULL;
	for (size_t i = 0; i < simulation->count; i++)
		if (enter_cell(play, sweep, i, err) < 0)
			return NULL;
	if (play_run(play, err) < 0)
		return NULL;
	play_sum_up(play, times, known);
	return take(simulation);
}

/* The median of the known times. */
static int others_median(struct play *play, struct error *err)
{
	owned_free uint64_t *times =
		calloc(play->others_count + 1, sizeof(*times));

	if (!times)
		return error_nomem(err, "plan");
	for (size_t i = 0; i < play->others_count; i++)
		times[i] = play->others[i].time_ms;
	play->median = median_time(times, play->others_count, err);
	return play->median == UINT64_MAX ? -1 : 0;
}

int schedule_start(struct slot *slots, size_t count,
		   const struct schedule_other *others, size_t others_count,
		   size_t index, uint64_t *start_ms, struct error *err)
{
	owned(schedule_simulation_free) struct schedule_simulation *simulation =
		play_new(NULL, slots, count, others, others_count, err);
	struct play *play = simulation ? simulation->memory : NULL;

	*start_ms = 0;
	if (!play || play_make_room(play, NULL, err) < 0 ||
	    others_median(play, err) < 0)
		return -1;
	if (!play->median)
		return 0;
	play->watched = index + 1;
	play->left = 1;
	if (enter_others(play, err) < 0 || play_run(play, err) < 0)
		return -1;
	if (!play->left)
		*start_ms = play->now;
	return 0;
}
