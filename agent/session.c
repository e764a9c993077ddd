/* session.c - exchanges messages with the controller.
 */
#include "agent/agent_internal.h"
#include "agent/slurm_share.h"
#include "agent/policy/policy_check.h"
#include "protocol/base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_MS 200  /* before a report that was not sent is repeated */
#define TASKS_MAX 1024 /* at a time on one node */

/* Sending. */

static int report_run(sd_event_source *source, uint64_t usec, void *arg)
{
	session_report(arg);
	return 0;
}

static void report_later(struct agent *agent)
{
	loop_timer(agent->loop, &agent->report, REPORT_MS, report_run, agent,
		   NULL);
}

int session_send(void *arg, enum message_type type, const void *body,
		 const void *data, size_t size)
{
	struct agent *agent = arg;

	return agent->session ? wire_client_send(agent->wire, type, body, data,
						 size, NULL)
			      : -1;
}

/* A report a little later covers what cannot be sent now. */
static void send_or_report(struct agent *agent, enum message_type type,
			   const void *body)
{
	if (agent->session && session_send(agent, type, body, NULL, 0) < 0)
		report_later(agent);
}

static int fill_report(struct agent *agent, struct message_report *report)
{
	struct task_entry *entry;

	report->tasks = calloc(agent->tasks_count + 1, sizeof(*report->tasks));
	if (!report->tasks)
		return -1;
	TAILQ_FOREACH(entry, &agent->tasks, next)
	{
		if (task_status(entry->task,
				&report->tasks[report->tasks_count], NULL) < 0)
			return -1;
		report->tasks_count++;
	}
	return 0;
}

/* The message borrows the list. */
void session_tell_inventory(struct agent *agent)
{
	const struct devices *devices = inventory_devices(agent->inventory);
	struct message_inventory message = {
		devices->list, devices->count,
		(char *)node_policy_text(agent->config->node_policy)
	};

	if (!agent->session || !agent->inventory_due)
		return;
	if (session_send(agent, MESSAGE_INVENTORY, &message, NULL, 0) < 0)
		report_later(agent);
	else
		agent->inventory_due = false;
}

void session_report(struct agent *agent)
{
	struct message_report report = {
		.until_ms = (uint64_t)agent->until_ms,
		.leaving = agent->leaving,
	};

	if (!agent->session)
		return;
	session_tell_inventory(agent);
	if (fill_report(agent, &report) < 0 ||
	    session_send(agent, MESSAGE_REPORT, &report, NULL, 0) < 0)
		report_later(agent);
	codec_clear(message_kinds[MESSAGE_REPORT].schema, &report);
}

void session_task_changed(void *arg, struct task *task)
{
	struct agent *agent = arg;
	struct message_task message;
	const struct task_status *status = &message.task;

	if (task_status(task, &message.task, NULL) < 0) {
		report_later(agent);
		return;
	}
	log_info("task %s job=%" PRIu64 " attempt=%u rank=%u%s%s%s%s",
		 status->state, status->job, status->attempt, status->rank,
		 status->failure ? " failure=" : "",
		 status->failure ? status->failure : "",
		 status->text ? ": " : "", status->text ? status->text : "");
	if (task_state_from(status->state) > TASK_READY && !status->failure) {
		/* Sent when it was ready, and again in every report. */
		cJSON_Delete(message.task.facts);
		message.task.facts = NULL;
	}
	send_or_report(agent, MESSAGE_TASK, &message);
	codec_clear(message_kinds[MESSAGE_TASK].schema, &message);
}

void session_task_progress(void *arg, struct task *task,
			   const struct image_progress *progress)
{
	struct agent *agent = arg;
	const struct task_id *id = task_id(task);
	struct moving_layer moving[IMAGE_MOVING_MAX];
	struct message_progress message = {
		.job = id->job,
		.attempt = id->attempt,
		.rank = id->rank,
		.phase = (char *)image_phase_name(progress->phase),
		.done_bytes = progress->bytes,
		.total_bytes = progress->bytes_total,
		.partial = progress->partial,
		.extracted_bytes = progress->extracted,
		.rate = progress->rate,
		.layers = progress->layers,
		.layers_total = progress->layers_total,
		.tries = progress->attempt,
		.moving = moving,
		.moving_count = progress->moving_count,
	};

	for (size_t i = 0; i < progress->moving_count; i++) {
		const struct image_layer *layer = &progress->moving[i];

		moving[i] = (struct moving_layer){
			.id = (char *)layer->id,
			.phase = (char *)image_phase_name(
				layer->extracting ? IMAGE_EXTRACTING
						  : IMAGE_PULLING),
			.done_bytes = layer->bytes,
			.total_bytes = layer->bytes_total,
		};
	}

	/* If it is lost, the next one follows soon. */
	session_send(agent, MESSAGE_PROGRESS, &message, NULL, 0);
}

void session_task_gone(void *arg, struct task *task)
{
	struct agent *agent = arg;
	struct task_id id = *task_id(task);
	struct message_discard message = { id.job, id.attempt, id.rank };
	struct task_entry *entry = task_table_find(agent, &id);

	if (entry)
		task_table_remove(agent, entry);
	log_info("task removed job=%" PRIu64 " attempt=%u rank=%u", id.job,
		 id.attempt, id.rank);
	send_or_report(agent, MESSAGE_DISCARDED, &message);
	recovery_strays_later(agent);
	leave_if_empty(agent);
}

/* image_operations_config.tell: the controller asks again for what is lost. */
void session_tell_images(void *arg, const struct message_image_state *state)
{
	struct agent *agent = arg;
	struct message_image_state told = *state;

	told.by_itself = agent->watermark &&
			 disk_watermark_state(agent->watermark, state);
	session_send(agent, MESSAGE_IMAGE_STATE, &told, NULL, 0);
}

/* disk_watermark_config.ask */
int session_ask_room(void *arg, const struct message_image_room *room)
{
	return session_send(arg, MESSAGE_IMAGE_ROOM, room, NULL, 0);
}

int session_send_log(void *arg, const struct message_log *log, const void *data,
		     size_t size)
{
	return session_send(arg, MESSAGE_LOG, log, data, size);
}

/* Receiving. */

static void session_take_welcome(struct agent *agent, void *body)
{
	struct message_welcome *welcome = body;
	uint64_t credit = welcome->credit_bytes;

	agent->session = true;
	agent_tell_status(agent);
	agent->outage_logged = false;
	agent->key_unsaved = false;
	agent->refused_since_ms = 0;
	recovery_strays(agent);
	log_info("session with the controller at %s", agent->endpoint);
	log_sender_session(agent->sender, credit < AGENT_CREDIT_MAX
						  ? credit
						  : AGENT_CREDIT_MAX);
	session_report(agent);
	fetches_session(agent->fetches, true);
}

/* A task that cannot be created is reported as ended. */
static void refuse_prepare(struct agent *agent, const struct task_id *id,
			   struct error *why)
{
	struct message_task message = { .task = {
						.job = id->job,
						.attempt = id->attempt,
						.rank = id->rank,
						.state =
							(char *)task_state_name(
								TASK_ENDED),
						.failure = (char *)failure_name(
							FAILURE_PREFLIGHT),
						.text = why->text,
						.code = why->code,
					} };

	log_warning("task refused job=%" PRIu64 " rank=%u: %s", id->job,
		    id->rank, why->text);
	send_or_report(agent, MESSAGE_TASK, &message);
}

static void on_prepare(struct agent *agent, void *body)
{
	struct message_prepare *prepare = body;
	struct task_id id = task_spec_id(&prepare->task);
	struct task_entry *entry = task_table_find(agent, &id);
	struct error err = { 0 };
	struct task *task;

	if (entry) {
		session_task_changed(agent, entry->task); /* repeated: answer
							     again */
		return;
	}
	if (agent->tasks_count >= TASKS_MAX) {
		error_set(&err, EBUSY, "%d tasks are already on this node",
			  TASKS_MAX);
		refuse_prepare(agent, &id, &err);
		return;
	}
	if (agent->config->share &&
	    slurm_share_limit(agent->config->share, &prepare->task.container,
			      &err) < 0) {
		refuse_prepare(agent, &id, &err);
		return;
	}
	policy_check_limit(node_policy_rules(agent->config->node_policy),
			   &prepare->task.container);
	log_info("task preparing job=%" PRIu64 " attempt=%u rank=%u image=%s",
		 id.job, id.attempt, id.rank, prepare->task.container.image);
	task = task_new(&agent->services, &prepare->task, &err);
	if (!task || task_table_add(agent, task, &err) < 0) {
		task_free(task);
		spool_remove(agent->spool, &id, NULL);
		refuse_prepare(agent, &id, &err);
		return;
	}
}

static struct task *session_find_task(struct agent *agent, uint64_t job,
				      uint32_t attempt, uint32_t rank)
{
	const struct task_id id = { job, attempt, rank };
	struct task_entry *entry = task_table_find(agent, &id);

	return entry ? entry->task : NULL;
}

static void on_start(struct agent *agent, void *body)
{
	struct message_start *start = body;
	const struct rendezvous rendezvous = {
		.address = start->master_addr,
		.port = start->master_port,
		.time_ms = start->time_ms,
		.addresses = start->addresses,
	};
	struct task *task = session_find_task(agent, start->job, start->attempt,
					      start->rank);

	if (task)
		task_start(task, &rendezvous);
	else
		session_report(agent);
}

static void on_stop(struct agent *agent, void *body)
{
	struct message_stop *stop = body;
	struct task *task =
		session_find_task(agent, stop->job, stop->attempt, stop->rank);
	enum failure reason = failure_from(stop->reason);

	if (task)
		task_stop(task, stop->done ? FAILURE_NONE
				: reason   ? reason
					   : FAILURE_CANCELLED);
	else
		session_report(agent);
}

static void on_command(struct agent *agent, const struct message_command *body,
		       const void *data, size_t size)
{
	struct task *task =
		session_find_task(agent, body->job, body->attempt, body->to);

	if (task)
		task_command(task, body, data, size);
}

static void on_command_answer(struct agent *agent,
			      const struct message_command_answer *body,
			      const void *data, size_t size)
{
	struct task *task =
		session_find_task(agent, body->job, body->attempt, body->rank);

	if (task)
		task_command_answer(task, body, data, size);
}

static void on_observe(struct agent *agent, void *body)
{
	struct message_observe *observe = body;
	struct task *task = session_find_task(agent, observe->job,
					      observe->attempt, observe->rank);

	if (task)
		task_observe(task, observe->round, observe->stops);
}

static void on_discard(struct agent *agent, void *body)
{
	struct message_discard *discard = body;
	struct task *task = session_find_task(agent, discard->job,
					      discard->attempt, discard->rank);

	if (task)
		task_discard(task);
	else
		send_or_report(agent, MESSAGE_DISCARDED, discard);
}

static void on_log_ack(struct agent *agent, void *body)
{
	log_sender_ack(agent->sender, body);
}

static void on_image_do(struct agent *agent, void *body)
{
	if (agent->watermark)
		disk_watermark_order(agent->watermark, body);
	image_operations_do(agent->operations, body);
}

static void on_resync(struct agent *agent, void *body)
{
	session_report(agent);
}

static void received(void *arg, enum message_type type, void *body,
		     const void *payload, size_t size)
{
	/* clang-format off */
	static void (*const handlers[MESSAGE_TYPES])(struct agent *, void *) = {
		[MESSAGE_WELCOME] = session_take_welcome,
		[MESSAGE_PREPARE] = on_prepare,
		[MESSAGE_START] = on_start,
		[MESSAGE_STOP] = on_stop,
		[MESSAGE_DISCARD] = on_discard,
		[MESSAGE_OBSERVE] = on_observe,
		[MESSAGE_LOG_ACK] = on_log_ack,
		[MESSAGE_RESYNC] = on_resync,
		[MESSAGE_IMAGE_DO] = on_image_do,
	};
	/* clang-format on */
	struct agent *agent = arg;

	if (type == MESSAGE_COMMAND)
		on_command(agent, body, payload, size);
	else if (type == MESSAGE_COMMAND_ANSWER)
		on_command_answer(agent, body, payload, size);
	else if (!fetches_heard(agent->fetches, type, body, payload, size) &&
		 handlers[type])
		handlers[type](agent, body);
}

static void session_add_names(cJSON *facts, const char *name,
			      const struct strings *list)
{
	if (list->count)
		cJSON_AddItemToObject(facts, name,
				      cJSON_CreateStringArray((const char *const
								       *)list
								      ->items,
							      (int)list
								      ->count));
}

/* The facts of the host, the engine and the devices. */
static cJSON *all_facts(struct agent *agent)
{
	struct host_facts_source source = {
		.sys = agent->binding.roots->sys,
		.proc = agent->binding.roots->proc,
		.engine = agent->engine_version,
	};
	const struct devices *devices = inventory_devices(agent->inventory);
	const char *policy = node_policy_text(agent->config->node_policy);
	cJSON *facts = host_facts_read(&source, NULL);

	host_facts_versions(facts, &agent->versions);
	host_facts_accelerators(facts, devices->list, devices->count,
				inventory_vendor(agent->inventory));
	if (agent->config->share)
		slurm_share_facts(agent->config->share, facts);
	session_add_names(facts, "engine_runtimes", &agent->features.runtimes);
	session_add_names(facts, "engine_cdi", &agent->features.cdi);
	session_add_names(facts, "engine_unlimited",
			  &agent->features.unlimited);
	if (agent->features.separate_network)
		cJSON_AddBoolToObject(facts, "engine_separate_network", true);
	if (agent->features.isolation)
		cJSON_AddStringToObject(facts, "engine_isolation",
					agent->features.isolation);
	if (policy)
		cJSON_AddStringToObject(facts, "policy", policy);
	if (devices->simulated)
		cJSON_AddBoolToObject(facts, "simulated", true);
	return facts;
}

static void session_connected(void *arg)
{
	struct agent *agent = arg;
	const struct agent_config *config = agent->config;
	const struct devices *devices = inventory_devices(agent->inventory);
	char machine[MACHINE_ID_SIZE];
	struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.software = (char *)"regatta-agent " REGATTA_VERSION,
		.instance = agent->instance,
		.cluster = (char *)config->settings.cluster,
		.address = (char *)config->settings.address,
		.vendor = (char *)inventory_vendor(agent->inventory),
		.devices = inventory_count(agent->inventory),
		.peers = (char *)fetches_endpoint(agent->fetches),
		.machine = machine_id(machine) ? machine : NULL,
		.facts = all_facts(agent),
		.inventory = devices->list,
		.inventory_count = devices->count,
	};

	agent->inventory_due = false;
	wire_client_send(agent->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
	cJSON_Delete(hello.facts);
}

/* A node whose key is refused for long was removed from the cluster. Its tasks
 * are ended; the controller has given them up long before.
 */
static void note_refusal(struct agent *agent, int code)
{
	int64_t now = clock_mono_ms();
	int64_t limit_s = (int64_t)agent->config->settings.refused_limit;
	struct task_entry *entry;

	if (code != EACCES || !limit_s) {
		agent->refused_since_ms = 0;
		return;
	}
	if (!agent->refused_since_ms)
		agent->refused_since_ms = now;
	if (now - agent->refused_since_ms < limit_s * 1000)
		return;
	agent->refused_since_ms = now;
	if (agent->tasks_count)
		log_warning("the controller has refused the key of this node "
			    "for %" PRId64 " s: its tasks are ended",
			    limit_s);
	TAILQ_FOREACH(entry, &agent->tasks, next)
	{
		task_stop(entry->task, FAILURE_NODE_LOST);
	}
}

static void session_lost(void *arg, int code, const char *why)
{
	struct agent *agent = arg;

	note_refusal(agent, code);
	/* Once per outage: the client tries again every second. */
	if (!agent->outage_logged)
		log_warning("no session with the controller: %s; trying again",
			    why);
	agent->outage_logged = true;
	agent->session = false;
	agent_tell_status(agent);
	log_sender_session(agent->sender, 0);
	fetches_session(agent->fetches, false);
	recovery_find_controller(agent);
}

/* Once per session: it is tried again with each heartbeat. */
static void key_unsaved(void *arg, const char *why)
{
	struct agent *agent = arg;

	if (!agent->key_unsaved)
		log_warning("the controller's next key cannot be saved: %s; "
			    "this node cannot connect once the controller uses "
			    "that key",
			    why);
	agent->key_unsaved = true;
}

/* A controller with many nodes also gets logs less often. */
static void set_pace(void *arg, uint32_t heartbeat_ms)
{
	struct agent *agent = arg;
	uint64_t poll_ms = (uint64_t)heartbeat_ms * LOG_SENDER_POLL_MS;

	log_sender_set_poll(agent->sender,
			    (uint32_t)(poll_ms / WIRE_HEARTBEAT_MS));
}

const struct wire_client_handler session_handler = {
	.connected = session_connected,
	.message = received,
	.lost = session_lost,
	.unkept = key_unsaved,
	.paced = set_pace,
};
