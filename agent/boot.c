/* boot.c - finds engine and tasks when the agent starts.
 */
#include "agent/boot.h"
#include "agent/docker/create_body.h"
#include "agent/docker/delegated.h"
#include "agent/docker/engine_network.h"
#include "agent/images/install.h"
#include "agent/own_container.h"
#include "agent/spool/spool.h"
#include "agent/strays.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <inttypes.h>
#include <stdlib.h>

#define MOUNTS_MAX (4 << 20)
#define RETRY_MS 50 /* while the engine is away */

struct boot {
	struct boot_config config;
	bool begun;
	bool outage_logged; /* of the engine */
	struct version_query *query;
	struct versions versions;
	struct engine_call *call; /* version, info, inspect, list */
	sd_event_source *retry;
	struct engine_features features;
	cJSON *engine_version;
};

static void boot_begin(struct boot *boot);

static int boot_begin_again(sd_event_source *source, uint64_t usec, void *arg)
{
	boot_begin(arg);
	return 0;
}

static void begin_later(struct boot *boot, const struct error *err)
{
	if (!boot->outage_logged)
		log_warning("waiting for the engine: %s", err->text);
	boot->outage_logged = true;
	loop_timer(boot->config.loop, &boot->retry, RETRY_MS, boot_begin_again,
		   boot, NULL);
}

struct adoption {
	struct boot *boot;
	const cJSON *containers;
};

static void adopt_one(void *arg, const struct task_id *id)
{
	struct adoption *adoption = arg;
	struct boot *boot = adoption->boot;
	const cJSON *container, *mine = NULL;
	struct error err = { 0 };
	struct task_id other;
	struct task *task;

	cJSON_ArrayForEach(container, adoption->containers)
		if (container_task_id(container, &other) &&
		    task_id_equal(&other, id))
			mine = container;
	task = task_adopt(boot->config.services, id, mine, &err);
	if (!task || task_table_add(boot->config.tasks, task, &err) < 0) {
		/* A spool without a spec is no task. Its container is removed
		 * as a stray.
		 */
		log_warning("spool dropped job=%" PRIu64 " rank=%u: %s",
			    id->job, id->rank, err.text);
		task_free(task);
		spool_remove(boot->config.spool, id, NULL);
		return;
	}
	log_info("task adopted job=%" PRIu64 " attempt=%u rank=%u", id->job,
		 id->attempt, id->rank);
}

static void boot_versions_told(void *arg, const struct versions *versions)
{
	struct boot *boot = arg;

	boot->query = NULL;
	boot->versions = *versions;
	boot->config.done(boot->config.arg);
}

/* After the engine: in a pod, tools run in the main container. */
static void boot_ask_versions(struct boot *boot)
{
	const struct profile *profile =
		inventory_profile(boot->config.inventory);

	if (versions_rules(profile))
		boot->query =
			versions_ask(boot->config.loop, profile,
				     boot->config.roots, boot->config.cpus,
				     boot_versions_told, boot, NULL);
	if (!boot->query)
		boot->config.done(boot->config.arg);
}

static void list_done(void *arg, const struct error *err, cJSON *answer)
{
	struct boot *boot = arg;
	struct adoption adoption = { boot, answer };
	struct error wrong;

	boot->call = NULL;
	if (err) {
		begin_later(boot, err);
		return;
	}
	boot->outage_logged = false;
	if (spool_each(boot->config.spool, adopt_one, &adoption, &wrong) < 0) {
		begin_later(boot, &wrong);
		return;
	}
	trash_empty(boot->config.services->trash);
	install_forget(boot->config.engine, boot->config.owner,
		       boot->config.config->settings.state);
	boot_ask_versions(boot);
}

static void boot_list(struct boot *boot)
{
	owned(strings_clear) struct strings labels = { 0 };
	struct error wrong;

	if (container_filter(boot->config.config->settings.cluster,
			     boot->config.config->key.name, &labels,
			     &wrong) == 0)
		boot->call = engine_container_list(boot->config.engine, true,
						   &labels, AGENT_CALL_MS,
						   list_done, boot, &wrong);
	if (!boot->call)
		begin_later(boot, &wrong);
}

/* Only the engine that runs the agent knows its container. */
static void boot_take_own(void *arg, const struct error *err, cJSON *answer)
{
	struct boot *boot = arg;
	const char *const paths[] = { boot->config.config->settings.state,
				      boot->config.config->settings.init };

	boot->call = NULL;
	for (size_t i = 0; !err && i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!own_container_shares(answer, paths[i]))
			log_error("the agent runs in a container, and its "
				  "engine does not see %s, so no job can run; "
				  "mount it at the same path: -v %s:%s",
				  paths[i], paths[i], paths[i]);
	boot_list(boot);
}

/* Does the agent itself run in a container of the engine? */
static void boot_look_around(struct boot *boot)
{
	owned(buffer_clear) struct buffer mounts = BUFFER_INIT(MOUNTS_MAX);
	char id[OWN_CONTAINER_ID_SIZE];

	if (file_read_any("/proc/self/mountinfo", &mounts, NULL) == 0 &&
	    own_container_id(mounts.data, id))
		boot->call =
			engine_container_inspect(boot->config.engine, id,
						 AGENT_CALL_MS, boot_take_own,
						 boot, NULL);
	if (!boot->call)
		boot_list(boot);
}

static void list_ours(struct boot *boot)
{
	const char *runc = engine_hanging_runc(boot->engine_version);
	struct error wrong;

	if (runc)
		log_warning("runc %s can hang when short containers end; "
			    "install 1.3.6, 1.4.2 or later",
			    runc);
	if (engine_features_add_cdi(boot->engine_version, NULL, &boot->features,
				    &wrong) < 0)
		log_warning("the engine's CDI devices are unknown: %s",
			    wrong.text);
	for (size_t i = 0; i < boot->features.unlimited.count; i++)
		log_warning("the engine cannot limit %s; limits of jobs are "
			    "ignored",
			    boot->features.unlimited.items[i]);
	boot_look_around(boot);
}

/* An engine that does not answer has no runtimes to choose and no CDI. */
static void boot_info_done(void *arg, const struct error *err, cJSON *answer)
{
	struct boot *boot = arg;
	struct error wrong;

	boot->call = NULL;
	if (!err && engine_features_read(answer, &boot->features, &wrong) < 0)
		err = &wrong;
	if (err)
		log_warning("the engine's runtimes are unknown: %s", err->text);
	boot->features.separate_network =
		engine_network_separate(engine_host(boot->config.engine));
	if (boot->features.separate_network)
		log_warning("the engine's host network is its own: jobs of "
			    "more than one node cannot run here");
	boot->features.unseen =
		engine_is_unseen(engine_host(boot->config.engine));
	list_ours(boot);
}

static void ask_info(struct boot *boot)
{
	struct error wrong;

	boot->call = engine_info(boot->config.engine, AGENT_CALL_MS,
				 boot_info_done, boot, &wrong);
	if (!boot->call)
		begin_later(boot, &wrong);
}

/* For a rootless Podman, GET /info would add nothing. */
static void podman_info_done(void *arg, const struct error *err, cJSON *answer)
{
	struct boot *boot = arg;
	struct error wrong;

	boot->call = NULL;
	if (!err && engine_features_podman(answer, &boot->features, &wrong) < 0)
		err = &wrong;
	if (err)
		log_warning("the limits that Podman supports are unknown: %s",
			    err->text);
	if (!err && boot->features.isolation)
		list_ours(boot);
	else
		ask_info(boot);
}

/* A Podman of ours is not asked: it would run the package manager to answer. */
static bool know_own(struct boot *boot)
{
	owned(strings_clear) struct strings controllers = { 0 };
	struct error err;

	if (delegated_controllers("", &controllers, &err) == 0 &&
	    engine_features_rootless(&controllers, &boot->features, &err) == 0)
		return true;
	log_warning("the cgroup limits that are delegated to this user are "
		    "unknown: %s",
		    err.text);
	return false;
}

static void version_done(void *arg, const struct error *err, cJSON *answer)
{
	struct boot *boot = arg;
	struct error wrong;

	boot->call = NULL;
	if (err) {
		begin_later(boot, err);
		return;
	}
	cJSON_Delete(boot->engine_version);
	boot->engine_version = cJSON_Duplicate(answer, true);
	if (!engine_is_podman(answer)) {
		ask_info(boot);
		return;
	}
	if (boot->config.config->own_podman && know_own(boot)) {
		list_ours(boot);
		return;
	}
	boot->call = engine_podman_info(boot->config.engine, AGENT_CALL_MS,
					podman_info_done, boot, &wrong);
	if (!boot->call)
		begin_later(boot, &wrong);
}

static void boot_begin(struct boot *boot)
{
	struct error err;

	boot->begun = true;
	boot->call = engine_version(boot->config.engine, AGENT_CALL_MS,
				    version_done, boot, &err);
	if (!boot->call)
		begin_later(boot, &err);
}

void boot_start(struct boot *boot)
{
	if (!boot->begun)
		boot_begin(boot);
}

const struct engine_features *boot_features(const struct boot *boot)
{
	return &boot->features;
}

struct versions *boot_versions(struct boot *boot)
{
	return &boot->versions;
}

const cJSON *boot_engine_version(const struct boot *boot)
{
	return boot->engine_version;
}

struct boot *boot_new(const struct boot_config *config, struct error *err)
{
	struct boot *boot = calloc(1, sizeof(*boot));

	if (!boot)
		return error_null(error_nomem(err, "agent"));
	boot->config = *config;
	return boot;
}

void boot_free(struct boot *boot)
{
	if (!boot)
		return;
	versions_cancel(boot->query);
	engine_call_cancel(boot->call);
	loop_source_free(&boot->retry);
	engine_features_clear(&boot->features);
	cJSON_Delete(boot->engine_version);
	free(boot);
}
