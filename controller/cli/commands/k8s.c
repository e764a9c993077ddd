/* k8s.c - k8s: runs a sweep in a namespace of Kubernetes.
 *
 * The run is that of `regatta run`, whose agents are in pods: pods.h creates
 * them.
 */
#include "controller/catalog/catalog.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/run.h"
#include "controller/cli/k8s/kubectl.h"
#include "controller/cli/k8s/manifest.h"
#include "controller/cli/k8s/pods.h"
#include "controller/cli/notify.h"
#include "protocol/base/local_address.h"
#include "protocol/base/program.h"
#include "protocol/hardware/profile.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 32       /* of kubectl */
#define IMAGE "regatta"   /* where nobody names another */
#define AT_ONCE_QUEUED 64 /* Jobs that a queue holds back */

struct k8s_options {
	struct run_options run;
	const char *image;
	const char *site;
	const char *queue;
	uint64_t at_once;
	uint64_t serve;
	bool host_network;
	bool print;
};

static struct k8s_options *k8s_options_given(const struct cli *cli)
{
	return cli->given;
}

static cJSON *k8s_read_site(const char *file, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(file, NULL, err);
	cJSON *site = document ? value_to_json(document_root(document)) : NULL;

	if (document && !cJSON_IsObject(site)) {
		cJSON_Delete(site);
		error_set(err, EINVAL,
			  "--site: %.120s: expected a pod template: metadata "
			  "and spec",
			  file);
		return NULL;
	}
	return site;
}

/* The resource of the devices of the sweep's vendor; NULL: of none. */
static const char *k8s_resource(const struct input *input, struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
	const struct vendor *vendor;

	if (!sweep_totals(input->sweep)->kept ||
	    sweep_cell_spec(input->sweep, 0, &spec, err) < 0)
		return NULL;
	vendor = catalog_vendor(input->catalog, spec.vendor);
	return vendor ? vendor->profile->kubernetes_resource : NULL;
}

/* What the guest of this run needs to know (pods.h). */
static cJSON *k8s_choices(const struct cli *cli, const struct input *input,
			  struct error *err)
{
	const struct k8s_options *given = k8s_options_given(cli);
	const char *resource = k8s_resource(input, err);
	cJSON *choices = cJSON_CreateObject(), *words, *site;

	cJSON_AddStringToObject(choices, "image",
				given->image ? given->image : IMAGE);
	if (resource)
		cJSON_AddStringToObject(choices, "resource", resource);
	if (given->queue)
		cJSON_AddStringToObject(choices, "queue", given->queue);
	cJSON_AddBoolToObject(choices, "host_network", given->host_network);
	cJSON_AddNumberToObject(choices, "at_once",
				given->at_once != OPTION_NONE
					? (double)given->at_once
				: given->queue ? AT_ONCE_QUEUED
					       : 1);
	words = cJSON_AddArrayToObject(choices, "kubectl");
	for (size_t i = 1; i < cli->arg_count; i++)
		cJSON_AddItemToArray(words, cJSON_CreateString(cli->args[i]));
	if (!given->site)
		return choices;
	site = k8s_read_site(given->site, err);
	if (site && cJSON_AddItemToObject(choices, "site", site))
		return choices;
	cJSON_Delete(choices);
	return NULL;
}

static int k8s_print(const struct cli *cli, const struct input *input,
		     const cJSON *choices, struct error *err)
{
	const struct manifest_run run = {
		.cluster = "run-00000000",
		.image = cJSON_GetStringValue(
			cJSON_GetObjectItem(choices, "image")),
		.resource = cJSON_GetStringValue(
			cJSON_GetObjectItem(choices, "resource")),
		.queue = k8s_options_given(cli)->queue,
		.host_network = k8s_options_given(cli)->host_network,
		.site = cJSON_GetObjectItem(choices, "site"),
	};

	for (size_t i = 0; i < sweep_totals(input->sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };
		owned(cJSON_Delete) cJSON *job = NULL;
		owned_free char *text = NULL;

		if (sweep_cell_spec(input->sweep, i, &spec, err) < 0)
			return -1;
		job = manifest_job(&run, &spec, i + 1, 1, err);
		text = job ? cJSON_Print(job) : NULL;
		if (!text)
			return job ? error_nomem(err, "manifest") : -1;
		fprintf(cli->out, "%s\n", text);
	}
	return EXIT_GOOD;
}

static int k8s_words(const cJSON *choices, struct strings *options,
		     struct error *err)
{
	const cJSON *word;

	cJSON_ArrayForEach(word, cJSON_GetObjectItem(choices, "kubectl"))
	{
		if (strings_add(options, cJSON_GetStringValue(word), err) < 0)
			return -1;
	}
	return 0;
}

/* What the guest does there, and why (regatta-k8s(7)). */
static const char *const k8s_rights[][2] = {
	{ "create", "jobs" },    { "get", "jobs" },       { "list", "jobs" },
	{ "delete", "jobs" },    { "create", "secrets" }, { "list", "secrets" },
	{ "delete", "secrets" }, { "list", "pods" },      { "list", "events" },
};

/* Is each of them given? One that lacks is named before anything is created. */
static int k8s_check_rights(const struct strings *options, struct error *err)
{
	char lacks[300] = "";

	for (size_t i = 0; i < sizeof(k8s_rights) / sizeof(k8s_rights[0]);
	     i++) {
		const char *const words[] = { "auth", "can-i", k8s_rights[i][0],
					      k8s_rights[i][1], NULL };
		owned(buffer_clear) struct buffer text = { 0 };
		struct error why;

		if (kubectl_run(options, words, &text, &why) == 0)
			continue;
		/* "no" is no complaint. */
		if (why.code != EIO || strstr(why.text, "ended with 1:"))
			return error_set(err, why.code, "%s", why.text);
		text_append(lacks, sizeof(lacks), "%s%s %s", *lacks ? ", " : "",
			    words[2], words[3]);
	}
	return *lacks ? error_set(err, EPERM,
				  "the namespace does not let you %s; "
				  "regatta-k8s(7) has the Role that a run "
				  "needs",
				  lacks)
		      : 0;
}

/* At which the pods reach the controller: the one that reaches their server. */
static int k8s_address(const struct strings *options,
		       char address[LOCAL_ADDRESS_SIZE], struct error *err)
{
	const char *const words[] = { "config",
				      "view",
				      "--minify",
				      "-o",
				      "jsonpath={.clusters[0].cluster.server}",
				      NULL };
	owned(buffer_clear) struct buffer text = { 0 };
	const char *pod = getenv("KUBERNETES_SERVICE_HOST");
	const char *host, *port;
	char endpoint[300];

	if (kubectl_run(options, words, &text, NULL) < 0 || !text.size) {
		if (!pod)
			return error_set(err, EINVAL,
					 "kubectl has no cluster; expected a "
					 "kubeconfig, or a pod with a service "
					 "account");
		snprintf(endpoint, sizeof(endpoint), "tcp://%.200s:443", pod);
		return local_address(endpoint, address, err);
	}
	host = strstr(text.data, "://");
	host = host ? host + 3 : text.data;
	port = strchr(host, ':');
	snprintf(endpoint, sizeof(endpoint), "tcp://%.*s%s",
		 (int)strcspn(host, "/"), host, port ? "" : ":443");
	return local_address(endpoint, address, err);
}

static int k8s_begin(struct cli *cli, const cJSON *choices, struct error *err)
{
	struct k8s_options *given = k8s_options_given(cli);
	owned(strings_clear) struct strings options = { 0 };
	char address[LOCAL_ADDRESS_SIZE];

	if (!choices)
		return error_set(err, EINVAL,
				 "--resume: '%.200s' is not valid here; "
				 "expected the folder of an earlier regatta "
				 "k8s",
				 given->run.resume);
	if (k8s_words(choices, &options, err) < 0 ||
	    k8s_check_rights(&options, err) < 0)
		return -1;
	if (!given->run.address) {
		if (k8s_address(&options, address, err) < 0)
			return -1;
		given->run.address = address;
	}
	given->run.k8s = choices;
	given->run.devices = OPTION_NONE;
	if (cli->arg_count > 1)
		cli->arg_count = 1;
	return run_command(cli, err);
}

static int k8s_command(struct cli *cli, struct error *err)
{
	struct k8s_options *given = k8s_options_given(cli);
	owned(input_clear) struct input input = { 0 };
	owned(cJSON_Delete) cJSON *choices = NULL;

	if (given->serve != OPTION_NONE)
		return pods_serve(cli, (int)given->serve, err);
	if (given->run.resume) {
		struct folder folder = { 0 };

		snprintf(folder.path, sizeof(folder.path), "%s",
			 given->run.resume);
		if (folder_choices(&folder, &choices, err) < 0)
			return -1;
		return k8s_begin(cli, cJSON_GetObjectItem(choices, "k8s"), err);
	}
	if (!cli->arg_count)
		return error_set(err, EINVAL,
				 "k8s: missing argument SWEEP (expected "
				 "regatta k8s SWEEP [-- KUBECTL-OPTIONS])");
	if (input_init(&input, cli, cli->args[0], false, err) < 0 ||
	    input_check_jobs(&input, cli, err) < 0)
		return -1;
	choices = k8s_choices(cli, &input, err);
	if (!choices)
		return -1;
	return given->print ? k8s_print(cli, &input, choices, err)
			    : k8s_begin(cli, choices, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(options, "state", 0, OPTION_TEXT, state, "DIR"),
	  .help = "new folder for the files of the run "
		  "(./regatta-run-SWEEP-DATE-TIME)" },
	{ OPTION(run_options, "resume", 0, OPTION_TEXT, resume, "DIR"),
	  .help = "continue the run of that folder" },
	{ OPTION(k8s_options, "image", 0, OPTION_TEXT, image, "IMAGE"),
	  .help = "image with regatta-agent and regatta-init (" IMAGE ")" },
	{ OPTION(k8s_options, "site", 0, OPTION_TEXT, site, "FILE"),
	  .help = "pod template that is merged into each pod: tolerations, "
		  "volumes, imagePullSecrets" },
	{ OPTION(k8s_options, "queue", 0, OPTION_TEXT, queue, "NAME"),
	  .help = "LocalQueue of Kueue that admits the Jobs" },
	{ OPTION(k8s_options, "at-once", 0, OPTION_NUMBER, at_once, "N"),
	  .min = 1,
	  .max = 1000, .help = "Jobs that may wait for nodes or run at a time "
		  "(1; with --queue 64)" },
	{ OPTION(k8s_options, "host-network", 0, OPTION_FLAG, host_network,
		 NULL),
	  .help = "give the pods the network of their machine" },
	{ OPTION(run_options, "address", 0, OPTION_TEXT, address, "ADDRESS"),
	  .help = "address at which pods reach this machine (the one from "
		  "which it reaches the API server)" },
	{ OPTION(k8s_options, "print", 0, OPTION_FLAG, print, NULL),
	  .help = "print the Jobs without creating them" },
	{ OPTION(k8s_options, "serve", 0, OPTION_NUMBER, serve, "FD"),
	  .max = 1023, .help = "used by the command itself: keep the Jobs of "
		  "the run in --state, until this file descriptor is closed" },
	OPTION_NOTIFY(run_options),
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_report, "format of the result table: markdown, "
		  "csv, json or html"),
	{ 0 },
};

const struct command command_k8s = {
	.name = "k8s",
	.args = "SWEEP [-- KUBECTL-OPTIONS] | --resume DIR",
	.max_args = ARGS_MAX,
	.rules = rules,
	.options_size = sizeof(struct k8s_options),
	.summary = "run a sweep in a namespace of Kubernetes",
	.help =
		"Starts a controller here, and for each attempt of a job a "
		  "Job with one pod per node: the benchmark's own image, and "
		  "an agent beside it. Needs kubectl and the rights of a Role "
		  "in one namespace; nothing is installed in the cluster, and "
		  "nothing is left. kubectl receives the arguments after --. "
		  "Ctrl-C cancels the sweep and removes its Jobs; --resume "
		  "runs the remaining cells.",
	.example = "regatta k8s sweep.yaml --image lab/regatta:1 -- -n bench",
	.fn = k8s_command,
};
/* clang-format on */
