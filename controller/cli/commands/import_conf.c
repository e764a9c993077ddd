/* import_conf.c - reads the configuration of a suite in a FlagPerf tree.
 */
#include "controller/cli/commands/import_conf.h"
#include "controller/report/writer.h"
#include "protocol/base/file.h"
#include "protocol/base/local_tool.h"
#include "protocol/base/utf8.h"
#include "protocol/message/json_get.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The tree, without links, and the catalog (or NULL). */
struct tree {
	const char *root;
	const struct catalog *catalog;
};

/* Characters that change the direction of text are written as \uXXXX, so that
 * the sweep reads as it is.
 */
static int visible_append(struct buffer *out, const char *text,
			  struct error *err)
{
	while (*text) {
		uint32_t code = 0;
		size_t size = utf8_character(text, strnlen(text, 4), &code);
		int rc = utf8_turns(code)
				 ? buffer_printf(out, err, "\\u%04x", code)
				 : buffer_append(out, text, size ? size : 1,
						 err);

		if (rc < 0)
			return -1;
		text += size ? size : 1;
	}
	return 0;
}

/* escape_fn: YAML accepts a text in the quotes of JSON. */
static int suite_quote(struct buffer *out, const char *text, struct error *err)
{
	owned(cJSON_Delete) cJSON *string = cJSON_CreateString(text);
	char *quoted = string ? cJSON_PrintUnformatted(string) : NULL;
	int rc = quoted ? visible_append(out, quoted, err)
			: error_nomem(err, "import");

	cJSON_free(quoted);
	return rc;
}

/* Letters, digits and dots are not quoted: a quoted number would be a text. */
static void suite_put_word(struct writer *to, const char *text)
{
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '.') {
			writer_text(to, text);
			return;
		}
	writer_raw(to, text);
}

static void suite_put_line(struct writer *to, const char *key, const char *text)
{
	if (!*text)
		return;
	writer_raw(to, key);
	writer_printf(to, ": %s\n", text);
}

/* A chip that all cases name by their hardware; NULL: there is none. */
static const struct chip *tree_find_chip(const struct tree *tree,
					 const struct conf *conf)
{
	const struct vendor *vendor =
		tree->catalog ? catalog_vendor(tree->catalog,
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
		found = catalog_chip(tree->catalog, vendor->name, at);
		if (!found || (chip && found != chip))
			return NULL;
		chip = found;
	}
	return chip;
}

/* The chip as a comment: the cases name configurations, which may serve other
 * chips as well, so the user sets the chip.
 */
static void put_chip(struct writer *to, const struct tree *tree,
		     const struct chip *chip)
{
	const struct vendor *vendor =
		catalog_vendor(tree->catalog, chip->vendor);
	const struct value *chips =
		vendor ? value_get(vendor->value, "chips") : NULL;

	writer_raw(to, "# The hardware that the cases name; with this line "
		       "nodes with another chip are\n# not used");
	for (size_t i = 0; chips && i < value_count(chips); i++) {
		const struct value *item = value_at(chips, i);
		const struct value *aliases = value_get(item, "aliases");
		const struct value *name = value_get(item, "name");

		if (!aliases || strcmp(value_text(name), chip->name) != 0)
			continue;
		for (size_t k = 0; k < value_count(aliases); k++) {
			writer_raw(to, k ? ", " : " (also known as ");
			writer_raw(to, value_text(value_at(aliases, k)));
		}
		writer_raw(to, value_count(aliases) ? ")" : "");
	}
	writer_raw(to, ".\n# chip: ");
	writer_raw(to, chip->name);
	writer_raw(to, "\n");
}

/* "batch.micro" to ", batch: {micro: N}", behind the case's data. */
static void put_hints(struct writer *to, const struct conf_hint *hints)
{
	static const char *const tops[] = { "batch.", "parallel." };

	for (size_t t = 0; t < 2; t++) {
		size_t size = strlen(tops[t]), count = 0;

		for (size_t i = 0; i < CONF_HINTS; i++) {
			if (!hints[i].number ||
			    strncmp(hints[i].key, tops[t], size) != 0)
				continue;
			writer_raw(to, count++ ? ", "
				       : t     ? ", parallel: {"
					       : ", batch: {");
			writer_raw(to, hints[i].key + size);
			writer_printf(to, ": %zu", (size_t)hints[i].number);
		}
		writer_raw(to, count ? "}" : "");
	}
}

static void put_cases(struct writer *to, const struct conf *conf,
		      const char *indent)
{
	writer_raw(to, indent);
	writer_raw(to, "cases:\n");
	for (size_t i = 0; i < conf->count; i++) {
		const struct conf_case *item = &conf->cases[i];
		bool any = false;

		for (size_t k = 0; k < CONF_HINTS; k++)
			any |= item->hints[k].number > 0;
		writer_raw(to, indent);
		writer_printf(to, "  %s: ", item->name);
		writer_raw(to, any ? "{data: " : "");
		writer_text(to, item->text);
		if (any)
			put_hints(to, item->hints);
		writer_raw(to, any ? "}\n" : "\n");
	}
}

/* FLAGPERF_PATH is the suite's folder in the container; the tree is above it.
 */
static void paths_of(const struct tree *tree, const struct suite *suite,
		     const struct conf *conf, char path[PATH_MAX],
		     char log_path[PATH_MAX])
{
	const char *set = conf_text(conf, "FLAGPERF_PATH");
	const char *logs = conf_text(conf, "FLAGPERF_LOG_PATH");
	size_t size = strlen(set), name = strlen(suite->name);

	while (size > 1 && set[size - 1] == '/')
		size--;
	snprintf(path, PATH_MAX, "%s", tree->root);
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
	int count = cJSON_GetArraySize(json_get(conf->values, "HOSTS"));

	return count > 0 ? (size_t)count : 1;
}

static void put_section(struct writer *to, const struct suite *suite,
			const struct conf *conf)
{
	const char *kind = conf_text(conf, "BENCHMARKS_OR_TOOLKITS");
	const char *processes = conf_text(conf, "NPROC_PER_NODE");

	if (suite->python) {
		put_cases(to, conf, "  ");
		return;
	}
	writer_raw(to, "  ");
	writer_raw(to, suite->name);
	/* Inference is for one node, and uses all its devices. */
	writer_printf(to, ":\n    nodes: %zu\n",
		      !strcmp(suite->name, "inference") ? (size_t)1
							: hosts_count(conf));
	if (*processes) {
		writer_raw(to, "    processes: ");
		suite_put_word(to, processes);
		writer_raw(to, "\n");
	}
	if (!strcmp(suite->name, "base"))
		writer_raw(to, !strcmp(kind, "TOOLKIT")
				       ? "    kind: toolkit\n"
				       : "    kind: benchmark\n");
	if (*conf_text(conf, "MODE")) {
		suite_put_line(to, "    mode", conf_text(conf, "MODE"));
		suite_put_line(to, "    warmup", conf_text(conf, "WARMUP"));
	}
	put_cases(to, conf, "    ");
}

/* From the configuration, what each key of `flagperf:` is. */
static const struct {
	const char *key, *name;
} settings[] = {
	{ "  options", "ACCE_CONTAINER_OPT" },
	{ "  visible", "ACCE_VISIBLE_DEVICE_ENV_NAME" },
	{ "  pip_source", "PIP_SOURCE" },
	{ "  log_level", "FLAGPERF_LOG_LEVEL" },
};

static void suite_put_head(struct writer *to, const struct tree *tree,
			   const struct suite *suite, const struct conf *conf)
{
	const struct chip *chip =
		suite->python ? tree_find_chip(tree, conf) : NULL;

	writer_raw(to, "# From ");
	writer_raw(to, tree->root);
	writer_raw(to, "/");
	writer_raw(to, suite->file);
	writer_raw(to, ", by regatta import flagperf.\nsweep: flagperf-");
	writer_raw(to, suite->name);
	writer_printf(to, "\nvendor: %s\n", conf_text(conf, "VENDOR"));
	if (chip)
		put_chip(to, tree, chip);
	if (*conf_text(conf, "SHM_SIZE")) {
		writer_raw(to, "shm: ");
		suite_put_word(to, conf_text(conf, "SHM_SIZE"));
		writer_raw(to, "\n");
	}
}

int import_sweep_write(const char *root, const struct catalog *catalog,
		       const struct suite *suite, const struct conf *conf,
		       struct buffer *out, struct error *err)
{
	const struct tree tree = { root, catalog };
	const cJSON *ports = json_get(conf->values, "HOSTS_PORTS");
	const char *port = cJSON_GetStringValue(cJSON_GetArrayItem(ports, 0));
	char path[PATH_MAX], log_path[PATH_MAX];
	struct writer to;

	paths_of(&tree, suite, conf, path, log_path);
	writer_init(&to, out, suite_quote);
	suite_put_head(&to, &tree, suite, conf);
	writer_raw(&to, "flagperf:\n");
	suite_put_line(&to, "  tree", root);
	suite_put_line(&to, "  path", strcmp(path, root) ? path : "");
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		suite_put_line(&to, settings[i].key,
			       conf_text(conf, settings[i].name));
	if (port && strspn(port, " ") != strlen(port))
		suite_put_line(&to, "  hosts_ports", port);
	/* The other suites find their own logs. */
	if (suite->python)
		suite_put_line(&to, "  log_path", log_path);
	put_section(&to, suite, conf);
	return writer_end(&to, err);
}

/* Set path to the file `name` of the tree. ENOENT: no such file. EINVAL: it is
 * no regular file, or outside of the tree.
 */
static int import_path(const char *root, const char *name, char path[PATH_MAX],
		       struct error *err)
{
	char real[PATH_MAX];
	size_t size = strlen(root);
	struct stat st;

	if (file_path(path, err, "%s/%s", root, name) < 0)
		return -1;
	if (!realpath(path, real) || stat(real, &st) < 0)
		return error_errno(err, "%s", path);
	if (strncmp(real, root, size) != 0 || real[size] != '/')
		return error_set(err, EINVAL,
				 "%s is a link to %s, outside the tree; put a "
				 "copy in its place",
				 path, real);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file", path);
	return 0;
}

struct python_files *python_read(const struct strings *paths, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(PYTHON_OUTPUT_MAX);
	struct error why;

	if (python_files_command(paths, &argv, err) < 0)
		return NULL;
	if (local_tool_run(&argv, NULL, PYTHON_TIMEOUT_MS, &text, &why) == 0)
		return python_files_decode(text.data, text.size, paths, err);
	if (why.code == ENOENT)
		error_set(err, EPROTO,
			  "%s: python3 is needed to read this file, but is not "
			  "installed; install the package python3",
			  paths->items[0]);
	else
		error_set(err, why.code == EIO ? EPROTO : why.code, "%s: %s",
			  paths->items[0], why.text);
	return NULL;
}

/* Set path to training/VENDOR/MODEL-FRAMEWORK/config/config_HARDWARExNxP.py,
 * the configuration of a case. -1: there is none.
 */
static int case_path(const char *root, const struct conf *conf,
		     const char *name, char path[PATH_MAX])
{
	char copy[256], *rest = copy, *parts[5], file[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", name);
	for (int i = 0; i < 5; i++)
		parts[i] = rest ? strsep(&rest, ":") : NULL;
	if (!parts[4])
		return -1;
	parts[1][strcspn(parts[1], "_")] = 0;
	if (snprintf(file, sizeof(file),
		     "training/%s/%s-%s/config/config_%sx%sx%s.py",
		     conf_text(conf, "VENDOR"), parts[0], parts[1], parts[2],
		     parts[3], parts[4]) >= (int)sizeof(file))
		return -1;
	return import_path(root, file, path, NULL);
}

/* Read the hints of some cases, from *next on; *next moves behind them. */
static int read_hints(const char *root, struct conf *conf, size_t *next,
		      struct error *err)
{
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *files = NULL;
	struct conf_case *of[PYTHON_FILES_MAX] = { NULL };
	char path[PATH_MAX];

	for (; *next < conf->count && paths.count < PYTHON_FILES_MAX; ++*next) {
		if (case_path(root, conf, conf->cases[*next].name, path) < 0)
			continue;
		of[paths.count] = &conf->cases[*next];
		if (strings_add(&paths, path, err) < 0)
			return -1;
	}
	if (!paths.count)
		return 0;
	files = python_read(&paths, err);
	for (size_t i = 0; files && i < paths.count; i++)
		conf_hints(files, i, of[i]->hints);
	return files ? 0 : -1;
}

static int read_training(struct cli *cli, const char *root,
			 const struct suite *suite, struct conf *conf,
			 struct error *err)
{
	char path[PATH_MAX], cluster[PATH_MAX];
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *files = NULL;
	struct error why;

	if (import_path(root, suite->file, path, err) < 0 ||
	    strings_add(&paths, path, err) < 0)
		return -1;
	/* FlagPerf's own repository has no cluster_conf.py. */
	if (import_path(root, suite->cluster, cluster, &why) == 0) {
		if (strings_add(&paths, cluster, err) < 0)
			return -1;
	} else if (why.code != ENOENT) {
		return error_set(err, why.code, "%s", why.text);
	}
	files = python_read(&paths, err);
	if (!files || conf_read_python(conf, files, 0, err) < 0 ||
	    (paths.count > 1 && conf_read_python(conf, files, 1, err) < 0))
		return -1;
	for (size_t next = 0; next < conf->count;) {
		if (read_hints(root, conf, &next, &why) == 0)
			continue;
		cli_say(cli,
			"  the configurations of the cases were not "
			"read: %s",
			why.text);
		break;
	}
	return 0;
}

int import_conf_read(struct cli *cli, const char *root,
		     const struct suite *suite, struct conf *conf,
		     struct error *err)
{
	char path[PATH_MAX];

	if (suite->python)
		return read_training(cli, root, suite, conf, err);
	return import_path(root, suite->file, path, err) < 0
		       ? -1
		       : conf_read_yaml(conf, path, err);
}
