/* import_sweep.c - a suite of a FlagPerf tree as the text of a sweep.
 */
#include "controller/cli/commands/import_sweep.h"
#include "protocol/base/utf8.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Where it is, without links, and what is known to Regatta. */
struct tree {
	const char *root;
	const struct catalog *catalog;
};

/* A sweep reads as it is: what turns text is written as \uXXXX. */
static int add_visible(struct buffer *out, const char *text, struct error *err)
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

/* Texts of YAML, quoted as JSON is. */
static int add_quoted(struct buffer *out, const char *text, struct error *err)
{
	cJSON *string = cJSON_CreateString(text);
	char *quoted = string ? cJSON_PrintUnformatted(string) : NULL;
	int rc = quoted ? add_visible(out, quoted, err)
			: error_nomem(err, "import");

	cJSON_free(quoted);
	cJSON_Delete(string);
	return rc;
}

/* Of letters and digits as it is: quoted, a number is a text. */
static int add_word(struct buffer *out, const char *text, struct error *err)
{
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '.')
			return add_quoted(out, text, err);
	return buffer_text(out, text, err);
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

/* A chip that all cases name by their hardware; NULL: there is none. */
static const struct chip *chip_of(const struct tree *tree,
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

/* The cases name configurations, which may serve other chips as well: whoever
 * knows the nodes sets the chip.
 */
static int add_chip(const struct tree *tree, const struct chip *chip,
		    struct buffer *out, struct error *err)
{
	const struct vendor *vendor =
		catalog_vendor(tree->catalog, chip->vendor);
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
	    (*processes && (buffer_text(out, "    processes: ", err) < 0 ||
			    add_word(out, processes, err) < 0 ||
			    buffer_text(out, "\n", err) < 0)) ||
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

int import_sweep_write(const char *root, const struct catalog *catalog,
		       const struct suite *suite, const struct conf *conf,
		       struct buffer *out, struct error *err)
{
	const struct tree of = { root, catalog }, *tree = &of;
	const struct chip *chip = suite->python ? chip_of(tree, conf) : NULL;
	const cJSON *ports =
		cJSON_GetObjectItemCaseSensitive(conf->values, "HOSTS_PORTS");
	const char *port = cJSON_GetStringValue(cJSON_GetArrayItem(ports, 0));
	char path[PATH_MAX], log_path[PATH_MAX];

	paths_of(tree, suite, conf, path, log_path);
	if (buffer_printf(out, err,
			  "# From %s/%s, by regatta import flagperf.\n"
			  "sweep: flagperf-%s\nvendor: ",
			  tree->root, suite->file, suite->name) < 0 ||
	    add_quoted(out, conf_text(conf, "VENDOR"), err) < 0 ||
	    buffer_text(out, "\n", err) < 0 ||
	    (chip && add_chip(tree, chip, out, err) < 0) ||
	    (*conf_text(conf, "SHM_SIZE") &&
	     (buffer_text(out, "shm: ", err) < 0 ||
	      add_word(out, conf_text(conf, "SHM_SIZE"), err) < 0 ||
	      buffer_text(out, "\n", err) < 0)) ||
	    buffer_text(out, "flagperf:\n", err) < 0 ||
	    add_line(out, "tree", tree->root, err) < 0 ||
	    (strcmp(path, tree->root) != 0 &&
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
