/* sweep.c - a sweep file to the jobs it asks for.
 */
#include "controller/sweep/sweep.h"

#include "controller/sweep/about.h"
#include "controller/sweep/cell.h"
#include "controller/sweep/words.h"

#include <errno.h>
#include <string.h>

#define NAME_MAX_BYTES 64

/* One key of the matrix: a list of layers. */
struct axis {
	const struct value *list;
	const char *key;
	struct layer *layers;
	size_t count;
};

/* A cell of an include: of each vendor one, unless the include names its own
 * or the top has no list of them.
 */
struct included {
	const struct layer *vendor; /* below the include, or NULL */
	const struct layer *include;
};

enum why { WHY_SHAPE, WHY_EXCLUDED, WHY_TWIN };

struct drop {
	uint32_t cell;
	uint32_t other; /* number of the exclude, or cell it is the same as */
	enum why why;
};

struct kept {
	uint32_t cell;
	uint32_t job; /* its first; those up to the next cell's are repeats */
};

/* Keys of kept cells, to find the same run a second time. */
struct twins {
	struct twin {
		uint64_t hash[2]; /* of 256 bits, more than enough */
		uint32_t cell;
		bool used;
	} * slots;
	size_t size; /* a power of two, at least twice the cells */
};

struct sweep {
	struct document *document;
	const struct catalog *catalog;
	const char *name;
	cJSON *about; /* NULL: the file says nothing */
	struct paths *paths;
	struct layer base;
	struct axis *axes; /* the first one may be the list of vendors */
	size_t axis_count;
	struct layer *includes;
	size_t include_count;
	struct included *included; /* the cells of the includes */
	size_t included_count;
	struct layer *excludes;
	const struct value **exclude_values;
	size_t exclude_count;
	size_t product; /* cells of the matrix; those behind are includes */
	struct cells cells;
	const struct value **values; /* of the cell at hand */
	struct kept *kept;
	struct drop *drops;
	struct sweep_totals totals;
};

static void layers_free(struct layer *layers, size_t count)
{
	for (size_t i = 0; layers && i < count; i++)
		layer_clear(&layers[i]);
	free(layers);
}

void sweep_free(struct sweep *sweep)
{
	if (!sweep)
		return;
	cells_clear(&sweep->cells);
	cJSON_Delete(sweep->about);
	for (size_t i = 0; sweep->axes && i < sweep->axis_count; i++)
		layers_free(sweep->axes[i].layers, sweep->axes[i].count);
	free(sweep->axes);
	layer_clear(&sweep->base);
	layers_free(sweep->includes, sweep->include_count);
	free(sweep->included);
	layers_free(sweep->excludes, sweep->exclude_count);
	free(sweep->exclude_values);
	free(sweep->cells.varying);
	free(sweep->values);
	free(sweep->kept);
	free(sweep->drops);
	paths_free(sweep->paths);
	document_free(sweep->document);
	free(sweep);
}

const char *sweep_name(const struct sweep *sweep)
{
	return sweep->name;
}

const struct sweep_totals *sweep_totals(const struct sweep *sweep)
{
	return &sweep->totals;
}

static int sweep_nomem(const struct sweep *sweep, struct error *err)
{
	return error_nomem(err, document_file(sweep->document));
}

/* The top of the file. */

static int read_sweep_name(struct sweep *sweep, const struct value *root,
			   struct error *err)
{
	const struct value *value = value_get(root, "sweep");
	const char *name;

	if (!value)
		return value_error(root, err,
				   "sweep: found no name, allowed is \"sweep: "
				   "name\"");
	if (value_string(value, NAME_MAX_BYTES, &name, err) < 0)
		return -1;
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-") !=
	    strlen(name))
		return value_error(value, err,
				   "found \"%.60s\", allowed are a-z, 0-9, "
				   "\".\", \"_\" and \"-\"",
				   name);
	sweep->name = name;
	return 0;
}

/* The keys of the top, and the variables of the frameworks; ends in NULL. */
static const char **allowed_tops(const struct catalog *catalog)
{
	const struct framework *framework;
	const char **names;
	size_t count = 0;

	while (key_tops[count])
		count++;
	for (size_t i = 0; (framework = catalog_framework_at(catalog, i));
	     i++) {
		const struct value *defaults =
			value_get(framework->value, "defaults");

		count += defaults ? value_count(defaults) : 0;
	}
	names = calloc(count + 1, sizeof(*names));
	if (!names)
		return NULL;
	for (count = 0; key_tops[count]; count++)
		names[count] = key_tops[count];
	for (size_t i = 0; (framework = catalog_framework_at(catalog, i));
	     i++) {
		const struct value *defaults =
			value_get(framework->value, "defaults");

		for (size_t k = 0; defaults && k < value_count(defaults); k++)
			names[count++] = value_key(defaults, k);
	}
	return names;
}

/* A list of vendors at the top spans like a key of the matrix. */
static const struct value *vendor_list(const struct value *root)
{
	const struct value *vendor = value_get(root, "vendor");

	return vendor && value_kind(vendor) == VALUE_LIST ? vendor : NULL;
}

static bool reserved(const char *key)
{
	return !strcmp(key, "sweep") || !strcmp(key, "matrix") ||
	       !strcmp(key, "include") || !strcmp(key, "exclude") ||
	       about_owns(key);
}

static int read_base(struct sweep *sweep, const struct value *root,
		     struct error *err)
{
	owned_free const char **names = allowed_tops(sweep->catalog);

	if (!names)
		return sweep_nomem(sweep, err);
	if (value_check_keys(root, names, err) < 0 ||
	    read_sweep_name(sweep, root, err) < 0 ||
	    about_read(root, &sweep->about, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(root); i++)
		if (!reserved(value_key(root, i)) &&
		    value_at(root, i) != vendor_list(root) &&
		    layer_add(&sweep->base, sweep->paths, value_key(root, i),
			      value_at(root, i), err) < 0)
			return -1;
	return 0;
}

/* matrix, include, exclude. */

static int read_entry(struct sweep *sweep, struct axis *axis,
		      const struct value *entry, struct error *err)
{
	struct layer *layer = &axis->layers[axis->count++];
	enum key_shape shape = key_shape(axis->key);

	if (value_kind(entry) != VALUE_MAP || shape == SHAPE_KNOWN ||
	    shape == SHAPE_NAMES)
		return layer_add(layer, sweep->paths, axis->key, entry, err);
	for (size_t i = 0; i < value_count(entry); i++)
		if (reserved(value_key(entry, i)))
			return value_key_error(entry, i, err,
					       "found a key that is not "
					       "allowed inside a cell");
	return layer_add_map(layer, sweep->paths, entry, err);
}

static int read_axis(struct sweep *sweep, const struct value *matrix,
		     size_t index, struct error *err)
{
	struct axis *axis = &sweep->axes[sweep->axis_count++];
	const struct value *list = value_at(matrix, index);
	size_t count;

	axis->key = value_key(matrix, index);
	axis->list = list;
	if (reserved(axis->key))
		return value_key_error(matrix, index, err,
				       "found a key that is not allowed in a "
				       "matrix");
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	count = value_count(list);
	if (!count)
		return value_error(list, err,
				   "found an empty list, allowed are 1 or more "
				   "entries");
	/* Both factors are below 2^32: no overflow. */
	sweep->product *= count;
	if (sweep->product > SWEEP_CELLS_MAX)
		return value_key_error(matrix, index, err,
				       "found %zu cells up to this key, "
				       "allowed "
				       "are %d",
				       sweep->product, SWEEP_CELLS_MAX);
	axis->layers = calloc(count, sizeof(*axis->layers));
	if (!axis->layers)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < count; i++)
		if (read_entry(sweep, axis, value_at(list, i), err) < 0)
			return -1;
	return 0;
}

static int read_axes(struct sweep *sweep, const struct value *root,
		     const struct value *matrix, struct error *err)
{
	const struct value *vendors = vendor_list(root);
	size_t keys = matrix ? value_count(matrix) : 0;

	sweep->axes = calloc(keys + 2, sizeof(*sweep->axes));
	if (!sweep->axes)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; vendors && i < value_count(root); i++)
		if (value_at(root, i) == vendors &&
		    read_axis(sweep, root, i, err) < 0)
			return -1;
	if (vendors && value_get(matrix, "vendor"))
		return value_error(value_get(matrix, "vendor"), err,
				   "found vendors here and on line %u: a list "
				   "at the top spans by itself",
				   value_line(vendors));
	for (size_t i = 0; i < keys; i++)
		if (read_axis(sweep, matrix, i, err) < 0)
			return -1;
	return 0;
}

static int read_matrix(struct sweep *sweep, const struct value *root,
		       struct error *err)
{
	const struct value *matrix = value_get(root, "matrix");

	if (matrix && value_expect(matrix, VALUE_MAP, err) < 0)
		return -1;
	if (matrix && value_count(matrix) > SWEEP_MATRIX_MAX)
		return value_error(matrix, err,
				   "found %zu keys, allowed are %d",
				   value_count(matrix), SWEEP_MATRIX_MAX);
	sweep->product = 1;
	if (read_axes(sweep, root, matrix, err) < 0)
		return -1;
	if (!matrix && value_get(root, "include"))
		sweep->product = 0;
	return 0;
}

/* include or exclude: a list of maps to layers. */
static int read_maps(struct sweep *sweep, const struct value *list,
		     struct layer **layers, size_t *count, struct error *err)
{
	if (!list)
		return 0;
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	*layers = calloc(value_count(list) + 1, sizeof(**layers));
	if (!*layers)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *map = value_at(list, i);

		++*count;
		if (value_expect(map, VALUE_MAP, err) < 0)
			return -1;
		for (size_t k = 0; k < value_count(map); k++)
			if (reserved(value_key(map, k)))
				return value_key_error(map, k, err,
						       "found a key that is "
						       "not allowed "
						       "inside a cell");
		if (layer_add_map(&(*layers)[i], sweep->paths, map, err) < 0)
			return -1;
	}
	return 0;
}

static const struct value *layer_value(const struct layer *layer, size_t path)
{
	for (size_t i = 0; i < layer->count; i++)
		if (layer->pairs[i].path == path)
			return layer->pairs[i].value;
	return NULL;
}

static int read_includes(struct sweep *sweep, const struct value *root,
			 struct error *err)
{
	const struct axis *vendors = vendor_list(root) ? sweep->axes : NULL;

	if (read_maps(sweep, value_get(root, "include"), &sweep->includes,
		      &sweep->include_count, err) < 0)
		return -1;
	sweep->included = calloc((sweep->include_count + 1) *
					 (vendors ? vendors->count : 1),
				 sizeof(*sweep->included));
	if (!sweep->included)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < sweep->include_count; i++) {
		const struct layer *include = &sweep->includes[i];
		size_t count = vendors && !layer_value(include, KEY_VENDOR)
				       ? vendors->count
				       : 0;

		for (size_t k = 0; k < count || k < 1; k++)
			sweep->included[sweep->included_count++] =
				(struct included){
					count ? &vendors->layers[k] : NULL,
					include,
				};
	}
	return 0;
}

static int read_excludes(struct sweep *sweep, const struct value *root,
			 struct error *err)
{
	const struct value *list = value_get(root, "exclude");
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
		const struct layer *layer = &sweep->excludes[i];

		sweep->exclude_values[i] = value_at(list, i);
		if (!layer->count)
			return value_error(value_at(list, i), err,
					   "found an empty map, which would "
					   "exclude everything");
		for (size_t k = 0; k < layer->count; k++)
			if (layer->pairs[k].path >= known)
				return value_error(layer->pairs[k].value, err,
						   "found a key that no cell "
						   "has");
	}
	return 0;
}

/* What the cells have in common. */

static bool differ(const struct value *a, const struct value *b)
{
	return a != b && (!a || !b || value_kind(a) != VALUE_SCALAR ||
			  value_kind(b) != VALUE_SCALAR ||
			  strcmp(value_text(a), value_text(b)) != 0);
}

/* Not all entries of the axis say the same of the path. */
static bool axis_varies(const struct axis *axis, size_t path)
{
	for (size_t i = 1; i < axis->count; i++)
		if (differ(layer_value(&axis->layers[i], path),
			   layer_value(&axis->layers[0], path)))
			return true;
	return false;
}

/* An axis behind this one has the last word on the path. */
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

static void add_varying(struct sweep *sweep, size_t path)
{
	struct cells *cells = &sweep->cells;

	for (size_t i = 0; i < cells->varying_count; i++)
		if (cells->varying[i] == path)
			return;
	cells->varying[cells->varying_count++] = path;
}

/* asked[path] is the last axis, counted from 1, that was asked about it. */
static void find_axis_varying(struct sweep *sweep, size_t index, size_t *asked)
{
	const struct axis *axis = &sweep->axes[index];

	for (size_t i = 0; i < axis->count; i++)
		for (size_t p = 0; p < axis->layers[i].count; p++) {
			size_t path = axis->layers[i].pairs[p].path;

			if (asked[path] == index + 1)
				continue;
			asked[path] = index + 1;
			if (axis_varies(axis, path) &&
			    !axis_hidden(sweep, index, path))
				add_varying(sweep, path);
		}
}

/* Find the paths that tell cells apart: those that an axis gives different
 * values, and those of include, unless they say what the top says.
 */
static int find_varying(struct sweep *sweep, struct error *err)
{
	size_t paths = paths_count(sweep->paths);
	owned_free size_t *asked = calloc(paths, sizeof(*asked));

	sweep->cells.varying = calloc(paths, sizeof(*sweep->cells.varying));
	if (!asked || !sweep->cells.varying)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < sweep->axis_count; i++)
		find_axis_varying(sweep, i, asked);
	for (size_t i = 0; i < sweep->include_count; i++)
		for (size_t p = 0; p < sweep->includes[i].count; p++) {
			const struct pair *pair = &sweep->includes[i].pairs[p];

			if (sweep->totals.cells > 1 &&
			    differ(pair->value,
				   layer_value(&sweep->base, pair->path)))
				add_varying(sweep, pair->path);
		}
	return 0;
}

/* A model that the catalog does not have is a label of which nothing is known;
 * but one that looks like a known one is most likely a typing mistake.
 */
static int check_model(const struct sweep *sweep, const struct layer *layer,
		       struct error *err)
{
	const struct value *name = layer_value(layer, KEY_MODEL);

	if (!name || value_kind(name) != VALUE_SCALAR ||
	    catalog_model(sweep->catalog, value_text(name)) ||
	    !catalog_near(sweep->catalog, CATALOG_MODEL, value_text(name)))
		return 0;
	return catalog_unknown(sweep->catalog, CATALOG_MODEL, name, err);
}

static int check_models(const struct sweep *sweep, struct error *err)
{
	if (check_model(sweep, &sweep->base, err) < 0)
		return -1;
	for (size_t i = 0; i < sweep->axis_count; i++)
		for (size_t k = 0; k < sweep->axes[i].count; k++)
			if (check_model(sweep, &sweep->axes[i].layers[k], err) <
			    0)
				return -1;
	for (size_t i = 0; i < sweep->include_count; i++)
		if (check_model(sweep, &sweep->includes[i], err) < 0)
			return -1;
	return 0;
}

/* The framework names of all layers. */
static int prepare_cells(struct sweep *sweep, struct error *err)
{
	size_t room = 1 + sweep->include_count, count = 0;
	owned_free const struct value **names = NULL;
	const struct value *name;

	for (size_t i = 0; i < sweep->axis_count; i++)
		room += sweep->axes[i].count;
	names = calloc(room, sizeof(struct value *));
	if (!names)
		return sweep_nomem(sweep, err);
	if ((name = layer_value(&sweep->base, KEY_FRAMEWORK)))
		names[count++] = name;
	for (size_t i = 0; i < sweep->axis_count; i++)
		for (size_t k = 0; k < sweep->axes[i].count; k++)
			if ((name = layer_value(&sweep->axes[i].layers[k],
						KEY_FRAMEWORK)))
				names[count++] = name;
	for (size_t i = 0; i < sweep->include_count; i++)
		if ((name = layer_value(&sweep->includes[i], KEY_FRAMEWORK)))
			names[count++] = name;
	sweep->cells.catalog = sweep->catalog;
	sweep->cells.root = document_root(sweep->document);
	sweep->cells.name = sweep->name;
	sweep->cells.paths = sweep->paths;
	return cells_prepare(&sweep->cells, names, count, err);
}

/* The cells one by one. */

static void lay(const struct value **values, const struct layer *layer)
{
	for (size_t i = 0; i < layer->count; i++)
		values[layer->pairs[i].path] = layer->pairs[i].value;
}

/* Put the values of a cell, completed, into sweep->values. */
static int set_values(struct sweep *sweep, size_t cell, struct error *err)
{
	memset(sweep->values, 0,
	       paths_count(sweep->paths) * sizeof(struct value *));
	lay(sweep->values, &sweep->base);
	if (cell >= sweep->product) {
		const struct included *included =
			&sweep->included[cell - sweep->product];

		if (included->vendor)
			lay(sweep->values, included->vendor);
		lay(sweep->values, included->include);
	} else {
		size_t below = sweep->product, rest = cell;

		for (size_t i = 0; i < sweep->axis_count; i++) {
			const struct axis *axis = &sweep->axes[i];

			below /= axis->count;
			lay(sweep->values, &axis->layers[rest / below]);
			rest %= below;
		}
	}
	return cell_complete(&sweep->cells, sweep->values, err);
}

static void twins_clear(struct twins *twins)
{
	free(twins->slots);
}
OWNED_VALUE(struct twins, twins_clear)

/* The cell that has this key, which is the given one if the key is new. */
static uint32_t twins_add(struct twins *twins, const char *key, uint32_t cell)
{
	struct twin twin = { .cell = cell, .used = true };
	struct twin *slot;
	size_t at;

	/* Two times 16 of the key's 64 hex digits. */
	for (size_t i = 0; i < 2; i++) {
		char digits[17] = "";

		memcpy(digits, key + i * 16, 16);
		twin.hash[i] = strtoull(digits, NULL, 16);
	}
	at = twin.hash[0] & (twins->size - 1);
	for (;; at = (at + 1) & (twins->size - 1)) {
		slot = &twins->slots[at];
		if (!slot->used)
			break;
		if (!memcmp(slot->hash, twin.hash, sizeof(twin.hash)))
			return slot->cell;
	}
	*slot = twin;
	return cell;
}

static int drop_cell(struct sweep *sweep, struct drop drop, struct error *err)
{
	size_t count = sweep->totals.dropped;

	/* Room for powers of two, without a second counter. */
	if (!(count & (count - 1))) {
		size_t room = count ? count * 2 : 1;
		struct drop *drops =
			realloc(sweep->drops, room * sizeof(*drops));

		if (!drops)
			return sweep_nomem(sweep, err);
		sweep->drops = drops;
	}
	sweep->drops[sweep->totals.dropped++] = drop;
	return 0;
}

static int keep_cell(struct sweep *sweep, size_t number,
		     const struct cell *cell, bool *endless, struct error *err)
{
	struct sweep_totals *totals = &sweep->totals;

	sweep->kept[totals->kept++] =
		(struct kept){ (uint32_t)number, (uint32_t)totals->jobs };
	totals->jobs += cell->repeats;
	if (totals->jobs > SWEEP_CELLS_MAX)
		return value_error(document_root(sweep->document), err,
				   "repeat: found more than %d jobs (cells x "
				   "repeats), which is the limit",
				   SWEEP_CELLS_MAX);
	totals->node_jobs += (uint64_t)cell->repeats * cell->spec.nodes;
	if (totals->nodes_max < cell->spec.nodes)
		totals->nodes_max = cell->spec.nodes;
	*endless |= !cell->spec.timeout_ms;
	totals->timeout_ms += cell->repeats * cell->spec.timeout_ms;
	return 0;
}

static int check_cell(struct sweep *sweep, size_t number, struct twins *twins,
		      bool *endless, struct error *err)
{
	owned(cell_clear) struct cell cell = { 0 };
	struct drop drop = { .cell = (uint32_t)number };

	if (set_values(sweep, number, err) < 0)
		return -1;
	for (size_t i = 0; i < sweep->exclude_count; i++) {
		if (!cell_matches(&sweep->cells, sweep->values,
				  &sweep->excludes[i]))
			continue;
		drop.why = WHY_EXCLUDED;
		drop.other = (uint32_t)i;
		return drop_cell(sweep, drop, err);
	}
	if (cell_build(&sweep->cells, sweep->values, 0, &cell, err) < 0)
		return -1;
	if (*cell.reason) {
		drop.why = WHY_SHAPE;
		return drop_cell(sweep, drop, err);
	}
	drop.other = twins_add(twins, cell.spec.key, (uint32_t)number);
	if (drop.other != number) {
		drop.why = WHY_TWIN;
		return drop_cell(sweep, drop, err);
	}
	return keep_cell(sweep, number, &cell, endless, err);
}

static int check_cells(struct sweep *sweep, struct error *err)
{
	owned(twins_clear) struct twins twins = { .size = 2 };
	size_t count = sweep->totals.cells;
	bool endless = false;

	while (twins.size < 2 * count)
		twins.size *= 2;
	twins.slots = calloc(twins.size, sizeof(*twins.slots));
	sweep->kept = calloc(count + 1, sizeof(*sweep->kept));
	sweep->values =
		calloc(paths_count(sweep->paths), sizeof(struct value *));
	if (!twins.slots || !sweep->kept || !sweep->values)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < count; i++)
		if (check_cell(sweep, i, &twins, &endless, err) < 0)
			return -1;
	sweep->kept[sweep->totals.kept].job = (uint32_t)sweep->totals.jobs;
	if (endless)
		sweep->totals.timeout_ms = 0;
	return 0;
}

/* A variable that nobody uses is most likely a key with a typing mistake. */
static int check_layer_used(const struct sweep *sweep,
			    const struct layer *layer, struct error *err)
{
	for (size_t i = 0; i < layer->count; i++) {
		size_t path = layer->pairs[i].path;
		const char *name = paths_name(sweep->paths, path);
		const char *near;

		if (path < KEYS || sweep->cells.used[path] ||
		    !strncmp(name, "env.", 4) || !strncmp(name, "ulimits.", 8))
			continue;
		near = word_nearest(name, key_tops);
		return value_error(layer->pairs[i].value, err,
				   "found the variable %.60s, which no "
				   "${%.60s} uses%s%s%s",
				   name, name, near ? "; did you mean \"" : "",
				   near ? near : "", near ? "\"?" : "");
	}
	return 0;
}

static int check_used(const struct sweep *sweep, struct error *err)
{
	if (!sweep->totals.kept)
		return 0; /* nothing was filled in */
	for (size_t i = 0; i < sweep->axis_count; i++)
		for (size_t k = 0; k < sweep->axes[i].count; k++)
			if (check_layer_used(sweep, &sweep->axes[i].layers[k],
					     err) < 0)
				return -1;
	for (size_t i = 0; i < sweep->include_count; i++)
		if (check_layer_used(sweep, &sweep->includes[i], err) < 0)
			return -1;
	return 0;
}

static int parse(struct sweep *sweep, struct error *err)
{
	const struct value *root = document_root(sweep->document);

	sweep->paths = paths_new(err);
	if (!sweep->paths || read_base(sweep, root, err) < 0 ||
	    read_matrix(sweep, root, err) < 0 ||
	    read_includes(sweep, root, err) < 0)
		return -1;
	sweep->totals.cells = sweep->product + sweep->included_count;
	if (sweep->totals.cells > SWEEP_CELLS_MAX)
		return value_error(root, err,
				   "include: found %zu cells, allowed are %d",
				   sweep->totals.cells, SWEEP_CELLS_MAX);
	/* Frameworks bring paths of their own, which exclude may name. */
	if (check_models(sweep, err) < 0 || prepare_cells(sweep, err) < 0 ||
	    read_excludes(sweep, root, err) < 0 ||
	    find_varying(sweep, err) < 0 || check_cells(sweep, err) < 0)
		return -1;
	return check_used(sweep, err);
}

struct sweep *sweep_parse(const char *text, size_t size, const char *file,
			  const struct catalog *catalog, struct error *err)
{
	owned(sweep_free) struct sweep *sweep = calloc(1, sizeof(*sweep));

	if (!sweep) {
		error_nomem(err, file);
		return NULL;
	}
	sweep->catalog = catalog;
	sweep->document = document_parse(text, size, file, NULL, err);
	if (!sweep->document || parse(sweep, err) < 0)
		return NULL;
	return take(sweep);
}

size_t sweep_cell_job(const struct sweep *sweep, size_t cell, uint32_t *repeats)
{
	const struct kept *kept = &sweep->kept[cell];

	if (repeats)
		*repeats = kept[1].job - kept[0].job;
	return kept->job;
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

int sweep_job(struct sweep *sweep, size_t job, struct job_spec *spec,
	      struct error *err)
{
	owned(cell_clear) struct cell cell = { 0 };
	const struct kept *kept;

	if (job >= sweep->totals.jobs)
		return error_set(err, EINVAL, "job %zu: there are %zu", job,
				 sweep->totals.jobs);
	kept = job_cell(sweep, job);
	if (set_values(sweep, kept->cell, err) < 0 ||
	    cell_build(&sweep->cells, sweep->values,
		       (uint32_t)(job - kept->job), &cell, err) < 0 ||
	    words_set(&sweep->cells, sweep->values, &cell, err) < 0)
		return -1;
	if (sweep->about &&
	    !(cell.spec.about = cJSON_Duplicate(sweep->about, true)))
		return sweep_nomem(sweep, err);
	*spec = cell.spec;
	cell.spec = (struct job_spec){ 0 };
	return 0;
}

/* Build and describe a cell, whatever became of it. */
static int describe(struct sweep *sweep, size_t number, struct cell *cell,
		    struct error *err)
{
	struct error why = { 0 };

	if (set_values(sweep, number, err) < 0)
		return -1;
	/* An excluded cell may well be one that cannot be built. */
	if (cell_build(&sweep->cells, sweep->values, 0, cell, &why) < 0) {
		if (why.code == ENOMEM)
			return sweep_nomem(sweep, err);
		*cell = (struct cell){ 0 };
	}
	return words_set(&sweep->cells, sweep->values, cell, err);
}

int sweep_drop(struct sweep *sweep, size_t drop, char *cell, size_t cell_size,
	       char *reason, size_t reason_size, struct error *err)
{
	owned(cell_clear) struct cell dropped = { 0 };
	owned(cell_clear) struct cell other = { 0 };
	const struct drop *what;

	if (drop >= sweep->totals.dropped)
		return error_set(err, EINVAL, "dropped cell %zu: there are %zu",
				 drop, sweep->totals.dropped);
	what = &sweep->drops[drop];
	if (what->why == WHY_TWIN &&
	    describe(sweep, what->other, &other, err) < 0)
		return -1;
	if (describe(sweep, what->cell, &dropped, err) < 0)
		return -1;
	snprintf(cell, cell_size, "%s", dropped.spec.cell);
	switch (what->why) {
	case WHY_SHAPE:
		snprintf(reason, reason_size, "%s", dropped.reason);
		break;
	case WHY_EXCLUDED:
		snprintf(reason, reason_size, "excluded on line %u",
			 value_line(sweep->exclude_values[what->other]));
		break;
	case WHY_TWIN:
		snprintf(reason, reason_size, "the same run as %s",
			 other.spec.cell);
		break;
	}
	return 0;
}
