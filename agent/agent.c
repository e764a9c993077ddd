/* agent.c - makes and frees the parts of an agent.
 */
#include "agent/agent.h"
#include "agent/boot.h"
#include "agent/departure.h"
#include "agent/docker/create_body.h"
#include "agent/engine_watch.h"
#include "agent/idle_look.h"
#include "agent/evidence/stack_tools.h"
#include "agent/exporter.h"
#include "agent/images/registry_access.h"
#include "agent/session.h"
#include "agent/spool/spool.h"
#include "agent/strays.h"
#include "protocol/base/loop.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <systemd/sd-daemon.h>

struct agent {
	sd_event *loop;
	const struct agent_config *config;
	char instance[33];
	char owner[400]; /* of containers that install, agent/images/install.h
			  */
	char *folder;    /* of the spool */
	struct engine *engine;
	struct engine_watch *engine_watch;
	struct idle_look *idle_look;
	struct registries registries;
	struct images *images;
	struct spool *spool;
	struct trash *trash;
	struct stack_tools *stack_tools;
	struct log_sender *sender;
	struct blob_store *blobs;
	struct fetches *fetches;
	struct inventory *inventory;
	struct device_binding_source binding;
	struct monitor_config monitor_config;
	struct monitor *monitor;
	struct exporter_config exporter_config;
	struct http_server *exporter; /* NULL: none */
	struct task_services services;
	struct task_table *tasks;
	struct boot *boot;
	struct strays *strays;
	struct departure *departure;
	struct session_parts session_parts;
	struct session *session;
	sd_event_source *inotify;
};

/* Where tools run; NULL: anywhere. */
static const cpu_set_t *agent_housekeeping(const struct agent_config *config)
{
	return config->settings.housekeeping_cpus ? &config->housekeeping_set
						  : NULL;
}

/* The text that systemctl status shows. Package scripts read it, too. */
static void agent_tell_status(void *arg)
{
	const struct agent *agent = arg;
	size_t count = task_table_count(agent->tasks);

	sd_notifyf(0, "STATUS=%zu task%s, controller %s", count,
		   count == 1 ? "" : "s",
		   session_is_open(agent->session) ? "connected"
						   : "out of reach");
}

static void agent_session_changed(void *arg, bool open)
{
	struct agent *agent = arg;

	agent_tell_status(agent);
	strays_session(agent->strays, open);
}

static void agent_task_gone(void *arg)
{
	struct agent *agent = arg;

	strays_later(agent->strays);
	departure_check(agent->departure);
}

static void agent_departure_changed(void *arg)
{
	const struct agent *agent = arg;

	session_report(agent->session);
}

/* The session is opened only when the tasks are known. */
static void agent_booted(void *arg)
{
	struct agent *agent = arg;

	session_connect(agent->session);
	departure_tasks_known(agent->departure);
}

/* The inventory's handler. */
static void agent_devices_changed(void *arg)
{
	struct agent *agent = arg;

	agent->monitor_config.profile = inventory_profile(agent->inventory);
	session_inventory_changed(agent->session);
	boot_start(agent->boot);
}

static void agent_told_news(void *arg)
{
	struct agent *agent = arg;

	session_inventory_changed(agent->session);
}

static int agent_ignore_event(sd_event_source *source,
			      const struct inotify_event *event, void *arg)
{
	return 0;
}

/* The loop closes its inotify descriptor with the last watch, which blocks the
 * agent for about 14 ms at the end of each task. This watch, of an event that
 * does not happen, keeps the descriptor open. If it fails, the agent is slower.
 */
static void keep_inotify(struct agent *agent)
{
	sd_event_add_inotify(agent->loop, &agent->inotify, agent->folder,
			     IN_MOVE_SELF, agent_ignore_event, agent);
}

static const struct devices *agent_list_devices(void *arg)
{
	const struct agent *agent = arg;

	return inventory_devices(agent->inventory);
}

static bool controller_clock(void *arg, struct exchange *best)
{
	const struct agent *agent = arg;

	return session_clock(agent->session, best);
}

static void samples_written(void *arg)
{
	const struct agent *agent = arg;

	if (agent->sender)
		log_sender_join(agent->sender);
}

static int open_monitor(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	agent->monitor_config = (struct monitor_config){
		.node = config->key.name,
		.roots = agent->binding.roots,
		.cpus = agent_housekeeping(config),
		.cpus_text = config->settings.housekeeping_cpus,
		.interval_ms = MONITOR_INTERVAL_MS,
		.ipmi = config->settings.ipmi,
		.devices = agent_list_devices,
		.clock = controller_clock,
		.wrote = samples_written,
		.arg = agent,
	};
	agent->monitor = monitor_new(agent->loop, &agent->monitor_config, err);
	return agent->monitor ? 0 : -1;
}

static void touch_task(void *arg, struct task *task)
{
	task_touch(task);
}

/* fetch_config.touch */
static void touch_blobs(void *arg)
{
	struct agent *agent = arg;

	task_table_each(agent->tasks, touch_task, NULL);
	if (agent->images)
		images_touch(agent->images);
}

/* fetch_config.say */
static int agent_say(void *arg, enum message_type type, const void *body,
		     const void *data, size_t size)
{
	const struct agent *agent = arg;

	return session_send(agent->session, type, body, data, size);
}

static int agent_open_blobs(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	agent->blobs = blob_store_new(config->settings.state, err);
	if (!agent->blobs)
		return -1;
	agent->fetches = fetches_new(
		&(struct fetch_config){
			.loop = agent->loop,
			.blobs = agent->blobs,
			.key = &config->key,
			.address = config->settings.address,
			.port = (uint32_t)config->settings.peer_port,
			.say = agent_say,
			.touch = touch_blobs,
			.arg = agent,
		},
		err);
	return agent->fetches ? 0 : -1;
}

/* image_devices_fn: the device nodes that a job with all devices would get. */
static int build_devices(void *arg, cJSON *devices, struct error *err)
{
	struct agent *agent = arg;
	const struct devices *all = inventory_devices(agent->inventory);
	const struct policy *policy =
		node_policy_rules(agent->config->node_policy);
	owned(task_spec_clear) struct task_spec bare = { .nodes = 1 };
	owned(task_spec_clear) struct task_spec completed = { 0 };
	const struct strings *nodes = &completed.container.device_nodes;

	if (!policy->any && !policy->profile)
		return 0;
	for (size_t i = 0; i < all->count; i++)
		if (!all->list[i].gone && !all->list[i].text &&
		    strings_printf(&bare.devices, err, "%zu", i) < 0)
			return -1;
	if (string_set(&bare.container.image, "any", err) < 0 ||
	    device_binding_apply(&agent->binding, &bare, false, &completed,
				 err) < 0)
		return -1;
	for (size_t i = 0; i < nodes->count; i++)
		if (container_add_device(devices, nodes->items[i],
					 agent->binding.roots->dev, err) < 0)
			return -1;
	return 0;
}

static int agent_image_needs(void *arg, struct image_need **list, size_t *count,
			     struct error *err)
{
	const struct agent *agent = arg;

	return task_table_needs(agent->tasks, list, count, err);
}

static int open_images(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	agent->registries = (struct registries){
		.credentials = config->credentials,
		.local = !strncmp(engine_host(agent->engine), "unix://", 7),
		.key = &config->key,
		.controller = config->server_public,
		.node_policy = config->node_policy,
	};
	snprintf(agent->owner, sizeof(agent->owner), "%s/%s/%s",
		 config->settings.cluster, config->key.name, agent->instance);
	agent->images = images_new(
		&(struct image_services){
			.loop = agent->loop,
			.engine = agent->engine,
			.folder = config->settings.images,
			.state = config->settings.state,
			.registries = &agent->registries,
			.stall_ms = (uint32_t)config->settings.stall * 1000,
			.owner = agent->owner,
			.devices = build_devices,
			.floor = config->settings.image_floor,
			.keep = (uint32_t)config->settings.image_keep,
			.blobs = agent->blobs,
			.fetches = agent->fetches,
			.needs = agent_image_needs,
			.say = agent_say,
			.arg = agent,
		},
		err);
	return agent->images ? 0 : -1;
}

static int open_stack_tools(struct agent *agent, struct error *err)
{
	const char *folder = agent->config->settings.images;
	owned_free char *path = NULL;

	if (asprintf(&path, "%s/stacks.yaml", folder ? folder : "") < 0)
		return error_nomem(err, "agent");
	agent->stack_tools = stack_tools_read(path, err);
	return agent->stack_tools ? 0 : -1;
}

static int open_exporter(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	if (!config->settings.metrics)
		return 0;
	agent->exporter_config = (struct exporter_config){
		.loop = agent->loop,
		.address = config->settings.metrics,
		.name = config->settings.metrics_name,
		.node = config->key.name,
		.state = config->settings.state,
		.monitor = agent->monitor,
		.inventory = agent->inventory,
		.tasks = agent->tasks,
		.session = agent->session,
	};
	agent->exporter = exporter_new(&agent->exporter_config, err);
	return agent->exporter ? 0 : -1;
}

static int agent_open_boot(struct agent *agent, struct error *err)
{
	agent->boot = boot_new(
		&(struct boot_config){
			.loop = agent->loop,
			.config = agent->config,
			.cpus = agent_housekeeping(agent->config),
			.roots = agent->binding.roots,
			.owner = agent->owner,
			.engine = agent->engine,
			.inventory = agent->inventory,
			.spool = agent->spool,
			.tasks = agent->tasks,
			.services = &agent->services,
			.done = agent_booted,
			.arg = agent,
		},
		err);
	if (!agent->boot)
		return -1;
	agent->binding.features = boot_features(agent->boot);
	return 0;
}

/* What starts, ends and speaks. */
static int agent_open_parts(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	if (agent_open_boot(agent, err) < 0)
		return -1;
	agent->engine_watch = engine_watch_new(agent->loop, agent->engine,
					       agent_told_news, agent, err);
	agent->idle_look =
		idle_look_new(agent->loop, &agent->services.preflight,
			      agent->tasks, 0, agent_told_news, agent, err);
	if (!agent->engine_watch || !agent->idle_look)
		return -1;
	agent->strays =
		strays_new(agent->loop, agent->engine, agent->tasks,
			   config->settings.cluster, config->key.name, err);
	if (!agent->strays)
		return -1;
	agent->session_parts = (struct session_parts){
		.loop = agent->loop,
		.config = config,
		.roots = agent->binding.roots,
		.instance = agent->instance,
		.registries = &agent->registries,
		.inventory = agent->inventory,
		.boot = agent->boot,
		.engine_watch = agent->engine_watch,
		.idle_look = agent->idle_look,
		.tasks = agent->tasks,
		.services = &agent->services,
		.images = agent->images,
		.changed = agent_session_changed,
		.task_gone = agent_task_gone,
		.arg = agent,
	};
	agent->departure =
		departure_new(agent->loop, config->share, agent->tasks,
			      agent_departure_changed, agent, err);
	agent->session_parts.departure = agent->departure;
	return agent->departure ? 0 : -1;
}

static int agent_open(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;
	uint8_t random[16];

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(agent->instance, sizeof(agent->instance), random,
		       sizeof(random));
	if (asprintf(&agent->folder, "%s/spool", config->settings.state) < 0)
		return error_nomem(err, "agent");
	agent->spool = spool_new(config->settings.state, err);
	if (!agent->spool ||
	    !(agent->trash = trash_new(agent->loop, spool_trash(agent->spool),
				       config->settings.init, err)))
		return -1;
	keep_inotify(agent);
	if (open_stack_tools(agent, err) < 0)
		return -1;
	agent->inventory =
		inventory_new(agent->loop,
			      &(struct inventory_config){
				      .roots = agent->binding.roots,
				      .vendor = config->settings.vendor,
				      .images = config->settings.images,
				      .state = config->settings.state,
				      .devices = (uint32_t)config->settings
							 .devices,
				      .only = config->settings.only_devices
						      ? &config->offered
						      : NULL,
				      .cpus = agent_housekeeping(config),
			      },
			      agent_devices_changed, agent, err);
	if (!agent->inventory)
		return -1;
	agent->binding.inventory = agent->inventory;
	agent->sender = log_sender_new(agent->loop, agent->spool,
				       session_send_log, agent->session, err);
	if (!agent->sender)
		return -1;
	if (agent_open_blobs(agent, err) < 0 || open_images(agent, err) < 0 ||
	    open_monitor(agent, err) < 0)
		return -1;
	if (open_exporter(agent, err) < 0)
		return -1;
	return agent_open_parts(agent, err);
}

struct agent *agent_new(sd_event *loop, const struct agent_config *config,
			struct engine *engine, struct error *err)
{
	owned(agent_free) struct agent *agent = calloc(1, sizeof(*agent));

	if (!agent) {
		engine_free(engine);
		return error_null(error_nomem(err, "agent"));
	}
	agent->engine = engine;
	agent->loop = sd_event_ref(loop);
	agent->config = config;
	agent->binding.roots = config->roots ? config->roots : &real_roots;
	agent->session = session_new(&agent->session_parts, err);
	agent->tasks = task_table_new(agent_tell_status, agent, err);
	if (!agent->session || !agent->tasks || agent_open(agent, err) < 0)
		return NULL;
	agent->services = (struct task_services){
		.loop = loop,
		.engine = agent->engine,
		.images = agent->images,
		.spool = agent->spool,
		.trash = agent->trash,
		.sender = agent->sender,
		.blobs = agent->blobs,
		.fetches = agent->fetches,
		.monitor = agent->monitor,
		.cluster = config->settings.cluster,
		.node = config->key.name,
		.address = config->settings.address,
		.init_program = config->settings.init,
		.folder = agent->folder,
		.binding = &agent->binding,
		.node_policy = config->node_policy,
		.registries = &agent->registries,
		.stack_tools = agent->stack_tools,
		.preflight = {
			.loop = loop,
			.binding = &agent->binding,
			.engine = agent->engine,
			.versions = boot_versions(agent->boot),
			.cluster = config->settings.cluster,
			.node = config->key.name,
			.cpus = agent_housekeeping(config),
			.clock_limit_ms = (uint32_t)config->settings.clock_limit * 1000,
			.clock = controller_clock,
			.arg = agent,
		},
		.changed = session_task_changed,
		.progress = session_task_progress,
		.say = session_send,
		.gone = session_task_gone,
		.arg = agent->session,
	};
	return take(agent);
}

void agent_policy_changed(struct agent *agent)
{
	session_inventory_changed(agent->session);
}

void agent_leave(struct agent *agent)
{
	departure_begin(agent->departure);
}

size_t agent_tasks(const struct agent *agent)
{
	return task_table_count(agent->tasks);
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	task_table_free(agent->tasks);
	http_server_free(agent->exporter);
	monitor_free(agent->monitor);
	boot_free(agent->boot);
	engine_watch_free(agent->engine_watch);
	idle_look_free(agent->idle_look);
	session_free(agent->session);
	images_free(agent->images);
	fetches_free(agent->fetches);
	blob_store_free(agent->blobs);
	log_sender_free(agent->sender);
	engine_free(agent->engine);
	trash_free(agent->trash);
	spool_free(agent->spool);
	stack_tools_free(agent->stack_tools);
	inventory_free(agent->inventory);
	strays_free(agent->strays);
	departure_free(agent->departure);
	loop_source_free(&agent->inotify);
	free(agent->folder);
	sd_event_unref(agent->loop);
	free(agent);
}
