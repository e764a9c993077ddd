/* world.c - virtual time, chance, and the wire between controller and nodes.
 */
#include "tests/simulation/simulation.h"

#include "protocol/base/file.h"

#include <fcntl.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_US (300 * SECOND)
#define AFTER_US                                                               \
	(INT64_C(4) * 3600 * SECOND) /* for all to end, once healed            \
				      */

uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t random_below(uint64_t *state, uint64_t n)
{
	return random_next(state) % n;
}

bool random_chance(uint64_t *state, uint32_t per_million)
{
	return per_million && random_below(state, 1000000) < per_million;
}

bool world_strikes(struct world *world, uint32_t per_million)
{
	return !world->healed && random_chance(&world->random, per_million);
}

void world_wrong(struct world *world, const char *fmt, ...)
{
	va_list args;

	if (world->wrong[0])
		return;
	va_start(args, fmt);
	vsnprintf(world->wrong, sizeof(world->wrong), fmt, args);
	va_end(args);
	world_trace(world, "WRONG: %s", world->wrong);
}

void world_trace(struct world *world, const char *fmt, ...)
{
	va_list args;

	if (!world->trace)
		return;
	printf("# %10.6f ", (double)world->now_us / SECOND);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

char world_byte(uint64_t job, uint32_t attempt, uint32_t rank, uint64_t offset)
{
	static struct {
		uint64_t job, line;
		uint32_t attempt, rank;
		char text[SIM_LINE + 1];
	} last = { .line = UINT64_MAX };
	uint64_t line = offset / SIM_LINE;
	/* Repeats differ, and so do steps. */
	uint64_t noise = job * 7919 + attempt * 31ULL + rank * 17ULL + line * 5;

	if (last.job != job || last.attempt != attempt || last.rank != rank ||
	    last.line != line) {
		last.job = job;
		last.attempt = attempt;
		last.rank = rank;
		last.line = line;
		snprintf(last.text, sizeof(last.text),
			 "step %7u time %7u ms   \n", (unsigned int)line + 1,
			 1000 + (unsigned int)(job * 7919 % 100 + noise % 10));
	}
	return last.text[offset % SIM_LINE];
}

/* Events: a binary heap, by time and then by age. */

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void push(struct world *world, const struct sim_event *event)
{
	size_t at = world->heap_count++;

	if (world->heap_count > world->heap_room) {
		world->heap_room =
			world->heap_room ? 2 * world->heap_room : 1024;
		world->heap =
			realloc(world->heap, world->heap_room * sizeof(*event));
		if (!world->heap)
			abort();
	}
	while (at && before(event, &world->heap[(at - 1) / 2])) {
		world->heap[at] = world->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	world->heap[at] = *event;
}

static struct sim_event pop(struct world *world)
{
	struct sim_event first = world->heap[0];
	struct sim_event last = world->heap[--world->heap_count];
	size_t at = 0, count = world->heap_count;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    before(&world->heap[child + 1], &world->heap[child]))
			child++;
		if (!before(&world->heap[child], &last))
			break;
		world->heap[at] = world->heap[child];
		at = child;
	}
	world->heap[at] = last;
	return first;
}

static void at_time(struct world *world, int64_t at_us, enum sim_kind kind,
		    struct agent *agent, uint32_t session,
		    const struct packet *packet)
{
	struct sim_event event = {
		.at_us = at_us > world->now_us ? at_us : world->now_us,
		.order = world->order++,
		.kind = kind,
		.agent = agent,
		.session = session,
	};

	if (packet)
		event.packet = *packet;
	push(world, &event);
}

void world_later(struct world *world, int64_t delay_us, enum sim_kind kind,
		 struct agent *agent, uint32_t session,
		 const struct packet *packet)
{
	at_time(world, world->now_us + delay_us, kind, agent, session, packet);
}

/* The truth about a rank of an attempt. */

static int compare_truths(const void *a, const void *b)
{
	const struct sim_truth *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->attempt != y->attempt)
		return x->attempt < y->attempt ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

struct sim_truth *world_truth(struct world *world, uint64_t job,
			      uint32_t attempt, uint32_t rank)
{
	const struct sim_truth key = { .job = job,
				       .attempt = attempt,
				       .rank = rank };
	void *found = tfind(&key, &world->truths, compare_truths);
	struct sim_truth *made;

	if (found)
		return *(struct sim_truth **)found;
	made = malloc(sizeof(*made));
	if (!made)
		abort();
	*made = key;
	if (!tsearch(made, &world->truths, compare_truths))
		abort();
	return made;
}

/* The wire. */

static int64_t latency(struct world *world)
{
	uint64_t *state = &world->random;

	/* Most are quick; some nodes' are very late. */
	if (!world->healed && random_below(state, 200) == 0)
		return (int64_t)random_below(state, 3 * SECOND);
	return 50 + (int64_t)random_below(state, 2 * MS);
}

static struct packet copy_of(const struct packet *packet)
{
	struct packet copy = *packet;

	if (!packet->report)
		return copy;
	copy.report = calloc(packet->size + 1, sizeof(*copy.report));
	if (!copy.report)
		abort();
	memcpy(copy.report, packet->report,
	       packet->size * sizeof(*copy.report));
	return copy;
}

static void carry(struct agent *agent, enum sim_kind kind, int64_t *last_us,
		  uint32_t session, const struct packet *packet)
{
	struct world *world = agent->world;
	int64_t at_us = world->now_us + latency(world);

	/* In order: TCP's, and libzmq's. */
	if (at_us <= *last_us)
		at_us = *last_us + 1;
	*last_us = at_us;
	at_time(world, at_us, kind, agent, session, packet);
	/* Every message may arrive twice. */
	if (!world->healed && packet->type != MESSAGE_HELLO &&
	    packet->type != MESSAGE_WELCOME &&
	    random_chance(&world->random, world->plan.repeat)) {
		struct packet again = copy_of(packet);

		*last_us = ++at_us;
		at_time(world, at_us, kind, agent, session, &again);
	}
}

void wire_to_controller(struct agent *agent, const struct packet *packet)
{
	if (agent->connected)
		carry(agent, SIM_TO_CONTROLLER, &agent->to_controller_us,
		      agent->session, packet);
	else
		free(packet->report);
}

void wire_to_agent(struct agent *agent, uint32_t session,
		   const struct packet *packet)
{
	struct world *world = agent->world;

	/* Its queue was full: it is asked for a report later. */
	if (!world->healed && packet->type != MESSAGE_WELCOME &&
	    random_chance(&world->random, world->plan.lose)) {
		world_later(world, 5 * SECOND, SIM_RESYNC, agent, session,
			    NULL);
		return;
	}
	carry(agent, SIM_TO_AGENT, &agent->to_agent_us, session, packet);
}

/* Nothing more arrives, either way; both sides see that some time. */
void wire_cut(struct agent *agent)
{
	struct world *world = agent->world;
	uint64_t *state = &world->random;

	if (!agent->connected)
		return;
	world->cuts++;
	agent->connected = false;
	agent->welcomed = false;
	world_later(world, (int64_t)random_below(state, 15 * SECOND),
		    SIM_CUT_SEEN, agent, agent->session, NULL);
	world_later(world, (int64_t)random_below(state, 20 * SECOND),
		    SIM_CONNECT, agent, 0, NULL);
}

/* Running. */

static void to_agent(const struct sim_event *event)
{
	struct agent *agent = event->agent;

	if (agent->up && agent->connected && agent->session == event->session)
		agent_heard(agent, &event->packet);
}

static void run_event(struct world *world, const struct sim_event *event)
{
	struct agent *agent = event->agent;

	switch (event->kind) {
	case SIM_TO_AGENT:
		to_agent(event);
		break;
	case SIM_CONNECT:
		agent_connect(agent);
		break;
	case SIM_AGENT_UP:
		agent_rise(agent);
		break;
	case SIM_EVICT:
		agent_evict(agent);
		break;
	case SIM_STEP:
		agent_step(agent, event);
		break;
	case SIM_PUMP:
		if (agent->instance == event->session)
			agent_pump(agent);
		break;
	case SIM_FAULT:
		faults_strike(world);
		break;
	case SIM_HEAL:
		faults_heal(world);
		break;
	default:
		driver_event(world, event);
		break;
	}
}

/* Nothing is left to do, and has not been for a while: whatever nodes still
 * have is removed meanwhile.
 */
static bool is_over(struct world *world)
{
	bool idle = world->healed && world->alive && !world->stalled &&
		    !world->inbox_count && jobs_idle(world->jobs);

	if (!idle)
		world->idle_us = 0;
	else if (!world->idle_us)
		world->idle_us = world->now_us;
	return world->wrong[0] ||
	       (idle && world->now_us - world->idle_us > IDLE_US);
}

void world_run(struct world *world)
{
	int64_t end_us = world->plan.length_us + AFTER_US;

	while (!is_over(world) && world->heap_count) {
		struct sim_event event = pop(world);

		if (event.at_us > end_us) {
			free(event.packet.report);
			break;
		}
		world->now_us = event.at_us;
		world->events++;
		run_event(world, &event);
		/* Whoever kept it has taken it. */
		if (event.kind != SIM_TO_CONTROLLER)
			free(event.packet.report);
		check_event(world);
	}
	if (!world->wrong[0])
		check_end(world);
}

/* Making and unmaking. */

static void make_plan(struct world *world)
{
	uint64_t *state = &world->random;
	struct sim_plan *plan = &world->plan;
	bool large = random_below(state, 16) == 0;
	/* A third of the runs have few faults of each kind, a third many. */
	uint32_t scale = (uint32_t)random_below(state, 3);

	plan->nodes = 4 + (uint32_t)random_below(state, large ? 300 : 20);
	plan->jobs =
		5 + (uint32_t)random_below(state, UINT64_C(4) * plan->nodes);
	plan->length_us = (2 + (int64_t)random_below(state, 8)) * 60 * SECOND;
	plan->lose = scale * (uint32_t)random_below(state, 10000);
	plan->repeat = scale * (uint32_t)random_below(state, 30000);
	plan->fail_put = scale * (uint32_t)random_below(state, 4000);
	plan->fail_row = scale * (uint32_t)random_below(state, 1000);
	plan->fail_log = scale * (uint32_t)random_below(state, 10000);
	plan->kill = scale * (uint32_t)random_below(state, 1000);
	plan->fail_task = (uint32_t)random_below(state, 200000);
	plan->fault_us = (1 + (int64_t)random_below(state, 60)) * SECOND;
	plan->person_us = (1 + (int64_t)random_below(state, 20)) * SECOND;
}

static void make_agents(struct world *world)
{
	world->agents = calloc(world->plan.nodes, sizeof(*world->agents));
	if (!world->agents)
		abort();
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		struct agent *agent = &world->agents[i];

		agent->world = world;
		agent->index = i;
		agent->up = true;
		agent->vendor = i % 4 == 3 ? "beta" : "alpha";
		snprintf(agent->name, sizeof(agent->name), "n%u", i);
		snprintf(agent->key, sizeof(agent->key), "key-of-%u", i);
		world_later(world,
			    (int64_t)random_below(&world->random, SECOND),
			    SIM_CONNECT, agent, 0, NULL);
	}
}

/* Where a store is that lives in memory; a disk does as well. */
static bool make_folder(struct world *world)
{
	snprintf(world->folder, sizeof(world->folder),
		 "/dev/shm/simulation.XXXXXX");
	if (mkdtemp(world->folder))
		return true;
	snprintf(world->folder, sizeof(world->folder),
		 "/tmp/simulation.XXXXXX");
	return mkdtemp(world->folder);
}

int world_open(struct world *world, const struct catalog *catalog,
	       uint64_t seed, bool trace)
{
	*world = (struct world){
		.catalog = catalog, .seed = seed, .random = seed, .trace = trace
	};
	if (!make_folder(world))
		return -1;
	make_plan(world);
	make_agents(world);
	driver_boot(world);
	world_later(world, 0, SIM_PERSON, NULL, 0, NULL);
	world_later(world, world->plan.fault_us, SIM_FAULT, NULL, 0, NULL);
	world_later(world, world->plan.length_us, SIM_HEAL, NULL, 0, NULL);
	return 0;
}

#define PLAIN_NODES 2
#define PLAIN_JOBS 20

int world_open_broken(struct world *world, const struct catalog *catalog,
		      uint64_t seed, bool trace, enum failure failure)
{
	*world = (struct world){
		.catalog = catalog, .seed = seed, .random = seed, .trace = trace
	};
	if (!make_folder(world))
		return -1;
	world->plan = (struct sim_plan){ .nodes = PLAIN_NODES,
					 .jobs = PLAIN_JOBS,
					 .plain = true };
	world->healed = true;
	make_agents(world);
	world->agents[random_below(&world->random, PLAIN_NODES)].broken =
		failure;
	driver_boot(world);
	world_later(world, 2 * SECOND, SIM_PERSON, NULL, 0, NULL);
	return 0;
}

void world_close(struct world *world)
{
	driver_close(world);
	for (size_t i = 0; i < world->heap_count; i++)
		free(world->heap[i].packet.report);
	free(world->heap);
	for (uint32_t i = 0; i < world->plan.nodes; i++)
		agent_clear(&world->agents[i]);
	free(world->agents);
	tdestroy(world->truths, free);
	file_remove_tree(AT_FDCWD, world->folder, NULL);
}
