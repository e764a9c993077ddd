/* agent.c - makes and frees the parts of an agent.
 */
#include "agent/agent_internal.h"
#include "agent/evidence/stack_tools.h"
#include "agent/time_limit.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

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

	return agent->wire && wire_client_clock(agent->wire, best);
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
		.arg = agent,
	};
	agent->monitor = monitor_new(agent->loop, &agent->monitor_config, err);
	return agent->monitor ? 0 : -1;
}

/* fetch_config.touch */
static void touch_contents(void *arg)
{
	struct agent *agent = arg;
	struct task_entry *entry;

	TAILQ_FOREACH(entry, &agent->tasks, next)
	task_touch(entry->task);
	if (agent->operations)
		image_operations_touch(agent->operations);
}

static int agent_open_blobs(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	agent->contents = blob_store_new(config->settings.state, err);
	if (!agent->contents)
		return -1;
	agent->fetches = fetches_new(
		&(struct fetch_config){
			.loop = agent->loop,
			.contents = agent->contents,
			.key = &config->key,
			.address = config->settings.address,
			.port = (uint32_t)config->settings.peer_port,
			.say = session_send,
			.touch = touch_contents,
			.arg = agent,
		},
		err);
	return agent->fetches ? 0 : -1;
}

/* image_devices_fn: the device nodes that a job with all devices would get. */
static int build_devices(void *arg, struct strings *devices, struct error *err)
{
	struct agent *agent = arg;
	const struct devices *all = inventory_devices(agent->inventory);
	const struct policy *policy =
		node_policy_rules(agent->config->node_policy);
	owned(task_spec_clear) struct task_spec bare = { .nodes = 1 };
	owned(task_spec_clear) struct task_spec completed = { 0 };

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
	*devices = completed.container.device_nodes;
	completed.container.device_nodes = (struct strings){ 0 };
	return 0;
}

static int open_watermark(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	if (!free_space_is_set(&config->settings.image_floor))
		return 0;
	agent->watermark = disk_watermark_new(
		&(struct disk_watermark_config){
			.loop = agent->loop,
			.engine = agent->engine,
			.floor = config->settings.image_floor,
			.keep = (uint32_t)config->settings.image_keep,
			.ask = session_ask_room,
			.arg = agent,
		},
		err);
	return agent->watermark ? 0 : -1;
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
	agent->usage =
		image_usage_new(agent->loop, config->settings.state, err);
	if (!agent->usage || open_watermark(agent, err) < 0)
		return -1;
	agent->images = images_new(
		&(struct image_services){
			.loop = agent->loop,
			.engine = agent->engine,
			.folder = config->settings.images,
			.registries = &agent->registries,
			.usage = agent->usage,
			.watermark = agent->watermark,
			.stall_ms = (uint32_t)config->settings.stall * 1000,
			.owner = agent->owner,
			.devices = build_devices,
			.devices_arg = agent,
		},
		err);
	return agent->images ? 0 : -1;
}

static int open_operations(struct agent *agent, struct error *err)
{
	agent->image_operations_config = (struct image_operations_config){
		.loop = agent->loop,
		.engine = agent->engine,
		.local = agent->registries.local,
		.contents = agent->contents,
		.fetches = agent->fetches,
		.images = agent->images,
		.usage = agent->usage,
		.node_policy = agent->config->node_policy,
		.needs = task_table_needs,
		.tell = session_tell_images,
		.arg = agent,
	};
	agent->operations =
		image_operations_new(&agent->image_operations_config, err);
	return agent->operations ? 0 : -1;
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
	if (!agent->spool)
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
			      recovery_devices, agent, err);
	if (!agent->inventory)
		return -1;
	agent->binding.inventory = agent->inventory;
	if (open_images(agent, err) < 0)
		return -1;
	agent->sender = log_sender_new(agent->loop, agent->spool,
				       session_send_log, agent, err);
	if (!agent->sender)
		return -1;
	if (agent_open_blobs(agent, err) < 0 ||
	    open_operations(agent, err) < 0 || open_monitor(agent, err) < 0)
		return -1;
	if (config->settings.metrics)
		agent->exporter = exporter_new(agent, err);
	return !config->settings.metrics || agent->exporter ? 0 : -1;
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
	TAILQ_INIT(&agent->tasks);
	agent->loop = sd_event_ref(loop);
	agent->config = config;
	agent->binding.roots = config->roots ? config->roots : &real_roots;
	agent->binding.features = &agent->features;
	if (agent_open(agent, err) < 0)
		return NULL;
	agent->services = (struct task_services){
		.loop = loop,
		.engine = agent->engine,
		.images = agent->images,
		.spool = agent->spool,
		.sender = agent->sender,
		.contents = agent->contents,
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
			.versions = &agent->versions,
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
		.arg = agent,
	};
	leave_plan(agent);
	return take(agent);
}

void agent_policy_changed(struct agent *agent)
{
	agent->inventory_due = true;
	session_tell_inventory(agent);
}

size_t agent_tasks(const struct agent *agent)
{
	return agent->tasks_count;
}

void agent_free(struct agent *agent)
{
	struct task_entry *entry;

	if (!agent)
		return;
	while ((entry = TAILQ_FIRST(&agent->tasks))) {
		task_free(entry->task);
		task_table_remove(agent, entry);
	}
	http_server_free(agent->exporter);
	monitor_free(agent->monitor);
	versions_cancel(agent->query);
	wire_client_free(agent->wire);
	image_operations_free(agent->operations);
	fetches_free(agent->fetches);
	blob_store_free(agent->contents);
	log_sender_free(agent->sender);
	images_free(agent->images);
	disk_watermark_free(agent->watermark);
	image_usage_free(agent->usage);
	engine_free(agent->engine); /* drops agent->call too */
	spool_free(agent->spool);
	stack_tools_free(agent->stack_tools);
	inventory_free(agent->inventory);
	engine_features_clear(&agent->features);
	loop_source_free(&agent->retry);
	loop_source_free(&agent->leave);
	time_limit_free(agent->limit);
	loop_source_free(&agent->endpoint_timer);
	loop_source_free(&agent->report);
	loop_source_free(&agent->strays);
	loop_source_free(&agent->inotify);
	cJSON_Delete(agent->engine_version);
	free(agent->folder);
	sd_event_unref(agent->loop);
	free(agent);
}
