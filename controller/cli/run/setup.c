/* setup.c - prepares everything that `regatta run` needs before it starts
 * daemons.
 */
#include "controller/cli/run/setup.h"
#include "controller/cli/logins.h"
#include "controller/cli/run/probe.h"
#include "controller/results/json_object.h"
#include "protocol/config/own_engine.h"
#include "protocol/registry/credential.h"

#include <errno.h>
#include <string.h>

static struct run_options *setup_options_given(const struct cli *cli)
{
	return cli->given;
}

/* An agent has one vendor: take it from the cells. */
static int note_cell(struct run_setup *run, struct sweep *sweep, size_t cell,
		     struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
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
	if (spec.labels && !setup_options_given(run->cli)->k8s)
		return error_set(err, EINVAL,
				 "%.80s: labels: '%.60s' is not valid here; "
				 "expected none, because this machine has no "
				 "labels; use regatta submit for a cluster",
				 run->input.name, spec.labels);
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
	owned(buffer_clear) struct buffer text;
	char path[PATH_MAX];

	buffer_init(&text, INPUT_MAX);
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

/* Make the agents' keys; the leader accepts them (follow.h). */
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

	if (options->resume && (cli->arg_count || options->common.state))
		return error_set(err, EINVAL,
				 "run: --resume DIR excludes a sweep file and "
				 "--state, which are in the folder");
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
