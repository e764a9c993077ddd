/* faults.c - what people order, and what goes wrong, as the seed has it.
 */
#include "tests/simulation/simulation.h"

#include "controller/jobs/repeats.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/node_events.h"
#include "controller/jobs/race_rows.h"
#include "controller/nodes/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* People. */

static uint32_t nodes_of(const struct world *world, const char *vendor)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < world->plan.nodes; i++)
		count += !strcmp(world->agents[i].vendor, vendor);
	return count;
}

static uint8_t kind_of(const struct world *world, uint64_t job)
{
	return job < SIM_KINDS ? world->kinds[job] : 0;
}

static void submit(struct world *world)
{
	uint64_t *state = &world->random;
	uint64_t id = store_coming_job(world->store);
	bool beta = id % 5 == 4;
	uint8_t kind = (uint8_t)(KIND_KNOWN | (beta ? KIND_BETA : 0));
	struct after_spec after = { .job = 1 + random_below(state, id) };
	char image[] = { 'r', '/', 'i', ':', (char)('a' + id % 8), 0 };
	struct job_spec spec = {
		.sweep = (char *)"s",
		.cell = (char *)"x=1",
		.key = (char *)"k",
		.vendor = (char *)(beta ? "beta" : "alpha"),
		.priority = (int64_t)random_below(state, 3),
		.retries = (uint32_t)random_below(state, 4),
		.container.image = image,
		.container.network = (char *)"host",
	};
	struct store_mark mark = store_mark(world->store);
	struct error err;
	uint32_t most = nodes_of(world, spec.vendor);

	spec.nodes = 1 + (uint32_t)random_below(state, most < 6 ? most : 6);
	if (random_below(state, 3) == 0) {
		spec.shared = true;
		spec.devices = 1 + (uint32_t)random_below(state, DEVICES);
	}
	/* Some hang, and must have a limit. */
	if (id % 16 == 5 || random_below(state, 8) == 0)
		spec.timeout_ms = 5000 + random_below(state, 60000);
	if (random_below(state, 2)) {
		spec.measure.framework = (char *)SIM_FRAMEWORK;
		kind |= KIND_MEASURED;
	}
	if ((kind & KIND_MEASURED) && random_below(state, 4) == 0) {
		spec.until = (struct until_spec){
			.width = 0.01 + (double)random_below(state, 100) / 1000,
			.confidence = 0.95,
			.max = 2 + (uint32_t)random_below(state, 4),
		};
		/* Its repeats' numbers are not known: one may hang. */
		spec.timeout_ms = 30000;
		kind |= KIND_UNTIL;
	}
	if (id > 1 && after.job < id &&
	    (kind_of(world, after.job) & KIND_KNOWN) &&
	    random_below(state, 6) == 0) {
		spec.after = &after;
		spec.after_count = 1;
		/* On the nodes of the other, if it may find enough there. */
		spec.same_nodes =
			spec.nodes == 1 &&
			beta == !!(kind_of(world, after.job) & KIND_BETA);
	}
	world_trace(world, "submit job %lu of %u nodes", (unsigned long)id,
		    spec.nodes);
	if (job_submit(world->jobs, SIM_SWEEP, id, &spec, &err) < 0) {
		repeats_undo(world->jobs, SIM_SWEEP, id);
		store_undo(world->store, &mark);
		return;
	}
	world->submitted++;
	if (id < SIM_KINDS)
		world->kinds[id] = kind;
}

/* Forget the jobs of a race that could not be submitted. */
static void undo_race(struct world *world, uint64_t first, uint64_t end,
		      const struct store_mark *mark)
{
	for (uint64_t id = first; id < end; id++) {
		struct job *job = job_find(world->parts.table, id);

		if (job)
			job_forget(job);
		race_undo_submit(world->jobs, SIM_SWEEP, id);
	}
	store_undo(world->store, mark);
}

/* The cells of a race, whose number separates it from others, and behind each
 * one that runs if it wins.
 */
static void submit_race(struct world *world)
{
	uint64_t *state = &world->random;
	uint64_t first = store_coming_job(world->store);
	uint64_t end = first + 2 + random_below(state, 4);
	struct store_mark mark = store_mark(world->store);
	owned(cJSON_Delete) cJSON *values = cJSON_CreateObject();
	char *per = (char *)"race";
	struct after_spec after = { 0 };
	struct job_spec spec = {
		.sweep = (char *)"s",
		.cell = (char *)"x=1",
		.key = (char *)"k",
		.values = values,
		.vendor = (char *)"alpha",
		.nodes = 1,
		.retries = 2,
		.timeout_ms = 30000,
		.race = { .heat = true,
			  .steps = 3 + (uint32_t)random_below(state, 10),
			  .margin =
				  0.05 + (double)random_below(state, 40) / 100,
			  .tie = 0.05,
			  .confidence = 0.95,
			  .max = 2 + (uint32_t)random_below(state, 3),
			  .repeat = 1 + (uint32_t)random_below(state, 3),
			  .until = { .width = (double)random_below(state, 3) /
					      100,
				     .confidence = 0.95,
				     .max = 4 },
			  .per = { .items = &per, .count = 1 } },
		.container.image = (char *)"r/i:a",
		.container.network = (char *)"host",
		.measure.framework = (char *)SIM_FRAMEWORK,
	};

	cJSON_AddNumberToObject(values, "race", (double)first);
	for (uint64_t id = first; id < end; id++) {
		spec.measure.micro_batch = (uint32_t)(end - id);
		spec.race.order = (double)random_below(state, 3);
		world_trace(world, "submit heat %lu of race %lu",
			    (unsigned long)id, (unsigned long)first);
		if (job_submit(world->jobs, SIM_SWEEP, id, &spec, NULL) < 0) {
			undo_race(world, first, id + 1, &mark);
			return;
		}
	}
	spec.race = (struct race_spec){ 0 };
	spec.after = &after;
	spec.after_count = 1;
	spec.same_nodes = true;
	for (uint64_t id = end; id < end + (end - first); id++) {
		after.job = first + (id - end);
		if (job_submit(world->jobs, SIM_SWEEP, id, &spec, NULL) < 0) {
			undo_race(world, first, id + 1, &mark);
			return;
		}
	}
	world->submitted += 2 * (end - first);
	/* A job of such a number may have been lost before its commit. */
	for (uint64_t id = first; id < end + (end - first); id++)
		if (id < SIM_KINDS)
			world->kinds[id] = id == first ? KIND_RACE : 0;
}

/* As a sweep's cells, each for a node of its own. */
static void submit_plain(struct world *world)
{
	struct job_spec spec = {
		.sweep = (char *)"s",
		.cell = (char *)"x=1",
		.key = (char *)"k",
		.vendor = (char *)"alpha",
		.nodes = 1,
		.retries = 2,
		.container.image = (char *)"r/i:a",
		.container.network = (char *)"host",
	};

	while (world->submitted < world->plan.jobs) {
		if (job_submit(world->jobs, SIM_SWEEP, world->submitted + 1,
			       &spec, NULL) < 0)
			world_wrong(world, "a job is not taken");
		world->submitted++;
	}
}

static struct job *any_job(struct world *world)
{
	uint64_t last = store_coming_job(world->store);

	return job_find(world->parts.table,
			1 + random_below(&world->random, last));
}

static void cancel(struct world *world)
{
	struct job *job = any_job(world);

	if (!job || job_state_final(job->state))
		return;
	world_trace(world, "cancel job %lu", (unsigned long)job->id);
	gang_exception(job, FAILURE_CANCELLED, 0, "cancelled by op");
}

struct retrying {
	struct world *world;
	uint64_t cell;
};

static int retry_row(const struct job_row *row, void *arg)
{
	struct retrying *retrying = arg;
	struct world *world = retrying->world;

	retrying->cell = row->cell_index;
	if (row->state != JOB_FAILED && row->state != JOB_CANCELLED &&
	    !job_lost_race(row))
		return 0;
	world_trace(world, "retry job %lu", (unsigned long)row->id);
	return job_revive(world->jobs, row, NULL);
}

static void retry(struct world *world)
{
	struct store *store = world->store;
	struct store_mark mark = store_mark(store);
	uint64_t id = 1 + random_below(&world->random, store_coming_job(store));
	struct retrying retrying = { .world = world };
	struct job *job;

	if (store_pending(store))
		return; /* orders come between turns */
	if (store_job(store, id, retry_row, &retrying, NULL) == 0)
		return;
	job = job_find(world->parts.table, id);
	if (job && !job->gang)
		job_forget(job);
	repeats_undo(world->jobs, SIM_SWEEP, retrying.cell);
	race_undo_retry(world->jobs, SIM_SWEEP, retrying.cell);
	store_undo(store, &mark);
}

static void drain(struct world *world)
{
	struct agent *agent =
		&world->agents[random_below(&world->random, world->plan.nodes)];
	struct node *node = node_find(world->parts.nodes, agent->name);

	bool drains = node && !node_view(node)->drain;
	int rc;

	if (!node || node_view(node)->removed)
		return;
	rc = drains ? node_drain(world->parts.nodes, node, 0, 0, NULL, NULL)
		    : node_undrain(world->parts.nodes, node, NULL);
	agent->stored |= rc == 0;
	if ((rc == 0) != (node_view(node)->drain == drains))
		world_wrong(world, "%s: a drain was refused, and holds",
			    node_name(node));
}

/* It has to be let in anew. */
static void remove_node(struct world *world)
{
	struct agent *agent =
		&world->agents[random_below(&world->random, world->plan.nodes)];
	struct node *node = node_find(world->parts.nodes, agent->name);

	if (!node || !agent->stored ||
	    node_remove(world->parts.nodes, node, NULL) < 0)
		return;
	world_trace(world, "%s is removed", agent->name);
	agent->stored = false;
	agent->revoked_us = world->now_us +
			    (int64_t)random_below(&world->random, 120 * SECOND);
	node_event_lost(world->jobs, node, "the node was removed");
	world_later(world, MS, SIM_REVOKE, agent, 0, NULL);
}

void faults_person(struct world *world)
{
	uint64_t act = random_below(&world->random, 11);

	if (world->plan.plain) {
		submit_plain(world);
		return;
	}
	if (!world->healed)
		world_later(world,
			    1 + (int64_t)random_below(
					&world->random,
					2 * (uint64_t)world->plan.person_us),
			    SIM_PERSON, NULL, 0, NULL);
	if (!world->alive || world->stalled || world->healed)
		return;
	if (act < 6 && world->submitted < world->plan.jobs) {
		/* A sweep's jobs come together. */
		uint64_t count = 1 + random_below(&world->random, 8);

		if (!random_below(&world->random, 8))
			submit_race(world);
		while (count-- && world->submitted < world->plan.jobs)
			submit(world);
	} else if (act < 7) {
		cancel(world);
	} else if (act < 9) {
		retry(world);
	} else if (act < 10) {
		drain(world);
	} else {
		remove_node(world);
	}
}

/* Misfortune. */

static void strike_agent(struct world *world, struct agent *agent)
{
	uint64_t *state = &world->random;
	int64_t away_us = (int64_t)random_below(state, 120 * SECOND);

	switch (random_below(state, 7)) {
	case 0:
	case 1:
	case 2:
		world_trace(world, "%s: its connection breaks", agent->name);
		wire_cut(agent);
		break;
	case 3:
	case 4:
		world_trace(world, "%s: its agent dies", agent->name);
		agent_die(agent);
		world_later(world, away_us, SIM_AGENT_UP, agent, 0, NULL);
		break;
	case 5:
		world_trace(world, "%s: its time is over", agent->name);
		agent_leave(agent);
		break;
	default:
		world_trace(world, "%s: is set up anew", agent->name);
		agent_die(agent);
		agent_wipe(agent);
		world_later(world, away_us, SIM_AGENT_UP, agent, 0, NULL);
		break;
	}
}

void faults_strike(struct world *world)
{
	uint64_t *state = &world->random;

	if (world->healed)
		return;
	world_later(world,
		    1 + (int64_t)random_below(state, 2 * (uint64_t)world->plan
								     .fault_us),
		    SIM_FAULT, NULL, 0, NULL);
	switch (random_below(state, 12)) {
	case 0:
		driver_kill(world);
		break;
	case 1:
		world->disk_full_us = world->now_us +
				      (int64_t)random_below(state, 40 * SECOND);
		world_trace(world, "the disk is full");
		break;
	case 2:
		/* The wall clock jumps, either way. */
		world->wall_offset_ms +=
			(int64_t)random_below(state, 200000) - 100000;
		break;
	default:
		strike_agent(world,
			     &world->agents[random_below(state,
							 world->plan.nodes)]);
		break;
	}
}

void faults_heal(struct world *world)
{
	/* A controller first: what is undrained is stored. */
	if (!world->alive || world->stalled) {
		world->healed = true;
		world->disk_full_us = 0;
		world_later(world, SECOND, SIM_HEAL, NULL, 0, NULL);
		return;
	}
	world_trace(world, "no more faults");
	world->healed = true;
	world->disk_full_us = 0;
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		struct agent *agent = &world->agents[i];
		struct node *node = node_find(world->parts.nodes, agent->name);

		if (node && node_view(node)->drain &&
		    node_undrain(world->parts.nodes, node, NULL) == 0)
			agent->stored = true;
	}
}
