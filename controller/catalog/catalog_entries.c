/* catalog_entries.c - checks models, frameworks and vendors, and adds them. */
#include "controller/catalog/catalog_internal.h"
#include "controller/results/formula.h"
#include "protocol/hardware/map_reader.h"

#include <string.h>

#define FIGURE_MAX 1e15

/* clang-format off */
static const char *const framework_keys[] = {
	"framework", "title", "source", "aliases", "image", "build", "env",
	"processes", "follow", "launch", "defaults", "log", NULL,
};
/* clang-format on */

static int read_figure(const struct value *value, void *out, struct error *err)
{
	return value_double(value, 1, FIGURE_MAX, out, err);
}

static int read_count(const struct value *value, void *out, struct error *err)
{
	return value_u32(value, 1, 1 << 30, out, err);
}

static int entry_read_source(const struct value *value, void *out,
			     struct error *err)
{
	return value_string(value, 4096, out, err);
}

/* Each stage must train one of formula_stages[]. */
static int read_stages(const struct value *stages, void *out, struct error *err)
{
	size_t word;

	if (value_expect(stages, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(stages); i++)
		if (value_enum(value_at(stages, i), formula_stages, &word,
			       err) < 0)
			return -1;
	*(const struct value **)out = stages;
	return 0;
}

/* clang-format off */
static const struct map_field model_fields[] = {
	{ .key = "title" }, { .key = "aliases" },
	MAP_FIELD("source", entry_read_source, model, source),
	MAP_FIELD("parameters", read_figure, model, parameters),
	MAP_FIELD("active_parameters", read_figure, model, active_parameters),
	MAP_FIELD("nominal_parameters", read_figure, model, nominal_parameters),
	MAP_FIELD("layers", read_count, model, layers),
	MAP_FIELD("hidden", read_count, model, hidden),
	MAP_FIELD("heads", read_count, model, heads),
	MAP_FIELD("kv_heads", read_count, model, kv_heads),
	{ .key = "feed_forward" }, { .key = "vocabulary" },
	MAP_FIELD("sequence", read_count, model, sequence),
	MAP_FIELD("experts", read_count, model, experts),
	MAP_FIELD("experts_per_token", read_count, model, experts_per_token),
	MAP_FIELD("stages", read_stages, model, stages),
	{ 0 }
};
/* clang-format on */

int catalog_add_model(struct catalog *catalog, const char *name,
		      const struct value *entry, struct error *err)
{
	struct model model = { .name = name, .value = entry };

	if (map_read(entry, model_fields, &model, err) < 0)
		return -1;
	if (!model.source)
		return value_error(entry, err,
				   "missing \"source\" (expected the source of "
				   "the figures)");
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
