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

/* A YAML file as JSON; what: expected in it. */
static cJSON *k8s_read(const char *file, const char *what, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(file, NULL, err);
	cJSON *read = document ? value_to_json(document_root(document)) : NULL;

	if (!document || cJSON_IsObject(read))
		return read;
	cJSON_Delete(read);
	error_set(err, EINVAL, "%.120s: expected %s", file, what);
	return NULL;
}

/* What is created (manifest.h), as the site wants it. */
static cJSON *k8s_objects(struct cli *cli, struct error *err)
{
	const char *file = k8s_options_given(cli)->site;
	char images[PATH_MAX], path[PATH_MAX + 20];
	owned(cJSON_Delete) cJSON *objects = NULL, *site = NULL;

	if (cli_images(cli, images, err) < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/kubernetes.yaml", images);
	objects = k8s_read(path, "objects of Kubernetes", err);
	if (!objects || !file)
		return take(objects);
	site = k8s_read(file, "a pod template: metadata and spec", err);
	if (!site)
		return error_null(error_prefix(err, "--site"));
	manifest_merge(json_get(json_get(json_get(objects, "job"), "spec"),
				"template"),
		       site);
	return take(objects);
}

/* The devices of the sweep's vendor, in the words of Kubernetes. */
static int k8s_put_devices(cJSON *choices, const struct input *input,
			   struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
	const struct vendor *vendor;

	if (!sweep_totals(input->sweep)->kept)
		return 0;
	if (sweep_cell_spec(input->sweep, 0, &spec, err) < 0)
		return -1;
	vendor = catalog_vendor(input->catalog, spec.vendor);
	if (vendor && vendor->profile->kubernetes_class)
		cJSON_AddStringToObject(choices, "class",
					vendor->profile->kubernetes_class);
	else if (vendor && vendor->profile->kubernetes_resource)
		cJSON_AddStringToObject(choices, "resource",
					vendor->profile->kubernetes_resource);
	return 0;
}

/* What the guest of this run needs to know (pods.h). */
static cJSON *k8s_choices(struct cli *cli, const struct input *input,
			  struct error *err)
{
	const struct k8s_options *given = k8s_options_given(cli);
	owned(cJSON_Delete) cJSON *choices = cJSON_CreateObject();
	cJSON *objects = k8s_objects(cli, err), *words;

	if (!objects || !cJSON_AddItemToObject(choices, "objects", objects) ||
	    k8s_put_devices(choices, input, err) < 0)
		return NULL;
	cJSON_AddStringToObject(choices, "image",
				given->image ? given->image : IMAGE);
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
	return take(choices);
}

static int k8s_print(struct cli *cli, const struct input *input,
		     const cJSON *choices, struct error *err)
{
	const struct manifest_run run = { .cluster = "run-00000000",
					  .choices = choices };

	for (size_t i = 0; i < sweep_totals(input->sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };
		owned(cJSON_Delete) cJSON *list = NULL;
		owned_free char *text = NULL;

		if (sweep_cell_spec(input->sweep, i, &spec, err) < 0)
			return -1;
		list = manifest_attempt(&run, &spec, i + 1, 1,
					"of each attempt", err);
		text = list ? cJSON_Print(list) : NULL;
		if (!text)
			return list ? error_nomem(err, "manifest") : -1;
		if (cli_print_json_text(cli, text, err) < 0)
			return -1;
	}
	return EXIT_GOOD;
}

static int k8s_words(const cJSON *choices, struct strings *options,
		     struct error *err)
{
	const cJSON *word;

	cJSON_ArrayForEach(word, json_get(choices, "kubectl"))
		if (strings_add(options, cJSON_GetStringValue(word), err) < 0)
			return -1;
	return 0;
}

/* Does the cluster serve the API: "group/version", or "group/" of any? */
static bool k8s_serves(const cJSON *found, const char *api)
{
	size_t group = strcspn(api, "/") + 1;
	const cJSON *item, *version;

	cJSON_ArrayForEach(item, json_get(found, "groups")) {
		cJSON_ArrayForEach(version, json_get(item, "versions")) {
			const char *name =
				json_get_text_or_empty(version, "groupVersion");

			if (api[group] ? !strcmp(name, api)
				       : !strncmp(name, api, group))
				return true;
		}
	}
	return false;
}

/* May its object be created? "podgroups.scheduling.x-k8s.io" */
static int k8s_can_extra(const struct strings *options, const cJSON *extra,
			 struct error *err)
{
	const char *kind = json_get_text(json_get(extra, "object"), "kind");
	const char *api = json_get_text_or_empty(extra, "api");
	char what[160];

	if (!kind)
		return 1;
	snprintf(what, sizeof(what), "%.60ss.%.*s", kind,
		 (int)strcspn(api, "/"), api);
	return kubectl_can(options, "create", what, err);
}

/* Keep the extras whose API the cluster serves. */
static int k8s_discover(const struct strings *options, cJSON *choices,
			struct error *err)
{
	static const char *const words[] = { "get", "--raw", "/apis", NULL };
	cJSON *extras = json_get(json_get(choices, "objects"), "extras");
	owned(cJSON_Delete) cJSON *found = NULL;
	cJSON *extra, *next;

	kubectl_json(options, words, &found, NULL);
	for (extra = extras ? extras->child : NULL; extra; extra = next) {
		const char *api = json_get_text(extra, "api");
		const char *value = json_get_text_or_empty(extra, "value");
		bool optional = !strcmp(value, "$GANG");
		/* Of a cluster that does not answer nothing is assumed. */
		int can = !api || (found ? k8s_serves(found, api) : !optional);

		next = extra->next;
		if (can && optional)
			can = k8s_can_extra(options, extra, err);
		if (can < 0)
			return -1;
		if (can)
			continue;
		if (json_get(choices, "queue") && !strcmp(value, "$QUEUE"))
			return error_set(err, ENOENT,
					 "--queue: the cluster has no Kueue");
		if (json_get(choices, "class") && !strcmp(value, "$CLASS"))
			return error_set(err, ENOENT,
					 "the cluster has no %.60s, which the "
					 "vendor's profile needs",
					 api);
		cJSON_Delete(cJSON_DetachItemViaPointer(extras, extra));
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
		const char *const *right = k8s_rights[i];
		int can = kubectl_can(options, right[0], right[1], err);

		if (can < 0)
			return -1;
		if (!can)
			text_append(lacks, sizeof(lacks), "%s%s %s",
				    *lacks ? ", " : "", right[0], right[1]);
	}
	return *lacks ? error_set(err, EPERM,
				  "the namespace does not let you %s; "
				  "regatta-k8s(7) has the Role that a run "
				  "needs",
				  lacks)
		      : 0;
}

/* Say what the cluster would do, once for cells that differ in no pod. */
static int k8s_plan(const struct input *input, const cJSON *choices,
		    const struct strings *options, FILE *out, struct error *err)
{
	const struct manifest_run run = { .cluster = "run-00000000",
					  .choices = choices };
	owned(strings_clear) struct strings seen = { 0 };
	int code = EXIT_GOOD;

	for (size_t i = 0; i < sweep_totals(input->sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };
		owned(cJSON_Delete) cJSON *list = NULL;
		owned_free char *text = NULL;
		char said[ADMISSION_TEXT_MAX];
		const cJSON *job;
		int could;

		if (sweep_cell_spec(input->sweep, i, &spec, err) < 0)
			return -1;
		list = manifest_attempt(&run, &spec, 1, 1, "", err);
		text = list ? cJSON_PrintUnformatted(list) : NULL;
		if (!text)
			return -1;
		if (strings_has(&seen, text))
			continue;
		job = json_get(list, "items")->child->prev; /* the last */
		could = admission_ask(options, job, said, err);
		if (could < 0 || strings_add(&seen, text, err) < 0)
			return -1;
		fprintf(out, "job %zu, nodes: %u: %s\n", i + 1, spec.nodes,
			said);
		code = could ? code : EXIT_WORK_FAILED;
	}
	return code;
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

/* input: NULL with --resume, whose choices were checked. */
static int k8s_begin(struct cli *cli, const struct input *input, cJSON *choices,
		     struct error *err)
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
	    k8s_check_rights(&options, err) < 0 ||
	    (input && k8s_discover(&options, choices, err) < 0))
		return -1;
	if (given->plan && input)
		return k8s_plan(input, choices, &options, cli->out, err);
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
	owned(strings_clear) struct strings options = { 0 };
	owned(cJSON_Delete) cJSON *choices = NULL;

	if (given->serve != OPTION_NONE)
		return pods_serve(cli, (int)given->serve, err);
	if (given->plan && given->run.resume)
		return error_set(err, EINVAL,
				 "k8s: --plan is not valid with --resume "
				 "(expected a sweep)");
	if (given->run.resume) {
		struct folder folder = { 0 };

		snprintf(folder.path, sizeof(folder.path), "%s",
			 given->run.resume);
		if (folder_choices(&folder, &choices, err) < 0)
			return -1;
		return k8s_begin(cli, NULL, json_get(choices, "k8s"), err);
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
	if (!given->print)
		return k8s_begin(cli, &input, choices, err);
	return k8s_words(choices, &options, err) < 0 ||
			       k8s_discover(&options, choices, err) < 0
		       ? -1
		       : k8s_print(cli, &input, choices, err);
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
