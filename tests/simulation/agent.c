/* agent.c - a modelled agent with its engine and its spool.
 *
 * It does what agent/ does, as far as the controller can tell: it prepares,
 * starts, stops and removes tasks, sends their output from where the controller
 * has come, and after a restart adopts what its engine and spool still have.
 */
#include "tests/simulation/simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME 1500
#define CREDIT 8000            /* bytes under way per task */
#define EVICT_US (20 * SECOND) /* from its leave to its end, at most */

static uint64_t *rng(struct agent *agent)
{
	return &agent->world->random;
}

static struct sim_task *find(const struct agent *agent,
			     const struct packet *packet)
{
	struct sim_task *task = agent->tasks;

	while (task &&
	       (task->job != packet->job || task->attempt != packet->attempt ||
		task->rank != packet->rank))
		task = task->next;
	return task;
}

static void forget(struct agent *agent, struct sim_task *task)
{
	struct sim_task **at = &agent->tasks;

	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	free(task);
}

static struct packet packet_of(enum message_type type,
			       const struct sim_task *task)
{
	return (struct packet){ .type = type,
				.job = task->job,
				.attempt = task->attempt,
				.rank = task->rank };
}

static struct packet status_of(const struct sim_task *task)
{
	struct packet packet = packet_of(MESSAGE_TASK, task);

	packet.state = task->removing ? TASK_ENDED : task->state;
	packet.failure =
		packet.state == TASK_ENDED ? task->outcome : FAILURE_NONE;
	packet.port = packet.state == TASK_READY ? 20000 + task->rank : 0;
	packet.streams = task->written;
	packet.pinned = task->state >= TASK_READY && task->created;
	return packet;
}

static void tell(struct agent *agent, const struct sim_task *task)
{
	struct packet packet = status_of(task);

	if (agent->welcomed)
		wire_to_controller(agent, &packet);
}

static void report(struct agent *agent)
{
	struct packet packet = { .type = MESSAGE_REPORT,
				 .leaving = agent->leaving };
	struct sim_task *task;

	for (task = agent->tasks; task; task = task->next)
		packet.size++;
	packet.report = calloc(packet.size + 1, sizeof(*packet.report));
	if (!packet.report)
		abort();
	packet.size = 0;
	for (task = agent->tasks; task; task = task->next)
		packet.report[packet.size++] = status_of(task);
	wire_to_controller(agent, &packet);
}

static void step_later(struct agent *agent, struct sim_task *task,
		       int64_t delay_us)
{
	const struct packet packet = packet_of(MESSAGE_NONE, task);

	task->generation++;
	world_later(agent->world, delay_us, SIM_STEP, agent, task->generation,
		    &packet);
}

static void enter(struct agent *agent, struct sim_task *task,
		  enum task_state state)
{
	task->state = state;
	if (agent->up)
		tell(agent, task);
}

static void pump_soon(struct agent *agent, int64_t delay_us)
{
	if (agent->pumping || !agent->up)
		return;
	agent->pumping = true;
	world_later(agent->world, delay_us, SIM_PUMP, agent, agent->instance,
		    NULL);
}

/* The command ended, whoever hears of it. */
static void exited(struct agent *agent, struct sim_task *task,
		   enum failure outcome)
{
	struct sim_truth *truth =
		world_truth(agent->world, task->job, task->attempt, task->rank);

	task->exited = true;
	task->outcome = outcome;
	task->total = task->written;
	truth->written = task->written;
	truth->ended_well = outcome == FAILURE_NONE;
	truth->ended_us = agent->world->now_us;
	if (agent->up)
		enter(agent, task, TASK_ENDED);
	pump_soon(agent, 20 * MS);
}

/* The engine was told to start it: it does that once, whoever asks again. */
static void start(struct agent *agent, struct sim_task *task)
{
	struct world *world = agent->world;
	const struct sim_task *other;

	task->started = true;
	if (world_truth(world, task->job, task->attempt, task->rank)->starts++)
		world_wrong(world, "job %lu attempt %u rank %u started twice",
			    (unsigned long)task->job, task->attempt,
			    task->rank);
	for (other = agent->tasks; other; other = other->next)
		if (other != task && other->started && !other->exited &&
		    (other->devices & task->devices))
			world_wrong(world,
				    "%s: job %lu starts on devices of job %lu, "
				    "which runs",
				    agent->name, (unsigned long)task->job,
				    (unsigned long)other->job);
	enter(agent, task, TASK_RUNNING);
	step_later(agent, task, (int64_t)random_below(rng(agent), 4 * SECOND));
}

/* A while of its run: it writes, and may end. */
static void run_on(struct agent *agent, struct sim_task *task)
{
	bool over =
		agent->world->plan.plain || random_below(rng(agent), 4) == 0;

	task->written += random_below(rng(agent), 4000);
	pump_soon(agent, 20 * MS);
	if (over && !task->hangs)
		exited(agent, task, task->fate);
	else
		step_later(agent, task,
			   (int64_t)random_below(rng(agent), 10 * SECOND));
}

static void prepared(struct agent *agent, struct sim_task *task)
{
	if (task->fate == FAILURE_IMAGE || task->fate == FAILURE_CREATE ||
	    task->fate == FAILURE_PREFLIGHT) {
		task->outcome = task->fate;
		agent->world->lost++;
		enter(agent, task, TASK_ENDED);
		return;
	}
	task->created = true;
	enter(agent, task, TASK_READY);
}

/* The machine is another's from now on, and some time later ours again. */
static void be_gone(struct agent *agent)
{
	agent_die(agent);
	agent_wipe(agent);
	agent->leaving = false;
	world_later(agent->world,
		    (int64_t)random_below(rng(agent), 120 * SECOND),
		    SIM_AGENT_UP, agent, 0, NULL);
}

/* A step's time is over. The engine's go on without an agent. */
void agent_step(struct agent *agent, const struct sim_event *event)
{
	struct sim_task *task = find(agent, &event->packet);
	struct packet gone;

	if (!task || task->generation != event->session)
		return;
	if (task->removing) {
		if (!agent->up)
			return; /* begun anew when it is back */
		gone = packet_of(MESSAGE_DISCARDED, task);
		forget(agent, task);
		if (agent->welcomed)
			wire_to_controller(agent, &gone);
		if (agent->leaving && !agent->tasks)
			be_gone(agent);
	} else if (task->started && !task->exited) {
		if (task->told)
			exited(agent, task, task->told);
		else
			run_on(agent, task);
	} else if (task->exited || !agent->up) {
		return;
	} else if (task->state == TASK_STARTING) {
		start(agent, task);
	} else if (task->state == TASK_PREPARING) {
		prepared(agent, task);
	}
}

/* Hearing. */

static enum failure choose_fate(struct agent *agent)
{
	static const enum failure fates[] = { FAILURE_PREFLIGHT, FAILURE_IMAGE,
					      FAILURE_CREATE,    FAILURE_EXIT,
					      FAILURE_OOM,       FAILURE_EXIT };
	struct world *world = agent->world;

	if (agent->broken)
		return agent->broken;
	if (world->healed || !random_chance(rng(agent), world->plan.fail_task))
		return FAILURE_NONE;
	return fates[random_below(rng(agent),
				  sizeof(fates) / sizeof(fates[0]))];
}

static void on_prepare(struct agent *agent, const struct packet *packet)
{
	struct sim_task *task = find(agent, packet);

	if (task) {
		tell(agent, task);
		return;
	}
	if (packet->look) {
		struct packet told = *packet;

		told.type = MESSAGE_TASK;
		told.state = TASK_PREPARING;
		told.pinned = random_below(rng(agent), 2);
		wire_to_controller(agent, &told);
		return;
	}
	task = calloc(1, sizeof(*task));
	if (!task)
		abort();
	task->job = packet->job;
	task->attempt = packet->attempt;
	task->rank = packet->rank;
	task->devices = packet->devices;
	task->state = TASK_PREPARING;
	task->fate = choose_fate(agent);
	/* Such a job has a time limit. */
	task->hangs = packet->job % 16 == 5 && !agent->world->healed;
	task->known = true; /* a new stream begins at 0 */
	task->turn = 1;
	task->next = agent->tasks;
	agent->tasks = task;
	step_later(agent, task,
		   MS + (int64_t)random_below(rng(agent), 3 * SECOND));
}

static void on_start(struct agent *agent, const struct packet *packet)
{
	struct sim_task *task = find(agent, packet);

	if (!task) {
		report(agent);
		return;
	}
	if (task->state != TASK_READY || task->removing)
		return;
	task->ordered = true;
	enter(agent, task, TASK_STARTING);
	step_later(agent, task,
		   MS + (int64_t)random_below(rng(agent), 100 * MS));
}

static void on_stop(struct agent *agent, const struct packet *packet)
{
	struct sim_task *task = find(agent, packet);

	if (!task) {
		report(agent);
		return;
	}
	if (task->removing || task->state == TASK_ENDED ||
	    task->state == TASK_STOPPING)
		return;
	task->told = packet->failure;
	if (task->started || task->state == TASK_STARTING) {
		/* One that is being started runs for a moment. */
		if (!task->started)
			start(agent, task);
		task->told = packet->failure;
		enter(agent, task, TASK_STOPPING);
		step_later(agent, task,
			   (int64_t)random_below(rng(agent), SECOND));
		return;
	}
	task->outcome = packet->failure;
	task->generation++;
	enter(agent, task, TASK_ENDED);
}

static void on_discard(struct agent *agent, const struct packet *packet)
{
	struct sim_task *task = find(agent, packet);
	struct packet gone = *packet;

	if (!task) {
		gone.type = MESSAGE_DISCARDED;
		wire_to_controller(agent, &gone);
		return;
	}
	if (task->removing)
		return;
	task->removing = true;
	if (task->started && !task->exited) {
		task->exited = true;
		world_truth(agent->world, task->job, task->attempt, task->rank)
			->written = task->written;
	}
	step_later(agent, task,
		   MS + (int64_t)random_below(rng(agent), 500 * MS));
	tell(agent, task);
}

static void on_ack(struct agent *agent, const struct packet *packet)
{
	struct sim_task *task = find(agent, packet);

	if (!task || (packet->turn && packet->turn != task->turn))
		return;
	if (!packet->turn || packet->refused) {
		task->sent = task->acked = packet->offset;
		task->turn++;
		task->known = true;
		pump_soon(agent, 20 * MS + packet->retry_ms * MS);
		return;
	}
	if (packet->offset >= task->acked && packet->offset <= task->sent)
		task->acked = packet->offset;
	pump_soon(agent, MS);
}

void agent_heard(struct agent *agent, const struct packet *packet)
{
	if (packet->type == MESSAGE_WELCOME) {
		struct sim_task *task;

		agent->welcomed = true;
		for (task = agent->tasks; task; task = task->next) {
			task->sent = task->acked;
			task->turn++;
			task->known = false;
		}
		report(agent);
	} else if (packet->type == MESSAGE_PREPARE) {
		on_prepare(agent, packet);
	} else if (packet->type == MESSAGE_START) {
		on_start(agent, packet);
	} else if (packet->type == MESSAGE_STOP) {
		on_stop(agent, packet);
	} else if (packet->type == MESSAGE_DISCARD) {
		on_discard(agent, packet);
	} else if (packet->type == MESSAGE_LOG_ACK) {
		on_ack(agent, packet);
	} else if (packet->type == MESSAGE_RESYNC) {
		report(agent);
	}
}

/* Output. */

static bool send_some(struct agent *agent, struct sim_task *task)
{
	struct packet packet = packet_of(MESSAGE_LOG, task);

	if (!task->known || task->sent >= task->written ||
	    task->sent - task->acked >= CREDIT)
		return false;
	packet.offset = task->sent;
	packet.turn = task->turn;
	packet.size = task->written - task->sent;
	if (packet.size > FRAME)
		packet.size = 1 + random_below(rng(agent), FRAME);
	task->sent += packet.size;
	wire_to_controller(agent, &packet);
	return true;
}

void agent_pump(struct agent *agent)
{
	struct sim_task *task;
	bool more = false;

	agent->pumping = false;
	if (!agent->welcomed)
		return;
	for (task = agent->tasks; task; task = task->next)
		more |= !task->removing && send_some(agent, task);
	if (more)
		pump_soon(agent, MS);
}

/* Coming and going. */

void agent_connect(struct agent *agent)
{
	const struct packet hello = { .type = MESSAGE_HELLO };

	if (!agent->up || agent->connected)
		return;
	if (agent->world->now_us < agent->revoked_us) {
		world_later(agent->world,
			    agent->revoked_us - agent->world->now_us,
			    SIM_CONNECT, agent, 0, NULL);
		return;
	}
	agent->session++;
	agent->connected = true;
	agent->welcomed = false;
	wire_to_controller(agent, &hello);
}

/* Its process is gone; engine, containers and spool go on. */
void agent_die(struct agent *agent)
{
	agent->up = false;
	agent->pumping = false;
	wire_cut(agent);
}

/* What the engine and the spool know of a task. */
static void adopt(struct agent *agent, struct sim_task *task)
{
	task->removing = false; /* it is told again */
	task->sent = task->acked = 0;
	task->turn = 1;
	task->known = false;
	if (task->exited) {
		task->state = TASK_ENDED;
	} else if (task->started) {
		/* The engine's own steps go on as they are. */
		task->state = task->told ? TASK_STOPPING : TASK_RUNNING;
	} else if (task->ordered) {
		task->state = TASK_STARTING;
		step_later(agent, task, 100 * MS);
	} else {
		task->state = TASK_PREPARING;
		task->outcome = FAILURE_NONE;
		step_later(agent, task, SECOND);
	}
}

void agent_rise(struct agent *agent)
{
	struct sim_task *task;

	if (agent->up)
		return;
	agent->up = true;
	agent->instance++;
	for (task = agent->tasks; task; task = task->next)
		adopt(agent, task);
	agent_connect(agent);
}

/* Its time is over: it gives back what it has, and is gone. */
void agent_leave(struct agent *agent)
{
	if (!agent->up || agent->leaving)
		return;
	agent->leaving = true;
	if (agent->welcomed)
		report(agent);
	if (!agent->tasks)
		be_gone(agent);
	else
		world_later(agent->world, EVICT_US, SIM_EVICT, agent,
			    agent->instance, NULL);
}

/* Whatever the controller has said until now. */
void agent_evict(struct agent *agent)
{
	if (agent->leaving)
		be_gone(agent);
}

/* The machine is set up anew: engine and spool are empty. */
void agent_wipe(struct agent *agent)
{
	while (agent->tasks)
		forget(agent, agent->tasks);
}

void agent_clear(struct agent *agent)
{
	agent_wipe(agent);
	free(agent->peer);
}
