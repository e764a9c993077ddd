/* flagperf.c - converts the block `flagperf:` of a sweep to cells. */
#include "controller/sweep/flagperf/flagperf.h"

#include "controller/cell/keys.h"
#include "controller/sweep/flagperf/case.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct flagperf {
	struct flagperf_site site;
	const struct value *book; /* images/flagperf.yaml */
	bool keep_going;
	struct flagperf_case items[FLAGPERF_CASES_MAX];
	size_t count;
	struct document *document; /* of the cells, a list */
};

void flagperf_free(struct flagperf *flagperf)
{
	if (!flagperf)
		return;
	for (size_t i = 0; i < flagperf->count; i++) {
		free(flagperf->items[i].reason);
		free(flagperf->items[i].docker);
		strings_clear(&flagperf->items[i].needs);
	}
	document_free(flagperf->document);
	free(flagperf);
}

const struct value *flagperf_cell(const struct flagperf *flagperf, size_t index)
{
	return value_at(document_root(flagperf->document), index);
}

const char *flagperf_reason(const struct flagperf *flagperf, size_t index)
{
	return flagperf->items[index].reason;
}

const char *flagperf_case(const struct flagperf *flagperf, size_t index)
{
	return value_key(flagperf->items[index].map,
			 flagperf->items[index].index);
}

const char *flagperf_docker(const struct flagperf *flagperf, const char *name)
{
	for (size_t i = 0; i < flagperf->count; i++)
		if (flagperf->items[i].docker &&
		    !strcmp(flagperf_case(flagperf, i), name))
			return flagperf->items[i].docker;
	return NULL;
}

const char *flagperf_tree(const struct flagperf *flagperf)
{
	return flagperf->site.tree;
}

static int flagperf_nomem(const struct flagperf *flagperf, struct error *err)
{
	return error_nomem(err, value_file(flagperf->site.root));
}

/* 1: the case is in `without`, with the reason. */
static int left_out(const struct flagperf *flagperf, struct flagperf_case *item,
		    struct error *err)
{
	const struct value *why =
		value_get(value_get(flagperf->site.block, "without"),
			  value_key(item->map, item->index));

	if (!why)
		return 0;
	item->reason =
		strdup(*value_text(why) ? value_text(why) : "without it");
	return item->reason ? 1 : flagperf_nomem(flagperf, err);
}

static int flagperf_add_case(struct flagperf *flagperf,
			     const struct flagperf_section *section,
			     size_t index, cJSON *cells, struct error *err)
{
	struct flagperf_case *item = &flagperf->items[flagperf->count];
	cJSON *cell = cJSON_CreateObject();
	struct error why = { 0 };
	int rc;

	if (!cJSON_AddItemToArray(cells, cell))
		return flagperf_nomem(flagperf, err);
	flagperf->count++;
	*item = (struct flagperf_case){ .map = section->cases, .index = index };
	rc = left_out(flagperf, item, err);
	if (rc == 0)
		rc = case_fill(&flagperf->site, section, item, cell, &why);
	if (rc < 0 && flagperf->keep_going && why.code == EINVAL) {
		item->reason = strdup(why.text);
		rc = item->reason ? 1 : flagperf_nomem(flagperf, err);
	} else if (rc < 0 && why.code && err) {
		*err = why;
	}
	if (rc <= 0)
		return rc;
	/* A cell that is left out only has its name. */
	while (cell->child)
		cJSON_Delete(cJSON_DetachItemViaPointer(cell, cell->child));
	return cJSON_AddStringToObject(cell, "case",
				       value_key(section->cases, index))
		       ? 0
		       : flagperf_nomem(flagperf, err);
}

static const char *const launcher_words[] = { "direct", "tree", NULL };

static int check_launcher(const struct value *map, struct error *err)
{
	const struct value *word = value_get(map, "launcher");
	size_t index;

	return word ? value_enum(word, launcher_words, &index, err) : 0;
}

/* A suite must have a launcher for its kind, or one with the suite's name. */
static int check_section(const struct flagperf_section *section,
			 struct error *err)
{
	static const char *const keys[] = {
		"kind",     "nodes",     "processes",  "mode",    "warmup",
		"log_path", "log_level", "pip_source", "options", "visible",
		"launcher", "cases",     NULL,
	};
	const struct value *launchers = value_get(section->book, "launchers");
	const struct value *kind = value_get(section->map, "kind");
	char words[120] = "";

	if (value_check_keys(section->map, keys, err) < 0 ||
	    check_launcher(section->map, err) < 0)
		return -1;
	if (value_get(launchers, kind ? value_text(kind) : section->name))
		return 0;
	for (size_t i = 0; i < value_count(launchers); i++) {
		size_t used = strlen(words);

		snprintf(words + used, sizeof(words) - used, "%s%s",
			 i ? ", " : "", value_key(launchers, i));
	}
	if (!kind)
		return value_error(section->map, err,
				   "missing \"kind\" (expected %s)", words);
	return value_invalid(kind, err, "%s", words);
}

static int add_section(struct flagperf *flagperf, const char *name,
		       cJSON *cells, struct error *err)
{
	bool top = !strcmp(name, "training");
	struct flagperf_section section = {
		.name = name,
		.book = value_get(value_get(flagperf->book, "suites"), name),
		.map = top ? flagperf->site.block
			   : value_get(flagperf->site.block, name),
	};

	if (!section.map)
		return 0;
	section.cases = value_get(section.map, "cases");
	if (!top && check_section(&section, err) < 0)
		return -1;
	if (!section.cases || value_kind(section.cases) == VALUE_NULL)
		return 0;
	if (value_expect(section.cases, VALUE_MAP, err) < 0)
		return -1;
	if (flagperf->count + value_count(section.cases) > FLAGPERF_CASES_MAX)
		return value_error(section.cases, err,
				   "%zu cases; expected at most %d",
				   value_count(section.cases),
				   FLAGPERF_CASES_MAX);
	for (size_t i = 0; i < value_count(section.cases); i++)
		if (value_kind(value_at(section.cases, i)) == VALUE_LIST)
			return value_expect(value_at(section.cases, i),
					    VALUE_SCALAR, err);
	for (size_t i = 0; i < value_count(section.cases); i++)
		if (flagperf_add_case(flagperf, &section, i, cells, err) < 0)
			return -1;
	return 0;
}

/* The checkout: a path on the nodes, or the sweep's workspace. */
static int find_tree(struct flagperf *flagperf, struct error *err)
{
	const struct value *tree = value_get(flagperf->site.block, "tree");
	const struct value *path = value_get(flagperf->site.block, "path");
	const struct value *workspace =
		value_get(flagperf->site.root, "workspace");
	const struct value *container = value_get(workspace, "container");

	if (!tree && !workspace)
		return value_error(flagperf->site.block, err,
				   "missing \"tree\" (expected the path of the "
				   "FlagPerf checkout on the nodes, or a "
				   "workspace that contains it)");
	flagperf->site.tree = tree ? value_text(tree) : "";
	flagperf->site.inside =
		path        ? value_text(path)
		: tree      ? value_text(tree)
		: container ? value_text(container)
			    : key_rules[KEY_WORKSPACE_CONTAINER].fallback;
	return 0;
}

/* The keys of the block: its own, and the names of the other suites. */
static int check_keys(const struct flagperf *flagperf, struct error *err)
{
	static const char *const own[] = {
		"tree",       "path",     "vendor",     "options",
		"visible",    "cases",    "keep_going", "without",
		"pip_source", "log_path", "log_level",  "hosts_ports",
		"launcher",
	};
	const struct value *suites = value_get(flagperf->book, "suites");
	size_t count = sizeof(own) / sizeof(own[0]);
	owned_free const char **keys =
		calloc(count + value_count(suites) + 1, sizeof(char *));

	if (!keys)
		return flagperf_nomem(flagperf, err);
	memcpy(keys, own, sizeof(own));
	for (size_t i = 0; i < value_count(suites); i++)
		if (strcmp(value_key(suites, i), "training") != 0)
			keys[count++] = value_key(suites, i);
	return value_check_keys(flagperf->site.block, keys, err);
}

static int read_block(struct flagperf *flagperf, struct error *err)
{
	static const char *const paths[] = { "tree", "path", "log_path", NULL };
	const struct value *block = flagperf->site.block, *value;
	const char *text;

	if (check_keys(flagperf, err) < 0)
		return -1;
	for (size_t i = 0; paths[i]; i++) {
		value = value_get(block, paths[i]);
		if (value && value_string(value, 4000, &text, err) < 0)
			return -1;
		if (value && *text != '/')
			return value_invalid(value, err, "an absolute path");
	}
	if (find_tree(flagperf, err) < 0 || check_launcher(block, err) < 0)
		return -1;
	value = value_get(block, "keep_going");
	return value ? value_bool(value, &flagperf->keep_going, err) : 0;
}

static int write_cells(struct flagperf *flagperf, cJSON *cells,
		       struct error *err)
{
	static const struct document_limits limits = {
		.bytes = (size_t)256 << 20,
		.values = 8000000,
	};
	const struct value *suites = value_get(flagperf->book, "suites");
	owned_free char *text = NULL;
	char name[PATH_MAX];

	for (size_t i = 0; i < value_count(suites); i++)
		if (add_section(flagperf, value_key(suites, i), cells, err) < 0)
			return -1;
	if (!flagperf->count)
		return value_error(flagperf->site.block, err,
				   "no cases in \"cases\" or in another suite");
	text = cJSON_PrintUnformatted(cells);
	if (!text)
		return flagperf_nomem(flagperf, err);
	snprintf(name, sizeof(name), "%s: flagperf cells",
		 value_file(flagperf->site.root));
	flagperf->document =
		document_parse(text, strlen(text), name, &limits, err);
	return flagperf->document ? 0 : -1;
}

struct flagperf *flagperf_new(const struct value *root,
			      const struct catalog *catalog, struct error *err)
{
	owned(flagperf_free) struct flagperf *flagperf =
		calloc(1, sizeof(*flagperf));
	owned(cJSON_Delete) cJSON *cells = cJSON_CreateArray();
	int rc = -1;

	if (!flagperf || !cells)
		return error_null(error_nomem(err, value_file(root)));
	flagperf->site.root = root;
	flagperf->site.catalog = catalog;
	flagperf->site.block = value_get(root, "flagperf");
	flagperf->book = catalog_flagperf(catalog);
	if (!flagperf->book)
		value_error(flagperf->site.block, err,
			    "the images folder has no flagperf.yaml");
	else if (read_block(flagperf, err) == 0)
		rc = write_cells(flagperf, cells, err);
	return rc < 0 ? NULL : take(flagperf);
}

int flagperf_check(const struct flagperf *flagperf, size_t index,
		   const char *folder, struct error *err)
{
	const struct flagperf_case *item = &flagperf->items[index];

	for (size_t i = 0; i < item->needs.count; i++) {
		const char *need = item->needs.items[i];
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, need);
		if (access(path, F_OK) == 0)
			continue;
		value_key_error(item->map, item->index, err, "no %s in %s",
				need, folder);
		if (err)
			err->code = ENOENT;
		return -1;
	}
	return 0;
}
