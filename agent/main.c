/* main.c - regatta-agent: reads and completes its settings, then runs the loop.
 */
#include "agent/agent.h"
#include "agent/slurm_share.h"
#include "agent/devices/offered.h"
#include "agent/docker/engine.h"
#include "agent/docker/pod_driver.h"
#include "agent/docker/podman_service.h"
#include "agent/evidence/snapshot.h"
#include "agent/join.h"
#include "agent/policy/policy_answer.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/parent_watch.h"
#include "protocol/base/program.h"
#include "protocol/config/agent.h"
#include "protocol/config/installed.h"
#include "protocol/registry/credential.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define AGENT_NICE 5

struct program {
	int argc;
	char **argv;
	struct agent_settings settings; /* as given */
	struct agent_config config;     /* and completed */
	sd_event *loop;
	struct sysroot roots;
	char folders[5][PATH_MAX]; /* of the roots */
	char server_public[KEY_TEXT_SIZE];
	char state[PATH_MAX];
	char own_state[PATH_MAX]; /* in an allocation; "": another was named */
	char engine_host[OWN_ENGINE_SIZE]; /* with OWN_ENGINE */
	struct node_policy *node_policy;
	struct slurm_share share; /* with --for-allocation */
	char cluster[40];
	char key[PATH_MAX];
	struct agent *agent; /* while it runs */
};

static void program_clear(struct program *program)
{
	node_policy_free(program->node_policy);
	offered_clear(&program->config.offered);
	program->node_policy = NULL;
}
OWNED_VALUE(struct program, program_clear)

/* Absolute paths without links, because paths of nodes are compared with them.
 */
static int find_roots(struct program *program, struct error *err)
{
	const struct agent_settings *settings = &program->config.settings;
	struct sysroot *roots = &program->roots;
	const struct {
		const char *given;
		const char **to;
	} all[] = {
		{ settings->device_root, &roots->dev },
		{ settings->sysfs_root, &roots->sys },
		{ settings->proc_root, &roots->proc },
		{ settings->file_root, &roots->files },
		{ settings->tools, &roots->bin }, /* the last one */
	};

	*roots = real_roots;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].given)
			continue;
		if (!realpath(all[i].given, program->folders[i]))
			return error_errno(err, "%s", all[i].given);
		*all[i].to = program->folders[i];
	}
	if (program->config.pod && !settings->tools) {
		char *launcher = program->folders[4];

		pod_engine_launcher(settings->engine, launcher);
		roots->bin = launcher;
	}
	program->config.roots = roots;
	return 0;
}

static int agent_program_find_keys(struct program *program, struct error *err)
{
	const struct agent_settings *settings = &program->config.settings;
	struct agent_config *config = &program->config;

	if (!settings->controller || !settings->controller_key ||
	    !settings->key)
		return error_set(err, EINVAL,
				 "missing controller, controller-key or key "
				 "(expected as options or in %s); "
				 "'regatta-agent join TOKEN' writes them",
				 settings->common.config
					 ? settings->common.config
					 : agent_program.file);
	if (key_load(&config->key, settings->key, err) < 0 ||
	    key_public(settings->controller_key, program->server_public, err) <
		    0)
		return -1;
	if (config->key.role != ROLE_AGENT)
		return error_set(err, EINVAL,
				 "%s: role %s is not valid here; expected a "
				 "key of role agent",
				 settings->key, role_name(config->key.role));
	config->server_public = program->server_public;
	return 0;
}

static int find_policy(struct program *program, struct error *err)
{
	const char *path = program->config.settings.policy;
	bool optional = !strcmp(path, installed_policy_yaml);

	program->node_policy =
		node_policy_new(strcmp(path, AGENT_POLICY_ANY) ? path : NULL,
				optional, err);
	program->config.node_policy = program->node_policy;
	return program->node_policy ? 0 : -1;
}

/* Run the agent, and what it starts, on these processors only. */
static int keep_house(struct agent_config *config, struct error *err)
{
	const char *cpus = config->settings.housekeeping_cpus;

	if (!cpus)
		return 0;
	if (cpu_list_parse(cpus, &config->housekeeping_set, err) < 0)
		return -1;
	if (sched_setaffinity(0, sizeof(config->housekeeping_set),
			      &config->housekeeping_set) < 0)
		return error_errno(err, "%s", cpus);
	return 0;
}

/* The default file may be missing. */
static int agent_program_find_credentials(struct program *program,
					  struct error *err)
{
	const char *path = program->config.settings.registry_auth;

	if (!strcmp(path, installed_registry_json) && access(path, F_OK) < 0 &&
	    errno == ENOENT)
		return 0;
	program->config.credentials = path;
	return credential_check(path, err);
}

static int check_floor(const struct agent_settings *settings, struct error *err)
{
	if (free_space_is_set(&settings->image_floor) &&
	    strncmp(settings->engine, "unix://", 7) != 0 &&
	    strcmp(settings->engine, OWN_ENGINE) != 0)
		return error_set(err, EINVAL,
				 "image-floor: the disk of the engine %.80s is "
				 "not on this machine",
				 settings->engine);
	return 0;
}

/* In an allocation, settings that were not given follow from the share. */
static int find_allocation(struct program *program, struct error *err)
{
	struct agent_settings *settings = &program->config.settings;
	struct slurm_share *share = &program->share;
	struct stat info;

	if (!settings->for_allocation)
		return 0;
	if (slurm_share_read(share, err) < 0)
		return -1;
	program->config.share = share;
	if (!strcmp(settings->address, AGENT_ADDRESS))
		settings->address = share->address;
	if (!settings->only_devices)
		settings->only_devices = share->devices;
	if (!strcmp(settings->cluster, AGENT_CLUSTER)) {
		snprintf(program->cluster, sizeof(program->cluster), "slurm-%s",
			 share->job);
		settings->cluster = program->cluster;
	}
	if (settings->key && stat(settings->key, &info) == 0 &&
	    S_ISDIR(info.st_mode)) {
		snprintf(program->key, sizeof(program->key), "%s/%s.key",
			 settings->key, share->node);
		settings->key = program->key;
	}
	if (strcmp(settings->state, AGENT_STATE) != 0)
		return 0;
	if (slurm_share_make_state(share, getenv("TMPDIR"), settings->cluster,
				   program->own_state, err) < 0)
		return -1;
	settings->state = program->own_state;
	return 0;
}

static int agent_program_complete(struct program *program, struct error *err)
{
	struct agent_config *config = &program->config;
	struct agent_settings *settings = &config->settings;

	*settings = program->settings;
	config->pod = pod_engine_named(settings->engine);
	if (find_allocation(program, err) < 0 ||
	    agent_program_find_keys(program, err) < 0 ||
	    find_policy(program, err) < 0 ||
	    agent_program_find_credentials(program, err) < 0 ||
	    check_floor(settings, err) < 0)
		return -1;
	if (settings->only_devices &&
	    offered_parse(settings->only_devices, &config->offered, err) < 0)
		return error_prefix(err, "only-devices");
	if (!address_valid(settings->address))
		return error_set(err, EINVAL,
				 "address: '%.80s' is not valid here; expected "
				 "a host's name or IP address",
				 settings->address);
	if (keep_house(config, err) < 0)
		return error_prefix(err, "housekeeping-cpus");
	if (file_make_folders(settings->state, 0755, err) < 0)
		return -1;
	if (!realpath(settings->state, program->state))
		return error_errno(err, "%s", settings->state);
	settings->state = program->state;
	if (access(settings->init, X_OK) < 0)
		return error_errno(err, "init %s", settings->init);
	return find_roots(program, err);
}

/* Does its place end, and the agent with it? */
static bool agent_is_guest(const struct program *program)
{
	return program->config.share || program->config.pod;
}

/* The process that started us is gone. */
static void parent_gone(void *arg)
{
	const struct program *program = arg;

	if (agent_is_guest(program))
		agent_leave(program->agent);
	else
		sd_event_exit(program->loop, EXIT_GOOD);
}

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info,
		  void *arg)
{
	agent_leave(((struct program *)arg)->agent);
	return 0;
}

/* Slurm sends SIGTERM at the end of an allocation, the kubelet at that of a
 * pod.
 */
static int leave_at_end(struct program *program, struct error *err)
{
	int rc;

	if (!agent_is_guest(program))
		return 0;
	signal(SIGTERM, SIG_DFL); /* it was ignored by agent_program_run() */
	rc = sd_event_add_signal(program->loop, NULL, SIGTERM, on_end, program);
	return rc < 0 ? error_set(err, -rc, "event loop: no SIGTERM") : 0;
}

/* At SIGHUP: apply the settings that can change while tasks run, and name the
 * others that have changed.
 */
static void agent_program_reload(void *arg)
{
	const struct program *program = arg;
	struct agent_settings settings;
	owned(config_free) struct config *config = NULL;
	char names[CONFIG_NAMES_BYTES];
	struct error err;

	if (config_read(&agent_program, program->argc, program->argv, environ,
			&settings, &config, &err) < 0) {
		log_error("settings are not changed: %s", err.text);
	} else {
		log_set_level(settings.common.verbose ? LOG_DEBUG : LOG_INFO);
		if (config_changes(&agent_program, &program->settings,
				   &settings, names))
			log_warning("changed, effective at the next start: %s",
				    names);
	}
	if (node_policy_reload(program->node_policy, &err) < 0)
		log_error("the policy is not changed: %s", err.text);
	else
		log_info("settings read again, policy=%s",
			 node_policy_rules(program->node_policy)->file);
	agent_policy_changed(program->agent);
}

/* The folder of certificates for a tcp:// engine; by default Docker's own. */
static const char *engine_tls(const struct agent_settings *settings)
{
	const char *verify = getenv("DOCKER_TLS_VERIFY");

	if (settings->engine_tls || strncmp(settings->engine, "tcp:", 4) != 0 ||
	    !verify || !*verify)
		return settings->engine_tls;
	return getenv("DOCKER_CERT_PATH");
}

/* OWN_ENGINE means the first engine that answers, else a Podman that *service
 * runs.
 */
static struct engine *make_engine(struct program *program, sd_event *loop,
				  struct podman_service **service,
				  struct error *err)
{
	const struct agent_settings *settings = &program->settings;
	char *host = program->engine_host;

	if (program->config.pod)
		return pod_engine_new(loop, settings->engine, err);
	if (strcmp(settings->engine, OWN_ENGINE) != 0)
		return engine_new(loop, settings->engine, engine_tls(settings),
				  err);
	if (!own_engine_find(host)) {
		*service = podman_service_new(loop, program->state, host, err);
		if (!*service)
			return NULL;
		program->config.own_podman = geteuid() != 0;
	}
	log_info("engine=%s", host);
	return engine_new(loop, host, NULL, err);
}

/* The benchmark comes first. Threads begin with the value of the one that makes
 * them; containers have the engine's. Those of a Podman that is our child would
 * have ours, which a user cannot take back.
 */
static void run_below(const struct podman_service *service)
{
	if (!service && getpriority(PRIO_PROCESS, 0) < AGENT_NICE)
		setpriority(PRIO_PROCESS, 0, AGENT_NICE);
}

static int agent_program_serve(struct program *program, struct error *err)
{
	sd_event *loop = program->loop;
	const struct agent_settings *settings = &program->settings;
	owned(podman_service_free) struct podman_service *service = NULL;
	struct engine *engine = make_engine(program, loop, &service, err);
	owned(agent_free) struct agent *agent = NULL;
	uint64_t parent_fd = settings->common.parent_fd;
	int code;

	run_below(service);
	if (engine)
		agent = agent_new(loop, &program->config, engine, err);
	program->agent = agent;
	if (!agent ||
	    (parent_fd && parent_watch_start(loop, (int)parent_fd, parent_gone,
					     program, err) < 0) ||
	    leave_at_end(program, err) < 0 ||
	    program_on_reload(loop, agent_program_reload, program, err) < 0)
		return -1;
	log_info("node=%s policy=%s", program->config.key.name,
		 node_policy_rules(program->node_policy)->file);
	program_ready(loop);
	code = sd_event_loop(loop);
	if (code < 0)
		return error_set(err, -code, "event loop");
	log_info(agent_is_guest(program)
			 ? "agent stops tasks=%zu"
			 : "agent stops; its containers keep running tasks=%zu",
		 agent_tasks(agent));
	return code;
}

static int agent_program_run(struct program *program, struct error *err)
{
	const struct config_common *common = &program->settings.common;
	owned(config_free) struct config *config = NULL;
	int code;

	if (config_read(&agent_program, program->argc, program->argv, environ,
			&program->settings, &config, err) < 0)
		return -1;
	if (common->help) {
		config_help(&agent_program, stdout);
		return EXIT_GOOD;
	}
	if (common->version) {
		puts("regatta-agent " REGATTA_VERSION);
		return EXIT_GOOD;
	}
	if (common->verbose)
		log_set_level(LOG_DEBUG);
	if (agent_program_complete(program, err) < 0)
		return -1;
	if (agent_is_guest(program)) /* program_begin() then leaves it alone */
		signal(SIGTERM, SIG_IGN);
	program->loop = program_begin(err);
	code = program->loop ? agent_program_serve(program, err) : -1;
	sd_event_unref(program->loop);
	if (code == EXIT_GOOD && program->own_state[0] &&
	    file_remove_tree(AT_FDCWD, program->own_state, err) < 0)
		return -1;
	return code;
}

int main(int argc, char **argv)
{
	owned(program_clear) struct program program = { .argc = argc,
							.argv = argv };
	struct error err = { 0 };
	int code = -1;

	if (sodium_init() < 0)
		error_set(&err, EIO, "libsodium cannot be started");
	else if (argc > 1 && !strcmp(argv[1], "join"))
		code = agent_join(argc - 2, argv + 2, &err);
	else if (argc > 1 && !strcmp(argv[1], SNAPSHOT_WORD))
		code = snapshot_main(argc - 2, argv + 2, &err);
	else if (argc > 1 && !strcmp(argv[1], POLICY_QUESTION_WORD))
		code = policy_answer_main(&err);
	else
		code = agent_program_run(&program, &err);
	if (code < 0) {
		fprintf(stderr, "regatta-agent: %s\n", err.text);
		return program_exit_code(&err);
	}
	return code;
}
