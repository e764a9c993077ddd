/* invariants.c - what must be so after every event, and in the end.
 */
#include "tests/simulation/simulation.h"

#include "controller/jobs/job.h"
#include "controller/nodes/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 32            /* nodes; with more not every event is followed */
#define LATE_HEARD_MS 20000 /* until a broken connection is seen */
#define LARGE_EVERY 64      /* by a look at all of them */

/* Devices are held by the tasks that are told to be there, and by no others. */
static void check_node(struct world *world, const struct node *node)
{
	const struct slot *slot = node_slot(world->parts.nodes, node);
	const struct task *task;
	uint64_t held = 0;
	bool exclusive = false;

	TAILQ_FOREACH(task, &node->tasks, by_node)
	{
		if (task->node != node || !task->held)
			world_wrong(world, "%s: a task that is not there",
				    node->name);
		if (task->devices & held)
			world_wrong(world,
				    "%s: job %" PRIu64
				    " has devices of another",
				    node->name, task->job->id);
		held |= task->devices;
		exclusive |= !task->job->shape.shared;
	}
	if (slot->busy != held)
		world_wrong(world,
			    "%s: devices %" PRIx64 " are busy, %" PRIx64
			    " are held",
			    node->name, slot->busy, held);
	if (slot->exclusive != exclusive)
		world_wrong(world, "%s: exclusive without a job, or not",
			    node->name);
}

void check_event(struct world *world)
{

	if (!world->alive || world->wrong[0] ||
	    (node_count(world->parts.nodes) > LARGE &&
	     world->events % LARGE_EVERY))
		return;
	for (size_t i = 0; i < node_count(world->parts.nodes); i++)
		check_node(world, node_at(world->parts.nodes, i));
}

/* Who ended long before the limit is not too late, however late that is heard.
 * A clock that was set may say otherwise.
 */
static void check_late(struct world *world, const struct job *job)
{
	uint64_t limit_ms = job->gang->spec.timeout_ms - LATE_HEARD_MS;

	if (world->wall_offset_ms || job->gang->spec.timeout_ms < LATE_HEARD_MS)
		return;
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		const struct sim_truth *truth =
			world_truth(world, job->id, job->attempt, i);

		if (!truth->ended_well ||
		    SIM_WALL_MS + truth->ended_us / MS >
			    job->started_ms + (int64_t)limit_ms)
			return;
	}
	world_wrong(world, "job %" PRIu64 " ended in time, and is too late",
		    job->id);
}

/* It is final: what the result rests on must be true. */
void check_job_ended(struct world *world, const struct job *job)
{
	if (job->state == JOB_FAILED && job->failure == FAILURE_TIMEOUT)
		check_late(world, job);
	if (job->state != JOB_COMPLETED)
		return;
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		const struct sim_truth *truth =
			world_truth(world, job->id, job->attempt, i);

		if (truth->starts != 1 || !truth->ended_well)
			world_wrong(world,
				    "job %" PRIu64 " is completed, rank %u is "
				    "not",
				    job->id, i);
		if (truth->stored != truth->written)
			world_wrong(world,
				    "job %" PRIu64
				    " is completed, with %" PRIu64
				    " of %" PRIu64 " bytes of rank %u",
				    job->id, truth->stored, truth->written, i);
	}
}

static void blame(struct world *world, const struct job *job)
{
	world_wrong(world, "job %" PRIu64 " is %s and never ends", job->id,
		    job_state_name(job->state));
}

/* One that holds nodes is to blame rather than those that wait for them. */
static void find_holding(struct job *job, void *arg)
{
	if (job->gang)
		blame(arg, job);
}

static void find_active(struct job *job, void *arg)
{
	blame(arg, job);
}

void check_end(struct world *world)
{
	uint64_t counts[JOB_STATES] = { 0 };

	if (!world->alive || world->stalled) {
		world_wrong(world, "the controller does not work in the end");
		return;
	}
	job_each(world->parts.table, find_holding, world);
	job_each(world->parts.table, find_active, world);
	for (size_t i = 0; i < node_count(world->parts.nodes); i++)
		if (node_at(world->parts.nodes, i)->discards_count)
			world_wrong(world, "%s never discards what it should",
				    node_at(world->parts.nodes, i)->name);
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		const struct sim_task *task = world->agents[i].tasks;

		if (task)
			world_wrong(world,
				    "%s keeps a task of job %" PRIu64
				    " for good",
				    world->agents[i].name, task->job);
	}
	store_sweep_counts(world->store, SIM_SWEEP, counts, NULL);
	for (int i = 0; i < JOB_STATES; i++)
		if (counts[i] && !job_state_final((enum job_state)i))
			world_wrong(world,
				    "the store has %" PRIu64
				    " jobs that are %s "
				    "for good",
				    counts[i], job_state_name(i));
}

/* Replaying the store gives the same state: one line for each active job. */

struct snapshot {
	char *text;
	size_t size;
	FILE *stream;
};

static void print_gang(FILE *to, const struct job *job)
{
	const struct gang *gang = job->gang;

	if (job->state != JOB_PREPARING)
		fprintf(to, " at %s:%u", gang->address ? gang->address : "-",
			gang->port);
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		fprintf(to, " %s:%" PRIx64,
			gang->tasks[i].node ? gang->tasks[i].node->name : "-",
			gang->tasks[i].devices);
}

static void print_job(struct job *job, void *arg)
{
	FILE *to = arg;
	/* What was chosen becomes true with "prepare". */
	enum job_state state =
		job->state == JOB_ALLOCATED ? JOB_QUEUED : job->state;

	if (job_state_final(state))
		return;
	fprintf(to,
		"job %" PRIu64 " %s attempt %u since %u at %" PRId64 " %" PRId64
		" %" PRId64,
		job->id, job_state_name(state), job->attempt,
		job->first_attempt, job->queued_ms, job->started_ms,
		job->ended_ms);
	if (state == JOB_COLLECTING)
		fprintf(to, " %s: %s",
			job->failure ? failure_name(job->failure) : "good",
			job->text ? job->text : "-");
	if (state != JOB_QUEUED)
		print_gang(to, job);
	fprintf(to, "\n");
}

struct snapshot *snapshot_take(struct world *world)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		abort();
	snapshot->stream = open_memstream(&snapshot->text, &snapshot->size);
	if (!snapshot->stream)
		abort();
	job_each(world->parts.table, print_job, snapshot->stream);
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		const struct node *node =
			node_find(world->parts.nodes, world->agents[i].name);

		if (node && world->agents[i].stored)
			fprintf(snapshot->stream, "node %s%s\n", node->name,
				node->drain ? " drained" : "");
	}
	fclose(snapshot->stream);
	return snapshot;
}

static void snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->text);
	free(snapshot);
}

/* The first line that differs. */
static void name_difference(struct world *world, const char *a, const char *b)
{
	const char *line_a = a, *line_b = b;

	while (*a && *a == *b) {
		if (*a == '\n') {
			line_a = a + 1;
			line_b = b + 1;
		}
		a++;
		b++;
	}
	world_wrong(world, "replay: '%.*s' was '%.*s'",
		    (int)strcspn(line_b, "\n"), line_b,
		    (int)strcspn(line_a, "\n"), line_a);
}

void snapshot_compare(struct world *world, struct snapshot *before)
{
	struct snapshot *after = snapshot_take(world);

	if (strcmp(before->text, after->text) != 0)
		name_difference(world, before->text, after->text);
	snapshot_free(after);
	snapshot_free(before);
}
