/* driver.c - the real core and store, driven by simulated events.
 *
 * What controller/controller.c does with sockets, timers and files is done here
 * with models: hand in an event, commit, decide, commit, send. The process may
 * be killed between any two of these steps; the next one goes on from what the
 * store has.
 */
#include "tests/simulation/simulation.h"

#include "controller/jobs/job.h"
#include "controller/nodes/node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_US (500 * MS)
#define PIN                                                                    \
	"r/i@sha256:0123456789abcdef0123456789abcdef"                          \
	"0123456789abcdef0123456789abcdef"

/* Effects. */

static int64_t wall_ms(void *arg)
{
	const struct world *world = arg;

	return SIM_WALL_MS + world->wall_offset_ms + world->now_us / MS;
}

static int64_t mono_ms(void *arg)
{
	const struct world *world = arg;

	return 1 + world->now_us / MS;
}

static void turn_again(void *arg)
{
	struct world *world = arg;

	if (!world->again)
		world_later(world, MS, SIM_READ, NULL, world->life, NULL);
	world->again = true;
}

static void read_soon(void *arg)
{
	struct world *world = arg;

	world->reading = true;
	turn_again(world);
}

static struct packet packet_of(enum message_type type, const void *body)
{
	struct packet packet = { .type = type };

	if (type == MESSAGE_PREPARE) {
		const struct message_prepare *prepare = body;
		const struct strings *devices = &prepare->task.devices;

		packet.job = prepare->task.job;
		packet.attempt = prepare->task.attempt;
		packet.rank = prepare->task.rank;
		packet.look = prepare->task.look;
		for (size_t i = 0; i < devices->count; i++)
			packet.devices |=
				UINT64_C(1)
				<< strtoul(devices->items[i], NULL, 10);
	} else if (type == MESSAGE_LOG_ACK) {
		const struct message_log_ack *ack = body;

		packet.job = ack->job;
		packet.attempt = ack->attempt;
		packet.rank = ack->rank;
		packet.offset = ack->length;
		packet.turn = ack->turn;
		packet.refused = ack->refused;
		packet.retry_ms = ack->retry_ms;
	} else if (type == MESSAGE_START) {
		const struct message_start *start = body;

		packet.job = start->job;
		packet.attempt = start->attempt;
		packet.rank = start->rank;
	} else if (type == MESSAGE_STOP) {
		const struct message_stop *stop = body;

		packet.job = stop->job;
		packet.attempt = stop->attempt;
		packet.rank = stop->rank;
		packet.failure = failure_from(stop->reason);
	} else {
		const struct message_discard *discard = body;

		packet.job = discard->job;
		packet.attempt = discard->attempt;
		packet.rank = discard->rank;
	}
	return packet;
}

static void queue(struct sim_event **list, size_t *count, size_t *room,
		  const struct sim_event *event)
{
	if (*count == *room) {
		*room = *room ? 2 * *room : 64;
		*list = realloc(*list, *room * sizeof(**list));
		if (!*list)
			abort();
	}
	(*list)[(*count)++] = *event;
}

static bool is_output(const char *stream)
{
	return !strncmp(stream, "rank-", 5);
}

/* Waits for the commit, as in the wire's queue. */
static int send(void *arg, const struct node *node, enum message_type type,
		const void *body, struct error *err)
{
	struct world *world = arg;
	struct sim_event event = {
		.agent = node_peer(node)->agent,
		.session = node_peer(node)->session,
		.packet = packet_of(type, body),
	};

	if (type == MESSAGE_LOG_ACK &&
	    !is_output(((const struct message_log_ack *)body)->stream))
		return 0; /* the models have no such stream */
	queue(&world->outgoing, &world->outgoing_count, &world->outgoing_room,
	      &event);
	return 0;
}

static void drop(void *arg, const struct node *node, int code, const char *why)
{
	world_wrong(arg, "%s is dropped: %s", node_name(node), why);
}

static uint32_t rank_of(const char *stream)
{
	return (uint32_t)strtoul(stream + 5, NULL, 10);
}

static int log_append(void *arg, const struct message_log *log,
		      const void *data, size_t size, uint64_t *length,
		      struct error *err)
{
	struct world *world = arg;
	struct sim_truth *truth = world_truth(world, log->job, log->attempt,
					      rank_of(log->stream));
	bool fails = disk_is_full(world) ||
		     world_strikes(world, world->plan.fail_log);
	const char *bytes = data;

	*length = truth->stored;
	if (log->offset != truth->stored)
		return error_set(err, EINVAL, "not at its end");
	/* A full disk still takes some. */
	if (fails)
		size /= 2;
	for (size_t i = 0; i < size; i += 97)
		if (bytes[i] != world_byte(log->job, log->attempt, log->rank,
					   log->offset + i))
			world_wrong(world,
				    "job %lu rank %u: another byte at %lu",
				    (unsigned long)log->job, log->rank,
				    (unsigned long)(log->offset + i));
	*length = truth->stored += size;
	return fails ? error_set(err, ENOSPC, "no space on the disk") : 0;
}

static int log_length(void *arg, uint64_t job, uint32_t attempt,
		      const char *stream, uint64_t *length, struct error *err)
{
	*length = is_output(stream)
			  ? world_truth(arg, job, attempt, rank_of(stream))
				    ->stored
			  : 0;
	return 0;
}

static int log_read(void *arg, uint64_t job, uint32_t attempt,
		    const char *stream, uint64_t offset, void *data,
		    size_t size, size_t *got, struct error *err)
{
	uint32_t rank = is_output(stream) ? rank_of(stream) : 0;
	const struct sim_truth *truth = world_truth(arg, job, attempt, rank);
	char *bytes = data;

	*got = 0;
	if (!is_output(stream))
		return error_set(err, ENOENT, "no such stream");
	for (; *got < size && offset + *got < truth->stored; ++*got)
		bytes[*got] = world_byte(job, attempt, rank, offset + *got);
	return 0;
}

static int64_t log_time(void *arg, uint64_t job, uint32_t attempt,
			const char *stream, uint64_t offset)
{
	return 0;
}

static int log_sync(void *arg, uint64_t job, uint32_t attempt,
		    struct error *err)
{
	struct world *world = arg;

	if (disk_is_full(world) || world_strikes(world, world->plan.fail_log))
		return error_set(err, EIO, "the disk failed");
	return 0;
}

static void log_close(void *arg, uint64_t job, uint32_t attempt)
{
	struct world *world = arg;
	const struct job *ended = job_find(world->parts.table, job);

	if (ended && job_state_final(ended->state))
		check_job_ended(world, ended);
}

static int fetch(void *arg, struct node *node, const char *hash, uint64_t bytes,
		 struct error *err)
{
	return 1;
}

static int keep_files(void *arg, struct job *job, cJSON **list,
		      struct error *err)
{
	struct world *world = arg;

	struct sim_truth *truth = world_truth(world, job->id, job->attempt, 0);

	if (disk_is_full(world))
		return error_set(err, ENOSPC, "no space on the disk");
	if (truth->kept == world->life && truth->told == world->life)
		world_wrong(world, "job %lu keeps its files once more",
			    (unsigned long)job->id);
	truth->kept = truth->told = world->life;
	/* Some have files, of which an event is to tell. */
	if (job->id % 3 == 0) {
		truth->told = 0;
		*list = cJSON_CreateObject();
	}
	return 0;
}

static const struct job_effects effects = {
	.wall_ms = wall_ms,
	.mono_ms = mono_ms,
	.turn = turn_again,
	.read_soon = read_soon,
	.send = send,
	.drop = drop,
	.log_append = log_append,
	.log_length = log_length,
	.log_read = log_read,
	.log_time = log_time,
	.log_sync = log_sync,
	.log_close = log_close,
	.fetch = fetch,
	.keep_files = keep_files,
};

/* The process. */

static void open_jobs(struct world *world)
{
	struct jobs_config with = {
		.effects = &world->effects,
		.changes = &world->changes,
		.catalog = world->catalog,
		.node_lost_ms = SIM_NODE_LOST_MS,
	};
	struct error err = { 0 };

	world->effects = effects;
	world->effects.arg = world;
	with.store = world->store = store_new(world->folder, &err);
	disk_open(world);
	world->jobs = world->store ? jobs_new(&with, &err) : NULL;
	if (world->jobs)
		world->parts = jobs_parts(world->jobs);
	if (!world->jobs || jobs_load(world->jobs, &err) < 0)
		world_wrong(world, "the controller does not start: %s",
			    err.text);
}

static int no_sweep(const struct sweep_row *row, void *arg)
{
	return 0;
}

static int note_row(const struct node_row *row, void *arg)
{
	bool *rows = arg;

	rows[strtoul(row->name + 1, NULL, 10)] = true;
	return 0;
}

/* The nodes that have a row in the store, as after every change so far. */
static void look_at_rows(struct world *world, bool check)
{
	bool *rows = calloc(world->plan.nodes, sizeof(*rows));

	if (!rows)
		abort();
	store_nodes(world->store, note_row, rows, NULL);
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		struct agent *agent = &world->agents[i];

		if (check && agent->stored != rows[i])
			world_wrong(world, "%s: %s", agent->name,
				    rows[i] ? "was removed, and is back"
					    : "joined, and is forgotten");
		agent->stored = rows[i];
	}
	free(rows);
}

void driver_boot(struct world *world)
{
	world->alive = true;
	world->stalled = world->again = world->reading = false;
	world->life++;
	open_jobs(world);
	look_at_rows(world, false);
	world_trace(world, "controller %u: %zu jobs", world->life,
		    job_count(world->parts.table));
	/* Until the first one is committed. */
	if (store_sweep(world->store, SIM_SWEEP, no_sweep, NULL, NULL) < 0)
		store_put_sweep(world->store,
				&(struct sweep_row){ .id = SIM_SWEEP,
						     .name = "s",
						     .text = "",
						     .client = "op" },
				NULL);
	world_later(world, TICK_US, SIM_TICK, NULL, world->life, NULL);
}

static void forget_inbox(struct world *world)
{
	for (size_t i = 0; i < world->inbox_count; i++)
		free(world->inbox[i].packet.report);
	world->inbox_count = 0;
}

static void close_jobs(struct world *world)
{
	jobs_free(world->jobs);
	world->jobs = NULL;
	store_free(world->store);
	world->store = NULL;
	world->outgoing_count = 0;
	forget_inbox(world);
}

/* kill -9: what was not committed is gone, what was not sent is not said. */
void driver_kill(struct world *world)
{
	struct snapshot *before = NULL;

	if (!world->alive)
		return;
	world->kills++;
	world_trace(world, "controller %u is killed", world->life);
	if (!store_pending(world->store) && !snapshot_is_early(world))
		before = snapshot_take(world);
	world->alive = false;
	for (uint32_t i = 0; i < world->plan.nodes; i++) {
		struct agent *agent = &world->agents[i];

		wire_cut(agent);
		free(agent->peer);
		agent->peer = NULL;
	}
	close_jobs(world);
	if (before) {
		/* The next one would begin like this. */
		open_jobs(world);
		snapshot_compare(world, before);
		look_at_rows(world, true);
		close_jobs(world);
	}
	world_later(world, (int64_t)random_below(&world->random, 30 * SECOND),
		    SIM_BOOT, NULL, 0, NULL);
}

void driver_close(struct world *world)
{
	if (world->store)
		close_jobs(world);
	free(world->outgoing);
	forget_inbox(world);
	free(world->inbox);
}

/* The turn. */

static bool commit(struct world *world)
{
	struct error err;

	if (!store_pending(world->store))
		return true;
	if (disk_commit(world, &err) == 0) {
		world->commits++;
		return true;
	}
	if (err.code != ENOSPC)
		world_wrong(world, "commit: %s", err.text);
	world->stalled = true;
	world_later(world, TICK_US, SIM_UNSTALL, NULL, world->life, NULL);
	return false;
}

static void flush(struct world *world)
{
	for (size_t i = 0; i < world->outgoing_count; i++) {
		const struct sim_event *event = &world->outgoing[i];

		world_trace(world, "  to %s: %s job %lu rank %u",
			    event->agent->name,
			    message_kinds[event->packet.type].name,
			    (unsigned long)event->packet.job,
			    event->packet.rank);
		if (event->agent->session == event->session &&
		    event->agent->connected)
			wire_to_agent(event->agent, event->session,
				      &event->packet);
	}
	world->outgoing_count = 0;
}

/* Here the power of this process may end. */
static bool dies(struct world *world)
{
	if (world_strikes(world, world->plan.kill))
		driver_kill(world);
	return !world->alive;
}

static void run_turn(struct world *world)
{

	if (world->stalled || dies(world))
		return;
	jobs_settle(world->jobs);
	if (jobs_reads_rows(world->jobs) && (!commit(world) || dies(world)))
		return;
	jobs_decide(world->jobs);
	jobs_settle(world->jobs);
	if (dies(world) || !commit(world) || dies(world))
		return;
	changes_clear(&world->changes);
	flush(world);
	dies(world);
}

/* Messages. */

static void fill_status(struct task_status *status, const struct packet *packet)
{
	*status = (struct task_status){
		.job = packet->job,
		.attempt = packet->attempt,
		.rank = packet->rank,
		.state = (char *)task_state_name(packet->state),
		.failure = (char *)failure_name(packet->failure),
		.text = packet->failure ? (char *)"it went wrong" : NULL,
		.code = packet->failure == FAILURE_PREFLIGHT ? ENOENT : 0,
		.port = packet->port,
		.image_pin =
			packet->pinned && !packet->look ? (char *)PIN : NULL,
		.image_look = packet->look ? (char *)(packet->pinned ? PIN : "")
					   : NULL,
	};
	if (packet->state >= TASK_RUNNING) {
		status->streams = calloc(1, sizeof(*status->streams));
		if (!status->streams || asprintf(&status->streams->name,
						 "rank-%u", packet->rank) < 0)
			abort();
		status->streams->size = packet->streams;
		status->streams_count = 1;
	}
}

/* The core may have taken the list. */
static void clear_status(struct task_status *status)
{
	for (size_t i = 0; i < status->streams_count; i++)
		free(status->streams[i].name);
	free(status->streams);
}

static void give_report(struct world *world, struct node *node,
			const struct packet *packet)
{
	struct message_report report = {
		.tasks = calloc(packet->size + 1, sizeof(*report.tasks)),
		.tasks_count = packet->size,
		.leaving = packet->leaving,
	};

	if (!report.tasks)
		abort();
	for (size_t i = 0; i < packet->size; i++)
		fill_status(&report.tasks[i], &packet->report[i]);
	jobs_message(world->jobs, node, MESSAGE_REPORT, &report, NULL, 0);
	for (size_t i = 0; i < packet->size; i++)
		clear_status(&report.tasks[i]);
	free(report.tasks);
}

static void give_log(struct world *world, struct node *node,
		     const struct packet *packet)
{
	char stream[32], bytes[4096];
	struct message_log log = {
		.job = packet->job,
		.attempt = packet->attempt,
		.rank = packet->rank,
		.stream = stream,
		.offset = packet->offset,
		.turn = packet->turn,
	};

	snprintf(stream, sizeof(stream), "rank-%u", packet->rank);
	for (size_t i = 0; i < packet->size; i++)
		bytes[i] = world_byte(packet->job, packet->attempt,
				      packet->rank, packet->offset + i);
	jobs_message(world->jobs, node, MESSAGE_LOG, &log, bytes, packet->size);
}

static void node_gone(struct world *world, struct agent *agent)
{
	struct node *node = node_find(world->parts.nodes, agent->name);

	if (node && node_peer(node) == agent->peer)
		jobs_node_gone(world->jobs, node);
	free(agent->peer);
	agent->peer = NULL;
}

static void join(struct world *world, struct agent *agent, uint32_t session)
{
	struct node *node = node_get(world->parts.nodes, agent->name, NULL);
	const struct packet welcome = { .type = MESSAGE_WELCOME };
	char instance[16];
	struct message_hello hello = {
		.instance = instance,
		.vendor = (char *)agent->vendor,
		.address = agent->name,
		.machine = agent->name,
		.devices = DEVICES,
	};
	struct error err;

	snprintf(instance, sizeof(instance), "i%u", agent->instance);
	if (agent->peer)
		node_gone(world, agent);
	agent->peer = calloc(1, sizeof(*agent->peer));
	if (!agent->peer)
		abort();
	*agent->peer = (struct wire_peer){ agent, session };
	if (jobs_node_joins(world->jobs, node, agent->peer, agent->key, &hello,
			    &err) < 0) {
		/* No room for its row: it tries again. */
		node_gone(world, agent);
		wire_cut(agent);
		return;
	}
	agent->stored = true;
	queue(&world->outgoing, &world->outgoing_count, &world->outgoing_room,
	      &(struct sim_event){
		      .agent = agent, .session = session, .packet = welcome });
}

static void give(struct world *world, const struct sim_event *event)
{
	const struct packet *packet = &event->packet;
	struct agent *agent = event->agent;
	struct node *node = node_find(world->parts.nodes, agent->name);
	struct message_task task;
	struct message_discard discarded = { packet->job, packet->attempt,
					     packet->rank };

	if (packet->type == MESSAGE_HELLO) {
		join(world, agent, event->session);
		return;
	}
	if (!agent->peer || agent->peer->session != event->session)
		return;
	if (packet->type == MESSAGE_REPORT) {
		give_report(world, node, packet);
	} else if (packet->type == MESSAGE_LOG) {
		give_log(world, node, packet);
	} else if (packet->type == MESSAGE_DISCARDED) {
		jobs_message(world->jobs, node, packet->type, &discarded, NULL,
			     0);
	} else {
		fill_status(&task.task, packet);
		jobs_message(world->jobs, node, MESSAGE_TASK, &task, NULL, 0);
		clear_status(&task.task);
	}
}

static void trace_message(struct world *world, const struct sim_event *event)
{
	const struct packet *packet = &event->packet;

	world_trace(world, "from %s: %s job %lu.%u rank %u %s %s",
		    event->agent->name, message_kinds[packet->type].name,
		    (unsigned long)packet->job, packet->attempt, packet->rank,
		    packet->state ? task_state_name(packet->state) : "",
		    packet->failure ? failure_name(packet->failure) : "");
}

static void arrive(struct world *world, const struct sim_event *event)
{
	struct agent *agent = event->agent;

	bool there = agent->connected && agent->session == event->session;

	/* Nobody answers: it tries again. */
	if (there && !world->alive)
		wire_cut(agent);
	/* What was on its way when the connection broke never comes. */
	if (!there || !world->alive) {
		free(event->packet.report);
		return;
	}
	if (world->stalled) {
		queue(&world->inbox, &world->inbox_count, &world->inbox_room,
		      event);
		return;
	}
	trace_message(world, event);
	give(world, event);
	free(event->packet.report);
	run_turn(world);
}

/* What could not be stored is tried again. */
static void tick_jobs(struct world *world)
{
	uint64_t refused = world->refused;

	jobs_tick(world->jobs);
	if (world->refused == refused && snapshot_is_early(world))
		world_wrong(world, "the end of a job is not stored again");
	run_turn(world);
}

static void unstall(struct world *world)
{
	struct sim_event *waiting;
	size_t count;

	world->stalled = false;
	run_turn(world);
	if (world->stalled || !world->alive)
		return;
	/* A tick may come before the messages that waited. */
	tick_jobs(world);
	if (world->stalled || !world->alive)
		return;
	waiting = world->inbox;
	count = world->inbox_count;
	world->inbox = NULL;
	world->inbox_count = world->inbox_room = 0;
	for (size_t i = 0; i < count; i++)
		arrive(world, &waiting[i]);
	free(waiting);
}

static void tick(struct world *world)
{
	world_later(world, TICK_US, SIM_TICK, NULL, world->life, NULL);
	if (world->stalled) {
		jobs_extend_deadlines(world->jobs, TICK_US / MS);
		return;
	}
	tick_jobs(world);
}

static void own_event(struct world *world, const struct sim_event *event)
{
	switch (event->kind) {
	case SIM_TICK:
		tick(world);
		break;
	case SIM_UNSTALL:
		unstall(world);
		break;
	case SIM_READ:
		world->again = false;
		if (world->reading && !world->stalled) {
			world->reading = false;
			jobs_read(world->jobs);
		}
		run_turn(world);
		break;
	default:
		break;
	}
}

void driver_event(struct world *world, const struct sim_event *event)
{
	const struct packet resync = { .type = MESSAGE_RESYNC };

	switch (event->kind) {
	case SIM_TO_CONTROLLER:
		arrive(world, event);
		break;
	case SIM_BOOT:
		if (!world->alive)
			driver_boot(world);
		break;
	case SIM_CUT_SEEN:
		if (world->alive && event->agent->peer &&
		    event->agent->peer->session == event->session) {
			world_trace(world, "%s is gone", event->agent->name);
			node_gone(world, event->agent);
			run_turn(world);
		}
		break;
	case SIM_REVOKE:
		wire_cut(event->agent);
		break;
	case SIM_RESYNC:
		if (world->alive && event->agent->connected &&
		    event->agent->session == event->session)
			wire_to_agent(event->agent, event->session, &resync);
		break;
	case SIM_PERSON:
		faults_person(world);
		if (world->alive && !world->stalled)
			run_turn(world);
		break;
	default:
		if (world->alive && event->session == world->life)
			own_event(world, event);
		break;
	}
}
