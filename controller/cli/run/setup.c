/* setup.c - prepares everything that `regatta run` needs before it starts
 * daemons.
 */
#include "controller/cli/run/setup.h"
#include "controller/cli/logins.h"
#include "controller/cli/run/session.h"
#include "controller/results/json_object.h"
#include "protocol/base/owned.h"
#include "protocol/config/own_engine.h"
#include "protocol/registry/credential.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define LOOK_US 1000000

/* Have the controller accept the agents of this allocation's nodes. */
static int agents_admit(const struct follower *follow, struct client *client,
			struct error *err)
{
	const struct strings *nodes = &follow->setup->allocation.nodes;

	for (size_t i = 0; i < nodes->count; i++) {
		owned(answer_clear) struct answer answer = { 0 };
		struct message_admit message = { .name = nodes->items[i],
						 .role = (char *)"agent" };
		struct key key;

		if (folder_agent_key(&follow->setup->folder, nodes->items[i],
				     &key, err) < 0)
			return -1;
		message.public = key.public;
		/* EEXIST: the leader has an agent on that node, too. */
		if (client_call(client, MESSAGE_ADMIT, &message, &answer, err) <
			    0 &&
		    err->code != EEXIST)
			return -1;
	}
	return 0;
}

static int introduce(const struct follower *follow, struct error *err)
{
	const struct folder *folder = &follow->setup->folder;
	owned(client_free) struct client *client = NULL;
	char endpoint[256];

	if (folder_endpoint(folder, endpoint, err) < 0)
		return -1;
	client = session_client(follow->loop, folder, endpoint, err);
	return client ? agents_admit(follow, client, err) : -1;
}

/* Try to lead. 1: this allocation leads now. */
static int follower_take_over(const struct follower *follow, struct error *err)
{
	struct run_setup *setup = follow->setup;
	int rc = folder_lead(&setup->folder, setup->cli, err);

	if (rc <= 0)
		return rc;
	return folder_add_agents(&setup->folder, &setup->allocation.nodes,
				 err) < 0
		       ? -1
		       : 1;
}

static int pass_time(const struct follower *follow, struct error *err)
{
	int rc = sd_event_run(follow->loop, LOOK_US);

	return rc < 0 ? error_set(err, -rc, "event loop") : 0;
}

/* The agents return their tasks to the controller. */
static int follower_leave(const struct follower *follow, struct error *err)
{
	daemons_leave(follow->daemons);
	while (!*follow->left)
		if (pass_time(follow, err) < 0)
			return -1;
	return 0;
}

int follow_run(const struct follower *follow, int *code, struct error *err)
{
	const struct run_setup *setup = follow->setup;
	bool introduced = false;
	struct error why;

	cli_say(setup->cli, "this allocation joins the run in %s",
		setup->folder.path);
	*code = EXIT_INTERRUPTED;
	while (!*follow->interrupted && !*follow->left) {
		int rc = folder_outcome(&setup->folder);

		if (rc >= 0) {
			*code = rc;
			break;
		}
		rc = follower_take_over(follow, err);
		/* The leader before may have ended the sweep just now. */
		if (rc < 0 || (rc > 0 && folder_outcome(&setup->folder) < 0))
			return rc;
		if (rc > 0)
			continue;
		if (!introduced)
			introduced = introduce(follow, &why) == 0;
		if (pass_time(follow, err) < 0)
			return -1;
	}
	cli_say(setup->cli, "this allocation leaves the run in %s",
		setup->folder.path);
	return follower_leave(follow, err);
}

#define OTHER_ENGINE "set another engine with --engine or DOCKER_HOST"

static const char *engine_advice(bool remote, int code)
{
	switch (code) {
	case ENOENT:
		return "the socket does not exist; start Docker (systemctl "
		       "start docker) or install it (apt install docker.io; "
		       "for a user: podman uidmap), or " OTHER_ENGINE;
	case EACCES:
	case EPERM:
		return "permission denied; join the group docker, install "
		       "podman and uidmap to use Podman, or run as root";
	case ECONNREFUSED:
		return remote ? "no engine listens there; " OTHER_ENGINE
			      : "no engine listens there; start Docker "
				"(systemctl start docker), or " OTHER_ENGINE;
	default:
		return strerror(code);
	}
}

static int unreachable(const char *host, int code, struct error *err)
{
	return error_set(err, ECONNREFUSED, "Docker engine %.80s: %s", host,
			 engine_advice(!strncmp(host, "tcp://", 6), code));
}

static int probe_unix(const char *host, const char *path, struct error *err)
{
	owned_fd int fd =
		path[0] == '/' ? own_engine_connect(path) : -ENAMETOOLONG;

	if (fd == -ENAMETOOLONG)
		return error_set(err, EINVAL,
				 "engine: '%.80s' is not valid here; expected "
				 "unix:///PATH of at most 107 bytes",
				 host);
	return fd < 0 ? unreachable(host, -fd, err) : 0;
}

/* 0, or the errno of the failed connection. */
static int try_connect(const struct addrinfo *at)
{
	owned_fd int fd = socket(at->ai_family,
				 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int code = 0;
	socklen_t size = sizeof(code);

	if (fd < 0)
		return errno;
	if (connect(fd, at->ai_addr, at->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&poll_fd, 1, PROBE_MS) <= 0)
		return ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0)
		return errno;
	return code;
}

/* "HOST:PORT", with [brackets] around an IPv6 address. */
static int host_port_split(const char *text, char name[256], char port[16])
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;

	if (!length || length >= 256 || !digits || digits > 5 ||
	    (colon[1 + digits] && strcmp(colon + 1 + digits, "/") != 0))
		return -1;
	if (text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	}
	snprintf(name, 256, "%.*s", (int)length, text);
	snprintf(port, 16, "%.*s", (int)digits, colon + 1);
	return 0;
}

static int probe_tcp(const char *host, const char *where, struct error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char name[256], port[16];
	int code;

	if (host_port_split(where, name, port) < 0)
		return error_set(err, EINVAL,
				 "engine: '%.80s' is not valid here; expected "
				 "tcp://HOST:PORT",
				 host);
	code = getaddrinfo(name, port, &hints, &found);
	if (code)
		return error_set(err, ECONNREFUSED,
				 "Docker engine %.80s: %s; " OTHER_ENGINE, host,
				 gai_strerror(code));
	code = EHOSTUNREACH;
	for (const struct addrinfo *at = found; at && code; at = at->ai_next)
		code = try_connect(at);
	freeaddrinfo(found);
	return code ? unreachable(host, code, err) : 0;
}

int probe_engine(const char *host, struct error *err)
{
	char own[OWN_ENGINE_SIZE];

	if (!strcmp(host, OWN_ENGINE)) {
		if (own_engine_find(own) || own_engine_podman())
			return 0;
		host = OWN_ENGINE_DOCKER;
	}
	if (!strncmp(host, "unix://", 7))
		return probe_unix(host, host + 7, err);
	if (!strncmp(host, "tcp://", 6))
		return probe_tcp(host, host + 6, err);
	return error_set(err, EINVAL,
			 "engine: '%.80s' is not valid here; expected "
			 "unix:///PATH, tcp://HOST:PORT or " OWN_ENGINE,
			 host);
}

bool probe_is_silent(const char *host)
{
	static const char ask[] = "GET /_ping HTTP/1.0\r\n\r\n";
	char own[OWN_ENGINE_SIZE];
	owned_fd int fd = -1;
	struct pollfd answer = { .events = POLLIN };

	if (!strcmp(host, OWN_ENGINE) && own_engine_find(own))
		host = own;
	if (strncmp(host, "unix://", 7) != 0)
		return false;
	fd = own_engine_connect(host + 7);
	if (fd < 0 ||
	    send(fd, ask, sizeof(ask) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return false;
	answer.fd = fd;
	return poll(&answer, 1, PROBE_MS) == 0;
}

static struct run_options *setup_options_given(const struct cli *cli)
{
	return cli->given;
}

/* An agent has one vendor: take it from the cells. */
static int note_cell(struct run_setup *run, struct sweep *sweep, size_t cell,
		     struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
	const char *labels;
	double cpus;

	if (sweep_cell_spec(sweep, cell, &spec, err) < 0)
		return -1;
	if (!run->vendor[0])
		snprintf(run->vendor, sizeof(run->vendor), "%s", spec.vendor);
	if (strcmp(run->vendor, spec.vendor) != 0)
		return error_set(err, EINVAL,
				 "%.80s: vendor: the sweep has '%.40s' and "
				 "'%.40s'; expected one, because this machine "
				 "is one node",
				 run->input.name, run->vendor, spec.vendor);
	labels = spec.labels;
	if (labels && sweep_preflight(sweep)) /* "accepted=-86400,rack=a" */
		labels = strchr(labels, ',') ? strchr(labels, ',') + 1 : NULL;
	if (labels && !setup_options_given(run->cli)->k8s)
		return error_set(err, EINVAL,
				 "%.80s: labels: '%.60s' is not valid here; "
				 "expected none, because this machine has no "
				 "labels; use regatta submit for a cluster",
				 run->input.name, labels);
	if (spec.devices > run->config.devices)
		run->config.devices = spec.devices;
	run->exclusive |= !spec.shared || !spec.devices;
	cpus = spec.container.cpus > 0 ? spec.container.cpus : 1;
	cpus /= spec.devices ? spec.devices : 1;
	if (cpus > run->cpus_of_device)
		run->cpus_of_device = cpus;
	return 0;
}

/* Jobs that share nodes run side by side, so a node has as many devices as its
 * processors allow. If the vendor has real devices, the agent counts them.
 */
static void use_processors(struct run_setup *run)
{
	const struct allocation *allocation = run->config.allocation;
	double fit;

	if (!allocation || run->exclusive)
		return;
	fit = allocation->cpus / run->cpus_of_device;
	if (fit > run->config.devices)
		run->config.devices =
			fit < DEVICES_MAX ? (uint32_t)fit : DEVICES_MAX;
}

static int check_sweep(struct run_setup *run, struct error *err)
{
	struct sweep *sweep = run->input.sweep;
	const struct sweep_totals *totals = sweep_totals(sweep);
	const struct allocation *allocation = run->config.allocation;
	uint64_t devices = setup_options_given(run->cli)->devices;

	if (input_check_jobs(&run->input, run->cli, err) < 0)
		return -1;
	if (allocation && totals->nodes_max > allocation->nodes.count)
		return error_set(err, EINVAL,
				 "%.80s: nodes: the sweep needs %u; expected "
				 "at most %zu, the nodes of the allocation",
				 run->input.name, totals->nodes_max,
				 allocation->nodes.count);
	if (!allocation && !setup_options_given(run->cli)->k8s &&
	    totals->nodes_max > 1)
		return error_set(err, EINVAL,
				 "%.80s: nodes: the sweep needs %u; expected "
				 "1, because this machine is one node; use "
				 "regatta submit for a cluster",
				 run->input.name, totals->nodes_max);
	run->config.devices = 1;
	for (size_t i = 0; i < totals->kept; i++)
		if (note_cell(run, sweep, i, err) < 0)
			return -1;
	if (devices == OPTION_NONE) {
		use_processors(run);
		return 0;
	}
	if (devices < run->config.devices)
		return error_set(err, EINVAL,
				 "%.80s: devices: the sweep needs %u; expected "
				 "at most %llu (--devices)",
				 run->input.name, run->config.devices,
				 (unsigned long long)devices);
	run->config.devices = (uint32_t)devices;
	return 0;
}

/* Use the user's Docker credentials. An error is fatal only if the user asked
 * for them with --registry-auth.
 */
static int setup_find_credentials(struct run_setup *run, struct error *err)
{
	const char *given = run->cli->options->registry_auth;
	struct error why;

	if (logins_file(run->cli, run->credentials, given ? err : NULL) < 0)
		return given ? -1 : 0;
	if (!given && access(run->credentials, F_OK) < 0)
		return 0;
	if (credential_check(run->credentials, &why) == 0)
		run->config.registry_auth = run->credentials;
	else if (given)
		return error_set(err, why.code, "--registry-auth: %s",
				 why.text);
	else
		cli_say(run->cli, "registry credentials are not used: %s",
			why.text);
	return 0;
}

static int find_parts(struct run_setup *run, struct error *err)
{
	const struct environment *environment = run->cli->environment;
	const struct run_options *options = setup_options_given(run->cli);
	struct daemons_config *config = &run->config;

	if (settings_program(environment, "regatta-controller", run->paths[0],
			     err) < 0 ||
	    settings_program(environment, "regatta-agent", run->paths[1], err) <
		    0 ||
	    settings_program(environment, "regatta-init", run->paths[2], err) <
		    0 ||
	    settings_images(environment, &options->common, run->paths[3], err) <
		    0)
		return -1;
	config->controller = run->paths[0];
	config->agent = run->paths[1];
	config->init = run->paths[2];
	config->images = run->paths[3];
	config->vendor = run->vendor;
	config->engine = options->engine;
	if (!config->engine && environment->docker_host &&
	    environment->docker_host[0])
		config->engine = environment->docker_host;
	if (!config->engine)
		config->engine = OWN_ENGINE;
	config->engine_tls = options->engine_tls;
	config->only_devices = options->only_devices;
	if (!config->engine_tls && environment->docker_tls &&
	    environment->docker_tls[0] && !strncmp(config->engine, "tcp:", 4))
		config->engine_tls = environment->docker_certs;
	/* Other nodes use their own engine. */
	if (config->allocation)
		config->engine = options->engine;
	if (options->k8s && !realpath("/proc/self/exe", run->guest))
		return error_errno(err, "/proc/self/exe");
	config->guest = options->k8s ? run->guest : NULL;
	config->address = options->address;
	if (setup_find_credentials(run, err) < 0)
		return -1;
	return config->allocation || config->guest
		       ? 0
		       : probe_engine(config->engine, err);
}

/* A resumed run uses the engine, images and credentials of its start, unless
 * its command line sets others.
 */
static int save_choices(struct run_setup *run, struct error *err)
{
	const struct run_options *options = setup_options_given(run->cli);
	const char *images = run->cli->environment->images;
	owned(cJSON_Delete) cJSON *choices = cJSON_CreateObject();
	char tls[PATH_MAX], credentials[PATH_MAX];

	if (run->config.engine)
		cJSON_AddStringToObject(choices, "engine", run->config.engine);
	if (run->config.engine_tls && realpath(run->config.engine_tls, tls))
		cJSON_AddStringToObject(choices, "engine_tls", tls);
	if (run->config.only_devices)
		cJSON_AddStringToObject(choices, "only_devices",
					run->config.only_devices);
	if (options->common.images || (images && images[0]))
		cJSON_AddStringToObject(choices, "images", run->config.images);
	if (options->common.registry_auth &&
	    realpath(run->credentials, credentials))
		cJSON_AddStringToObject(choices, "registry_auth", credentials);
	if (options->k8s)
		cJSON_AddItemToObject(choices, "k8s",
				      cJSON_Duplicate(options->k8s, true));
	return folder_save_choices(&run->folder, choices, err);
}

static int recall_choices(struct run_setup *run, struct error *err)
{
	struct run_options *options = setup_options_given(run->cli);
	const char **const known[] = { &options->engine, &options->engine_tls,
				       &options->common.images,
				       &options->common.registry_auth,
				       &options->only_devices };
	static const char *const names[] = { "engine", "engine_tls", "images",
					     "registry_auth", "only_devices" };

	if (folder_choices(&run->folder, &run->choices, err) < 0)
		return -1;
	if (!options->k8s && cJSON_GetObjectItem(run->choices, "k8s"))
		return error_set(err, EINVAL,
				 "--resume: the folder is one of regatta k8s; "
				 "regatta k8s --resume continues it");
	/* Another engine has certificates of its own. */
	for (size_t i = options->engine ? 2 : 0; i < 5; i++) {
		if (!*known[i])
			*known[i] = row_text(run->choices, names[i]);
	}
	return 0;
}

/* A new folder, or that of an earlier run with the sweep in it. */
static int setup_open_folder(struct run_setup *run, struct error *err)
{
	const struct run_options *options = setup_options_given(run->cli);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(INPUT_MAX);
	char path[PATH_MAX];

	if (!options->resume) {
		if (input_init(&run->input, run->cli, run->cli->args[0], false,
			       err) < 0 ||
		    check_sweep(run, err) < 0 || find_parts(run, err) < 0)
			return -1;
		if (folder_make(&run->folder, options->common.state,
				sweep_name(run->input.sweep), &run->input.text,
				err) < 0)
			return -1;
		return save_choices(run, err);
	}
	if (folder_resume(&run->folder, run->cli, options->resume, &text, err) <
		    0 ||
	    recall_choices(run, err) < 0)
		return -1;
	folder_file(&run->folder, "sweep.yaml", path);
	if (input_init(&run->input, run->cli, path, false, err) < 0)
		return -1;
	run->input.name = "sweep.yaml"; /* `path` ends here */
	return check_sweep(run, err) < 0 || find_parts(run, err) < 0 ? -1 : 0;
}

/* Make the agents' keys; the leader accepts them. */
static int make_keys(const struct run_setup *run, struct error *err)
{
	const struct strings *nodes = &run->allocation.nodes;
	struct key key;

	for (size_t i = 0; i < nodes->count; i++)
		if (folder_agent_key(&run->folder, nodes->items[i], &key, err) <
		    0)
			return -1;
	return 0;
}

/* Open a run that several allocations share. */
static int open_joined(struct run_setup *run, struct error *err)
{
	const char *state = setup_options_given(run->cli)->common.state;
	char path[PATH_MAX];
	bool known;
	int rc;

	snprintf(path, sizeof(path), "%s/sweep.yaml", state);
	known = access(path, F_OK) == 0;
	if (input_init(&run->input, run->cli, known ? path : run->cli->args[0],
		       false, err) < 0)
		return -1;
	if (known)
		run->input.name = "sweep.yaml"; /* `path` ends here */
	if (check_sweep(run, err) < 0 || find_parts(run, err) < 0)
		return -1;
	rc = folder_join(&run->folder, run->cli, state, &run->input.text, err);
	if (rc < 0)
		return -1;
	run->follows = rc == 0;
	run->config.follows = run->follows;
	run->outcome = folder_outcome(&run->folder);
	if (run->outcome >= 0)
		return 0;
	if (run->follows)
		return make_keys(run, err);
	if (save_choices(run, err) < 0)
		return -1;
	return folder_add_agents(&run->folder, &run->allocation.nodes, err);
}

static int setup_check_words(const struct cli *cli, struct error *err)
{
	const struct run_options *options = setup_options_given(cli);

	if (options->resume && (cli->arg_count || options->common.state ||
				options->common.set.count))
		return error_set(err, EINVAL,
				 "--resume DIR excludes a sweep file, --set "
				 "and "
				 "--state: the folder has its sweep; what is "
				 "changed is run in a new folder");
	if (options->only_devices && options->slurm)
		return error_set(err, EINVAL,
				 "run: --only-devices is not valid with "
				 "--slurm, which assigns the devices");
	if (options->join && (!options->slurm || !options->common.state))
		return error_set(err, EINVAL,
				 "run: --join is not valid here; expected "
				 "--slurm and --state DIR with it");
	if (!options->resume && !cli->arg_count)
		return error_set(err, EINVAL,
				 "run: missing argument SWEEP (expected "
				 "regatta run SWEEP)");
	return 0;
}

int run_setup_open(struct run_setup *setup, struct cli *cli, struct error *err)
{
	setup->cli = cli;
	setup->outcome = -1;
	if (setup_check_words(cli, err) < 0)
		return -1;
	if (!setup_options_given(cli)->slurm)
		return setup_open_folder(setup, err);
	if (allocation_read(&setup->allocation, err) < 0)
		return -1;
	setup->config.allocation = &setup->allocation;
	if (setup_options_given(cli)->join)
		return open_joined(setup, err);
	if (setup_open_folder(setup, err) < 0)
		return -1;
	return folder_add_agents(&setup->folder, &setup->allocation.nodes, err);
}

void run_setup_clear(struct run_setup *setup)
{
	folder_clear(&setup->folder);
	allocation_clear(&setup->allocation);
	input_clear(&setup->input);
	cJSON_Delete(setup->choices);
}
