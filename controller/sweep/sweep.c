/* sweep.c - expands a sweep file to cells: kept ones and dropped ones. */
#include "controller/sweep/sweep_internal.h"

#include "controller/catalog/descriptions.h"
#include "protocol/base/list.h"
#include "protocol/base/nearest_word.h"
#include "protocol/yaml/value.h"

#include <string.h>

/* The keys of kept cells, to find equal cells. */
struct twins {
	struct twin {
		uint64_t hash[2]; /* of 256 bits, more than enough */
		uint32_t cell;
		bool used;
	} * slots;
	size_t size; /* a power of two, at least twice the cells */
};

static void layers_free(struct overlay *layers, size_t count)
{
	for (size_t i = 0; layers && i < count; i++)
		overlay_clear(&layers[i]);
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
	overlay_clear(&sweep->variables);
	overlay_clear(&sweep->base);
	layers_free(sweep->includes, sweep->include_count);
	flagperf_free(sweep->flagperf);
	free(sweep->included);
	layers_free(sweep->excludes, sweep->exclude_count);
	free(sweep->exclude_values);
	free(sweep->cells.varying);
	free(sweep->values);
	free(sweep->kept);
	for (size_t i = 0; i < sweep->kind_count; i++) {
		free((char *)sweep->kinds[i].vendor);
		free((char *)sweep->kinds[i].chip);
		free((char *)sweep->kinds[i].labels);
	}
	free(sweep->kinds);
	free(sweep->drops);
	free(sweep->orders);
	layers_free(sweep->rungs, sweep->rung_count);
	document_free(sweep->ladder);
	document_free(sweep->node_axis);
	paths_free(sweep->paths);
	catalog_free(sweep->own);
	cJSON_Delete(sweep->described);
	document_free(sweep->document);
	free(sweep);
}

const char *sweep_name(const struct sweep *sweep)
{
	return sweep->name;
}

const char *sweep_preflight(const struct sweep *sweep)
{
	const struct value *value =
		value_get(document_root(sweep->document), "preflight");

	if (value && value_kind(value) == VALUE_MAP)
		value = value_get(value, "set");
	return value ? value_text(value) : NULL;
}

const struct sweep_totals *sweep_totals(const struct sweep *sweep)
{
	return &sweep->totals;
}

const struct secret_sources *sweep_secrets(const struct sweep *sweep)
{
	return &sweep->secrets;
}

const struct flagperf *sweep_flagperf(const struct sweep *sweep)
{
	return sweep->flagperf;
}

int sweep_nomem(const struct sweep *sweep, struct error *err)
{
	return error_nomem(err, document_file(sweep->document));
}

/* A model may be unknown, but a name similar to a known one is most likely a
 * mistake. A case of FlagPerf has its own names.
 */
static int sweep_model_check(const struct sweep *sweep,
			     const struct overlay *layer, struct error *err)
{
	const struct value *name = layer_value(layer, KEY_MODEL);

	if (!name || value_kind(name) != VALUE_SCALAR ||
	    layer_value(layer, KEY_CASE) ||
	    catalog_model(sweep->catalog, value_text(name)) ||
	    !catalog_near(sweep->catalog, CATALOG_MODEL, value_text(name)))
		return 0;
	return catalog_unknown(sweep->catalog, CATALOG_MODEL, name, err);
}

static int check_models(const struct sweep *sweep, struct error *err)
{
	const struct overlay *layer;

	for (size_t i = 0; (layer = sweep_layer(sweep, i)); i++)
		if (sweep_model_check(sweep, layer, err) < 0)
			return -1;
	return 0;
}

/* Prepare the cells with the frameworks of all layers. */
static int prepare_cells(struct sweep *sweep, struct error *err)
{
	size_t layers = 0, count = 0;
	owned_free const struct value **names = NULL;
	const struct overlay *layer;

	while (sweep_layer(sweep, layers))
		layers++;
	names = calloc(layers + 1, sizeof(struct value *));
	if (!names)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; (layer = sweep_layer(sweep, i)); i++) {
		names[count] = layer_value(layer, KEY_FRAMEWORK);
		count += names[count] != NULL;
	}
	sweep->cells.catalog = sweep->catalog;
	sweep->cells.described = sweep->described;
	sweep->cells.root = document_root(sweep->document);
	sweep->cells.name = sweep->name;
	sweep->cells.paths = sweep->paths;
	return cells_prepare(&sweep->cells, names, count, err);
}

/* The cells one by one. */

static void apply(const struct value **values, const struct overlay *layer)
{
	for (size_t i = 0; i < layer->count; i++)
		values[layer->pairs[i].path] = layer->pairs[i].value;
}

int sweep_set_values(struct sweep *sweep, size_t cell, struct error *err)
{
	memset(sweep->values, 0,
	       paths_count(sweep->paths) * sizeof(struct value *));
	apply(sweep->values, &sweep->base);
	apply(sweep->values, &sweep->variables);
	if (cell >= sweep->product) {
		const struct included *included =
			&sweep->included[cell - sweep->product];

		if (included->vendor)
			apply(sweep->values, included->vendor);
		apply(sweep->values, included->include);
		if (included->rung)
			apply(sweep->values, included->rung);
	} else {
		size_t below = sweep->product, rest = cell;

		for (size_t i = 0; i < sweep->axis_count; i++) {
			const struct axis *axis = &sweep->axes[i];

			below /= axis->count;
			apply(sweep->values, &axis->layers[rest / below]);
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

static bool kind_text_matches(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_kind(const struct sweep_kind *a, const struct sweep_kind *b)
{
	return a->nodes == b->nodes && a->devices == b->devices &&
	       a->shared == b->shared && a->priority == b->priority &&
	       kind_text_matches(a->vendor, b->vendor) &&
	       kind_text_matches(a->chip, b->chip) &&
	       kind_text_matches(a->labels, b->labels);
}

static int sweep_add_kind(struct sweep *sweep, const struct sweep_kind *kind,
			  struct error *err)
{
	struct sweep_kind *to = LIST_ADD(sweep->kinds, sweep->kind_count, err);

	if (!to)
		return -1;
	*to = *kind;
	to->vendor = strdup(kind->vendor);
	to->chip = kind->chip ? strdup(kind->chip) : NULL;
	to->labels = kind->labels ? strdup(kind->labels) : NULL;
	return to->vendor && !to->chip == !kind->chip &&
			       !to->labels == !kind->labels
		       ? 0
		       : sweep_nomem(sweep, err);
}

/* The number of the cell's kind. The last kinds are tried first, because
 * similar cells are adjacent.
 */
static int sweep_find_kind(struct sweep *sweep, const struct job_spec *spec,
			   uint32_t *number, struct error *err)
{
	const struct sweep_kind kind = {
		.vendor = spec->vendor,
		.chip = spec->measure.chip,
		.labels = spec->labels,
		.nodes = spec->nodes,
		.devices = spec->devices,
		.shared = spec->shared,
		.priority = spec->priority,
	};

	for (size_t i = sweep->kind_count; i-- > 0;)
		if (same_kind(&sweep->kinds[i], &kind)) {
			*number = (uint32_t)i;
			return 0;
		}
	*number = (uint32_t)sweep->kind_count;
	return sweep_add_kind(sweep, &kind, err);
}

static int keep_cell(struct sweep *sweep, size_t number,
		     const struct cell *cell, struct error *err)
{
	struct kept kept = {
		.cell = (uint32_t)number,
		.job = cell->repeats,
		.timeout_s = (uint32_t)((cell->spec.timeout_ms + 999) / 1000),
	};

	if (sweep_find_kind(sweep, &cell->spec, &kept.kind, err) < 0)
		return -1;
	sweep->kept[sweep->totals.kept++] = kept;
	return 0;
}

void sweep_drop_kept(struct sweep *sweep, size_t kept)
{
	sweep->drops[sweep->totals.dropped++] = (struct drop){
		.cell = sweep->kept[kept].cell,
		.why = WHY_AFTER,
	};
	sweep->totals.kept--;
	memmove(sweep->kept + kept, sweep->kept + kept + 1,
		(sweep->totals.kept - kept) * sizeof(*sweep->kept));
}

/* Number the jobs of the kept cells, and add up the totals. */
static int number_jobs(struct sweep *sweep, struct error *err)
{
	struct sweep_totals *totals = &sweep->totals;
	bool endless = false;

	for (size_t i = 0; i < totals->kept; i++) {
		struct kept *kept = &sweep->kept[i];
		uint32_t nodes = sweep->kinds[kept->kind].nodes;
		uint32_t repeats = kept->job;

		kept->job = (uint32_t)totals->jobs;
		totals->jobs += repeats;
		if (totals->jobs > SWEEP_CELLS_MAX)
			return value_error(document_root(sweep->document), err,
					   "repeat: more than %d jobs (cells x "
					   "repeats), which is the limit",
					   SWEEP_CELLS_MAX);
		totals->node_jobs += (uint64_t)repeats * nodes;
		if (totals->nodes_max < nodes)
			totals->nodes_max = nodes;
		endless |= !kept->timeout_s;
		totals->timeout_ms +=
			UINT64_C(1000) * repeats * kept->timeout_s;
	}
	sweep->kept[totals->kept].job = (uint32_t)totals->jobs;
	if (endless)
		totals->timeout_ms = 0;
	return 0;
}

const char *sweep_case_reason(const struct sweep *sweep, size_t cell)
{
	const struct overlay *include =
		cell < sweep->product
			? NULL
			: sweep->included[cell - sweep->product].include;
	size_t index = include ? (size_t)(include - sweep->includes) : 0;

	return include && index >= sweep->flagperf_first
		       ? flagperf_reason(sweep->flagperf,
					 index - sweep->flagperf_first)
		       : NULL;
}

/* Build the cell, unless it is dropped before. drop->why: why it is dropped. */
static int build_cell(struct sweep *sweep, size_t number, struct twins *twins,
		      struct cell *cell, struct drop *drop, struct error *err)
{
	if (sweep_case_reason(sweep, number)) {
		drop->why = WHY_CASE;
		return 0;
	}
	if (sweep_set_values(sweep, number, err) < 0)
		return -1;
	for (size_t i = 0; i < sweep->exclude_count; i++) {
		if (!cell_matches(sweep->values, &sweep->excludes[i]))
			continue;
		drop->why = WHY_EXCLUDED;
		drop->other = (uint32_t)i;
		return 0;
	}
	if (cell_build(&sweep->cells, sweep->values, 0, cell, err) < 0)
		return -1;
	if (*cell->reason) {
		drop->why = WHY_SHAPE;
		return 0;
	}
	drop->other = twins_add(twins, cell->spec.key, (uint32_t)number);
	if (drop->other != number)
		drop->why = WHY_TWIN;
	return 0;
}

static int check_cell(struct sweep *sweep, size_t number, struct twins *twins,
		      struct error *err)
{
	owned(cell_clear) struct cell cell = { 0 };
	struct drop drop = { .cell = (uint32_t)number };

	if (build_cell(sweep, number, twins, &cell, &drop, err) < 0)
		return -1;
	if (!drop.why)
		return keep_cell(sweep, number, &cell, err);
	sweep->drops[sweep->totals.dropped++] = drop;
	return 0;
}

static int check_cells(struct sweep *sweep, struct error *err)
{
	owned(twins_clear) struct twins twins = { .size = 2 };
	size_t count = sweep->totals.cells;

	while (twins.size < 2 * count)
		twins.size *= 2;
	twins.slots = calloc(twins.size, sizeof(*twins.slots));
	sweep->kept = calloc(count + 1, sizeof(*sweep->kept));
	sweep->drops = calloc(count + 1, sizeof(*sweep->drops));
	sweep->values =
		calloc(paths_count(sweep->paths), sizeof(struct value *));
	if (!twins.slots || !sweep->kept || !sweep->drops || !sweep->values)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < count; i++)
		if (check_cell(sweep, i, &twins, err) < 0)
			return -1;
	return 0;
}

/* An unused variable is most likely a misspelled key. */
static int check_layer_used(const struct sweep *sweep,
			    const struct overlay *layer, struct error *err)
{
	for (size_t i = 0; i < layer->count; i++) {
		size_t path = layer->pairs[i].path;
		const char *name = paths_name(sweep->paths, path);
		const char *near, *tops[KEY_TOPS_MAX];

		if (path < KEYS || sweep->cells.used[path] ||
		    !strncmp(name, "env.", 4) || !strncmp(name, "ulimits.", 8))
			continue;
		key_tops(tops);
		near = nearest_word(name, tops);
		return value_error(layer->pairs[i].value, err,
				   "the variable %.60s is not used by any "
				   "${%.60s}%s%s%s",
				   name, name, near ? "; did you mean \"" : "",
				   near ? near : "", near ? "\"?" : "");
	}
	return 0;
}

static int check_used(const struct sweep *sweep, struct error *err)
{
	const struct overlay *layer;

	if (!sweep->totals.kept)
		return 0; /* nothing was filled in */
	if (check_layer_used(sweep, &sweep->variables, err) < 0)
		return -1;
	/* The top level may also set variables that frameworks define. */
	for (size_t i = 1; (layer = sweep_layer(sweep, i)); i++)
		if (check_layer_used(sweep, layer, err) < 0)
			return -1;
	return 0;
}

/* Add the descriptions in the file to the catalog. */
static int read_descriptions(struct sweep *sweep, struct error *err)
{
	const struct value *map =
		value_get(document_root(sweep->document), "descriptions");

	if (!map)
		return 0;
	sweep->described = value_to_json(map);
	if (!sweep->described)
		return sweep_nomem(sweep, err);
	sweep->own = catalog_with_descriptions(sweep->catalog, sweep->described,
					       err);
	sweep->catalog = sweep->own;
	return sweep->own ? 0 : -1;
}

static int sweep_parse_document(struct sweep *sweep, struct error *err)
{
	const struct value *root = document_root(sweep->document);

	sweep->paths = paths_new(err);
	if (!sweep->paths || read_descriptions(sweep, err) < 0 ||
	    expand_matrix(sweep, err) < 0 || expand_includes(sweep, err) < 0)
		return -1;
	sweep->totals.cells = sweep->product + sweep->included_count;
	if (sweep->totals.cells > SWEEP_CELLS_MAX)
		return value_error(root, err,
				   "include: %zu cells; expected at most %d",
				   sweep->totals.cells, SWEEP_CELLS_MAX);
	/* An exclude may name paths that only frameworks set. */
	if (check_models(sweep, err) < 0 || prepare_cells(sweep, err) < 0 ||
	    expand_excludes(sweep, err) < 0 || expand_varying(sweep, err) < 0 ||
	    check_cells(sweep, err) < 0 || cell_order_cells(sweep, err) < 0 ||
	    number_jobs(sweep, err) < 0)
		return -1;
	return check_used(sweep, err);
}

struct sweep *sweep_parse(const char *text, size_t size, const char *file,
			  const struct catalog *catalog, struct error *err)
{
	return sweep_parse_at(text, size, file, catalog, NULL, err);
}

struct sweep *sweep_parse_at(const char *text, size_t size, const char *file,
			     const struct catalog *catalog,
			     const struct sweep_site *site, struct error *err)
{
	static const struct document_limits limits = { .layers = true };
	owned(sweep_free) struct sweep *sweep = calloc(1, sizeof(*sweep));

	if (!sweep)
		return error_null(error_nomem(err, file));
	sweep->catalog = catalog;
	sweep->site = site;
	sweep->document = document_parse(text, size, file, &limits, err);
	if (!sweep->document || sweep_parse_document(sweep, err) < 0)
		return NULL;
	sweep->site = NULL;
	return take(sweep);
}
