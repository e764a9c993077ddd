/* catalog_entries.c - checks models, frameworks and vendors, and adds them. */
#include "controller/catalog/catalog_internal.h"
#include "controller/results/formula.h"

#include <string.h>

#define FIGURE_MAX 1e15

/* clang-format off */
static const char *const model_keys[] = {
	"title", "aliases", "source", "parameters", "active_parameters",
	"nominal_parameters", "layers", "hidden", "heads", "kv_heads",
	"feed_forward", "vocabulary", "sequence", "experts",
	"experts_per_token", "stages", NULL,
};
static const char *const framework_keys[] = {
	"framework", "title", "source", "aliases", "image", "build", "env",
	"processes", "follow", "launch", "defaults", "log", NULL,
};
/* clang-format on */

/* An optional positive number; 0: not given. */
static int read_figure(const struct value *entry, const char *key,
		       double *figure, struct error *err)
{
	const struct value *value = value_get(entry, key);

	*figure = 0;
	return value ? value_double(value, 1, FIGURE_MAX, figure, err) : 0;
}

static int read_count(const struct value *entry, const char *key,
		      uint32_t *count, struct error *err)
{
	const struct value *value = value_get(entry, key);

	*count = 0;
	return value ? value_u32(value, 1, 1 << 30, count, err) : 0;
}

static int entry_read_source(const struct value *entry, const char **text,
			     struct error *err)
{
	const struct value *source = value_get(entry, "source");

	if (!source)
		return value_error(entry, err,
				   "missing \"source\" (expected the source of "
				   "the figures)");
	return value_string(source, 4096, text, err);
}

/* Each stage must train one of formula_stages[]. */
static int check_stages(const struct value *stages, struct error *err)
{
	size_t word;

	if (!stages)
		return 0;
	if (value_expect(stages, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(stages); i++)
		if (value_enum(value_at(stages, i), formula_stages, &word,
			       err) < 0)
			return -1;
	return 0;
}

int catalog_add_model(struct catalog *catalog, const char *name,
		      const struct value *entry, struct error *err)
{
	struct model model = {
		.name = name,
		.stages = value_get(entry, "stages"),
		.value = entry,
	};

	if (value_check_keys(entry, model_keys, err) < 0 ||
	    entry_read_source(entry, &model.source, err) < 0 ||
	    check_stages(model.stages, err) < 0 ||
	    read_figure(entry, "parameters", &model.parameters, err) < 0 ||
	    read_figure(entry, "active_parameters", &model.active_parameters,
			err) < 0 ||
	    read_figure(entry, "nominal_parameters", &model.nominal_parameters,
			err) < 0 ||
	    read_count(entry, "layers", &model.layers, err) < 0 ||
	    read_count(entry, "hidden", &model.hidden, err) < 0 ||
	    read_count(entry, "heads", &model.heads, err) < 0 ||
	    read_count(entry, "kv_heads", &model.kv_heads, err) < 0 ||
	    read_count(entry, "sequence", &model.sequence, err) < 0 ||
	    read_count(entry, "experts", &model.experts, err) < 0 ||
	    read_count(entry, "experts_per_token", &model.experts_per_token,
		       err) < 0)
		return -1;
	if (!model.active_parameters)
		model.active_parameters = model.parameters;
	if (!model.kv_heads)
		model.kv_heads = model.heads;
	return name_index_add(&catalog->indexes[CATALOG_MODEL], &model,
			      (struct name){ .text = name }, entry, err);
}

/* The name in the file must be the name of the file. */
static int read_name(const struct value *root, const char *key,
		     const char *place, const char **name, struct error *err)
{
	const struct value *value;

	if (value_expect(root, VALUE_MAP, err) < 0)
		return -1;
	value = value_get(root, key);
	if (!value)
		return value_error(root, err, "missing \"%s\"", key);
	if (value_string(value, NAME_INDEX_NAME_BYTES, name, err) < 0)
		return -1;
	if (strcmp(*name, place) != 0)
		return value_invalid(value, err, "\"%s\", the name of the file",
				     place);
	return 0;
}

int catalog_add_framework(struct catalog *catalog, const char *name,
			  const struct value *root, const char *hash,
			  struct error *err)
{
	struct framework framework = { .value = root };

	snprintf(framework.hash, sizeof(framework.hash), "%s", hash);
	if (read_name(root, "framework", name, &framework.name, err) < 0 ||
	    value_check_keys(root, framework_keys, err) < 0)
		return -1;
	framework.log = value_get(root, "log");
	return name_index_add(&catalog->indexes[CATALOG_FRAMEWORK], &framework,
			      (struct name){ .text = framework.name }, root,
			      err);
}

static int add_chip(struct catalog *catalog, const char *vendor,
		    const struct chip_rule *rule, struct error *err)
{
	struct chip chip = {
		.name = rule->name,
		.vendor = vendor,
		.source = rule->source,
		.memory_gib = rule->memory_gib,
		.tflops = rule->tflops,
		.flagperf_tflops = rule->flagperf_tflops,
	};

	return name_index_add(&catalog->indexes[CATALOG_CHIP], &chip,
			      (struct name){ .text = chip.name,
					     .vendor = vendor,
					     .gib = (uint32_t)chip.memory_gib },
			      rule->value, err);
}

int catalog_add_vendor(struct catalog *catalog, const struct profile *profile,
		       struct error *err)
{
	struct vendor vendor = {
		.name = profile->vendor,
		.profile = profile,
		.value = profile->value,
		.images = profile->images,
	};

	if (name_index_add(&catalog->indexes[CATALOG_VENDOR], &vendor,
			   (struct name){ .text = vendor.name }, profile->value,
			   err) < 0)
		return -1;
	for (size_t i = 0; i < profile->chips_count; i++)
		if (add_chip(catalog, vendor.name, &profile->chips[i], err) < 0)
			return -1;
	return 0;
}
