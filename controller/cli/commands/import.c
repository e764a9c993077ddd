/* import.c - import flagperf: the configuration of a FlagPerf tree to sweeps.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/import_training.h"
#include "controller/sweep/flagperf/conf.h"
#include "controller/sweep/flagperf/options.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX ((size_t)4 << 20) /* of a sweep */

/* One of FlagPerf's suites. */
struct suite {
	const char *name;
	bool python;
	const char *file;    /* its cases */
	const char *cluster; /* its nodes; NULL: in the same file */
};
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
	struct strings refused; /* suites that cannot be imported: why */
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

/* Texts of YAML, quoted as JSON is. */
static int add_quoted(struct buffer *out, const char *text, struct error *err)
{
	cJSON *string = cJSON_CreateString(text);
	char *quoted = string ? cJSON_PrintUnformatted(string) : NULL;
	int rc = quoted ? buffer_text(out, quoted, err)
			: error_nomem(err, "import");

	cJSON_free(quoted);
	cJSON_Delete(string);
	return rc;
}

static int add_line(struct buffer *out, const char *key, const char *text,
		    struct error *err)
{
	if (!*text)
		return 0;
	if (buffer_printf(out, err, "  %s: ", key) < 0 ||
	    add_quoted(out, text, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

/* What is not carried over. */

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

/* Options that have no meaning here are left out, all of them. */
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

/* Names that FlagPerf has, and what becomes of them: NULL, it is carried over.
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
	{ "MASTER_PORT", "a free port is looked for with each job" },
	{ "SSH_PORT", "nothing goes by ssh" },
	{ "CLEAR_CACHES", "the caches of the host are left as they are" },
	{ "DEVICE", "devices are given to each job; see shared: true" },
	{ "LOG_CALL_INFORMATION", "it is about FlagPerf's own log" },
};

static void tell_names(const struct import *import, const struct conf *conf)
{
	const cJSON *item;

	for (size_t i = 0; i < conf->notes.count; i++)
		cli_say(import->cli, "  %s", conf->notes.items[i]);
	cJSON_ArrayForEach(item, conf->values)
	{
		const char *why = "no such name is known";
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

/* The sweep. */

/* A chip that all cases name by their hardware; NULL: there is none. */
static const struct chip *chip_of(const struct import *import,
				  const struct conf *conf)
{
	const struct vendor *vendor =
		import->catalog ? catalog_vendor(import->catalog,
						 conf_text(conf, "VENDOR"))
				: NULL;
	const struct chip *chip = NULL;

	for (size_t i = 0; vendor && i < conf->count; i++) {
		const char *at = conf->cases[i].name;
		const struct chip *found;
		char hardware[64];

		for (int k = 0; at && k < 2; k++)
			at = (at = strchr(at, ':')) ? at + 1 : NULL;
		if (!at)
			return NULL;
		snprintf(hardware, sizeof(hardware), "%.*s",
			 (int)strcspn(at, ":"), at);
		/* TP2PP1SH1SP4A10040G */
		for (at = hardware; *at && strchr("TPS", at[0]) &&
				    strchr("PH", at[1]) && isdigit(at[2]);)
			at += 2 + strspn(at + 2, "0123456789");
		found = catalog_chip(import->catalog, vendor->name, at);
		if (!found || (chip && found != chip))
			return NULL;
		chip = found;
	}
	return chip;
}

/* The cases name configurations, which may serve other chips as well: whoever
 * knows the nodes sets the chip.
 */
static int add_chip(const struct import *import, const struct chip *chip,
		    struct buffer *out, struct error *err)
{
	const struct vendor *vendor =
		catalog_vendor(import->catalog, chip->vendor);
	const struct value *chips =
		vendor ? value_get(vendor->value, "chips") : NULL;

	if (buffer_text(out,
			"# The hardware that the cases name; with this line "
			"nodes with another chip are\n# not used",
			err) < 0)
		return -1;
	for (size_t i = 0; chips && i < value_count(chips); i++) {
		const struct value *item = value_at(chips, i);
		const struct value *aliases = value_get(item, "aliases");
		const struct value *name = value_get(item, "name");

		if (!aliases || strcmp(value_text(name), chip->name) != 0)
			continue;
		for (size_t k = 0; k < value_count(aliases); k++)
			if (buffer_printf(out, err, "%s%s",
					  k ? ", " : " (also known as ",
					  value_text(value_at(aliases, k))) < 0)
				return -1;
		if (value_count(aliases) && buffer_text(out, ")", err) < 0)
			return -1;
	}
	return buffer_printf(out, err, ".\n# chip: %s\n", chip->name);
}

/* "batch.micro" to ", batch: {micro: N}", behind the case's data. */
static int add_hints(struct buffer *out, const struct conf_hint *hints,
		     struct error *err)
{
	static const char *const tops[] = { "batch.", "parallel." };

	for (size_t t = 0; t < 2; t++) {
		size_t size = strlen(tops[t]), count = 0;

		for (size_t i = 0; i < CONF_HINTS; i++) {
			if (!hints[i].number ||
			    strncmp(hints[i].key, tops[t], size) != 0)
				continue;
			if ((count ? buffer_text(out, ", ", err)
				   : buffer_printf(out, err, ", %.*s: {",
						   (int)size - 1, tops[t])) <
				    0 ||
			    buffer_printf(out, err, "%s: %" PRIu64,
					  hints[i].key + size,
					  hints[i].number) < 0)
				return -1;
			count++;
		}
		if (count && buffer_text(out, "}", err) < 0)
			return -1;
	}
	return 0;
}

static int add_cases(const struct conf *conf, const char *indent,
		     struct buffer *out, struct error *err)
{
	if (buffer_printf(out, err, "%scases:\n", indent) < 0)
		return -1;
	for (size_t i = 0; i < conf->count; i++) {
		const struct conf_case *item = &conf->cases[i];
		bool any = false;

		for (size_t k = 0; k < CONF_HINTS; k++)
			any |= item->hints[k].number > 0;
		if (buffer_printf(out, err, "%s  ", indent) < 0 ||
		    add_quoted(out, item->name, err) < 0 ||
		    buffer_text(out, any ? ": {data: " : ": ", err) < 0 ||
		    add_quoted(out, item->text, err) < 0 ||
		    (any && (add_hints(out, item->hints, err) < 0 ||
			     buffer_text(out, "}", err) < 0)) ||
		    buffer_text(out, "\n", err) < 0)
			return -1;
	}
	return 0;
}

/* FLAGPERF_PATH is the suite's folder in the container; the tree is above it.
 */
static void paths_of(const struct import *import, const struct suite *suite,
		     const struct conf *conf, char path[PATH_MAX],
		     char log_path[PATH_MAX])
{
	const char *set = conf_text(conf, "FLAGPERF_PATH");
	const char *logs = conf_text(conf, "FLAGPERF_LOG_PATH");
	size_t size = strlen(set), name = strlen(suite->name);

	while (size > 1 && set[size - 1] == '/')
		size--;
	snprintf(path, PATH_MAX, "%s", import->root);
	if (*set == '/' && size > name + 1 && set[size - name - 1] == '/' &&
	    !strncmp(set + size - name, suite->name, name))
		snprintf(path, PATH_MAX, "%.*s", (int)(size - name - 1), set);
	if (*logs == '/')
		size = (size_t)snprintf(log_path, PATH_MAX, "%s", logs);
	else
		size = (size_t)snprintf(log_path, PATH_MAX, "%s/%s/%s", path,
					suite->name, logs);
	if (!*logs || size >= PATH_MAX)
		*log_path = 0;
	for (size = strlen(log_path); size > 1 && log_path[size - 1] == '/';)
		log_path[--size] = 0;
	/* Where they are anyway. */
	if (!strncmp(log_path, path, strlen(path)) &&
	    !strcmp(log_path + strlen(path), "/training/result"))
		*log_path = 0;
}

static size_t hosts_count(const struct conf *conf)
{
	int count = cJSON_GetArraySize(
		cJSON_GetObjectItemCaseSensitive(conf->values, "HOSTS"));

	return count > 0 ? (size_t)count : 1;
}

static int add_section(const struct suite *suite, const struct conf *conf,
		       struct buffer *out, struct error *err)
{
	const char *kind = conf_text(conf, "BENCHMARKS_OR_TOOLKITS");
	const char *processes = conf_text(conf, "NPROC_PER_NODE");

	if (suite->python)
		return add_cases(conf, "  ", out, err);
	/* Inference is for one node, and uses all its devices. */
	if (buffer_printf(out, err, "  %s:\n    nodes: %zu\n", suite->name,
			  !strcmp(suite->name, "inference")
				  ? (size_t)1
				  : hosts_count(conf)) < 0 ||
	    (*processes &&
	     buffer_printf(out, err, "    processes: %s\n", processes) < 0) ||
	    (!strcmp(suite->name, "base") &&
	     buffer_printf(out, err, "    kind: %s\n",
			   !strcmp(kind, "TOOLKIT") ? "toolkit" : "benchmark") <
		     0) ||
	    (*conf_text(conf, "MODE") &&
	     (buffer_text(out, "  ", err) < 0 ||
	      add_line(out, "mode", conf_text(conf, "MODE"), err) < 0 ||
	      buffer_text(out, "  ", err) < 0 ||
	      add_line(out, "warmup", conf_text(conf, "WARMUP"), err) < 0)))
		return -1;
	return add_cases(conf, "    ", out, err);
}

static int write_sweep(const struct import *import, const struct suite *suite,
		       const struct conf *conf, struct buffer *out,
		       struct error *err)
{
	const struct chip *chip = suite->python ? chip_of(import, conf) : NULL;
	const cJSON *ports =
		cJSON_GetObjectItemCaseSensitive(conf->values, "HOSTS_PORTS");
	const char *port = cJSON_GetStringValue(cJSON_GetArrayItem(ports, 0));
	char path[PATH_MAX], log_path[PATH_MAX];

	paths_of(import, suite, conf, path, log_path);
	if (buffer_printf(out, err,
			  "# From %s/%s, by regatta import flagperf.\n"
			  "sweep: flagperf-%s\nvendor: ",
			  import->root, suite->file, suite->name) < 0 ||
	    add_quoted(out, conf_text(conf, "VENDOR"), err) < 0 ||
	    buffer_text(out, "\n", err) < 0 ||
	    (chip && add_chip(import, chip, out, err) < 0) ||
	    (*conf_text(conf, "SHM_SIZE") &&
	     buffer_printf(out, err, "shm: %s\n", conf_text(conf, "SHM_SIZE")) <
		     0) ||
	    buffer_text(out, "flagperf:\n", err) < 0 ||
	    add_line(out, "tree", import->root, err) < 0 ||
	    (strcmp(path, import->root) != 0 &&
	     add_line(out, "path", path, err) < 0) ||
	    add_line(out, "options", conf_text(conf, "ACCE_CONTAINER_OPT"),
		     err) < 0 ||
	    add_line(out, "visible",
		     conf_text(conf, "ACCE_VISIBLE_DEVICE_ENV_NAME"),
		     err) < 0 ||
	    add_line(out, "pip_source", conf_text(conf, "PIP_SOURCE"), err) <
		    0 ||
	    add_line(out, "log_level", conf_text(conf, "FLAGPERF_LOG_LEVEL"),
		     err) < 0 ||
	    (port && strspn(port, " ") != strlen(port) &&
	     add_line(out, "hosts_ports", port, err) < 0))
		return -1;
	/* The section has the path of its own logs. */
	if (suite->python && add_line(out, "log_path", log_path, err) < 0)
		return -1;
	return add_section(suite, conf, out, err);
}

/* Reading. */

/* Cases that the sweep refuses, or whose files are missing, are told, and come
 * behind the others; *kept: how many those are.
 */
static int find_wrong(const struct import *import, const struct suite *suite,
		      struct conf *conf, const struct buffer *text,
		      size_t *kept, struct error *err)
{
	owned(buffer_clear) struct buffer lenient;
	owned(sweep_free) struct sweep *sweep = NULL;
	const struct flagperf *flagperf;

	buffer_init(&lenient, TEXT_MAX);
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
		/* What stands before is of the sweep, which nobody saw yet. */
		reason = reason ? reason : why.text;
		sentence = strstr(reason, item.name);
		sentence = sentence ? sentence + strlen(item.name) : reason;
		cli_say(import->cli, "%s:%u: %s%s%s", item.file, item.line,
			item.name, *sentence == ':' ? "" : ": ", sentence);
	}
	return 0;
}

/* Wrong cases are told and left out. */
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
			"%s: %zu of %zu cases cannot run, and are left out",
			suite->file, wrong, all);
	while (conf->count > kept) {
		struct conf_case *last = &conf->cases[--conf->count];

		free(last->name);
		free(last->text);
		free(last->file);
	}
	return 0;
}

static int add_hosts(struct import *import, const struct conf *conf,
		     struct error *err)
{
	const cJSON *host;

	cJSON_ArrayForEach(host, cJSON_GetObjectItemCaseSensitive(conf->values,
								  "HOSTS"))
	{
		size_t i = 0;

		if (!cJSON_IsString(host))
			continue;
		while (i < import->hosts.count &&
		       strcmp(import->hosts.items[i], host->valuestring) != 0)
			i++;
		if (i == import->hosts.count &&
		    strings_add(&import->hosts, host->valuestring, err) < 0)
			return -1;
	}
	return 0;
}

static int read_conf(const struct import *import, const struct suite *suite,
		     struct conf *conf, struct error *err)
{
	char path[PATH_MAX], cluster[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", import->tree, suite->file);
	if (access(path, F_OK) < 0)
		return error_errno(err, "%s", path);
	if (!suite->python)
		return conf_read_yaml(conf, path, err);
	snprintf(cluster, sizeof(cluster), "%s/%s", import->tree,
		 suite->cluster);
	return import_training(import->cli, import->root,
			       (const char *const[2]){ path, cluster }, conf,
			       err);
}

/* Write a file that is not there. */
static int write_new(struct import *import, const char *name,
		     const struct buffer *text, struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", import->folder, name);
	if (access(path, F_OK) == 0)
		return error_set(err, EINVAL,
				 "%s is there already: remove it, or name "
				 "another folder",
				 path);
	if (file_write(AT_FDCWD, path, text->data, text->size, 0644, 0, err) <
	    0)
		return -1;
	fprintf(import->cli->out, "%s\n", path);
	return 0;
}

/* Its configuration, without the cases that cannot run. ENOENT: the tree has no
 * such suite.
 */
static int read_suite(struct import *import, const struct suite *suite,
		      struct conf *conf, struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, TEXT_MAX);
	if (read_conf(import, suite, conf, err) < 0)
		return -1;
	if (!conf->count && !conf->wrong.count)
		return error_set(err, ENOENT, "%s: no cases", suite->file);
	cli_say(import->cli, "%s: %zu case%s; not carried over:", suite->file,
		conf->count, conf->count == 1 ? "" : "s");
	tell_names(import, conf);
	if (tell_options(import, conf, err) < 0)
		return -1;
	if (!*conf_text(conf, "VENDOR"))
		return error_set(err, EINVAL, "%s: no VENDOR that is a string",
				 suite->file);
	if (write_sweep(import, suite, conf, &text, err) < 0)
		return -1;
	return check_cases(import, suite, conf, &text, err);
}

/* A suite that cannot be read keeps none of the others. */
static int import_suite(struct import *import, const struct suite *suite,
			struct error *err)
{
	owned(conf_clear) struct conf conf;
	owned(buffer_clear) struct buffer text;
	struct error why = { 0 };
	char name[64];

	conf_init(&conf);
	buffer_init(&text, TEXT_MAX);
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
	if (write_sweep(import, suite, &conf, &text, err) < 0 ||
	    add_hosts(import, &conf, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "flagperf-%s.yaml", suite->name);
	if (write_new(import, name, &text, err) < 0)
		return -1;
	return strings_add(&import->sweeps, name, err);
}

/* The nodes, in FlagPerf's order. */
static int write_nodes(struct import *import, struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, TEXT_MAX);
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

/* What run.py did, and what to type now. */
static void tell_words(const struct import *import)
{
	/* clang-format off */
	static const char *const rows[][2] = {
		{ "check hosts, paths, cases", "regatta plan SWEEP" },
		{ "run one machine", "regatta run SWEEP" },
		{ "run a cluster, wait", "regatta submit SWEEP --wait" },
		{ "tail rank0.log.txt on a host", "regatta logs JOB -f --rank 0" },
		{ "which case runs where", "regatta jobs; regatta nodes" },
		{ "stop", "regatta cancel SWEEP-NUMBER" },
		{ "comment out what is done, run again", "regatta retry SWEEP-NUMBER" },
		{ "type a table from the logs", "regatta report SWEEP-NUMBER --style reference" },
		{ "result/run*/ on the first host", "regatta export flagperf SWEEP-NUMBER" },
		{ "<vendor>_monitor.log, sys_info.log", "regatta show job JOB; regatta show node NAME" },
	};
	/* clang-format on */
	const char *sweep = import->sweeps.items[0];

	cli_say(import->cli, "what run.py did, and what to type now "
			     "(regatta-flagperf(7) has more):");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *word = rows[i][1];
		const char *mark = strstr(word, " SWEEP");
		bool file = mark && strncmp(mark, " SWEEP-", 7) != 0;

		cli_say(import->cli, "  %-36s %.*s%s%s%s%s", rows[i][0],
			file ? (int)(mark - word) + 1 : (int)strlen(word), word,
			file ? import->folder : "", file ? "/" : "",
			file ? sweep : "", file ? mark + strlen(" SWEEP") : "");
	}
}

static int open_tree(struct import *import, struct error *err)
{
	struct error why = { 0 };
	char images[PATH_MAX];

	if (!realpath(import->tree, import->root))
		return error_errno(err, "%s", import->tree);
	if (settings_images(import->cli->environment, import->cli->options,
			    images, &why) < 0) {
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
			 "%s: no cases in %s, nor in a host.yaml of base, "
			 "operation or inference",
			 import->tree, suites[0].file);
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(import_clear) struct import import = { .cli = cli };

	if (strcmp(cli->args[0], "flagperf") != 0)
		return error_set(err, EINVAL,
				 "import: '%.60s' is not valid here; expected "
				 "flagperf",
				 cli->args[0]);
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
	tell_words(&import);
	return import.refused.count ||
			       (import.wrong && !cli->options->keep_going)
		       ? EXIT_WORK_FAILED
		       : EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(options, "keep-going", 0, OPTION_FLAG, keep_going, NULL),
	  .help = "exit 0 even if some cases cannot run" },
	OPTION_IMAGES,
	{ 0 },
};

const struct command command_import = {
	.name = "import",
	.args = "flagperf TREE [DIR]",
	.min_args = 2,
	.max_args = 3,
	.rules = rules,
	.summary = "make sweeps of a FlagPerf checkout's configuration",
	.help =
		"Reads test_conf.py, cluster_conf.py and each host.yaml "
		"without running them. Writes a sweep for each suite that has "
		"cases, and a list of the nodes. Cases that cannot run are "
		"listed and left out; the exit code is then 1. Says what it "
		"did not carry over, and which commands replace run.py. Needs "
		"no controller.",
	.example = "regatta import flagperf /home/FlagPerf",
	.fn = run_command,
};
/* clang-format on */
