/* expand.c - reads a sweep file into the layers of its cells. */
#include "controller/sweep/sweep_internal.h"
#include "controller/report/requirement.h"
#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <string.h>

/* Reads the keys `about`, `align` and `require` of a sweep, which
 * only reports use.
 *
 *	about:			# texts for report pages
 *	  task: ...
 *	  dataset: ...
 *	  framework: deepspeed 0.11.1
 *	  optimizations: gradient checkpointing
 *	  columns: config fix_hp throughput memory
 *	align:			# compare losses with a baseline
 *	  baseline: 17		# a job, or values of a cell of this sweep:
 *				# {vendor: nvidia}
 *	  cells: {batch.accumulate: 64}	# only cells with these values
 *	  from_step: 21		# default
 *	  tolerance: 2%		# default; of the mean relative difference
 *
 *	require:		# what every cell must reach
 *(report/requirement.h)
 *	  - mfu >= 40%
 *
 * They do not change what runs, and are not part of a cell's key.
 */

#define ABOUT_TEXT_MAX 1000 /* bytes of a text */

#define FROM_STEP 21
#define TOLERANCE 0.02
#define ABOUT_PATH_BYTES 256
#define VALUES_MAX 32 /* of a baseline */

/* clang-format off */
static const char *const about_keys[] = {
	"task", "dataset", "framework", "optimizations", "columns", NULL,
};
static const char *const align_keys[] = {
	"baseline", "cells", "from_step", "tolerance", NULL,
};
/* clang-format on */

static int about_read_texts(const struct value *map, cJSON *to,
			    struct error *err)
{
	const char *text;

	if (value_expect(map, VALUE_MAP, err) < 0 ||
	    value_check_keys(map, about_keys, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(map); i++)
		if (value_string(value_at(map, i), ABOUT_TEXT_MAX, &text, err) <
			    0 ||
		    (!cJSON_AddStringToObject(to, value_key(map, i), text) &&
		     error_nomem(err, "about") < 0))
			return -1;
	return 0;
}

/* {parallel: {tp: 8}} is {parallel.tp: 8}. */
static int about_read_values(const struct value *map, const char *above,
			     cJSON *to, struct error *err)
{
	if (!value_count(map) || value_count(map) > VALUES_MAX)
		return value_error(map, err, "%zu values; expected 1 to %d",
				   value_count(map), VALUES_MAX);
	for (size_t i = 0; i < value_count(map); i++) {
		const struct value *value = value_at(map, i);
		char path[ABOUT_PATH_BYTES];
		const char *text;
		int size = snprintf(path, sizeof(path), "%s%s%s", above,
				    *above ? "." : "", value_key(map, i));

		if (size >= (int)sizeof(path))
			return value_error(value, err,
					   "a name of %d bytes; expected at "
					   "most %d",
					   size, ABOUT_PATH_BYTES - 1);
		if (value_kind(value) == VALUE_MAP) {
			if (about_read_values(value, path, to, err) < 0)
				return -1;
			continue;
		}
		if (value_string(value, ABOUT_TEXT_MAX, &text, err) < 0)
			return -1;
		if (!cJSON_AddStringToObject(to, path, text))
			return error_nomem(err, "align");
	}
	return 0;
}

static int read_baseline(const struct value *baseline, cJSON *to,
			 struct error *err)
{
	uint64_t job;

	if (value_kind(baseline) == VALUE_MAP)
		return about_read_values(baseline, "",
					 cJSON_AddObjectToObject(to, "values"),
					 err);
	if (value_u64(baseline, 1, (uint64_t)1 << 53, &job, NULL) < 0)
		return value_invalid(baseline, err,
				     "the number of a job, or values of a cell "
				     "of this sweep, such as {vendor: nvidia}");
	if (!cJSON_AddNumberToObject(to, "job", (double)job))
		return error_nomem(err, "align");
	return 0;
}

static int read_align(const struct value *map, cJSON *to, struct error *err)
{
	const struct value *baseline = value_get(map, "baseline");
	const struct value *cells = value_get(map, "cells");
	const struct value *from = value_get(map, "from_step");
	const struct value *tolerance = value_get(map, "tolerance");
	uint64_t from_step = FROM_STEP;
	double share = TOLERANCE;

	if (value_expect(map, VALUE_MAP, err) < 0 ||
	    value_check_keys(map, align_keys, err) < 0)
		return -1;
	if (!baseline)
		return value_error(map, err,
				   "missing baseline (expected the number of a "
				   "job, or values of a cell of this sweep)");
	if ((from &&
	     value_u64(from, 0, (uint64_t)1 << 53, &from_step, err) < 0) ||
	    (tolerance && value_share(tolerance, &share, err) < 0))
		return -1;
	cJSON_AddNumberToObject(to, "from_step", (double)from_step);
	cJSON_AddNumberToObject(to, "tolerance", share);
	if (cells &&
	    (value_expect(cells, VALUE_MAP, err) < 0 ||
	     about_read_values(cells, "", cJSON_AddObjectToObject(to, "cells"),
			       err) < 0))
		return -1;
	return read_baseline(baseline, to, err);
}

/* A text, or a list of them. */
static int read_require(const struct value *list, cJSON *to, struct error *err)
{
	bool single = value_kind(list) == VALUE_SCALAR;
	size_t count = single ? 1 : value_count(list);
	cJSON *texts = cJSON_AddArrayToObject(to, "require");
	struct requirement requirement;
	struct error why;
	const char *text;

	if (!single && value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (count > REQUIREMENTS_MAX)
		return value_error(list, err,
				   "%zu requirements; expected at "
				   "most %d",
				   count, REQUIREMENTS_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct value *item = single ? list : value_at(list, i);

		if (value_string(item, REQUIREMENT_TEXT, &text, err) < 0)
			return -1;
		if (requirement_parse(text, &requirement, &why) < 0)
			return value_error(item, err, "%s", why.text);
		if (!cJSON_AddItemToArray(texts, cJSON_CreateString(text)))
			return error_nomem(err, "require");
	}
	return 0;
}

/* {texts..., "align": {"job": 17 or "values": {...}, "cells": {...},
 * "from_step": 21, "tolerance": 0.02}, "require": [texts...]} to *about, which
 * the caller deletes; NULL: the file says nothing. Errors name file and line.
 */
static int about_read(const struct value *root, cJSON **about,
		      struct error *err)
{
	const struct value *texts = value_get(root, "about");
	const struct value *align = value_get(root, "align");
	const struct value *require = value_get(root, "require");
	owned(cJSON_Delete) cJSON *to = NULL;

	*about = NULL;
	if (!texts && !align && !require)
		return 0;
	to = cJSON_CreateObject();
	if (!to)
		return error_nomem(err, "about");
	if ((texts && about_read_texts(texts, to, err) < 0) ||
	    (align && read_align(align, cJSON_AddObjectToObject(to, "align"),
				 err) < 0) ||
	    (require && read_require(require, to, err) < 0))
		return -1;
	*about = take(to);
	return 0;
}

#define NAME_MAX_BYTES 64
#define COMPARED_MAX 256 /* entries of an axis, each with each */

/* The top of the file. */

static int read_sweep_name(struct sweep *sweep, const struct value *root,
			   struct error *err)
{
	const struct value *value = value_get(root, "sweep");
	const char *name;

	if (!value)
		return value_error(root, err,
				   "missing sweep (expected \"sweep: name\")");
	if (value_string(value, NAME_MAX_BYTES, &name, err) < 0)
		return -1;
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") !=
	    strlen(name))
		return value_invalid(value, err,
				     "a-z, 0-9, \".\", \"_\" and \"-\"");
	sweep->name = name;
	return 0;
}

/* List the variables with defaults in frameworks, and count them. names: NULL
 * only counts.
 */
static size_t default_names(const struct catalog *catalog, const char **names)
{
	const struct framework *framework;
	size_t count = 0;

	for (size_t i = 0; (framework = catalog_framework_at(catalog, i));
	     i++) {
		const struct value *defaults =
			value_get(framework->value, "defaults");

		for (size_t k = 0; defaults && k < value_count(defaults); k++) {
			if (names)
				names[count] = value_key(defaults, k);
			count++;
		}
	}
	return count;
}

/* The keys of the top level, and the variables of frameworks; ends in NULL. */
static const char **allowed_tops(const struct catalog *catalog)
{
	const char *tops[KEY_TOPS_MAX];
	size_t count = key_tops(tops);
	const char **names = calloc(count + default_names(catalog, NULL) + 1,
				    sizeof(*names));

	if (!names)
		return NULL;
	memcpy(names, tops, count * sizeof(*names));
	default_names(catalog, names + count);
	return names;
}

/* A list of vendors at the top level is like a key of the matrix. */
static const struct value *vendor_list(const struct value *root)
{
	const struct value *vendor = value_get(root, "vendor");

	return vendor && value_kind(vendor) == VALUE_LIST ? vendor : NULL;
}

/* So is `nodes: each`. */
static const struct value *node_set(const struct value *root)
{
	const struct value *nodes = value_get(root, "nodes");

	return node_axis_asks(nodes) ? nodes : NULL;
}

static bool expand_key_reserved(const char *key)
{
	return key_shape(key) == SHAPE_SWEEP;
}

/* User-defined names; a key of the sweep is an error. */
static int read_variables(struct sweep *sweep, const struct value *map,
			  struct error *err)
{
	if (!map)
		return 0;
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(map); i++) {
		const char *name = value_key(map, i);

		if (strchr(name, '.') || key_shape(name) != SHAPE_UNKNOWN)
			return value_key_error(map, i, err,
					       "a key of the sweep is not "
					       "valid here; expected "
					       "user-defined names for "
					       "${placeholders}");
	}
	return overlay_add_map(&sweep->variables, sweep->paths, map, err);
}

/* Keys of Docker Compose, Kubernetes, Slurm and others for what is here. */
static int sweep_check_foreign(const struct value *root,
			       const char *const *names, struct error *err)
{
	static const char *const words[][2] = {
		{ "accelerators", "devices" }, { "args", "command" },
		{ "binds", "mounts" },         { "cmd", "command" },
		{ "cwd", "workdir" },          { "entrypoint", "command" },
		{ "environment", "env" },      { "gpu", "devices" },
		{ "gpus", "devices" },         { "grid", "matrix" },
		{ "name", "sweep" },           { "parameters", "matrix" },
		{ "params", "matrix" },        { "volumes", "mounts" },
		{ "working_dir", "workdir" },
	};

	for (size_t i = 0; i < value_count(root); i++) {
		const char *key = value_key(root, i);
		size_t n = 0, w = 0;

		while (names[n] && strcmp(names[n], key) != 0)
			n++;
		while (w < sizeof(words) / sizeof(words[0]) &&
		       strcmp(words[w][0], key) != 0)
			w++;
		if (!names[n] && w < sizeof(words) / sizeof(words[0]))
			return value_key_error(root, i, err,
					       "unknown key; expected \"%s\"",
					       words[w][1]);
	}
	return 0;
}

static int read_base(struct sweep *sweep, const struct value *root,
		     struct error *err)
{
	owned_free const char **names = allowed_tops(sweep->catalog);

	if (!names)
		return sweep_nomem(sweep, err);
	if (value_expect(root, VALUE_MAP, err) < 0 ||
	    sweep_check_foreign(root, names, err) < 0 ||
	    value_check_keys(root, names, err) < 0 ||
	    read_sweep_name(sweep, root, err) < 0 ||
	    about_read(root, &sweep->about, err) < 0 ||
	    secrets_read(root, &sweep->secrets, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(root); i++)
		if (!expand_key_reserved(value_key(root, i)) &&
		    value_at(root, i) != vendor_list(root) &&
		    value_at(root, i) != node_set(root) &&
		    overlay_add(&sweep->base, sweep->paths, value_key(root, i),
				value_at(root, i), err) < 0)
			return -1;
	return read_variables(sweep, value_get(root, "variables"), err);
}

/* matrix, include, exclude. */

/* Add a map of cell keys to the layer. */
static int expand_read_map(struct sweep *sweep, struct overlay *layer,
			   const struct value *map, struct error *err)
{
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(map); i++)
		if (expand_key_reserved(value_key(map, i)))
			return value_key_error(map, i, err,
					       "this key is not valid inside a "
					       "cell");
	return overlay_add_map(layer, sweep->paths, map, err);
}

static int expand_read_entry(struct sweep *sweep, struct axis *axis,
			     const struct value *entry, struct error *err)
{
	struct overlay *layer = &axis->layers[axis->count++];
	enum key_shape shape = key_shape(axis->key);

	if (value_kind(entry) != VALUE_MAP || shape == SHAPE_KNOWN ||
	    shape == SHAPE_NAMES || shape == SHAPE_EITHER)
		return overlay_add(layer, sweep->paths, axis->key, entry, err);
	return expand_read_map(sweep, layer, entry, err);
}

static int read_axis(struct sweep *sweep, const struct value *matrix,
		     size_t index, struct error *err)
{
	struct axis *axis = &sweep->axes[sweep->axis_count++];
	const struct value *list = value_at(matrix, index);
	size_t count;

	axis->key = value_key(matrix, index);
	if (expand_key_reserved(axis->key))
		return value_key_error(matrix, index, err,
				       "this key is not valid in a matrix");
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	count = value_count(list);
	if (!count)
		return value_invalid(list, err, "1 or more entries");
	/* Both factors are below 2^32: no overflow. */
	sweep->product *= count;
	if (sweep->product > SWEEP_CELLS_MAX)
		return value_key_error(matrix, index, err,
				       "%zu cells up to this key; expected at "
				       "most %d",
				       sweep->product, SWEEP_CELLS_MAX);
	axis->layers = calloc(count, sizeof(*axis->layers));
	if (!axis->layers)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < count; i++)
		if (expand_read_entry(sweep, axis, value_at(list, i), err) < 0)
			return -1;
	return 0;
}

static int read_axes(struct sweep *sweep, const struct value *root,
		     const struct value *matrix, struct error *err)
{
	const struct value *vendors = vendor_list(root);
	size_t keys = matrix ? value_count(matrix) : 0;

	/* Beside those of the file: vendors, nodes, and micro batches. */
	sweep->axes = calloc(keys + 3, sizeof(*sweep->axes));
	if (!sweep->axes)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; vendors && i < value_count(root); i++)
		if (value_at(root, i) == vendors &&
		    read_axis(sweep, root, i, err) < 0)
			return -1;
	if (node_set(root)) {
		const struct value *nodes =
			node_axis_read(sweep, node_set(root), err);

		if (!nodes || read_axis(sweep, nodes, 0, err) < 0)
			return -1;
	}
	if (vendors && value_get(matrix, "vendor"))
		return value_error(value_get(matrix, "vendor"), err,
				   "vendors are listed here and on line %u; "
				   "expected one list",
				   value_line(vendors));
	for (size_t i = 0; i < keys; i++)
		if (read_axis(sweep, matrix, i, err) < 0)
			return -1;
	return 0;
}

int expand_matrix(struct sweep *sweep, struct error *err)
{
	const struct value *root = document_root(sweep->document);
	const struct value *matrix = value_get(root, "matrix");

	if (read_base(sweep, root, err) < 0)
		return -1;
	if (matrix && value_expect(matrix, VALUE_MAP, err) < 0)
		return -1;
	if (matrix && value_count(matrix) > SWEEP_MATRIX_MAX)
		return value_error(matrix, err, "%zu keys; expected at most %d",
				   value_count(matrix), SWEEP_MATRIX_MAX);
	sweep->product = 1;
	if (read_axes(sweep, root, matrix, err) < 0)
		return -1;
	if (!matrix &&
	    (value_get(root, "include") || value_get(root, "flagperf")))
		sweep->product = 0;
	return 0;
}

/* Read a list of maps, include or exclude, into layers. */
static int read_maps(struct sweep *sweep, const struct value *list,
		     struct overlay **layers, size_t *count, struct error *err)
{
	if (!list)
		return 0;
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	*layers = calloc(value_count(list) + 1, sizeof(**layers));
	if (!*layers)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < value_count(list); i++)
		if (expand_read_map(sweep, &(*layers)[(*count)++],
				    value_at(list, i), err) < 0)
			return -1;
	return 0;
}

const struct overlay *sweep_layer(const struct sweep *sweep, size_t index)
{
	if (!index--)
		return &sweep->base;
	for (size_t i = 0; i < sweep->axis_count; i++) {
		if (index < sweep->axes[i].count)
			return &sweep->axes[i].layers[index];
		index -= sweep->axes[i].count;
	}
	return index < sweep->include_count ? &sweep->includes[index] : NULL;
}

const struct value *layer_value(const struct overlay *layer, size_t path)
{
	for (size_t i = 0; i < layer->count; i++)
		if (layer->pairs[i].path == path)
			return layer->pairs[i].value;
	return NULL;
}

/* The cells of `flagperf:` come behind those of `include`. */
static int add_flagperf(struct sweep *sweep, struct error *err)
{
	const struct value *root = document_root(sweep->document);
	const struct value *cell;
	struct overlay *layers;
	size_t count = 0;

	sweep->flagperf_first = sweep->include_count;
	if (!value_get(root, "flagperf"))
		return 0;
	sweep->flagperf = flagperf_new(root, sweep->catalog, err);
	if (!sweep->flagperf)
		return -1;
	while (flagperf_cell(sweep->flagperf, count))
		count++;
	layers = realloc(sweep->includes,
			 (sweep->include_count + count) * sizeof(*layers));
	if (!layers)
		return sweep_nomem(sweep, err);
	sweep->includes = layers;
	for (size_t i = 0; i < count; i++) {
		struct overlay *layer = &layers[sweep->include_count++];

		*layer = (struct overlay){ 0 };
		cell = flagperf_cell(sweep->flagperf, i);
		if (overlay_add_map(layer, sweep->paths, cell, err) < 0)
			return -1;
	}
	return 0;
}

int expand_includes(struct sweep *sweep, struct error *err)
{
	const struct value *root = document_root(sweep->document);
	const struct axis *vendors = vendor_list(root) ? sweep->axes : NULL;

	if (read_maps(sweep, value_get(root, "include"), &sweep->includes,
		      &sweep->include_count, err) < 0 ||
	    add_flagperf(sweep, err) < 0 || micro_ladder_expand(sweep, err) < 0)
		return -1;
	sweep->included = calloc((sweep->include_count + 1) *
					 (vendors ? vendors->count : 1) *
					 (sweep->rung_count + 1),
				 sizeof(*sweep->included));
	if (!sweep->included)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < sweep->include_count; i++) {
		const struct overlay *include = &sweep->includes[i];
		size_t count = vendors && !layer_value(include, KEY_VENDOR)
				       ? vendors->count
				       : 0;
		size_t rungs = micro_ladder_rungs(sweep, include);

		for (size_t k = 0; k < count || k < 1; k++)
			for (size_t r = 0; r < rungs || r < 1; r++)
				sweep->included[sweep->included_count++] =
					(struct included){
						count ? &vendors->layers[k]
						      : NULL,
						include,
						rungs ? &sweep->rungs[r] : NULL,
					};
	}
	return 0;
}

int expand_excludes(struct sweep *sweep, struct error *err)
{
	const struct value *list =
		value_get(document_root(sweep->document), "exclude");
	size_t known = paths_count(sweep->paths);

	if (read_maps(sweep, list, &sweep->excludes, &sweep->exclude_count,
		      err) < 0)
		return -1;
	if (!list)
		return 0;
	sweep->exclude_values =
		calloc(value_count(list) + 1, sizeof(struct value *));
	if (!sweep->exclude_values)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < sweep->exclude_count; i++) {
		const struct overlay *layer = &sweep->excludes[i];

		sweep->exclude_values[i] = value_at(list, i);
		if (!layer->count)
			return value_error(value_at(list, i), err,
					   "an empty map is not valid here; it "
					   "would exclude all cells");
		for (size_t k = 0; k < layer->count; k++)
			if (layer->pairs[k].path >= known)
				return value_error(layer->pairs[k].value, err,
						   "no cell has this key");
	}
	return 0;
}

/* What the cells have in common. */

bool values_differ(const struct value *a, const struct value *b)
{
	return a != b && (!a || !b || value_kind(a) != VALUE_SCALAR ||
			  value_kind(b) != VALUE_SCALAR ||
			  strcmp(value_text(a), value_text(b)) != 0);
}

/* Do entries of the axis have different values for the path? */
static bool axis_varies(const struct axis *axis, size_t path)
{
	for (size_t i = 1; i < axis->count; i++)
		if (values_differ(layer_value(&axis->layers[i], path),
				  layer_value(&axis->layers[0], path)))
			return true;
	return false;
}

/* Does a later axis replace the path in all cells? */
static bool axis_hidden(const struct sweep *sweep, size_t axis, size_t path)
{
	while (++axis < sweep->axis_count) {
		const struct axis *later = &sweep->axes[axis];
		size_t i = 0;

		while (i < later->count && layer_value(&later->layers[i], path))
			i++;
		if (i == later->count)
			return true;
	}
	return false;
}

/* Does `a` have a single value that `b` does not have? */
static bool differs_from(const struct overlay *a, const struct overlay *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct value *here = a->pairs[i].value;
		const struct value *there = layer_value(b, a->pairs[i].path);

		if (value_kind(here) == VALUE_SCALAR &&
		    (!there || (value_kind(there) == VALUE_SCALAR &&
				values_differ(here, there))))
			return true;
	}
	return false;
}

/* Do the entries of the axis differ by single values? Then its lists, such as a
 * command, are not needed in the words of a cell.
 */
static bool axis_differs(const struct axis *axis)
{
	if (axis->count > COMPARED_MAX)
		return false;
	for (size_t i = 0; i < axis->count; i++)
		for (size_t k = 0; k < i; k++)
			if (!differs_from(&axis->layers[i], &axis->layers[k]) &&
			    !differs_from(&axis->layers[k], &axis->layers[i]))
				return false;
	return true;
}

static void add_varying(struct sweep *sweep, size_t path)
{
	struct cells *cells = &sweep->cells;

	for (size_t i = 0; i < cells->varying_count; i++)
		if (cells->varying[i] == path)
			return;
	cells->varying[cells->varying_count++] = path;
}

/* seen[path]: the last axis, counted from 1, that was checked for the path. */
static void find_axis_varying(struct sweep *sweep, size_t index, size_t *seen)
{
	const struct axis *axis = &sweep->axes[index];
	bool differs = axis_differs(axis);

	for (size_t i = 0; i < axis->count; i++)
		for (size_t p = 0; p < axis->layers[i].count; p++) {
			const struct pair *pair = &axis->layers[i].pairs[p];
			size_t path = pair->path;

			if (seen[path] == index + 1 ||
			    (differs &&
			     value_kind(pair->value) != VALUE_SCALAR))
				continue;
			seen[path] = index + 1;
			if (axis_varies(axis, path) &&
			    !axis_hidden(sweep, index, path))
				add_varying(sweep, path);
		}
}

/* Find the paths that distinguish cells: those with different values in an
 * axis, and those of includes, unless the top level has the same value.
 */
int expand_varying(struct sweep *sweep, struct error *err)
{
	size_t paths = paths_count(sweep->paths);
	owned_free size_t *seen = calloc(paths, sizeof(*seen));

	sweep->cells.varying = calloc(paths, sizeof(*sweep->cells.varying));
	if (!seen || !sweep->cells.varying)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < sweep->axis_count; i++)
		find_axis_varying(sweep, i, seen);
	/* The cases of FlagPerf differ by their names. */
	if (sweep->include_count > sweep->flagperf_first &&
	    sweep->totals.cells > 1)
		add_varying(sweep, KEY_CASE);
	for (size_t i = 0; i < sweep->flagperf_first; i++)
		for (size_t p = 0; p < sweep->includes[i].count; p++) {
			const struct pair *pair = &sweep->includes[i].pairs[p];

			if (sweep->totals.cells > 1 &&
			    values_differ(pair->value, layer_value(&sweep->base,
								   pair->path)))
				add_varying(sweep, pair->path);
		}
	if (sweep->ladder)
		add_varying(sweep, KEY_BATCH_MICRO);
	if (sweep->node_axis)
		add_varying(sweep, KEY_NODE);
	return 0;
}
