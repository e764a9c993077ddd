/* recovery.c - finds devices, engine and tasks when the agent starts.
 */
#include "agent/agent_internal.h"
#include "agent/docker/delegated.h"
#include "agent/docker/engine_network.h"
#include "agent/images/install.h"

#include "protocol/base/file.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS 50     /* while the engine is away */
#define ENDPOINT_MS 500 /* between reads of the controller's endpoint */
#define STRAYS_MS 10000 /* after a task; an engine may be as late */

static void agent_begin(struct agent *agent);
static void recovery_retry_controller(struct agent *agent);

static int recovery_begin_again(sd_event_source *source, uint64_t usec,
				void *arg)
{
	agent_begin(arg);
	return 0;
}

static void begin_later(struct agent *agent, const struct error *err)
{
	if (!agent->outage_logged)
		log_warning("waiting for the engine: %s", err->text);
	agent->outage_logged = true;
	loop_timer(agent->loop, &agent->retry, RETRY_MS, recovery_begin_again,
		   agent, NULL);
}

static bool label_number(const cJSON *labels, const char *name, uint64_t *value)
{
	const char *text = json_get_text_or_empty(labels, name);
	char *end;

	*value = strtoull(text, &end, 10);
	return *text && !*end;
}

static bool container_id(const cJSON *container, struct task_id *id)
{
	const cJSON *labels = json_get(container, "Labels");
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
	task = task_adopt(&agent->services, id, mine, &err);
	if (!task || task_table_add(agent, task, &err) < 0) {
		/* A spool without a spec is no task. Its container is removed
		 * as a stray.
		 */
		log_warning("spool dropped job=%" PRIu64 " rank=%u: %s",
			    id->job, id->rank, err.text);
		task_free(task);
		while (spool_remove(agent->spool, id, NULL) > 0)
			continue;
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
		const char *name = json_get_text(container, "Id");

		if (!name || (container_id(container, &id) &&
			      task_table_find(agent, &id)))
			continue;
		log_warning("stray container removed id=%.12s", name);
		engine_container_remove(agent->engine, name, AGENT_CALL_MS,
					stray_done, agent, NULL);
	}
}

static void recovery_strays_listed(void *arg, const struct error *err,
				   cJSON *answer)
{
	if (err)
		log_warning("stray containers are removed in the next session: "
			    "%s",
			    err->text);
	else
		remove_strays(arg, answer);
}

void recovery_strays(struct agent *agent)
{
	owned(strings_clear) struct strings labels = { 0 };
	struct error err;

	if (container_filter(agent->config->settings.cluster,
			     agent->config->key.name, &labels, &err) < 0 ||
	    !engine_container_list(agent->engine, true, &labels, AGENT_CALL_MS,
				   recovery_strays_listed, agent, &err))
		recovery_strays_listed(agent, &err, NULL);
}

static int strays_run(sd_event_source *source, uint64_t usec, void *arg)
{
	struct agent *agent = arg;

	loop_source_free(&agent->strays);
	if (agent->session)
		recovery_strays(agent);
	return 0;
}

void recovery_strays_later(struct agent *agent)
{
	if (!agent->strays)
		loop_timer(agent->loop, &agent->strays, STRAYS_MS, strays_run,
			   agent, NULL);
}

/* Credentials are sealed with the controller's current or former key. */
static void follow_key(struct agent *agent)
{
	const struct server_keys *keys = wire_client_server(agent->wire);
	char path[PATH_MAX];
	struct error err;

	snprintf(path, sizeof(path), "%s/%s", agent->config->settings.state,
		 SERVER_KEYS_AGENT);
	if (wire_client_remember(agent->wire, path, &err) < 0)
		log_warning("%s", err.text);
	agent->registries.controller = keys->current;
	agent->registries.former = keys->former;
}

static int connect_to(struct agent *agent, struct error *err)
{
	const struct agent_config *config = agent->config;

	agent->wire = wire_client_new(agent->loop, config->zmq, agent->endpoint,
				      &config->key, config->server_public,
				      &session_handler, agent, err);
	if (!agent->wire)
		return -1;
	follow_key(agent);
	return 0;
}

/* 1: the endpoint is new. */
static int recovery_read_endpoint(struct agent *agent)
{
	const char *path = agent->config->settings.controller;
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, sizeof(agent->endpoint) - 1);
	if (*path != '/') {
		snprintf(agent->endpoint, sizeof(agent->endpoint), "%s", path);
		return !agent->wire;
	}
	if (file_read(AT_FDCWD, path, &text, NULL) < 0 || !text.size)
		return 0;
	text.data[strcspn(text.data, "\n")] = 0;
	if (!strcmp(text.data, agent->endpoint))
		return 0;
	snprintf(agent->endpoint, sizeof(agent->endpoint), "%s", text.data);
	return 1;
}

static int recovery_look_again(sd_event_source *source, uint64_t usec,
			       void *arg)
{
	recovery_retry_controller(arg);
	return 0;
}

void recovery_find_controller(struct agent *agent)
{
	if (*agent->config->settings.controller == '/')
		loop_timer(agent->loop, &agent->endpoint_timer, ENDPOINT_MS,
			   recovery_look_again, agent, NULL);
}

static void recovery_retry_controller(struct agent *agent)
{
	struct error err;

	if (recovery_read_endpoint(agent)) {
		wire_client_free(take(agent->wire));
		if (connect_to(agent, &err) < 0) {
			log_error("%s", err.text);
			sd_event_exit(agent->loop, err.code == EINVAL ? 2 : 3);
			return;
		}
	}
	if (!agent->session)
		recovery_find_controller(agent);
}

static void list_done(void *arg, const struct error *err, cJSON *answer)
{
	struct agent *agent = arg;
	struct adoption adoption = { agent, answer };
	struct error wrong;

	agent->call = NULL;
	if (err) {
		begin_later(agent, err);
		return;
	}
	agent->outage_logged = false;
	if (spool_each(agent->spool, adopt_one, &adoption, &wrong) < 0) {
		begin_later(agent, &wrong);
		return;
	}
	install_forget_strays(agent->engine, agent->owner);
	agent->recovered = true;
	recovery_retry_controller(agent);
	leave_if_empty(agent);
}

static void list_ours(struct agent *agent)
{
	owned(strings_clear) struct strings labels = { 0 };
	struct error wrong;

	for (size_t i = 0; i < agent->features.unlimited.count; i++)
		log_warning("the engine cannot limit %s; limits of jobs are "
			    "ignored",
			    agent->features.unlimited.items[i]);
	if (container_filter(agent->config->settings.cluster,
			     agent->config->key.name, &labels, &wrong) == 0)
		agent->call = engine_container_list(agent->engine, true,
						    &labels, AGENT_CALL_MS,
						    list_done, agent, &wrong);
	if (!agent->call)
		begin_later(agent, &wrong);
}

/* An engine that does not answer has no runtimes to choose and no CDI. */
static void recovery_info_done(void *arg, const struct error *err,
			       cJSON *answer)
{
	struct agent *agent = arg;
	struct error wrong;

	agent->call = NULL;
	if (!err && engine_features_read(answer, &agent->features, &wrong) < 0)
		err = &wrong;
	if (err)
		log_warning("the engine's runtimes are unknown: %s", err->text);
	agent->features.separate_network =
		engine_network_separate(engine_host(agent->engine));
	if (agent->features.separate_network)
		log_warning("the engine's host network is its own: jobs of "
			    "more than one node cannot run here");
	list_ours(agent);
}

static void ask_info(struct agent *agent)
{
	struct error wrong;

	agent->call = engine_info(agent->engine, AGENT_CALL_MS,
				  recovery_info_done, agent, &wrong);
	if (!agent->call)
		begin_later(agent, &wrong);
}

/* For a rootless Podman, GET /info would add nothing. */
static void podman_info_done(void *arg, const struct error *err, cJSON *answer)
{
	struct agent *agent = arg;
	struct error wrong;

	agent->call = NULL;
	if (!err &&
	    engine_features_podman(answer, &agent->features, &wrong) < 0)
		err = &wrong;
	if (err)
		log_warning("the limits that Podman supports are unknown: %s",
			    err->text);
	if (!err && agent->features.isolation)
		list_ours(agent);
	else
		ask_info(agent);
}

/* A Podman of ours is not asked: it would run the package manager to answer. */
static bool know_own(struct agent *agent)
{
	owned(strings_clear) struct strings controllers = { 0 };
	struct error err;

	if (delegated_controllers("", &controllers, &err) == 0 &&
	    engine_features_rootless(&controllers, &agent->features, &err) == 0)
		return true;
	log_warning("the cgroup limits that are delegated to this user are "
		    "unknown: %s",
		    err.text);
	return false;
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
	if (!engine_is_podman(answer)) {
		ask_info(agent);
		return;
	}
	if (agent->config->own_podman && know_own(agent)) {
		list_ours(agent);
		return;
	}
	agent->call = engine_podman_info(agent->engine, AGENT_CALL_MS,
					 podman_info_done, agent, &wrong);
	if (!agent->call)
		begin_later(agent, &wrong);
}

const cpu_set_t *agent_housekeeping(const struct agent_config *config)
{
	return config->settings.housekeeping_cpus ? &config->housekeeping_set
						  : NULL;
}

static void recovery_versions_told(void *arg, const struct versions *versions)
{
	struct agent *agent = arg;

	agent->query = NULL;
	agent->versions = *versions;
	agent_begin(agent);
}

void recovery_devices(void *arg)
{
	struct agent *agent = arg;
	const struct profile *profile = inventory_profile(agent->inventory);

	agent->inventory_due = true;
	agent->monitor_config.profile = profile;
	if (agent->recovery_begun) {
		session_tell_inventory(agent);
		return;
	}
	if (agent->query)
		return;
	if (versions_rules(profile))
		agent->query =
			versions_ask(agent->loop, profile, agent->binding.roots,
				     agent_housekeeping(agent->config),
				     recovery_versions_told, agent, NULL);
	if (!agent->query)
		agent_begin(agent);
}

static void agent_begin(struct agent *agent)
{
	struct error err;

	agent->recovery_begun = true;
	agent->call = engine_version(agent->engine, AGENT_CALL_MS, version_done,
				     agent, &err);
	if (!agent->call)
		begin_later(agent, &err);
}
