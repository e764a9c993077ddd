/* session.c - exchanges messages with the controller.
 */
#include "agent/session.h"
#include "agent/image_look.h"
#include "agent/images/registry_access.h"
#include "agent/metrics/host_facts.h"
#include "agent/policy/policy_check.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/machine.h"
#include "protocol/message/json_get.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_MS 200   /* before a report that was not sent is repeated */
#define TASKS_MAX 1024  /* at a time on one node */
#define FACTS_MS 30000  /* between looks whether facts changed */
#define ENDPOINT_MS 500 /* between reads of the controller's endpoint */
#define ENDPOINT_SIZE 256

struct session {
	const struct session_parts *parts;
	struct wire_client *wire;
	struct image_looks *looks;
	char endpoint[ENDPOINT_SIZE]; /* of the controller */
	bool open;                    /* welcome was received */
	bool outage_logged;
	bool key_unsaved;         /* the controller's next key; it was logged */
	bool inventory_due;       /* it changed since it was reported */
	int64_t refused_since_ms; /* monotonic; 0: it is not refused */
	sd_event_source *report;
	sd_event_source *endpoint_timer;
	sd_event_source *facts;
	cJSON *told; /* the facts that the controller has, but for what changes
			all the time */
};

/* Sending. */

static int report_run(sd_event_source *source, uint64_t usec, void *arg)
{
	session_report(arg);
	return 0;
}

static void report_later(struct session *session)
{
	loop_timer(session->parts->loop, &session->report, REPORT_MS,
		   report_run, session, NULL);
}

int session_send(void *arg, enum message_type type, const void *body,
		 const void *data, size_t size)
{
	struct session *session = arg;

	return session->open ? wire_client_send(session->wire, type, body, data,
						size, NULL)
			     : -1;
}

/* A report a little later covers what cannot be sent now. */
static void send_or_report(struct session *session, enum message_type type,
			   const void *body)
{
	if (session->open && session_send(session, type, body, NULL, 0) < 0)
		report_later(session);
}

struct report_filling {
	struct message_report *report;
	bool failed;
};

static void report_task(void *arg, struct task *task)
{
	struct report_filling *filling = arg;
	struct message_report *report = filling->report;

	if (filling->failed ||
	    task_status(task, &report->tasks[report->tasks_count], NULL) < 0)
		filling->failed = true;
	else
		report->tasks_count++;
}

static int fill_report(struct session *session, struct message_report *report)
{
	struct task_table *tasks = session->parts->tasks;
	struct report_filling filling = { .report = report };

	departure_tell(session->parts->departure, report);
	report->tasks =
		calloc(task_table_count(tasks) + 1, sizeof(*report->tasks));
	if (!report->tasks)
		return -1;
	task_table_each(tasks, report_task, &filling);
	return filling.failed ? -1 : 0;
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

/* The controller's clock against ours, in whole seconds, so that it is news
 * only when it changed; and who uses the devices while no task does.
 */
static void session_add_looks(const struct session *session, cJSON *facts)
{
	const char *found = idle_look_found(session->parts->idle_look);
	int64_t apart_ms, apart_s = 0;

	if (preflight_clock_apart(&session->parts->services->preflight,
				  &apart_ms))
		apart_s = apart_ms / 1000;
	if (apart_s)
		cJSON_AddNumberToObject(facts, "clock_apart_s",
					(double)apart_s);
	if (found)
		cJSON_AddStringToObject(facts, "in_use", found);
}

/* The facts of the host, the engine and the devices. */
static cJSON *all_facts(struct session *session)
{
	struct host_facts_source source = {
		.sys = session->parts->roots->sys,
		.proc = session->parts->roots->proc,
		.engine = boot_engine_version(session->parts->boot),
	};
	const struct engine_features *features =
		boot_features(session->parts->boot);
	const struct devices *devices =
		inventory_devices(session->parts->inventory);
	const char *policy =
		node_policy_text(session->parts->config->node_policy);
	cJSON *facts = host_facts_read(&source, NULL);

	host_facts_versions(facts, boot_versions(session->parts->boot));
	host_facts_accelerators(facts, devices->list, devices->count,
				inventory_vendor(session->parts->inventory));
	host_facts_links(facts, devices->list, devices->count, source.sys);
	inventory_facts(session->parts->inventory, facts);
	session_add_looks(session, facts);
	if (session->parts->config->share)
		slurm_share_facts(session->parts->config->share, facts);
	session_add_names(facts, "engine_runtimes", &features->runtimes);
	session_add_names(facts, "engine_cdi", &features->cdi);
	session_add_names(facts, "engine_unlimited", &features->unlimited);
	if (features->separate_network)
		cJSON_AddBoolToObject(facts, "engine_separate_network", true);
	if (features->isolation)
		cJSON_AddStringToObject(facts, "engine_isolation",
					features->isolation);
	if (features->unseen)
		cJSON_AddStringToObject(facts, "release_check", "none");
	else if (geteuid() && !session->parts->config->own_podman)
		cJSON_AddStringToObject(facts, "release_check", "partial");
	if (policy)
		cJSON_AddStringToObject(facts, "policy", policy);
	if (devices->simulated)
		cJSON_AddBoolToObject(facts, "simulated", true);
	return facts;
}

/* What changes all the time is no news. Sets what was told. */
static bool facts_changed(struct session *session, const cJSON *facts)
{
	cJSON *lasting = cJSON_Duplicate(facts, true);
	cJSON *clock = json_get(lasting, "clock");
	cJSON *pages = json_get(lasting, "hugepages");
	bool changed;

	cJSON_DeleteItemFromObjectCaseSensitive(lasting,
						"memory_available_bytes");
	cJSON_DeleteItemFromObjectCaseSensitive(clock, "offset_us");
	cJSON_DeleteItemFromObjectCaseSensitive(clock, "max_error_us");
	cJSON_DeleteItemFromObjectCaseSensitive(pages, "free");
	changed = !cJSON_Compare(lasting, session->told, true);
	cJSON_Delete(session->told);
	session->told = lasting;
	return changed;
}

/* The message borrows the list. */
static void session_tell_inventory(struct session *session)
{
	const struct devices *devices =
		inventory_devices(session->parts->inventory);
	owned(cJSON_Delete) cJSON *facts = NULL;
	struct message_inventory message = {
		.inventory = devices->list,
		.inventory_count = devices->count,
		.engine =
			(char *)engine_watch_away(session->parts->engine_watch),
	};

	if (!session->open || !session->inventory_due)
		return;
	message.facts = facts = all_facts(session);
	facts_changed(session, facts);
	if (session_send(session, MESSAGE_INVENTORY, &message, NULL, 0) < 0)
		report_later(session);
	else
		session->inventory_due = false;
}

void session_inventory_changed(struct session *session)
{
	session->inventory_due = true;
	session_tell_inventory(session);
}

static void facts_later(struct session *session);

static int facts_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct session *session = arg;
	owned(cJSON_Delete) cJSON *facts = all_facts(session);

	if (facts_changed(session, facts))
		session_inventory_changed(session);
	facts_later(session);
	return 0;
}

static void facts_later(struct session *session)
{
	loop_timer(session->parts->loop, &session->facts, FACTS_MS, facts_run,
		   session, NULL);
}

void session_report(struct session *session)
{
	struct message_report report = { 0 };

	if (!session->open)
		return;
	session_tell_inventory(session);
	if (fill_report(session, &report) < 0 ||
	    session_send(session, MESSAGE_REPORT, &report, NULL, 0) < 0)
		report_later(session);
	codec_clear(message_kinds[MESSAGE_REPORT].schema, &report);
}

void session_task_changed(void *arg, struct task *task)
{
	struct session *session = arg;
	struct message_task message;
	const struct task_status *status = &message.task;

	if (task_status(task, &message.task, NULL) < 0) {
		report_later(session);
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
	send_or_report(session, MESSAGE_TASK, &message);
	codec_clear(message_kinds[MESSAGE_TASK].schema, &message);
}

void session_task_progress(void *arg, struct task *task,
			   const struct image_progress *progress)
{
	const struct task_id *id = task_id(task);
	const struct message_progress message = {
		.job = id->job,
		.attempt = id->attempt,
		.rank = id->rank,
		.image = *progress,
	};

	/* If it is lost, the next one follows soon. */
	session_send(arg, MESSAGE_PROGRESS, &message, NULL, 0);
}

void session_task_gone(void *arg, struct task *task)
{
	struct session *session = arg;
	struct task_id id = *task_id(task);
	struct message_discard message = { id.job, id.attempt, id.rank };

	task_table_remove(session->parts->tasks, task);
	log_info("task removed job=%" PRIu64 " attempt=%u rank=%u", id.job,
		 id.attempt, id.rank);
	if (session->parts->config->pod)
		departure_begin(session->parts->departure);
	send_or_report(session, MESSAGE_DISCARDED, &message);
	session->parts->task_gone(session->parts->arg);
}

int session_send_log(void *arg, const struct message_log *log, const void *data,
		     size_t size)
{
	return session_send(arg, MESSAGE_LOG, log, data, size);
}

/* Receiving. */

static void session_take_welcome(struct session *session, void *body)
{
	struct message_welcome *welcome = body;
	uint64_t credit = welcome->credit_bytes;

	session->open = true;
	session->outage_logged = false;
	session->key_unsaved = false;
	session->refused_since_ms = 0;
	session->parts->changed(session->parts->arg, true);
	log_info("session with the controller at %s", session->endpoint);
	log_sender_session(session->parts->services->sender,
			   credit < AGENT_CREDIT_MAX ? credit
						     : AGENT_CREDIT_MAX);
	session_report(session);
	fetches_session(session->parts->services->fetches, true);
}

/* A task that cannot be created is reported as ended. */
static void refuse_prepare(struct session *session, const struct task_id *id,
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
	send_or_report(session, MESSAGE_TASK, &message);
}

/* image_look_fn */
static void session_tell_look(void *arg, const struct task_id *id,
			      const char *pin)
{
	const char *state = task_state_name(TASK_PREPARING);
	const struct message_task message = { .task = {
						      .job = id->job,
						      .attempt = id->attempt,
						      .rank = id->rank,
						      .state = (char *)state,
						      .image_look = (char *)pin,
					      } };

	send_or_report(arg, MESSAGE_TASK, &message);
}

static void on_prepare(struct session *session, void *body)
{
	struct message_prepare *prepare = body;
	struct task_id id = task_spec_id(&prepare->task);
	struct task *task = task_table_find(session->parts->tasks, &id);
	struct error err = { 0 };

	if (task) {
		session_task_changed(session,
				     task); /* repeated: answer again */
		return;
	}
	if (prepare->task.look) {
		image_look(session->looks, session->parts->images,
			   &prepare->task);
		return;
	}
	if (task_table_count(session->parts->tasks) >= TASKS_MAX) {
		error_set(&err, EBUSY, "%d tasks are already on this node",
			  TASKS_MAX);
		refuse_prepare(session, &id, &err);
		return;
	}
	if (session->parts->config->share &&
	    slurm_share_limit(session->parts->config->share,
			      &prepare->task.container, &err) < 0) {
		refuse_prepare(session, &id, &err);
		return;
	}
	policy_check_limit(node_policy_rules(
				   session->parts->config->node_policy),
			   &prepare->task.container);
	log_info("task preparing job=%" PRIu64 " attempt=%u rank=%u image=%s",
		 id.job, id.attempt, id.rank, prepare->task.container.image);
	task = task_new(session->parts->services, &prepare->task, &err);
	if (!task || task_table_add(session->parts->tasks, task, &err) < 0) {
		task_free(task);
		spool_remove(session->parts->services->spool, &id, NULL);
		refuse_prepare(session, &id, &err);
		return;
	}
}

static struct task *session_find_task(struct session *session, uint64_t job,
				      uint32_t attempt, uint32_t rank)
{
	const struct task_id id = { job, attempt, rank };

	return task_table_find(session->parts->tasks, &id);
}

static void on_start(struct session *session, void *body)
{
	struct message_start *start = body;
	const struct rendezvous rendezvous = {
		.address = start->master_addr,
		.port = start->master_port,
		.time_ms = start->time_ms,
		.addresses = start->addresses,
	};
	struct task *task = session_find_task(session, start->job,
					      start->attempt, start->rank);

	if (task)
		task_start(task, &rendezvous);
	else
		session_report(session);
}

static void on_stop(struct session *session, void *body)
{
	struct message_stop *stop = body;
	struct task *task = session_find_task(session, stop->job, stop->attempt,
					      stop->rank);
	enum failure reason = failure_from(stop->reason);

	if (task)
		task_stop(task, stop->done ? FAILURE_NONE
				: reason   ? reason
					   : FAILURE_CANCELLED);
	else
		session_report(session);
}

static void on_command(struct session *session,
		       const struct message_command *body, const void *data,
		       size_t size)
{
	struct task *task =
		session_find_task(session, body->job, body->attempt, body->to);

	if (task)
		task_command(task, body, data, size);
}

static void on_command_answer(struct session *session,
			      const struct message_command_answer *body,
			      const void *data, size_t size)
{
	struct task *task = session_find_task(session, body->job, body->attempt,
					      body->rank);

	if (task)
		task_command_answer(task, body, data, size);
}

static void on_observe(struct session *session, void *body)
{
	struct message_observe *observe = body;
	struct task *task = session_find_task(session, observe->job,
					      observe->attempt, observe->rank);

	if (task)
		task_observe(task, observe->round, observe->stops);
}

static void on_discard(struct session *session, void *body)
{
	struct message_discard *discard = body;
	struct task *task = session_find_task(session, discard->job,
					      discard->attempt, discard->rank);

	if (task)
		task_discard(task);
	else
		send_or_report(session, MESSAGE_DISCARDED, discard);
}

static void on_log_ack(struct session *session, void *body)
{
	log_sender_ack(session->parts->services->sender, body);
}

static void on_image_do(struct session *session, void *body)
{
	images_do(session->parts->images, body);
}

static void on_resync(struct session *session, void *body)
{
	session_report(session);
}

static void received(void *arg, enum message_type type, void *body,
		     const void *payload, size_t size)
{
	/* clang-format off */
	static void (*const handlers[MESSAGE_TYPES])(struct session *, void *) = {
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
	struct session *session = arg;

	if (type == MESSAGE_COMMAND)
		on_command(session, body, payload, size);
	else if (type == MESSAGE_COMMAND_ANSWER)
		on_command_answer(session, body, payload, size);
	else if (!fetches_heard(session->parts->services->fetches, type, body,
				payload, size) &&
		 handlers[type])
		handlers[type](session, body);
}

static void session_connected(void *arg)
{
	struct session *session = arg;
	const struct agent_config *config = session->parts->config;
	const struct devices *devices =
		inventory_devices(session->parts->inventory);
	char machine[MACHINE_ID_SIZE];
	struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.software = (char *)"regatta-agent " REGATTA_VERSION,
		.instance = (char *)session->parts->instance,
		.cluster = (char *)config->settings.cluster,
		.address = (char *)config->settings.address,
		.vendor = (char *)inventory_vendor(session->parts->inventory),
		.devices = inventory_count(session->parts->inventory),
		.peers = (char *)fetches_endpoint(
			session->parts->services->fetches),
		.machine = machine_id(machine) ? machine : NULL,
		.facts = all_facts(session),
		.inventory = devices->list,
		.inventory_count = devices->count,
	};

	/* hello does not tell whether the engine answers. */
	session->inventory_due =
		engine_watch_away(session->parts->engine_watch);
	wire_client_send(session->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
	facts_changed(session, hello.facts);
	facts_later(session);
	cJSON_Delete(hello.facts);
}

/* The controller. */

static int session_look_again(sd_event_source *source, uint64_t usec, void *arg)
{
	session_connect(arg);
	return 0;
}

static void session_find_later(struct session *session)
{
	if (*session->parts->config->settings.controller == '/')
		loop_timer(session->parts->loop, &session->endpoint_timer,
			   ENDPOINT_MS, session_look_again, session, NULL);
}

static void task_lose(void *arg, struct task *task)
{
	task_stop(task, FAILURE_NODE_LOST);
}

/* A node whose key is refused for long was removed from the cluster. Its tasks
 * are ended; the controller has given them up long before.
 */
static void note_refusal(struct session *session, int code)
{
	int64_t now = clock_mono_ms();
	int64_t limit_s =
		(int64_t)session->parts->config->settings.refused_limit;

	if (code != EACCES || !limit_s) {
		session->refused_since_ms = 0;
		return;
	}
	if (!session->refused_since_ms)
		session->refused_since_ms = now;
	if (now - session->refused_since_ms < limit_s * 1000)
		return;
	session->refused_since_ms = now;
	if (task_table_count(session->parts->tasks))
		log_warning("the controller has refused the key of this node "
			    "for %" PRId64 " s: its tasks are ended",
			    limit_s);
	task_table_each(session->parts->tasks, task_lose, NULL);
}

static void session_lost(void *arg, int code, const char *why)
{
	struct session *session = arg;

	note_refusal(session, code);
	/* Once per outage: the client tries again every second. */
	if (!session->outage_logged)
		log_warning("no session with the controller: %s; trying again",
			    why);
	session->outage_logged = true;
	session->open = false;
	session->parts->changed(session->parts->arg, false);
	log_sender_session(session->parts->services->sender, 0);
	fetches_session(session->parts->services->fetches, false);
	session_find_later(session);
}

/* Once per session: it is tried again with each heartbeat. */
static void key_unsaved(void *arg, const char *why)
{
	struct session *session = arg;

	if (!session->key_unsaved)
		log_warning("the controller's next key cannot be saved: %s; "
			    "this node cannot connect once the controller uses "
			    "that key",
			    why);
	session->key_unsaved = true;
}

/* A controller with many nodes also gets logs less often. */
static void set_pace(void *arg, uint32_t heartbeat_ms)
{
	struct session *session = arg;
	uint64_t poll_ms = (uint64_t)heartbeat_ms * LOG_SENDER_POLL_MS;

	log_sender_set_poll(session->parts->services->sender,
			    (uint32_t)(poll_ms / WIRE_HEARTBEAT_MS));
}

static const struct wire_client_handler session_handler = {
	.connected = session_connected,
	.message = received,
	.lost = session_lost,
	.unkept = key_unsaved,
	.paced = set_pace,
};

/* Credentials are sealed with the controller's current or former key. */
static void follow_key(struct session *session)
{
	const struct server_keys *keys = wire_client_server(session->wire);
	char path[PATH_MAX];
	struct error err;

	snprintf(path, sizeof(path), "%s/%s",
		 session->parts->config->settings.state, SERVER_KEYS_AGENT);
	if (wire_client_remember(session->wire, path, &err) < 0)
		log_warning("%s", err.text);
	session->parts->registries->controller = keys->current;
	session->parts->registries->former = keys->former;
}

static int session_reconnect(struct session *session, struct error *err)
{
	const struct agent_config *config = session->parts->config;

	session->wire = wire_client_new(session->parts->loop, config->zmq,
					session->endpoint, &config->key,
					config->server_public, &session_handler,
					session, err);
	if (!session->wire)
		return -1;
	follow_key(session);
	return 0;
}

/* 1: the endpoint is new. */
static int session_read_endpoint(struct session *session)
{
	const char *path = session->parts->config->settings.controller;
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, sizeof(session->endpoint) - 1);
	if (*path != '/') {
		snprintf(session->endpoint, sizeof(session->endpoint), "%s",
			 path);
		return !session->wire;
	}
	if (file_read(AT_FDCWD, path, &text, NULL) < 0 || !text.size)
		return 0;
	text.data[strcspn(text.data, "\n")] = 0;
	if (!strcmp(text.data, session->endpoint))
		return 0;
	snprintf(session->endpoint, sizeof(session->endpoint), "%s", text.data);
	return 1;
}

void session_connect(struct session *session)
{
	struct error err;

	if (session_read_endpoint(session)) {
		wire_client_free(take(session->wire));
		if (session_reconnect(session, &err) < 0) {
			log_error("%s", err.text);
			sd_event_exit(session->parts->loop,
				      err.code == EINVAL ? 2 : 3);
			return;
		}
	}
	if (!session->open)
		session_find_later(session);
}

bool session_is_open(const struct session *session)
{
	return session->open;
}

bool session_clock(const struct session *session, struct exchange *best)
{
	return session->wire && wire_client_clock(session->wire, best);
}

struct session *session_new(const struct session_parts *parts,
			    struct error *err)
{
	owned(session_free) struct session *session =
		error_calloc(sizeof(*session), "agent", err);

	if (!session)
		return NULL;
	session->parts = parts;
	session->looks = image_looks_new(session_tell_look, session, err);
	return session->looks ? take(session) : NULL;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	wire_client_free(session->wire);
	image_looks_free(session->looks);
	loop_source_free(&session->report);
	loop_source_free(&session->endpoint_timer);
	loop_source_free(&session->facts);
	cJSON_Delete(session->told);
	free(session);
}
