/* import.c - import flagperf: creates sweeps from the configuration of a
 * FlagPerf tree.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/import_conf.h"
#include "controller/sweep/flagperf/options.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)4 << 20) /* of a sweep */

static const struct suite suites[] = {
	{ "training", true, "training/run_benchmarks/config/test_conf.py",
	  "training/run_benchmarks/config/cluster_conf.py" },
	{ "base", false, "base/configs/host.yaml", NULL },
	{ "operation", false, "operation/configs/host.yaml", NULL },
	{ "inference", false, "inference/configs/host.yaml", NULL },
};
#define SUITES (sizeof(suites) / sizeof(suites[0]))

struct import {
	struct cli *cli;
	const char *tree;
	char root[PATH_MAX]; /* the tree, without links */
	const char *folder;  /* for what is written */
	struct catalog *catalog;
	struct strings hosts, sweeps;
	struct strings refused; /* why suites cannot be imported */
	size_t wrong;           /* cases that are left out */
};

static void import_clear(struct import *import)
{
	catalog_free(import->catalog);
	strings_clear(&import->hosts);
	strings_clear(&import->sweeps);
	strings_clear(&import->refused);
}
OWNED_VALUE(struct import, import_clear)

/* Settings that are not imported. */

/* options_fn */
static void on_option(void *arg, const char *option, bool profile)
{
	struct import *import = arg;

	if (profile)
		cli_say(import->cli,
			"  ACCE_CONTAINER_OPT %s: the vendor's profile gives "
			"a container its devices",
			option);
}

/* If one of the options is not valid here, none is imported. */
static int tell_options(struct import *import, struct conf *conf,
			struct error *err)
{
	static const char name[] = "ACCE_CONTAINER_OPT";
	cJSON *cell = cJSON_CreateObject();
	struct error why;

	if (!cell)
		return error_nomem(err, "import");
	if (docker_options(conf_text(conf, name), cell, on_option, import,
			   &why) < 0) {
		cli_say(import->cli, "  %s: %s", name, why.text);
		cJSON_DeleteItemFromObjectCaseSensitive(conf->values, name);
	}
	cJSON_Delete(cell);
	return 0;
}

/* The names of FlagPerf's settings, and why they are not imported; NULL: they
 * are.
 */
static const struct {
	const char *name, *why;
} known[] = {
	{ "VENDOR", NULL },
	{ "ACCE_CONTAINER_OPT", NULL },
	{ "ACCE_VISIBLE_DEVICE_ENV_NAME", NULL },
	{ "PIP_SOURCE", NULL },
	{ "FLAGPERF_PATH", NULL },
	{ "FLAGPERF_LOG_PATH", NULL },
	{ "FLAGPERF_LOG_LEVEL", NULL },
	{ "SHM_SIZE", NULL },
	{ "HOSTS", NULL },
	{ "HOSTS_PORTS", NULL },
	{ "NPROC_PER_NODE", NULL },
	{ "BENCHMARKS_OR_TOOLKITS", NULL },
	{ "MODE", NULL },
	{ "WARMUP", NULL },
	{ "MASTER_PORT", "a free port is chosen for each job" },
	{ "SSH_PORT", "ssh is not used" },
	{ "CLEAR_CACHES", "caches of the host are not dropped" },
	{ "DEVICE", "devices are assigned to each job; see shared: true" },
	{ "LOG_CALL_INFORMATION", "it applies to FlagPerf's own log" },
};

static void tell_names(const struct import *import, const struct conf *conf)
{
	const cJSON *item;

	for (size_t i = 0; i < conf->notes.count; i++)
		cli_say(import->cli, "  %s", conf->notes.items[i]);
	cJSON_ArrayForEach(item, conf->values) {
		const char *why = "the name is unknown";
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) &&
		       strcmp(known[i].name, item->string) != 0)
			i++;
		if (i < sizeof(known) / sizeof(known[0]))
			why = known[i].why;
		if (why && !cJSON_IsFalse(item) && !cJSON_IsNull(item))
			cli_say(import->cli, "  %s: %s", item->string, why);
	}
}

/* Reading. */

/* Report the cases that the sweep refuses, or whose files are missing. The
 * *kept other cases move to the front.
 */
static int find_wrong(const struct import *import, const struct suite *suite,
		      struct conf *conf, const struct buffer *text,
		      size_t *kept, struct error *err)
{
	owned(buffer_clear) struct buffer lenient = BUFFER_INIT(TEXT_MAX);
	owned(sweep_free) struct sweep *sweep = NULL;
	const struct flagperf *flagperf;

	if (buffer_printf(&lenient, err,
			  "%s\n---\nflagperf: {keep_going: true}\n",
			  text->data) < 0)
		return -1;
	sweep = sweep_parse(lenient.data, lenient.size, suite->file,
			    import->catalog, err);
	if (!sweep)
		return -1;
	flagperf = sweep_flagperf(sweep);
	for (size_t i = 0; flagperf_cell(flagperf, i); i++) {
		struct conf_case item = conf->cases[i];
		const char *reason = flagperf_reason(flagperf, i);
		struct error why = { 0 };
		const char *sentence;

		if (!reason &&
		    flagperf_check(flagperf, i, import->root, &why) == 0) {
			conf->cases[i] = conf->cases[*kept];
			conf->cases[(*kept)++] = item;
			continue;
		}
		/* Leave out the place in the sweep, which the user has not
		 * seen.
		 */
		reason = reason ? reason : why.text;
		sentence = strstr(reason, item.name);
		sentence = sentence ? sentence + strlen(item.name) : reason;
		cli_say(import->cli, "%s:%u: %s%s%s", item.file, item.line,
			item.name, *sentence == ':' ? "" : ": ", sentence);
	}
	return 0;
}

/* Report the wrong cases and leave them out. */
static int check_cases(struct import *import, const struct suite *suite,
		       struct conf *conf, const struct buffer *text,
		       struct error *err)
{
	size_t kept = 0, wrong = conf->wrong.count, all = conf->count + wrong;

	for (size_t i = 0; i < wrong; i++)
		cli_say(import->cli, "%s", conf->wrong.items[i]);
	if (!import->catalog || !conf->count)
		kept = conf->count;
	else if (find_wrong(import, suite, conf, text, &kept, err) < 0)
		return -1;
	wrong = all - kept;
	import->wrong += wrong;
	if (wrong)
		cli_say(import->cli,
			"%s: %zu of %zu cases cannot run and are skipped",
			suite->file, wrong, all);
	while (conf->count > kept) {
		struct conf_case *last = &conf->cases[--conf->count];

		free(last->name);
		free(last->text);
		free(last->file);
	}
	return 0;
}

static const char host_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

/* Each host becomes a line of the list of nodes. */
static int import_add_hosts(struct import *import, const struct conf *conf,
			    struct error *err)
{
	const cJSON *host;

	cJSON_ArrayForEach(host, json_get(conf->values, "HOSTS")) {
		if (!cJSON_IsString(host))
			continue;
		if (!*host->valuestring ||
		    host->valuestring[strspn(host->valuestring,
					     host_letters)]) {
			cli_say(import->cli,
				"  HOSTS: \"%.100s\" is not valid here; "
				"expected a name or an address; skipped",
				host->valuestring);
			continue;
		}
		if (!strings_has(&import->hosts, host->valuestring) &&
		    strings_add(&import->hosts, host->valuestring, err) < 0)
			return -1;
	}
	return 0;
}

/* Write a new file. */
static int write_new(struct import *import, const char *name,
		     const struct buffer *text, struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", import->folder, name);
	if (access(path, F_OK) == 0)
		return error_set(err, EINVAL,
				 "%s exists; remove it, or name another folder",
				 path);
	if (file_write(AT_FDCWD, path, text->data, text->size, 0644, 0, err) <
	    0)
		return -1;
	fprintf(import->cli->out, "%s\n", path);
	return 0;
}

/* Read the configuration, without the cases that cannot run. ENOENT: the tree
 * has no such suite.
 */
static int read_suite(struct import *import, const struct suite *suite,
		      struct conf *conf, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);

	if (import_conf_read(import->cli, import->root, suite, conf, err) < 0)
		return -1;
	if (!conf->count && !conf->wrong.count)
		return error_set(err, ENOENT, "%s: no cases", suite->file);
	cli_say(import->cli,
		"%s: %zu case%s; these settings are not imported:", suite->file,
		conf->count, conf->count == 1 ? "" : "s");
	tell_names(import, conf);
	if (tell_options(import, conf, err) < 0)
		return -1;
	if (!*conf_text(conf, "VENDOR"))
		return error_set(err, EINVAL, "%s: VENDOR is not a string",
				 suite->file);
	if (import_sweep_write(import->root, import->catalog, suite, conf,
			       &text, err) < 0)
		return -1;
	return check_cases(import, suite, conf, &text, err);
}

/* A suite that cannot be read does not stop the others. */
static int import_suite(struct import *import, const struct suite *suite,
			struct error *err)
{
	owned(conf_clear) struct conf conf;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);
	struct error why = { 0 };
	char name[64];

	conf_init(&conf);
	if (read_suite(import, suite, &conf, &why) < 0) {
		if (why.code == ENOENT)
			return 0;
		if (why.code == EINVAL)
			return strings_add(&import->refused, why.text, err);
		*err = why;
		return -1;
	}
	if (!conf.count)
		return 0;
	if (import_sweep_write(import->root, import->catalog, suite, &conf,
			       &text, err) < 0 ||
	    import_add_hosts(import, &conf, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "flagperf-%s.yaml", suite->name);
	if (write_new(import, name, &text, err) < 0)
		return -1;
	return strings_add(&import->sweeps, name, err);
}

/* The nodes, in FlagPerf's order. */
static int write_nodes(struct import *import, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(TEXT_MAX);

	if (!import->hosts.count)
		return 0;
	if (buffer_printf(&text, err,
			  "# HOSTS of %s, in their order: a name, and the "
			  "address. Each needs an agent, and\n# a key:\n"
			  "#   regatta key new NAME.key --name NAME --role "
			  "agent "
			  ">>authorized\n"
			  "#   regatta-agent --key NAME.key --address ADDRESS "
			  "--controller tcp://CONTROLLER:7117 \\\n"
			  "#       --controller-key controller.public\n",
			  import->root) < 0)
		return -1;
	for (size_t i = 0; i < import->hosts.count; i++)
		if (buffer_printf(&text, err, "n%zu %s\n", i + 1,
				  import->hosts.items[i]) < 0)
			return -1;
	return write_new(import, "flagperf-nodes", &text, err);
}

/* "regatta plan DIR/flagperf-training.yaml" */
static void tell_next(const struct import *import)
{
	cli_say(import->cli,
		"next: regatta plan %s/%s; regatta-flagperf(7) lists the "
		"commands that replace run.py",
		import->folder, import->sweeps.items[0]);
}

static int open_tree(struct import *import, struct error *err)
{
	struct error why = { 0 };
	char images[PATH_MAX];

	if (!realpath(import->tree, import->root))
		return error_errno(err, "%s", import->tree);
	if (cli_images(import->cli, images, &why) < 0) {
		cli_say(import->cli, "cases and chips are not checked: %s",
			why.text);
		return 0;
	}
	import->catalog = catalog_load(images, err);
	return import->catalog ? 0 : -1;
}

/* Why no sweep was written. */
static int tell_nothing(const struct import *import, struct error *err)
{
	size_t refused = import->refused.count;

	for (size_t i = 0; i + 1 < refused; i++)
		cli_say(import->cli, "%s", import->refused.items[i]);
	if (refused)
		return error_set(err, EINVAL, "%s",
				 import->refused.items[refused - 1]);
	if (import->wrong)
		return error_set(err, EINVAL, "%s: none of the cases can run",
				 import->tree);
	return error_set(err, EINVAL,
			 "%s: no cases in %s or in a host.yaml of base, "
			 "operation or inference",
			 import->tree, suites[0].file);
}

static int import_command(struct cli *cli, struct error *err)
{
	owned(import_clear) struct import import = { .cli = cli };

	import.tree = cli->args[1];
	import.folder = cli->arg_count > 2 ? cli->args[2] : ".";
	if (open_tree(&import, err) < 0 ||
	    file_make_folders(import.folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < SUITES; i++)
		if (import_suite(&import, &suites[i], err) < 0)
			return -1;
	if (!import.sweeps.count)
		return tell_nothing(&import, err);
	for (size_t i = 0; i < import.refused.count; i++)
		cli_say(cli, "%s", import.refused.items[i]);
	if (write_nodes(&import, err) < 0)
		return -1;
	tell_next(&import);
	return import.refused.count ||
			       (import.wrong && !cli->options->keep_going)
		       ? EXIT_WORK_FAILED
		       : EXIT_GOOD;
}

/* clang-format off */
static const struct subcommand subcommands[] = {
	{ "flagperf", "TREE [DIR]", 1, 2, NULL,
	  "create sweeps and a list of nodes", import_command },
	{ 0 },
};

static const struct option_rule rules[] = {
	{ OPTION(options, "keep-going", 0, OPTION_FLAG, keep_going, NULL),
	  .help = "exit 0 even if some cases cannot run" },
	OPTION_IMAGES,
	{ 0 },
};

const struct command command_import = {
	.name = "import",
	.min_args = 1,
	.rules = rules,
	.summary = "create sweeps from a FlagPerf checkout",
	.help =
		"Reads test_conf.py, cluster_conf.py and each host.yaml "
		  "without executing them. Writes a sweep for each suite that "
		  "has cases, and a list of the nodes. Cases that cannot run "
		  "are listed and skipped, and the exit status is 1. Prints "
		  "what was not imported. Needs no controller.",
	.example = "regatta import flagperf /home/FlagPerf",
	.subcommands = subcommands,
};
/* clang-format on */
