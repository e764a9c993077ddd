/* sweep_jobs.c - the jobs of a sweep's cells with their specs, and the dropped
 * cells with the reasons.
 */
#include "controller/cell/cells.h"
#include "controller/catalog/descriptions.h"
#include "controller/cell/workspace.h"
#include "controller/sweep/sweep_internal.h"
#include "protocol/base/utf8.h"
#include "protocol/blob/blob_store.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/value.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Lists the descriptions of the catalog that a sweep names. */

struct uses {
	const struct sweep *sweep;
	struct strings *keys;
	struct error *err;
};

static int add_key(const struct uses *uses, enum catalog_kind kind,
		   const char *name)
{
	const char *word = descriptions_kind(kind);
	const cJSON *own = json_get(uses->sweep->described, word);
	char key[NAME_MAX + 32];

	if (json_get(own, name))
		return 0;
	snprintf(key, sizeof(key), "%s/%.200s", word, name);
	return strings_has(uses->keys, key)
		       ? 0
		       : strings_add(uses->keys, key, uses->err);
}

static int uses_add_framework(const struct uses *uses, const struct value *name)
{
	owned(strings_clear) struct strings names = { 0 };

	if (descriptions_frameworks(uses->sweep->catalog, value_text(name),
				    &names, uses->err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (add_key(uses, CATALOG_FRAMEWORK, names.items[i]) < 0)
			return -1;
	return 0;
}

/* A map has its own rules, but may be `like` frameworks. */
static int add_log(const struct uses *uses, const struct value *log)
{
	const struct value *like = value_get(log, "like");

	if (value_kind(log) != VALUE_MAP)
		return uses_add_framework(uses, log);
	for (size_t i = 0; like && i < value_count(like); i++)
		if (uses_add_framework(uses, value_at(like, i)) < 0)
			return -1;
	return 0;
}

static int add_model(const struct uses *uses, const struct value *name)
{
	const struct model *model =
		catalog_model(uses->sweep->catalog, value_text(name));

	return model ? add_key(uses, CATALOG_MODEL, model->name) : 0;
}

static int add_vendor(const struct uses *uses, const struct value *name)
{
	const struct vendor *vendor =
		catalog_vendor(uses->sweep->catalog, value_text(name));

	return vendor ? add_key(uses, CATALOG_VENDOR, vendor->name) : 0;
}

static int add_layer(const struct uses *uses, const struct overlay *layer)
{
	static const struct {
		size_t key;
		int (*add)(const struct uses *uses, const struct value *value);
	} named[] = {
		{ KEY_FRAMEWORK, uses_add_framework },
		{ KEY_LOG, add_log },
		{ KEY_MODEL, add_model },
		{ KEY_VENDOR, add_vendor },
	};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		const struct value *value = layer_value(layer, named[i].key);

		if (value && named[i].add(uses, value) < 0)
			return -1;
	}
	return 0;
}

int sweep_uses(const struct sweep *sweep, struct strings *keys,
	       struct error *err)
{
	const struct uses uses = { sweep, keys, err };
	const struct overlay *layer;

	for (size_t i = 0; (layer = sweep_layer(sweep, i)); i++)
		if (add_layer(&uses, layer) < 0)
			return -1;
	return 0;
}

/* The workspaces of a sweep, and the hashes of their
 * content.
 */

size_t sweep_workspaces(const struct sweep *sweep)
{
	return sweep->cells.workspace_count;
}

const char *sweep_workspace(const struct sweep *sweep, size_t index)
{
	return sweep->cells.workspaces[index].path;
}

int sweep_workspace_ignore(const struct sweep *sweep, size_t index,
			   struct ignore *ignore, struct error *err)
{
	const struct value *list = sweep->cells.workspaces[index].ignore;

	return list ? workspace_patterns(list, ignore, err) : 0;
}

int sweep_bind(struct sweep *sweep, const char *path, const char *content,
	       struct error *err)
{
	struct workspace *workspace = workspace_find(&sweep->cells, path);

	if (!blob_hash_valid(content))
		return error_set(err, EPROTO,
				 "workspace %.60s: \"%.20s\" is not the hash "
				 "of a blob",
				 path, content);
	return workspace ? string_set(&workspace->content, content, err) : 0;
}

const char *sweep_unbound(const struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->cells.workspace_count; i++)
		if (!sweep->cells.workspaces[i].content)
			return sweep->cells.workspaces[i].path;
	return NULL;
}

/* Sets the words and the JSON values that identify a cell. */

#define SCALAR_BYTES 60

static int add_scalar(struct buffer *out, const char *text, struct error *err)
{
	const char *quote = strpbrk(text, " \t\n,=[]") || !*text ? "\"" : "";

	if (buffer_text(out, quote, err) < 0 ||
	    buffer_append(out, text, strnlen(text, SCALAR_BYTES), err) < 0)
		return -1;
	return buffer_text(out, quote, err);
}

/* A value in few characters. */
static int cell_label_add_word(struct buffer *out, const struct value *value,
			       struct error *err)
{
	switch (value_kind(value)) {
	case VALUE_NULL:
		return buffer_text(out, "~", err);
	case VALUE_SCALAR:
		return add_scalar(out, value_text(value), err);
	case VALUE_LIST:
	case VALUE_MAP:
		break;
	}
	if (buffer_text(out, "[", err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(value); i++)
		if ((i && buffer_text(out, " ", err) < 0) ||
		    cell_label_add_word(out, value_at(value, i), err) < 0)
			return -1;
	return buffer_text(out, "]", err);
}

/* Keys about the order and number of runs do not identify a cell. */
static bool cell_label_shows_path(size_t path)
{
	return path < KEY_AFTER || path > KEY_UNTIL_MAX;
}

/* Log rules in the sweep file are shown by the name of their format. */
static bool is_own_log(const struct value *const *values, size_t path)
{
	return path == KEY_LOG && values[path] &&
	       value_kind(values[path]) == VALUE_MAP;
}

static int set_words(struct cells *cells, const struct value *const *values,
		     struct cell *cell, struct error *err)
{
	struct buffer *out = &cells->scratch;

	/* A case of FlagPerf has its own name. */
	if (values[KEY_CASE])
		return string_set(&cell->spec.cell,
				  value_text(values[KEY_CASE]), err);
	buffer_consume(out, out->size);
	for (size_t i = 0; i < cells->varying_count; i++) {
		size_t path = cells->varying[i];
		const char *fallback =
			path < KEYS ? key_rules[path].fallback : NULL;

		if (!cell_label_shows_path(path) ||
		    (!values[path] && !fallback))
			continue;
		if (buffer_text(out, out->size ? " " : "", err) < 0 ||
		    buffer_text(out, paths_name(cells->paths, path), err) < 0 ||
		    buffer_text(out, "=", err) < 0 ||
		    (is_own_log(values, path)
			     ? buffer_text(out, cell->spec.measure.log, err)
		     : values[path]
			     ? cell_label_add_word(out, values[path], err)
			     : buffer_text(out, fallback, err)) < 0)
			return -1;
	}
	if (!out->size &&
	    (values[KEY_MODEL] ? buffer_printf(out, err, "model=%s",
					       value_text(values[KEY_MODEL]))
			       : buffer_text(out, cells->name, err)) < 0)
		return -1;
	if (out->size >= CELL_WORDS_BYTES) {
		size_t end = utf8_cut(out->data, CELL_WORDS_BYTES - 4);

		memcpy(out->data + end, "...", 4);
	}
	return string_set(&cell->spec.cell, out->data, err);
}

/* Put a path into the object: batch and parallel are objects inside. */
static bool add_json(cJSON *object, const char *path, cJSON *item)
{
	const char *dot = strchr(path, '.');
	char top[32];

	if (!item)
		return false;
	if (dot && dot - path < (ptrdiff_t)sizeof(top)) {
		memcpy(top, path, (size_t)(dot - path));
		top[dot - path] = 0;
		if (key_shape(top) == SHAPE_KNOWN) {
			cJSON *inner = json_get(object, top);

			if (!inner)
				inner = cJSON_AddObjectToObject(object, top);
			object = inner;
			path = dot + 1;
		}
	}
	if (object && cJSON_AddItemToObject(object, path, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static bool is_varying(const struct cells *cells, size_t path)
{
	for (size_t i = 0; i < cells->varying_count; i++)
		if (cells->varying[i] == path)
			return true;
	return false;
}

/* The varying fields, and always the model, the batch and, where the cell
 * gives one, the parallel layout.
 */
static int set_values(const struct cells *cells,
		      const struct value *const *values, struct cell *cell,
		      struct error *err)
{
	cJSON *object = cJSON_CreateObject();
	bool parallel = false, good = object != NULL;

	for (size_t key = KEY_PARALLEL_TP; key < KEYS; key++)
		parallel |= values[key] != NULL;
	for (size_t i = 0; good && i < cells->varying_count; i++) {
		size_t path = cells->varying[i];

		if ((path < KEY_BATCH_MICRO || path >= KEYS) &&
		    cell_label_shows_path(path) && values[path])
			good = add_json(object, paths_name(cells->paths, path),
					is_own_log(values, path)
						? cJSON_CreateString(
							  cell->spec.measure
								  .log)
						: value_to_json(values[path]));
	}
	if (good && values[KEY_CASE] && !is_varying(cells, KEY_CASE))
		good = add_json(object, "case",
				value_to_json(values[KEY_CASE]));
	if (good && values[KEY_MODEL] && !is_varying(cells, KEY_MODEL))
		good = add_json(object, "model",
				value_to_json(values[KEY_MODEL]));
	if (good && !is_varying(cells, KEY_NODES))
		good = add_json(object, "nodes",
				cJSON_CreateNumber(cell->shape.nodes));
	for (size_t key = KEY_BATCH_MICRO; good && key < KEYS; key++) {
		uint64_t number = cell_number(cell, key);

		if (key == KEY_PARALLEL_SPLIT && values[key])
			good = add_json(object, key_rules[key].path,
					value_to_json(values[key]));
		if (good && number && (parallel || key < KEY_PARALLEL_TP))
			good = add_json(object, key_rules[key].path,
					cJSON_CreateNumber((double)number));
	}
	if (!good) {
		cJSON_Delete(object);
		return error_nomem(err, "sweep");
	}
	cJSON_Delete(cell->spec.values);
	cell->spec.values = object;
	return 0;
}

/* Set spec.cell, "model=gpt-nano batch.micro=2 nodes=1" (cut below
 * CELL_WORDS_BYTES), and spec.values, {"model": "gpt-nano", "batch": {"micro":
 * 2, ...}, "nodes": 1}: the keys that vary in the sweep, always model, nodes
 * and batch, and parallel if given.
 */
static int cell_label_set(struct cells *cells,
			  const struct value *const *values, struct cell *cell,
			  struct error *err)
{
	if (set_words(cells, values, cell, err) < 0)
		return -1;
	return set_values(cells, values, cell, err);
}

size_t sweep_cell_job(const struct sweep *sweep, size_t cell, uint32_t *repeats)
{
	const struct kept *kept = &sweep->kept[cell];

	if (repeats)
		*repeats = kept[1].job - kept[0].job;
	return kept->job;
}

size_t sweep_kinds(const struct sweep *sweep)
{
	return sweep->kind_count;
}

const struct sweep_kind *sweep_cell_kind(const struct sweep *sweep, size_t cell)
{
	return &sweep->kinds[sweep->kept[cell].kind];
}

int sweep_cell_key(struct sweep *sweep, size_t cell, char key[65],
		   struct error *err)
{
	owned(cell_clear) struct cell built = { 0 };

	if (sweep_set_values(sweep, sweep->kept[cell].cell, err) < 0 ||
	    cell_build(&sweep->cells, sweep->values, 0, &built, err) < 0)
		return -1;
	snprintf(key, 65, "%s", built.spec.key);
	return 0;
}

/* The kept cell that the job belongs to. */
static const struct kept *job_cell(const struct sweep *sweep, size_t job)
{
	size_t low = 0, high = sweep->totals.kept;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (sweep->kept[middle].job <= job)
			low = middle;
		else
			high = middle;
	}
	return &sweep->kept[low];
}

/* The job that this repeat follows: the same repeat, or the last one. */
static uint32_t job_before(const struct sweep *sweep,
			   const struct cell_order *order, uint32_t repeat)
{
	const struct kept *kept = cell_order_kept(sweep, order->before);
	uint32_t repeats = kept[1].job - kept[0].job;

	return kept->job + (repeat < repeats ? repeat : repeats - 1);
}

/* Set the jobs that this one follows. */
static int put_after(const struct sweep *sweep, uint32_t cell,
		     struct job_spec *spec, struct error *err)
{
	size_t count;
	const struct cell_order *orders = cell_order_of(sweep, cell, &count);

	if (!count)
		return 0;
	spec->after = calloc(count, sizeof(*spec->after));
	if (!spec->after)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < count; i++)
		spec->after[spec->after_count++].job =
			job_before(sweep, &orders[i], spec->repeat);
	return 0;
}

int sweep_after(struct sweep *sweep, size_t cell, uint32_t repeat,
		uint32_t *jobs, bool *same_nodes, struct error *err)
{
	size_t count;
	const struct cell_order *orders =
		cell_order_of(sweep, sweep->kept[cell].cell, &count);
	const struct value *same;

	if (!count)
		return 0;
	if (sweep_set_values(sweep, sweep->kept[cell].cell, err) < 0)
		return -1;
	*same_nodes = true;
	same = sweep->values[KEY_SAME_NODES];
	if (same && value_bool(same, same_nodes, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		jobs[i] = job_before(sweep, &orders[i], repeat);
	return (int)count;
}

int sweep_job(struct sweep *sweep, size_t job, struct job_spec *spec,
	      struct error *err)
{
	owned(cell_clear) struct cell cell = { 0 };
	const struct kept *kept;

	if (job >= sweep->totals.jobs)
		return error_set(err, EINVAL, "no job %zu; %zu exist", job,
				 sweep->totals.jobs);
	kept = job_cell(sweep, job);
	if (sweep_set_values(sweep, kept->cell, err) < 0 ||
	    cell_build(&sweep->cells, sweep->values,
		       (uint32_t)(job - kept->job), &cell, err) < 0 ||
	    cell_label_set(&sweep->cells, sweep->values, &cell, err) < 0)
		return -1;
	if (put_after(sweep, kept->cell, &cell.spec, err) < 0)
		return -1;
	if (sweep->about &&
	    !(cell.spec.about = cJSON_Duplicate(sweep->about, true)))
		return sweep_nomem(sweep, err);
	*spec = cell.spec;
	cell.spec = (struct job_spec){ 0 };
	return 0;
}

/* Build and label a cell, also an impossible one. */
static int sweep_cell_describe(struct sweep *sweep, size_t number,
			       struct cell *cell, struct error *err)
{
	struct error why = { 0 };

	if (sweep_set_values(sweep, number, err) < 0)
		return -1;
	/* An excluded cell may be invalid. */
	if (cell_build(&sweep->cells, sweep->values, 0, cell, &why) < 0) {
		if (why.code == ENOMEM)
			return sweep_nomem(sweep, err);
		*cell = (struct cell){ 0 };
	}
	return cell_label_set(&sweep->cells, sweep->values, cell, err);
}

int sweep_drop(struct sweep *sweep, size_t drop, char *cell, size_t cell_size,
	       char *reason, size_t reason_size, struct error *err)
{
	owned(cell_clear) struct cell dropped = { 0 };
	owned(cell_clear) struct cell other = { 0 };
	const struct drop *what;

	if (drop >= sweep->totals.dropped)
		return error_set(err, EINVAL, "no dropped cell %zu; %zu exist",
				 drop, sweep->totals.dropped);
	what = &sweep->drops[drop];
	if (what->why == WHY_TWIN &&
	    sweep_cell_describe(sweep, what->other, &other, err) < 0)
		return -1;
	if (sweep_cell_describe(sweep, what->cell, &dropped, err) < 0)
		return -1;
	snprintf(cell, cell_size, "%s", dropped.spec.cell);
	switch (what->why) {
	case WHY_NOT:
		break;
	case WHY_SHAPE:
		snprintf(reason, reason_size, "%s", dropped.reason);
		break;
	case WHY_EXCLUDED:
		snprintf(reason, reason_size, "excluded on line %u",
			 value_line(sweep->exclude_values[what->other]));
		break;
	case WHY_TWIN:
		snprintf(reason, reason_size, "equal to %s", other.spec.cell);
		break;
	case WHY_CASE:
		snprintf(reason, reason_size, "%s",
			 sweep_case_reason(sweep, what->cell));
		break;
	case WHY_AFTER:
		snprintf(reason, reason_size,
			 "%s, on which it depends, is dropped",
			 dropped.spec.follows ? dropped.spec.follows : "");
		break;
	}
	return 0;
}

int sweep_cell_spec(struct sweep *sweep, size_t cell, struct job_spec *spec,
		    struct error *err)
{
	uint32_t repeats;

	return sweep_job(sweep, sweep_cell_job(sweep, cell, &repeats), spec,
			 err);
}

void job_spec_clear(struct job_spec *spec)
{
	codec_clear(&job_spec_schema, spec);
}
