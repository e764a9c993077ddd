/* case.c - converts a case of a FlagPerf tree to the keys of a cell. */
#include "controller/sweep/flagperf/case.h"

#include "controller/sweep/flagperf/options.h"
#include "controller/sweep/flagperf/template.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/value.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define CASE_BYTES 256
#define PARTS_MAX 16
#define NODES_MAX 4096
#define PROCESSES_MAX 1024
#define REPEATS_MAX 1000
#define SHM_DEFAULT "32G" /* as the tree is shipped */
#define DOCKER_BYTES 65536

/* The parts of a case. */

struct parts {
	char text[CASE_BYTES];
	const char *items[PARTS_MAX];
	size_t count;
};

static int case_split(const struct flagperf_case *item, struct parts *parts,
		      struct error *err)
{
	const char *text = value_key(item->map, item->index);
	char *rest = parts->text;

	if (strlen(text) >= sizeof(parts->text))
		return value_key_error(item->map, item->index, err,
				       "a case of %zu bytes; expected at most "
				       "%zu",
				       strlen(text), sizeof(parts->text) - 1);
	snprintf(parts->text, sizeof(parts->text), "%s", text);
	while (rest && parts->count < PARTS_MAX) {
		const char *part = strsep(&rest, ":");

		/* The parts become names of folders and files. */
		if (strchr(part, '/') || !strcmp(part, ".."))
			return value_key_error(item->map, item->index, err,
					       "the part \"%.60s\" is not "
					       "valid here; expected parts "
					       "without \"/\"",
					       part);
		parts->items[parts->count++] = part;
	}
	return 0;
}

/* The longest list of fields that the case has parts for; NULL: none. */
static const struct value *fields_of(const struct flagperf_section *section,
				     size_t count)
{
	const struct value *lists = value_get(section->book, "fields");
	const struct value *best = NULL;

	for (size_t i = 0; i < value_count(lists); i++)
		if (value_count(value_at(lists, i)) <= count &&
		    (!best ||
		     value_count(value_at(lists, i)) > value_count(best)))
			best = value_at(lists, i);
	return best;
}

/* "model:framework:hardware": what a case should look like. */
static void case_describe_form(const struct flagperf_section *section,
			       char *text, size_t size)
{
	const struct value *fields =
		value_at(value_get(section->book, "fields"), 0);

	*text = 0;
	for (size_t i = 0; i < value_count(fields); i++) {
		size_t used = strlen(text);

		snprintf(text + used, size - used, "%s%s", i ? ":" : "",
			 value_text(value_at(fields, i)));
	}
}

static int set_fields(const struct flagperf_section *section,
		      const struct flagperf_case *item,
		      const struct parts *parts, struct names *names,
		      struct error *err)
{
	const struct value *fields = fields_of(section, parts->count);
	char allowed[120];

	if (!fields) {
		case_describe_form(section, allowed, sizeof(allowed));
		return value_key_error(item->map, item->index, err,
				       "a case of %zu field%s; expected \"%s\"",
				       parts->count,
				       parts->count == 1 ? "" : "s", allowed);
	}
	for (size_t i = 0; i < value_count(fields); i++) {
		const char *field = value_text(value_at(fields, i));

		if (!*parts->items[i])
			return value_key_error(item->map, item->index, err,
					       "an empty %s", field);
		if (names_set(names, field, parts->items[i], err) < 0)
			return -1;
	}
	return 0;
}

/* A number of the case, 1 to max. */
static int case_read_number(const struct flagperf_case *item,
			    const struct names *names, const char *field,
			    uint32_t max, uint32_t *number, struct error *err)
{
	const char *text = names_plain(names, field);
	size_t digits = strspn(text, "0123456789");
	unsigned long found = 0;

	if (digits && digits < 10 && !text[digits])
		found = strtoul(text, NULL, 10);
	if (!found || found > max)
		return value_key_error(item->map, item->index, err,
				       "%s \"%.40s\" is not valid here; "
				       "expected 1 to %u",
				       field, text, max);
	*number = (uint32_t)found;
	return 0;
}

/* The path of the case's data, or its environment: its value, or "data" in its
 * map. NULL: none.
 */
static const struct value *data_of(const struct flagperf_case *item)
{
	const struct value *value = value_at(item->map, item->index);

	return value_kind(value) == VALUE_MAP ? value_get(value, "data")
					      : value;
}

/* Names. */

/* Set a name to the text of the section or the block, or to the fallback. */
static int case_set_text(const struct flagperf_site *site,
			 const struct flagperf_section *section,
			 const char *name, const char *fallback,
			 struct names *names, struct error *err)
{
	const struct value *value = value_get(section->map, name);
	const char *text = fallback;

	if (!value)
		value = value_get(site->block, name);
	if (value && value_kind(value) != VALUE_NULL &&
	    value_string(value, 4096, &text, err) < 0)
		return -1;
	return names_set(names, name, text, err);
}

/* A hardware field may begin with parallel degrees: TP2PP1SH1SP4A10040G. */
static int set_parallel(struct names *names, struct error *err)
{
	static const struct {
		const char *letters, *name;
	} degrees[] = {
		{ "TP", "parallel_tp" },
		{ "PP", "parallel_pp" },
		{ "SH", "parallel_sh" },
		{ "SP", "parallel_sp" },
	};
	char found[4][8] = { "" };
	const char *at = names_plain(names, "hardware");

	for (size_t i = 0; at && i < 4; i++) {
		size_t digits = strncmp(at, degrees[i].letters, 2) != 0
					? 0
					: strspn(at + 2, "0123456789");

		if (!digits || digits >= sizeof(found[i])) {
			at = NULL;
			break;
		}
		snprintf(found[i], sizeof(found[i]), "%.*s", (int)digits,
			 at + 2);
		at += 2 + digits;
	}
	for (size_t i = 0; i < 4; i++)
		if (names_set(names, degrees[i].name, at ? found[i] : "", err) <
		    0)
			return -1;
	return 0;
}

/* "0,1,2" */
static int set_devices(struct names *names, uint32_t count, struct error *err)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(16384);

	for (uint32_t i = 0; i < count; i++)
		if (buffer_printf(&out, err, "%s%u", i ? "," : "", i) < 0)
			return -1;
	return names_set(names, "devices", out.data, err);
}

/* The numbers of nodes and processes, of the case or the section. */
static int set_counts(const struct flagperf_section *section,
		      const struct flagperf_case *item, struct names *names,
		      struct error *err)
{
	const struct value *nodes = value_get(section->map, "nodes");
	const struct value *processes = value_get(section->map, "processes");
	uint32_t nnodes = 1, nproc = 1, repeat;

	if (names_has(names, "nnodes")) {
		if (case_read_number(item, names, "nnodes", NODES_MAX, &nnodes,
				     err) < 0 ||
		    case_read_number(item, names, "nproc", PROCESSES_MAX,
				     &nproc, err) < 0 ||
		    case_read_number(item, names, "repeat", REPEATS_MAX,
				     &repeat, err) < 0)
			return -1;
	} else {
		if ((nodes &&
		     value_u32(nodes, 1, NODES_MAX, &nnodes, err) < 0) ||
		    (processes &&
		     value_u32(processes, 1, PROCESSES_MAX, &nproc, err) < 0))
			return -1;
	}
	if (names_number(names, "nnodes", nnodes, err) < 0 ||
	    names_number(names, "nproc", nproc, err) < 0 ||
	    names_number(names, "world", (uint64_t)nnodes * nproc, err) < 0)
		return -1;
	return set_devices(names, nproc, err);
}

/* The launcher of a training is its framework without version: megatron of
 * megatron_core060. That of the other suites is their kind.
 */
static int set_launcher(const struct flagperf_section *section,
			struct names *names, struct error *err)
{
	bool training = !strcmp(section->name, "training");
	const char *name = names_plain(names, training ? "framework" : "kind");
	char word[CASE_BYTES];

	snprintf(word, sizeof(word), "%s", name);
	if (training)
		word[strcspn(word, "_")] = 0;
	return names_set(names, "launcher", *word ? word : section->name, err);
}

static int set_names(const struct flagperf_site *site,
		     const struct flagperf_section *section,
		     const struct flagperf_case *item, struct names *names,
		     struct error *err)
{
	/* Keys of the section or the block, with their defaults. */
	static const char *const texts[][2] = {
		{ "pip_source", "" }, { "log_level", "debug" },
		{ "visible", "" },    { "hosts_ports", "" },
		{ "kind", "" },       { "processes", "" },
		{ "mode", "" },       { "warmup", "" },
		{ "options", "" },
	};
	const struct value *names_book = value_get(section->book, "names");
	const struct value *value = data_of(item);
	const struct value *vendor = value_get(site->block, "vendor");
	const struct value *log_path = value_get(section->map, "log_path");
	const struct value *shm = value_get(site->root, "shm");
	struct parts parts = { .count = 0 };

	if (!vendor)
		vendor = value_get(site->root, "vendor");
	if (case_split(item, &parts, err) < 0 ||
	    names_set(names, "case", value_key(item->map, item->index), err) <
		    0 ||
	    names_set(names, "value", value ? value_text(value) : "", err) <
		    0 ||
	    names_set(names, "vendor", vendor ? value_text(vendor) : "cpu",
		      err) < 0 ||
	    names_set(names, "host", site->tree, err) < 0 ||
	    names_set(names, "shm", shm ? value_text(shm) : SHM_DEFAULT, err) <
		    0 ||
	    names_set(names, "tree", site->inside, err) < 0 ||
	    (log_path &&
	     names_set(names, "log_path", value_text(log_path), err) < 0))
		return -1;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (case_set_text(site, section, texts[i][0], texts[i][1],
				  names, err) < 0)
			return -1;
	if (set_fields(section, item, &parts, names, err) < 0 ||
	    set_counts(section, item, names, err) < 0 ||
	    set_launcher(section, names, err) < 0 ||
	    set_parallel(names, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(names_book); i++)
		if (names_make(names, value_key(names_book, i),
			       value_at(names_book, i), err) < 0)
			return -1;
	return 0;
}

/* Cells. */

/* Lists to which those of the sweep's top level are added. */
static const char *const joined[] = {
	"mounts",   "device_nodes", "groups", "capabilities",
	"security", "follow",       "needs",  NULL,
};
/* Keys that only the case sets. */
static const char *const own[] = {
	"case",   "vendor",  "framework", "model",   "nodes",     "devices",
	"repeat", "command", "prepare",   "workdir", "processes", NULL,
};

static bool case_word_listed(const char *word, const char *const *list)
{
	while (*list && strcmp(*list, word) != 0)
		list++;
	return *list;
}

/* Keep the first mount at each path, and only those of absolute host paths. */
static void tidy_mounts(cJSON *mounts)
{
	cJSON *mount = mounts ? mounts->child : NULL;

	while (mount) {
		cJSON *next = mount->next, *before = mounts->child;
		const char *host = json_get_text(mount, "host");
		char *inside =
			cJSON_GetStringValue(json_get(mount, "container"));
		bool good = host && *host == '/' && inside;

		while (good && strlen(inside) > 1 &&
		       inside[strlen(inside) - 1] == '/')
			inside[strlen(inside) - 1] = 0;
		for (; good && before != mount; before = before->next)
			good = strcmp(json_get(before, "container")
					      ->valuestring,
				      inside) != 0;
		if (!good)
			cJSON_Delete(cJSON_DetachItemViaPointer(mounts, mount));
		mount = next;
	}
}

/* Mount a folder for logs that is not below the tree. */
static int mount_logs(const struct names *names, cJSON *cell, struct error *err)
{
	const char *logs = names_plain(names, "log_path");
	const char *tree = names_plain(names, "tree");
	size_t size = strlen(tree);

	if (!*logs || (!strncmp(logs, tree, size) && logs[size] == '/'))
		return 0;
	return docker_mount(cell, logs, logs, false, err);
}

/* Keys of the sweep's top level take precedence over those of the cell. */
static int yield_to_top(const struct flagperf_site *site, cJSON *cell,
			struct error *err)
{
	for (size_t i = 0; i < value_count(site->root); i++) {
		const char *key = value_key(site->root, i);
		const struct value *top = value_at(site->root, i);
		cJSON *have = json_get(cell, key);

		if (!have || case_word_listed(key, own))
			continue;
		if (case_word_listed(key, joined)) {
			for (size_t k = 0; k < value_count(top); k++)
				if (json_append(have,
						value_to_json(value_at(top, k)),
						err) < 0)
					return -1;
		} else if (cJSON_IsObject(have)) {
			for (size_t k = 0; k < value_count(top); k++)
				cJSON_DeleteItemFromObjectCaseSensitive(
					have, value_key(top, k));
		} else {
			cJSON_DeleteItemFromObjectCaseSensitive(cell, key);
		}
	}
	return 0;
}

/* Move the values of a map to another one. */
static int case_merge_map(cJSON *to, cJSON *from, struct error *err)
{
	while (from->child) {
		cJSON *item = cJSON_DetachItemViaPointer(from, from->child);

		if (json_put(to, item->string, item, err) < 0)
			return -1;
	}
	return 0;
}

/* Add the keys of the case's map, except "data". */
static int add_more(const struct flagperf_case *item, cJSON *cell,
		    struct error *err)
{
	const struct value *map = value_at(item->map, item->index);

	for (size_t i = 0; value_kind(map) == VALUE_MAP && i < value_count(map);
	     i++) {
		const char *key = value_key(map, i);
		cJSON *have = json_get(cell, key);
		owned(cJSON_Delete) cJSON *more = NULL;

		if (!strcmp(key, "data"))
			continue;
		if (case_word_listed(key, own))
			return value_key_error(map, i, err,
					       "the case sets this key itself");
		more = value_to_json(value_at(map, i));
		if ((cJSON_IsObject(have) && cJSON_IsObject(more)
			     ? case_merge_map(have, more, err)
			     : json_put(cell, key, take(more), err)) < 0)
			return -1;
	}
	return 0;
}

/* Add the docker options of the section, or else of the block. */
static int case_add_options(const struct flagperf_site *site,
			    const struct flagperf_section *section, cJSON *cell,
			    struct error *err)
{
	const struct value *options = value_get(section->map, "options");
	struct error why = { 0 };

	if (!options)
		options = value_get(site->block, "options");
	if (!options ||
	    docker_options(value_text(options), cell, NULL, NULL, &why) == 0)
		return 0;
	if (why.code == ENOMEM)
		return error_nomem(err, value_file(options));
	return value_error(options, err, "%s", why.text);
}

/* Add the files that the case needs: to item->needs relative to the tree, and
 * to the cell as paths on the nodes.
 */
static int add_needs(const struct value *list, const struct names *names,
		     struct flagperf_case *item, cJSON *cell, struct error *err)
{
	const char *tree = names_plain(names, "tree");
	const char *host = names_plain(names, "host");
	cJSON *needs = json_get(cell, "needs");
	owned(cJSON_Delete) cJSON *made = cJSON_CreateArray();
	const cJSON *need;

	if (!needs)
		needs = cJSON_AddArrayToObject(cell, "needs");
	if (!made || !needs)
		return error_nomem(err, "flagperf");
	if (template_list(list, names, made, err) < 0)
		return -1;
	cJSON_ArrayForEach(need, made) {
		const char *below = need->valuestring + strlen(tree) + 1;
		char path[PATH_MAX];

		if (strings_add(&item->needs, below, err) < 0)
			return -1;
		snprintf(path, sizeof(path), "%s/%s", host, below);
		if (*host &&
		    json_append(needs, cJSON_CreateString(path), err) < 0)
			return -1;
	}
	return 0;
}

/* The launcher of the case in flagperf.yaml. */
static const struct value *launcher_of(const struct flagperf_site *site,
				       const struct flagperf_section *section,
				       const struct names *names)
{
	const struct value *word = value_get(section->map, "launcher");
	const char *name = names_plain(names, "launcher");
	const struct value *found = NULL;

	if (!word)
		word = value_get(site->block, "launcher");
	if (!word || strcmp(value_text(word), "tree") != 0)
		found = value_get(value_get(section->book, "launchers"), name);
	return found ? found : value_get(section->book, "tree");
}

/* An image that the sweep names is not built; neither is one in a workspace. */
static void choose_image(const struct flagperf_site *site,
			 const struct flagperf_case *item, cJSON *cell)
{
	const struct value *map = value_at(item->map, item->index);

	if (!*site->tree || value_get(site->root, "image") ||
	    (value_kind(map) == VALUE_MAP && value_get(map, "image")))
		cJSON_DeleteItemFromObjectCaseSensitive(cell, "build");
}

/* Only jobs that share nodes need device nodes for the network. */
static void choose_devices(const struct flagperf_site *site,
			   const struct flagperf_case *item, cJSON *cell)
{
	const struct value *map = value_at(item->map, item->index);
	const struct value *shared =
		value_kind(map) == VALUE_MAP ? value_get(map, "shared") : NULL;

	if (!shared)
		shared = value_get(site->root, "shared");
	if (!shared || strcmp(value_text(shared), "true") != 0)
		cJSON_DeleteItemFromObjectCaseSensitive(cell, "device_nodes");
}

/* The command line with which run.py starts the container. */
static int fill_docker(const struct flagperf_section *section,
		       const struct names *names, struct flagperf_case *item,
		       struct error *err)
{
	owned(buffer_clear) struct buffer line = BUFFER_INIT(DOCKER_BYTES);
	owned(cJSON_Delete) cJSON *words = cJSON_CreateArray();
	const cJSON *word;
	int rc;

	rc = words ? template_list(value_get(section->book, "docker"), names,
				   words, err)
		   : error_nomem(err, "flagperf");
	cJSON_ArrayForEach(word, words) {
		if (rc == 0 && word != words->child)
			rc = buffer_text(&line, " ", err);
		/* Inserted texts have each $ doubled. */
		for (const char *at = word->valuestring; rc == 0 && *at; at++) {
			rc = buffer_append(&line, at, 1, err);
			at += *at == '$' && at[1] == '$';
		}
	}
	if (rc < 0)
		return -1;
	item->docker = strdup(line.data);
	return item->docker ? 0 : error_nomem(err, "flagperf");
}

int case_fill(const struct flagperf_site *site,
	      const struct flagperf_section *section,
	      struct flagperf_case *item, cJSON *cell, struct error *err)
{
	owned(names_clear) struct names names = { .count = 0 };
	const char *framework;
	const struct value *launcher;

	if (set_names(site, section, item, &names, err) < 0)
		return -1;
	launcher = launcher_of(site, section, &names);
	if (fill_docker(section, &names, item, err) < 0 ||
	    template_fill(value_get(section->book, "cell"), &names, cell, err) <
		    0 ||
	    template_fill(value_get(launcher, "cell"), &names, cell, err) < 0)
		return -1;
	choose_image(site, item, cell);
	if (mount_logs(&names, cell, err) < 0 ||
	    case_add_options(site, section, cell, err) < 0)
		return -1;
	choose_devices(site, item, cell);
	if (add_needs(value_get(section->book, "needs"), &names, item, cell,
		      err) < 0 ||
	    add_needs(value_get(launcher, "needs"), &names, item, cell, err) <
		    0 ||
	    yield_to_top(site, cell, err) < 0 || add_more(item, cell, err) < 0)
		return -1;
	tidy_mounts(json_get(cell, "mounts"));
	/* The log of an unknown framework cannot be read. */
	framework = json_get_text(cell, "framework");
	if (framework && !catalog_framework(site->catalog, framework))
		cJSON_DeleteItemFromObjectCaseSensitive(cell, "framework");
	return 0;
}
