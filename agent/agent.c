/* agent.c - one node: its engine, its tasks, its session with the controller.
 */
#include "agent/agent.h"
#include "agent/content/depot.h"
#include "agent/devices/facts.h"
#include "agent/devices/inventory.h"
#include "agent/registry/registries.h"
#include "protocol/container.h"
#include "agent/tasks/task.h"
#include "protocol/log.h"
#include "protocol/loop.h"
#include "protocol/machine.h"
#include "protocol/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/queue.h>
#include <systemd/sd-daemon.h>

#define CALL_MS 30000
#define RETRY_MS 1000 /* while the engine is away at the start */
#define REPORT_MS                                                              \
	200            /* until a report that could not be sent is tried again \
			*/
#define TASKS_MAX 1024 /* at a time on one node */

struct entry {
	struct task *task;
	TAILQ_ENTRY(entry) next;
};

struct agent {
	sd_event *loop;
	const struct agent_config *config;
	struct engine *engine;
	struct images *images;
	struct registries registries;
	struct spool *spool;
	struct pump *pump;
	struct depot *depot;
	struct monitor_config monitor_config;
	struct monitor *monitor;
	struct wire_client *wire;
	struct task_room room;
	struct inventory *inventory;
	bool inventory_due; /* it changed, and that was not told */
	struct engine_abilities abilities;
	struct allot_source allot;
	struct version_query *query; /* at the start */
	struct versions versions;    /* as last told */
	struct engine_call *call;    /* at the start: version, info, list */
	sd_event_source *retry, *report;
	sd_event_source *inotify;
	cJSON *engine_version;
	char instance[33];
	char *folder; /* of the spool */
	bool begun;   /* to look what the engine has */
	bool session; /* welcome was heard */
	bool complained;
	TAILQ_HEAD(, entry) tasks;
	size_t tasks_count;
};

static void agent_begin(struct agent *agent);

static struct entry *entry_find(struct agent *agent, const struct task_id *id)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, &agent->tasks, next)
	{
		if (task_id_equal(task_id(entry->task), id))
			return entry;
	}
	return NULL;
}

/* What systemctl status shows; packages look there for tasks, too. */
static void tell_status(const struct agent *agent)
{
	sd_notifyf(0, "STATUS=%zu task%s, controller %s", agent->tasks_count,
		   agent->tasks_count == 1 ? "" : "s",
		   agent->session ? "in reach" : "out of reach");
}

static int entry_add(struct agent *agent, struct task *task, struct error *err)
{
	struct entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return error_nomem(err, "task");
	entry->task = task;
	TAILQ_INSERT_TAIL(&agent->tasks, entry, next);
	agent->tasks_count++;
	tell_status(agent);
	return 0;
}

static void entry_remove(struct agent *agent, struct entry *entry)
{
	TAILQ_REMOVE(&agent->tasks, entry, next);
	agent->tasks_count--;
	tell_status(agent);
	free(entry);
}

/* Speaking. */

static int report_run(sd_event_source *source, uint64_t usec, void *arg);

static void report_later(struct agent *agent)
{
	loop_timer(agent->loop, &agent->report, REPORT_MS, report_run, agent,
		   NULL);
}

/* What cannot be sent now is covered by a whole report a little later. */
static void say(struct agent *agent, enum message_type type, const void *body)
{
	if (agent->session &&
	    wire_client_send(agent->wire, type, body, NULL, 0, NULL) < 0)
		report_later(agent);
}

static int fill_report(struct agent *agent, struct message_report *report)
{
	struct entry *entry;

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

/* The list stays the inventory's: the message only shows it. */
static void tell_inventory(struct agent *agent)
{
	const struct devices *devices = inventory_devices(agent->inventory);
	struct message_inventory message = { devices->list, devices->count };

	if (!agent->session || !agent->inventory_due)
		return;
	if (wire_client_send(agent->wire, MESSAGE_INVENTORY, &message, NULL, 0,
			     NULL) < 0)
		report_later(agent);
	else
		agent->inventory_due = false;
}

static int report_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct agent *agent = arg;
	struct message_report report = { 0 };

	if (!agent->session)
		return 0;
	tell_inventory(agent);
	if (fill_report(agent, &report) < 0 ||
	    wire_client_send(agent->wire, MESSAGE_REPORT, &report, NULL, 0,
			     NULL) < 0)
		report_later(agent);
	codec_clear(message_kinds[MESSAGE_REPORT].schema, &report);
	return 0;
}

static void task_changed(void *arg, struct task *task)
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
	say(agent, MESSAGE_TASK, &message);
	codec_clear(message_kinds[MESSAGE_TASK].schema, &message);
}

static void task_progress(void *arg, struct task *task,
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

	/* A lost one does no harm: the next is soon there. */
	if (agent->session)
		wire_client_send(agent->wire, MESSAGE_PROGRESS, &message, NULL,
				 0, NULL);
}

static void say_discarded(struct agent *agent, const struct task_id *id)
{
	struct message_discard message = { id->job, id->attempt, id->rank };

	say(agent, MESSAGE_DISCARDED, &message);
}

static void task_gone(void *arg, struct task *task)
{
	struct agent *agent = arg;
	struct task_id id = *task_id(task);
	struct entry *entry = entry_find(agent, &id);

	if (entry)
		entry_remove(agent, entry);
	log_info("task removed job=%" PRIu64 " attempt=%u rank=%u", id.job,
		 id.attempt, id.rank);
	say_discarded(agent, &id);
}

/* depot_config.say */
static int say_content(void *arg, enum message_type type, const void *body,
		       const void *data, size_t size)
{
	struct agent *agent = arg;

	return wire_client_send(agent->wire, type, body, data, size, NULL);
}

static int send_log(void *arg, const struct message_log *log, const void *data,
		    size_t size)
{
	struct agent *agent = arg;

	return wire_client_send(agent->wire, MESSAGE_LOG, log, data, size,
				NULL);
}

/* Hearing. */

static void look_for_strays(struct agent *agent);

static void on_welcome(struct agent *agent, void *body)
{
	struct message_welcome *welcome = body;
	uint64_t credit = welcome->credit_bytes;

	agent->session = true;
	tell_status(agent);
	agent->complained = false;
	look_for_strays(agent);
	log_info("session with the controller at %s",
		 agent->config->controller);
	pump_session(agent->pump,
		     credit < AGENT_CREDIT_MAX ? credit : AGENT_CREDIT_MAX);
	report_run(NULL, 0, agent);
	depot_session(agent->depot, true);
}

/* A task that cannot even be begun is reported as ended. */
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
	say(agent, MESSAGE_TASK, &message);
}

static void on_prepare(struct agent *agent, void *body)
{
	struct message_prepare *prepare = body;
	struct task_id id = task_spec_id(&prepare->task);
	struct entry *entry = entry_find(agent, &id);
	struct error err = { 0 };
	struct task *task;

	if (entry) {
		task_changed(agent, entry->task); /* it came twice: say again */
		return;
	}
	if (agent->tasks_count >= TASKS_MAX) {
		error_set(&err, EBUSY, "%d tasks on this node already",
			  TASKS_MAX);
		refuse_prepare(agent, &id, &err);
		return;
	}
	guard_limit(agent->config->guard, &prepare->task.container);
	log_info("task preparing job=%" PRIu64 " attempt=%u rank=%u image=%s",
		 id.job, id.attempt, id.rank, prepare->task.container.image);
	task = task_new(&agent->room, &prepare->task, &err);
	if (!task || entry_add(agent, task, &err) < 0) {
		task_free(task);
		spool_remove(agent->spool, &id, NULL);
		refuse_prepare(agent, &id, &err);
		return;
	}
}

static void on_start(struct agent *agent, void *body)
{
	struct message_start *start = body;
	struct task_id id = { start->job, start->attempt, start->rank };
	const struct rendezvous rendezvous = { start->master_addr,
					       start->master_port,
					       start->time_ms,
					       start->addresses };
	struct entry *entry = entry_find(agent, &id);

	if (entry)
		task_start(entry->task, &rendezvous);
	else
		report_run(NULL, 0, agent);
}

static void on_stop(struct agent *agent, void *body)
{
	struct message_stop *stop = body;
	struct task_id id = { stop->job, stop->attempt, stop->rank };
	struct entry *entry = entry_find(agent, &id);
	enum failure reason = failure_from(stop->reason);

	if (entry)
		task_stop(entry->task, reason ? reason : FAILURE_CANCELLED);
	else
		report_run(NULL, 0, agent);
}

static void on_discard(struct agent *agent, void *body)
{
	struct message_discard *discard = body;
	struct task_id id = { discard->job, discard->attempt, discard->rank };
	struct entry *entry = entry_find(agent, &id);

	if (entry)
		task_discard(entry->task);
	else
		say_discarded(agent, &id);
}

static void on_log_ack(struct agent *agent, void *body)
{
	pump_ack(agent->pump, body);
}

static void on_resync(struct agent *agent, void *body)
{
	report_run(NULL, 0, agent);
}

static void heard(void *arg, enum message_type type, void *body,
		  const void *payload, size_t size)
{
	/* clang-format off */
	static void (*const handlers[MESSAGE_TYPES])(struct agent *, void *) = {
		[MESSAGE_WELCOME] = on_welcome,
		[MESSAGE_PREPARE] = on_prepare,
		[MESSAGE_START] = on_start,
		[MESSAGE_STOP] = on_stop,
		[MESSAGE_DISCARD] = on_discard,
		[MESSAGE_LOG_ACK] = on_log_ack,
		[MESSAGE_RESYNC] = on_resync,
	};
	/* clang-format on */
	struct agent *agent = arg;

	if (!depot_heard(agent->depot, type, body, payload, size) &&
	    handlers[type])
		handlers[type](agent, body);
}

static void add_names(cJSON *facts, const char *name,
		      const struct strings *list)
{
	cJSON *array = list->count ? cJSON_AddArrayToObject(facts, name) : NULL;

	for (size_t i = 0; array && i < list->count; i++)
		cJSON_AddItemToArray(array, cJSON_CreateString(list->items[i]));
}

/* What the engine and the devices add to the host's facts. */
static cJSON *all_facts(struct agent *agent)
{
	struct facts_source source = {
		.sys = agent->allot.roots->sys,
		.proc = agent->allot.roots->proc,
		.engine = agent->engine_version,
	};
	const struct devices *devices = inventory_devices(agent->inventory);
	cJSON *facts = facts_read(&source, NULL);

	facts_versions(facts, &agent->versions);
	facts_accelerators(facts, devices->list, devices->count,
			   inventory_vendor(agent->inventory));
	add_names(facts, "engine_runtimes", &agent->abilities.runtimes);
	add_names(facts, "engine_cdi", &agent->abilities.cdi);
	if (devices->pretended)
		cJSON_AddBoolToObject(facts, "pretended", true);
	return facts;
}

static void connected(void *arg)
{
	struct agent *agent = arg;
	const struct agent_config *config = agent->config;
	const struct devices *devices = inventory_devices(agent->inventory);
	char machine[MACHINE_ID_SIZE];
	struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.software = (char *)"regatta-agent " REGATTA_VERSION,
		.instance = agent->instance,
		.cluster = (char *)config->cluster,
		.address = (char *)config->address,
		.vendor = (char *)inventory_vendor(agent->inventory),
		.devices = inventory_count(agent->inventory),
		.peers = (char *)depot_endpoint(agent->depot),
		.machine = machine_id(machine) ? machine : NULL,
		.facts = all_facts(agent),
		.inventory = devices->list,
		.inventory_count = devices->count,
	};

	agent->inventory_due = false;
	wire_client_send(agent->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
	cJSON_Delete(hello.facts);
}

static void lost(void *arg, int code, const char *why)
{
	struct agent *agent = arg;

	/* Once per outage: the client tries again every second. */
	if (!agent->complained)
		log_warning("no session: %s; trying again", why);
	agent->complained = true;
	agent->session = false;
	tell_status(agent);
	pump_session(agent->pump, 0);
	depot_session(agent->depot, false);
}

/* Starting: what is there already? */

static int begin_again(sd_event_source *source, uint64_t usec, void *arg)
{
	agent_begin(arg);
	return 0;
}

static void begin_later(struct agent *agent, const struct error *err)
{
	if (!agent->complained)
		log_warning("waiting for the engine: %s", err->text);
	agent->complained = true;
	loop_timer(agent->loop, &agent->retry, RETRY_MS, begin_again, agent,
		   NULL);
}

static bool label_number(const cJSON *labels, const char *name, uint64_t *value)
{
	const cJSON *label = cJSON_GetObjectItemCaseSensitive(labels, name);
	char *end;

	if (!cJSON_IsString(label) || !label->valuestring[0])
		return false;
	*value = strtoull(label->valuestring, &end, 10);
	return !*end;
}

static bool container_id(const cJSON *container, struct task_id *id)
{
	const cJSON *labels =
		cJSON_GetObjectItemCaseSensitive(container, "Labels");
	uint64_t attempt, rank;

	if (!label_number(labels, LABEL_JOB, &id->job) ||
	    !label_number(labels, LABEL_ATTEMPT, &attempt) ||
	    !label_number(labels, LABEL_RANK, &rank))
		return false;
	id->attempt = (uint32_t)attempt;
	id->rank = (uint32_t)rank;
	return true;
}

struct adoption {
	struct agent *agent;
	const cJSON *containers;
};

static void adopt_one(void *arg, const struct task_id *id)
{
	struct adoption *adoption = arg;
	struct agent *agent = adoption->agent;
	const cJSON *container, *mine = NULL;
	struct error err = { 0 };
	struct task_id other;
	struct task *task;

	cJSON_ArrayForEach(container, adoption->containers)
	{
		if (container_id(container, &other) &&
		    task_id_equal(&other, id))
			mine = container;
	}
	task = task_adopt(&agent->room, id, mine, &err);
	if (!task || entry_add(agent, task, &err) < 0) {
		/* Without its spec it is no task; a container goes as stray. */
		log_warning("spool dropped job=%" PRIu64 " rank=%u: %s",
			    id->job, id->rank, err.text);
		task_free(task);
		spool_remove(agent->spool, id, NULL);
		return;
	}
	log_info("task adopted job=%" PRIu64 " attempt=%u rank=%u", id->job,
		 id->attempt, id->rank);
}

static void stray_done(void *arg, const struct error *err, cJSON *answer)
{
	if (err)
		log_warning("stray container not removed: %s", err->text);
}

static void remove_strays(struct agent *agent, const cJSON *containers)
{
	const cJSON *container;
	struct task_id id;

	cJSON_ArrayForEach(container, containers)
	{
		const char *name = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(container, "Id"));

		if (!name ||
		    (container_id(container, &id) && entry_find(agent, &id)))
			continue;
		log_warning("stray container removed id=%.12s", name);
		engine_container_remove(agent->engine, name, true, true,
					CALL_MS, stray_done, agent, NULL);
	}
}

static void strays_listed(void *arg, const struct error *err, cJSON *answer)
{
	if (err)
		log_warning("strays are looked for in the next session: %s",
			    err->text);
	else
		remove_strays(arg, answer);
}

/* Only when welcome: a second agent with the same key, to which the containers
 * of the first are strays, never is.
 */
static void look_for_strays(struct agent *agent)
{
	owned(strings_clear) struct strings labels = { 0 };
	struct error err;

	if (container_filter(agent->config->cluster, agent->config->key.name,
			     &labels, &err) < 0 ||
	    !engine_container_list(agent->engine, true, &labels, CALL_MS,
				   strays_listed, agent, &err))
		strays_listed(agent, &err, NULL);
}

static void list_done(void *arg, const struct error *err, cJSON *answer)
{
	static const struct wire_client_handler handler = {
		.connected = connected,
		.message = heard,
		.lost = lost,
	};
	struct agent *agent = arg;
	const struct agent_config *config = agent->config;
	struct adoption adoption = { agent, answer };
	struct error wrong;

	agent->call = NULL;
	if (err) {
		begin_later(agent, err);
		return;
	}
	agent->complained = false;
	if (spool_each(agent->spool, adopt_one, &adoption, &wrong) < 0) {
		begin_later(agent, &wrong);
		return;
	}
	agent->wire =
		wire_client_new(agent->loop, config->zmq, config->controller,
				&config->key, config->server_public, &handler,
				agent, &wrong);
	if (!agent->wire) {
		log_error("%s", wrong.text);
		sd_event_exit(agent->loop, wrong.code == EINVAL ? 2 : 3);
	}
}

/* An engine without this answer has neither runtimes to choose nor CDI. */
static void info_done(void *arg, const struct error *err, cJSON *answer)
{
	struct agent *agent = arg;
	owned(strings_clear) struct strings labels = { 0 };
	struct error wrong;

	agent->call = NULL;
	if (!err &&
	    engine_abilities_read(answer, &agent->abilities, &wrong) < 0)
		err = &wrong;
	if (err)
		log_warning("the engine's runtimes are not known: %s",
			    err->text);
	if (container_filter(agent->config->cluster, agent->config->key.name,
			     &labels, &wrong) == 0)
		agent->call = engine_container_list(agent->engine, true,
						    &labels, CALL_MS, list_done,
						    agent, &wrong);
	if (!agent->call)
		begin_later(agent, &wrong);
}

static void version_done(void *arg, const struct error *err, cJSON *answer)
{
	struct agent *agent = arg;
	struct error wrong;

	agent->call = NULL;
	if (err) {
		begin_later(agent, err);
		return;
	}
	cJSON_Delete(agent->engine_version);
	agent->engine_version = cJSON_Duplicate(answer, true);
	agent->call =
		engine_info(agent->engine, CALL_MS, info_done, agent, &wrong);
	if (!agent->call)
		begin_later(agent, &wrong);
}

/* Where tools run; NULL: anywhere. */
static const cpu_set_t *housekeeping(const struct agent_config *config)
{
	return config->housekeeping ? &config->housekeeping_set : NULL;
}

static void versions_told(void *arg, const struct versions *versions)
{
	struct agent *agent = arg;

	agent->query = NULL;
	agent->versions = *versions;
	agent_begin(agent);
}

/* Nothing is adopted or begun before it is known what devices there are, and
 * with what driver.
 */
static void devices_changed(void *arg)
{
	struct agent *agent = arg;
	const struct profile *profile = inventory_profile(agent->inventory);

	agent->inventory_due = true;
	agent->monitor_config.profile = profile;
	if (agent->begun) {
		tell_inventory(agent);
		return;
	}
	if (agent->query)
		return;
	if (versions_rules(profile))
		agent->query =
			versions_ask(agent->loop, profile, agent->allot.roots,
				     housekeeping(agent->config), versions_told,
				     agent, NULL);
	if (!agent->query)
		agent_begin(agent);
}

static void agent_begin(struct agent *agent)
{
	struct error err;

	agent->begun = true;
	agent->call = engine_version(agent->engine, CALL_MS, version_done,
				     agent, &err);
	if (!agent->call)
		begin_later(agent, &err);
}

static int ignore(sd_event_source *source, const struct inotify_event *event,
		  void *arg)
{
	return 0;
}

/* The loop closes its inotify descriptor with the last watch, and the kernel
 * takes some 14 ms to do that, in which the agent stands still at the end of
 * each task. This watch, of a thing that does not happen, keeps it open.
 * Without it all works, only slower.
 */
static void keep_inotify(struct agent *agent)
{
	sd_event_add_inotify(agent->loop, &agent->inotify, agent->folder,
			     IN_MOVE_SELF, ignore, agent);
}

static const struct devices *devices_now(void *arg)
{
	const struct agent *agent = arg;

	return inventory_devices(agent->inventory);
}

static bool controller_clock(void *arg, struct exchange *best)
{
	const struct agent *agent = arg;

	return agent->wire && wire_client_clock(agent->wire, best);
}

static int open_monitor(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	agent->monitor_config = (struct monitor_config){
		.node = config->key.name,
		.roots = agent->allot.roots,
		.cpus = housekeeping(config),
		.cpus_text = config->housekeeping,
		.interval_ms = MONITOR_INTERVAL_MS,
		.ipmi = config->ipmi,
		.devices = devices_now,
		.clock = controller_clock,
		.arg = agent,
	};
	agent->monitor = monitor_new(agent->loop, &agent->monitor_config, err);
	return agent->monitor ? 0 : -1;
}

/* depot_config.touch */
static void touch_contents(void *arg)
{
	struct agent *agent = arg;
	struct entry *entry;

	TAILQ_FOREACH(entry, &agent->tasks, next)
	task_touch(entry->task);
}

static int open_depot(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	agent->depot = depot_new(
		&(struct depot_config){
			.loop = agent->loop,
			.engine = agent->engine,
			.guard = config->guard,
			.state = config->state,
			.key = &config->key,
			.address = config->address,
			.port = config->peer_port,
			.say = say_content,
			.touch = touch_contents,
			.arg = agent,
		},
		err);
	return agent->depot ? 0 : -1;
}

static int agent_open(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;
	uint8_t random[16];

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(agent->instance, sizeof(agent->instance), random,
		       sizeof(random));
	if (asprintf(&agent->folder, "%s/spool", config->state) < 0)
		return error_nomem(err, "agent");
	agent->spool = spool_new(config->state, err);
	if (!agent->spool)
		return -1;
	keep_inotify(agent);
	agent->engine =
		engine_new(agent->loop, config->engine, config->tls, err);
	if (!agent->engine)
		return -1;
	agent->inventory = inventory_new(agent->loop,
					 &(struct inventory_config){
						 .roots = agent->allot.roots,
						 .vendor = config->vendor,
						 .images = config->images,
						 .state = config->state,
						 .devices = config->devices,
						 .cpus = housekeeping(config),
					 },
					 devices_changed, agent, err);
	if (!agent->inventory)
		return -1;
	agent->allot.inventory = agent->inventory;
	agent->images = images_new(agent->loop, agent->engine, config->images,
				   config->stall_ms, 0, err);
	if (!agent->images)
		return -1;
	agent->registries = (struct registries){
		.credentials = config->credentials,
		.authorities = config->authorities,
		.local = !strncmp(config->engine, "unix://", 7),
	};
	images_use(agent->images, &agent->registries);
	agent->pump = pump_new(agent->loop, agent->spool, send_log, agent, err);
	if (!agent->pump)
		return -1;
	if (open_depot(agent, err) < 0)
		return -1;
	return open_monitor(agent, err);
}

struct agent *agent_new(sd_event *loop, const struct agent_config *config,
			struct error *err)
{
	owned(agent_free) struct agent *agent = calloc(1, sizeof(*agent));

	if (!agent) {
		error_nomem(err, "agent");
		return NULL;
	}
	TAILQ_INIT(&agent->tasks);
	agent->loop = sd_event_ref(loop);
	agent->config = config;
	agent->allot.roots = config->roots ? config->roots : &real_roots;
	agent->allot.abilities = &agent->abilities;
	if (agent_open(agent, err) < 0)
		return NULL;
	agent->room = (struct task_room){
		.loop = loop,
		.engine = agent->engine,
		.images = agent->images,
		.spool = agent->spool,
		.pump = agent->pump,
		.contents = depot_contents(agent->depot),
		.fetches = depot_fetches(agent->depot),
		.monitor = agent->monitor,
		.cluster = config->cluster,
		.node = config->key.name,
		.init_program = config->init_program,
		.folder = agent->folder,
		.allot = &agent->allot,
		.guard = config->guard,
		.preflight = {
			.loop = loop,
			.allot = &agent->allot,
			.engine = agent->engine,
			.versions = &agent->versions,
			.cluster = config->cluster,
			.node = config->key.name,
			.cpus = housekeeping(config),
			.clock_limit_ms = config->clock_limit_ms,
			.clock = controller_clock,
			.arg = agent,
		},
		.changed = task_changed,
		.progress = task_progress,
		.gone = task_gone,
		.arg = agent,
	};
	return take(agent);
}

size_t agent_tasks(const struct agent *agent)
{
	return agent->tasks_count;
}

void agent_free(struct agent *agent)
{
	struct entry *entry;

	if (!agent)
		return;
	while ((entry = TAILQ_FIRST(&agent->tasks))) {
		task_free(entry->task);
		entry_remove(agent, entry);
	}
	monitor_free(agent->monitor);
	versions_cancel(agent->query);
	wire_client_free(agent->wire);
	depot_free(agent->depot);
	pump_free(agent->pump);
	images_free(agent->images);
	engine_free(agent->engine); /* drops agent->call too */
	spool_free(agent->spool);
	inventory_free(agent->inventory);
	engine_abilities_clear(&agent->abilities);
	loop_source_free(&agent->retry);
	loop_source_free(&agent->report);
	loop_source_free(&agent->inotify);
	cJSON_Delete(agent->engine_version);
	free(agent->folder);
	sd_event_unref(agent->loop);
	free(agent);
}
