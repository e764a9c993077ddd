/* cell.c - makes the spec of a job from the merged values of its cell. */
#include "controller/cell/cell.h"

#include "controller/catalog/descriptions.h"
#include "controller/cell/container.h"
#include "controller/cell/key.h"
#include "controller/cell/key_values.h"
#include "controller/cell/memory.h"
#include "controller/cell/own_rules.h"
#include "controller/cell/race_key.h"
#include "controller/cell/reference_peak.h"
#include "controller/cell/workspace.h"
#include "protocol/base/list.h"

#include <inttypes.h>
#include <string.h>

#define SPEC_BYTES (4 << 20)
#define STAGES_MAX 32 /* stages named in an error */

void cell_clear(struct cell *cell)
{
	free(cell->optimizer);
	free(cell->preflight);
	cell->optimizer = cell->preflight = NULL;
	codec_clear(&job_spec_schema, &cell->spec);
}

void cells_clear(struct cells *cells)
{
	for (size_t i = 0; i < cells->framework_count; i++)
		overlay_clear(&cells->layers[i]);
	free(cells->layers);
	free(cells->frameworks);
	free(cells->images);
	free(cells->env);
	free(cells->ulimits);
	workspaces_clear(cells);
	own_rules_clear(cells);
	free(cells->used);
	if (cells->scratch.data)
		buffer_clear(&cells->scratch);
}

/* Frameworks. */

static int framework_of(const struct cells *cells, const struct value *name,
			const struct framework **framework, struct error *err)
{
	const char *text;

	if (value_string(name, 128, &text, err) < 0)
		return -1;
	*framework = catalog_framework(cells->catalog, text);
	return *framework ? 0
			  : catalog_unknown(cells->catalog, CATALOG_FRAMEWORK,
					    name, err);
}

static int framework_layer(const struct cells *cells, const struct value *root,
			   struct overlay *layer, struct error *err)
{
	/* Keys of a framework, and the keys of a sweep that they set. */
	static const char *const keys[][2] = {
		{ "image", "image" },
		{ "build", "build" },
		{ "env", "env" },
		{ "launch", "command" },
		{ "processes", "processes" },
		{ "follow", "follow" },
	};
	const struct value *defaults = value_get(root, "defaults");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct value *value = value_get(root, keys[i][0]);

		if (value && overlay_add(layer, cells->paths, keys[i][1], value,
					 err) < 0)
			return -1;
	}
	return defaults ? overlay_add_map(layer, cells->paths, defaults, err)
			: 0;
}

/* List the paths that begin with the prefix. */
static int paths_collect(const struct paths *paths, const char *prefix,
			 size_t **list, size_t *count, struct error *err)
{
	*list = calloc(paths_count(paths), sizeof(**list));
	if (!*list)
		return error_nomem(err, "sweep");
	for (size_t i = 0; i < paths_count(paths); i++)
		if (!strncmp(paths_name(paths, i), prefix, strlen(prefix)))
			(*list)[(*count)++] = i;
	return 0;
}

static int cells_add_framework(struct cells *cells, const struct value *name,
			       struct error *err)
{
	const struct framework *framework = NULL;
	size_t at = 0;

	if (framework_of(cells, name, &framework, err) < 0)
		return -1;
	while (at < cells->framework_count &&
	       cells->frameworks[at] != framework)
		at++;
	if (at < cells->framework_count)
		return 0;
	cells->frameworks[cells->framework_count++] = framework;
	return framework_layer(cells, framework->value, &cells->layers[at],
			       err);
}

int cells_prepare(struct cells *cells, const struct value *const *frameworks,
		  size_t count, struct error *err)
{
	buffer_init(&cells->scratch, SPEC_BYTES);
	cells->layers = calloc(count + 1, sizeof(*cells->layers));
	cells->frameworks = calloc(count + 1, sizeof(struct framework *));
	if (!cells->layers || !cells->frameworks)
		return error_nomem(err, "sweep");
	for (size_t i = 0; i < count; i++)
		if (cells_add_framework(cells, frameworks[i], err) < 0)
			return -1;
	cells->used = calloc(paths_count(cells->paths), sizeof(bool));
	if (!cells->used)
		return error_nomem(err, "sweep");
	if (paths_collect(cells->paths, "env.", &cells->env, &cells->env_count,
			  err) < 0)
		return -1;
	return paths_collect(cells->paths, "ulimits.", &cells->ulimits,
			     &cells->ulimit_count, err);
}

/* The image of the cell's vendor for the framework; NULL: it has none, or the
 * vendor is unknown.
 */
static int vendor_image(struct cells *cells, const struct value *const *values,
			const struct framework *framework,
			const struct value **image, struct error *err)
{
	const struct value *name = values[KEY_VENDOR];
	const struct vendor *vendor =
		catalog_vendor(cells->catalog,
			       name ? value_text(name)
				    : key_rules[KEY_VENDOR].fallback);
	struct vendor_image *images = cells->images;
	size_t count = cells->image_count;

	*image = NULL;
	if (!vendor || !vendor->images)
		return 0;
	/* "pytorch_2.6" is the framework pytorch, but with another image. */
	*image = value_get(vendor->images, value_text(values[KEY_FRAMEWORK]));
	if (*image)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (images[i].vendor == vendor &&
		    images[i].framework == framework) {
			*image = images[i].image;
			return 0;
		}
	*image = vendor_framework_image(cells->catalog, vendor, framework);
	images = LIST_ADD(cells->images, cells->image_count, err);
	if (!images)
		return -1;
	*images = (struct vendor_image){ vendor, framework, *image };
	return 0;
}

int cell_complete(struct cells *cells, const struct value **values,
		  struct error *err)
{
	const struct framework *framework = NULL;
	/* A cell with an image or a build folder needs none from the framework.
	 */
	bool image = values[KEY_IMAGE] || values[KEY_BUILD];
	size_t k = 0;

	if (!values[KEY_FRAMEWORK])
		return 0;
	if (framework_of(cells, values[KEY_FRAMEWORK], &framework, err) < 0)
		return -1;
	if (!image &&
	    vendor_image(cells, values, framework, &values[KEY_IMAGE], err) < 0)
		return -1;
	image = values[KEY_IMAGE] || values[KEY_BUILD];
	while (cells->frameworks[k] != framework)
		k++;
	for (size_t i = 0; i < cells->layers[k].count; i++) {
		const struct pair *pair = &cells->layers[k].pairs[i];

		if (values[pair->path] || (image && (pair->path == KEY_IMAGE ||
						     pair->path == KEY_BUILD)))
			continue;
		/* A case of FlagPerf has its own environment. */
		if (values[KEY_CASE] &&
		    !strncmp(paths_name(cells->paths, pair->path), "env.", 4))
			continue;
		values[pair->path] = pair->value;
	}
	return 0;
}

static bool same_value(const struct value *a, const struct value *b)
{
	if (value_kind(a) != value_kind(b) || value_count(a) != value_count(b))
		return false;
	for (size_t i = 0; i < value_count(a); i++)
		if ((value_kind(a) == VALUE_MAP &&
		     strcmp(value_key(a, i), value_key(b, i)) != 0) ||
		    !same_value(value_at(a, i), value_at(b, i)))
			return false;
	return !strcmp(value_text(a), value_text(b));
}

bool cell_matches(const struct value *const *values,
		  const struct overlay *layer)
{
	for (size_t i = 0; i < layer->count; i++) {
		const struct pair *pair = &layer->pairs[i];
		const struct value *have = values[pair->path];
		const char *fallback = pair->path < KEYS
					       ? key_rules[pair->path].fallback
					       : NULL;

		if (have ? !same_value(have, pair->value)
			 : !fallback ||
				    strcmp(value_text(pair->value), fallback))
			return false;
	}
	return true;
}

/* The stage must be one whose FLOPs per token are known. */
static int check_stage(const struct value *value, const struct cell *cell,
		       struct error *err)
{
	struct reference_peak reference;
	const char *words[STAGES_MAX + 1];
	const struct value *stages = cell->model ? cell->model->stages : NULL;
	size_t count = 0, index;

	reference_peak_init(&reference, cell->model, NULL, NULL,
			    cell->spec.measure.stage, 0, false);
	if (reference.learns)
		return 0;
	for (size_t i = 0; stages && i < value_count(stages); i++)
		if (count < STAGES_MAX)
			words[count++] = value_key(stages, i);
	for (size_t i = 0; formula_stages[i] && count < STAGES_MAX; i++)
		if (!stages || !value_get(stages, formula_stages[i]))
			words[count++] = formula_stages[i];
	words[count] = NULL;
	return value_enum(value, words, &index, err);
}

static int no_chip(const struct catalog *catalog, const struct vendor *vendor,
		   const struct value *name, struct error *err)
{
	const struct chip *chip = catalog_chip(catalog, NULL, value_text(name));

	if (!chip)
		return catalog_unknown(catalog, CATALOG_CHIP, name, err);
	return value_error(name, err,
			   "the chip %s belongs to %s, but the vendor is %s",
			   chip->name, chip->vendor, vendor->name);
}

/* Set the format of the log: "auto", a framework with log rules, or the rules
 * in a map.
 */
static int resolve_log(struct cells *cells, const struct value *log,
		       struct job_spec *spec, struct error *err)
{
	const struct framework *format;

	if (value_kind(log) == VALUE_MAP)
		return own_rules_take(cells, log, spec, err);
	if (!strcmp(value_text(log), "auto"))
		return string_set(&spec->measure.log, "auto", err);
	if (framework_of(cells, log, &format, err) < 0)
		return -1;
	if (!format->log)
		return value_error(log, err,
				   "%s has no log rules; expected auto or a "
				   "framework with `log:`",
				   format->name);
	return string_set(&spec->measure.log, format->name, err);
}

/* Add the sweep's own descriptions that the job uses to its spec. */
static int take_descriptions(const struct cells *cells, struct job_spec *spec,
			     struct error *err)
{
	struct measure_spec *measure = &spec->measure;

	if (!cells->described)
		return 0;
	if (descriptions_take(cells->catalog, cells->described,
			      measure->framework, measure->model, spec->vendor,
			      &measure->described, err) < 0)
		return -1;
	return descriptions_take(cells->catalog, cells->described, measure->log,
				 NULL, NULL, &measure->described, err);
}

/* Replace names by those of the catalog, so that aliases make no difference. A
 * model may be unknown.
 */
static int resolve_names(struct cells *cells, const struct value *const *values,
			 struct cell *cell, struct error *err)
{
	const struct catalog *catalog = cells->catalog;
	struct job_spec *spec = &cell->spec;
	const struct framework *framework = NULL;
	const struct vendor *vendor;
	const struct chip *chip;

	if (!spec->vendor &&
	    string_set(&spec->vendor, key_rules[KEY_VENDOR].fallback, err) < 0)
		return -1;
	vendor = catalog_vendor(catalog, spec->vendor);
	if (!vendor)
		return catalog_unknown(catalog, CATALOG_VENDOR,
				       values[KEY_VENDOR] ? values[KEY_VENDOR]
							  : cells->root,
				       err);
	if (string_set(&spec->vendor, vendor->name, err) < 0)
		return -1;
	if (values[KEY_CHIP]) {
		chip = catalog_chip(catalog, vendor->name,
				    value_text(values[KEY_CHIP]));
		if (!chip)
			return no_chip(catalog, vendor, values[KEY_CHIP], err);
		if (string_set(&spec->measure.chip, chip->name, err) < 0)
			return -1;
		cell->chip = chip;
	}
	if (spec->measure.model) {
		cell->model = catalog_model(catalog, spec->measure.model);
		if (cell->model && string_set(&spec->measure.model,
					      cell->model->name, err) < 0)
			return -1;
	}
	if (values[KEY_LOG] &&
	    resolve_log(cells, values[KEY_LOG], spec, err) < 0)
		return -1;
	if (values[KEY_FRAMEWORK] &&
	    (framework_of(cells, values[KEY_FRAMEWORK], &framework, err) < 0 ||
	     string_set(&spec->measure.framework, framework->name, err) < 0))
		return -1;
	return take_descriptions(cells, spec, err);
}

static int set_key(struct cell *cell, struct error *err)
{
	char key[SPEC_KEY_SIZE];

	if (spec_key(&cell->spec, key, err) < 0)
		return -1;
	return string_set(&cell->spec.key, key, err);
}

static int copy_shape(struct cell *cell, struct error *err)
{
	struct job_spec *spec = &cell->spec;
	const struct parallel_layout *shape = &cell->shape;
	char stage[12];

	spec->nodes = shape->nodes;
	spec->devices = shape->devices;
	spec->container.processes = shape->processes;
	spec->measure.micro_batch = shape->micro;
	spec->measure.accumulate = shape->accumulate;
	spec->measure.sequence = shape->sequence;
	spec->measure.global_batch = shape->global;
	spec->layout = (struct layout_spec){
		.tp = shape->tp,
		.pp = shape->pp,
		.dp = shape->dp,
		.cp = shape->cp,
		.ep = shape->ep,
		.sp = shape->sp,
		.sharding = shape->sharding,
		.world = shape->world,
		.data = shape->data,
	};
	if (!shape->has_stage)
		return 0;
	snprintf(stage, sizeof(stage), "%u", shape->stage);
	return string_set(&spec->layout.stage, stage, err);
}

/* What the memory of the cell follows from; borrowed from it. */
static struct memory_input memory_of(const struct value *const *values,
				     const struct cell *cell)
{
	struct memory_input input = {
		.shape = &cell->shape,
		.model = cell->model,
		.chip = cell->chip,
		.precision = cell->spec.measure.precision,
		.optimizer = cell->optimizer,
		.recompute = cell->spec.measure.recompute,
	};
	struct reference_peak reference;

	if (!cell->model)
		return input;
	reference_peak_init(&reference, cell->model, NULL, NULL,
			    cell->spec.measure.stage, 0, false);
	/* A stage that trains little has few gradients. */
	if (formula_stage(reference.learns) < formula_stage("pretrain"))
		input.optimizer = "none";
	for (size_t key = KEY_PARALLEL_TP; key < KEYS; key++)
		input.laid_out |= values[key] != NULL;
	return input;
}

static int check_memory(const struct value *const *values, struct cell *cell)
{
	struct memory_input input = memory_of(values, cell);
	struct memory_estimate estimate;

	if (cell->spec.race.steps) {
		cell->spec.race.sized = memory_estimate(&input, &estimate);
		cell->spec.race.order =
			cell->spec.race.sized
				? estimate.states + estimate.activations
				: race_key_order(cell);
	}
	if (!cell->check_memory || !cell->model || !cell->chip)
		return 0;
	return memory_check(&input, cell->reason, sizeof(cell->reason));
}

/* Is the micro batch one that `fit` stands for? */
static bool has_rung(const struct cells *cells,
		     const struct value *const *values)
{
	for (size_t i = 0; cells->rungs && i < value_count(cells->rungs); i++)
		if (value_at(cells->rungs, i) == values[KEY_BATCH_MICRO])
			return true;
	return false;
}

static int cell_build_values(struct cells *cells,
			     const struct value *const *values,
			     struct cell *cell, struct error *err)
{
	if (key_values_read(values, cell, err) < 0 ||
	    race_key_read(values[KEY_RACE], has_rung(cells, values), cell,
			  err) < 0 ||
	    resolve_names(cells, values, cell, err) < 0 ||
	    (values[KEY_STAGE] &&
	     check_stage(values[KEY_STAGE], cell, err) < 0) ||
	    string_set(&cell->spec.sweep, cells->name, err) < 0)
		return -1;
	if (parallel_layout_solve(&cell->shape, cell->model, cell->reason,
				  sizeof(cell->reason)) < 0 ||
	    check_memory(values, cell) < 0)
		return 0;
	if (copy_shape(cell, err) < 0 ||
	    container_read(cells, values, cell, err) < 0)
		return -1;
	return set_key(cell, err);
}

int cell_build(struct cells *cells, const struct value *const *values,
	       uint32_t repeat, struct cell *out, struct error *err)
{
	owned(cell_clear) struct cell cell = {
		.repeats = 1,
		.check_memory = true,
		.shape = { .nodes = 1 },
		.spec = { .repeat = repeat,
			  .nodes = 1,
			  .retries = 2,
			  .container.grace_ms = 10000 },
	};

	if (cell_build_values(cells, values, &cell, err) < 0)
		return -1;
	*out = cell;
	cell.spec = (struct job_spec){ 0 };
	cell.optimizer = cell.preflight = NULL;
	return 0;
}
