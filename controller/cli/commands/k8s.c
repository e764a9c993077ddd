/* k8s.c - k8s: runs a sweep in a namespace of Kubernetes.
 *
 * The run is that of `regatta run`, whose agents are in pods: pods.h creates
 * them.
 */
#include "controller/catalog/catalog.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/run.h"
#include "controller/cli/k8s/admission.h"
#include "controller/cli/k8s/kubectl.h"
#include "controller/cli/k8s/manifest.h"
#include "controller/cli/k8s/pods.h"
#include "controller/cli/notify.h"
#include "protocol/base/local_address.h"
#include "protocol/base/program.h"
#include "protocol/hardware/profile.h"
#include "protocol/message/json_get.h"
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
	bool plan;
};

static struct k8s_options *k8s_options_given(const struct cli *cli)
{
	return cli->given;
}

/* A YAML file as JSON. */
static cJSON *k8s_read(const char *file, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(file, NULL, err);

	return document ? value_to_json(document_root(document)) : NULL;
}

/* Merge the pod template of --site into that of the Job. kubectl knows by which
 * members the items of lists are the same.
 */
static int k8s_put_site(cJSON *list, const char *file, const cJSON *kubectl,
			struct error *err)
{
	owned(cJSON_Delete) cJSON *patch = cJSON_CreateObject(), *job = NULL;
	owned_free char *text = NULL;
	cJSON *site = k8s_read(file, err);

	if (!site)
		return -1;
	cJSON_AddItemToObject(cJSON_AddObjectToObject(patch, "spec"),
			      "template", site);
	if (!cJSON_IsObject(site))
		return error_set(err, EINVAL,
				 "%.120s: expected a pod template: metadata "
				 "and spec",
				 file);
	if (json_get(json_get(site, "spec"), "activeDeadlineSeconds"))
		return error_set(err, EINVAL,
				 "activeDeadlineSeconds is not valid here, as "
				 "it deletes pods with their output; expected "
				 "timeout in the sweep");
	text = cJSON_PrintUnformatted(patch);
	if (kubectl_run(kubectl, manifest_job(list), &job, err, "patch",
			"--local", "-p", text, "-ojson", NULL) < 0)
		return -1;
	cJSON_ReplaceItemViaPointer(json_get(list, "items"), manifest_job(list),
				    take(job));
	return 0;
}

/* What is created (manifest.h), as the site wants it. */
static cJSON *k8s_objects(struct cli *cli, const cJSON *kubectl,
			  struct error *err)
{
	const char *site = k8s_options_given(cli)->site;
	char images[PATH_MAX], path[PATH_MAX + 20];
	owned(cJSON_Delete) cJSON *objects = NULL;
	cJSON *list;

	if (cli_images(cli, images, err) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/kubernetes.yaml", images);
	objects = k8s_read(path, err);
	list = json_get(objects, "attempt");
	if (objects && !manifest_job(list))
		return error_null(error_set(err, EINVAL,
					    "%.120s: expected attempt: a List "
					    "with a Job as the last item",
					    path));
	if (objects && site && k8s_put_site(list, site, kubectl, err) < 0)
		return error_null(error_prefix(err, "--site"));
	return take(objects);
}

/* The devices of the sweep's vendor, in the words of Kubernetes. */
static int k8s_put_devices(struct cli *cli, cJSON *words,
			   const struct input *input, struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
	const struct vendor *vendor;
	const struct profile *profile;

	if (sweep_cell_spec(input->sweep, 0, &spec, err) < 0)
		return -1;
	vendor = catalog_vendor(input->catalog, spec.vendor);
	profile = vendor ? vendor->profile : NULL;
	manifest_put(words, "CLASS",
		     profile ? profile->kubernetes_class : NULL);
	manifest_put(words, "RESOURCE",
		     profile && !profile->kubernetes_class
			     ? profile->kubernetes_resource
			     : NULL);
	if (profile && profile->kubernetes_unknown &&
	    !k8s_options_given(cli)->site)
		cli_say(cli, "%s: %s", spec.vendor,
			profile->kubernetes_unknown);
	return 0;
}

/* What the guest of this run needs to know (pods.h). */
static cJSON *k8s_choices(struct cli *cli, const struct input *input,
			  struct error *err)
{
	const struct k8s_options *given = k8s_options_given(cli);
	owned(cJSON_Delete) cJSON *choices = cJSON_CreateObject();
	cJSON *kubectl = cJSON_AddArrayToObject(choices, "kubectl");
	cJSON *words = cJSON_AddObjectToObject(choices, "words"), *objects;

	for (size_t i = 1; i < cli->arg_count; i++)
		cJSON_AddItemToArray(kubectl, cJSON_CreateString(cli->args[i]));
	objects = k8s_objects(cli, kubectl, err);
	if (!objects || !cJSON_AddItemToObject(choices, "objects", objects) ||
	    k8s_put_devices(cli, words, input, err) < 0)
		return NULL;
	manifest_put(words, "REGATTA", given->image ? given->image : IMAGE);
	manifest_put(words, "QUEUE", given->queue);
	cJSON_AddItemToObject(words, "HOST_NETWORK",
			      given->host_network ? cJSON_CreateTrue()
						  : cJSON_CreateNull());
	cJSON_AddNumberToObject(choices, "at_once",
				given->at_once != OPTION_NONE
					? (double)given->at_once
				: given->queue ? AT_ONCE_QUEUED
					       : 1);
	return take(choices);
}

/* Find the words of kubernetes.yaml that have no value here. Of a cluster that
 * does not answer nothing is assumed.
 */
static int k8s_discover(cJSON *choices, struct error *err)
{
	const cJSON *kubectl = json_get(choices, "kubectl"), *item;
	cJSON *words = json_get(choices, "words");

	cJSON_ArrayForEach(item,
			   json_get(json_get(choices, "objects"), "apis")) {
		const char *create = json_get_text(item, "create");
		const char *lacks = json_get_text(item, "lacks");
		struct error why;
		char path[128];
		int can;

		if (cJSON_IsNull(json_get(words, item->string)))
			continue; /* not asked for */
		snprintf(path, sizeof(path), "/apis/%.100s",
			 json_get_text_or_empty(item, "api"));
		can = kubectl_run(kubectl, NULL, NULL, &why, "get", "--raw",
				  path, NULL) == 0 ||
		      (lacks && !strstr(why.text, "NotFound"));
		if (can && create)
			can = kubectl_can(kubectl, "create", create, err);
		if (can < 0)
			return -1;
		if (!can && lacks && json_get_text(words, item->string))
			return error_set(err, ENOENT, "%.200s", lacks);
		if (!can)
			manifest_put(words, item->string, NULL);
	}
	return 0;
}

/* Is each right given? One that lacks is named before anything is created. */
static int k8s_check_rights(const cJSON *choices, struct error *err)
{
	const cJSON *right;
	char lacks[300] = "";

	cJSON_ArrayForEach(right,
			   json_get(json_get(choices, "objects"), "rights")) {
		const char *verb =
			cJSON_GetStringValue(cJSON_GetArrayItem(right, 0));
		const char *what =
			cJSON_GetStringValue(cJSON_GetArrayItem(right, 1));
		int can = kubectl_can(json_get(choices, "kubectl"), verb, what,
				      err);

		if (can < 0)
			return -1;
		if (!can)
			text_append(lacks, sizeof(lacks), "%s%s %s",
				    *lacks ? ", " : "", verb, what);
	}
	return *lacks ? error_set(err, EPERM,
				  "the namespace does not let you %s; "
				  "regatta-k8s(7) has the Role that a run "
				  "needs",
				  lacks)
		      : 0;
}

/* Say what the cluster would do with a Job: EXIT_GOOD or EXIT_WORK_FAILED. */
static int k8s_ask(const cJSON *choices, const cJSON *list, size_t cell,
		   uint32_t nodes, FILE *out, struct error *err)
{
	char said[ADMISSION_TEXT_MAX];
	int could = admission_ask(json_get(choices, "kubectl"),
				  manifest_job(list), said, err);

	if (could < 0)
		return -1;
	fprintf(out, "job %zu, nodes: %u: %s\n", cell + 1, nodes, said);
	return could ? EXIT_GOOD : EXIT_WORK_FAILED;
}

/* Print the Jobs of all cells; or ask about them, once for cells that differ in
 * no pod.
 */
static int k8s_show(struct cli *cli, const struct input *input,
		    const cJSON *choices, bool ask, struct error *err)
{
	const struct manifest_run run = { .cluster = "run-00000000",
					  .choices = choices };
	owned(strings_clear) struct strings seen = { 0 };
	int code = EXIT_GOOD;

	for (size_t i = 0; i < sweep_totals(input->sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };
		owned(cJSON_Delete) cJSON *list = NULL;
		owned_free char *text = NULL;
		int rc;

		if (sweep_cell_spec(input->sweep, i, &spec, err) < 0)
			return -1;
		list = manifest_attempt(&run, &spec, ask ? 1 : i + 1, 1,
					"of each attempt", err);
		text = list ? cJSON_Print(list) : NULL;
		if (!text)
			return list ? error_nomem(err, "manifest") : -1;
		if (ask && strings_has(&seen, text))
			continue;
		rc = ask ? k8s_ask(choices, list, i, spec.nodes, cli->out, err)
			 : cli_print_json_text(cli, text, err);
		if (rc < 0 || strings_add(&seen, text, err) < 0)
			return -1;
		code = rc ? rc : code;
	}
	return code;
}

/* At which the pods reach the controller: the one that reaches their server. */
static int k8s_address(const cJSON *kubectl, char address[LOCAL_ADDRESS_SIZE],
		       struct error *err)
{
	const char *pod = getenv("KUBERNETES_SERVICE_HOST"), *server, *host;
	owned(cJSON_Delete) cJSON *config = NULL;
	char endpoint[300];

	kubectl_run(kubectl, NULL, &config, NULL, "config", "view", "--minify",
		    "-ojson", NULL);
	server = json_get_text(json_get(cJSON_GetArrayItem(json_get(config,
								    "clusters"),
							   0),
					"cluster"),
			       "server");
	host = server ? server : pod;
	if (!host)
		return error_set(err, EINVAL,
				 "kubectl has no cluster; expected a "
				 "kubeconfig, or a pod with a service account");
	if (strstr(host, "://"))
		host = strstr(host, "://") + 3;
	snprintf(endpoint, sizeof(endpoint), "tcp://%.*s%s",
		 (int)strcspn(host, "/"), host,
		 server && strchr(host, ':') ? "" : ":443");
	return local_address(endpoint, address, err);
}

/* The choices of the folder of --resume. */
static cJSON *k8s_resumed(const char *path, struct error *err)
{
	owned(cJSON_Delete) cJSON *choices = NULL;
	struct folder folder = { 0 };
	cJSON *own;

	snprintf(folder.path, sizeof(folder.path), "%s", path);
	if (folder_choices(&folder, &choices, err) < 0)
		return NULL;
	own = cJSON_DetachItemFromObject(choices, "k8s");
	if (!own)
		error_set(err, EINVAL,
			  "--resume: '%.200s' is not valid here; expected the "
			  "folder of an earlier regatta k8s",
			  path);
	return own;
}

static int k8s_run(struct cli *cli, cJSON *choices, struct error *err)
{
	struct k8s_options *given = k8s_options_given(cli);
	char address[LOCAL_ADDRESS_SIZE];

	if (!given->run.address) {
		if (k8s_address(json_get(choices, "kubectl"), address, err) < 0)
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
	const char *resume = given->run.resume;
	owned(input_clear) struct input input = { 0 };
	owned(cJSON_Delete) cJSON *choices = NULL;

	if (given->serve != OPTION_NONE)
		return pods_serve(cli, (int)given->serve, err);
	if (resume && (given->plan || given->print))
		return error_set(err, EINVAL,
				 "k8s: --%s is not valid with --resume "
				 "(expected a sweep)",
				 given->plan ? "plan" : "print");
	if (!resume && !cli->arg_count)
		return error_set(err, EINVAL,
				 "k8s: missing argument SWEEP (expected "
				 "regatta k8s SWEEP [-- KUBECTL-OPTIONS])");
	if (!resume && (input_init(&input, cli, cli->args[0], false, err) < 0 ||
			input_check_jobs(&input, cli, err) < 0))
		return -1;
	choices = resume ? k8s_resumed(resume, err)
			 : k8s_choices(cli, &input, err);
	if (!choices || (!given->print && k8s_check_rights(choices, err) < 0) ||
	    (!resume && k8s_discover(choices, err) < 0))
		return -1;
	return given->plan || given->print
		       ? k8s_show(cli, &input, choices, given->plan, err)
		       : k8s_run(cli, choices, err);
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
	{ OPTION(k8s_options, "plan", 0, OPTION_FLAG, plan, NULL),
	  .help = "say what the cluster would refuse, and which nodes could run "
		  "the pods; nothing is created" },
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
