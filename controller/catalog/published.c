/* published.c - published figures, and which of them a result compares with.
 */
#include "controller/catalog/published.h"
#include "controller/catalog/catalog_internal.h"

#include "protocol/base/strings.h"
#include "protocol/message/rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DECIDING 4 /* of the traits, the first ones */
#define TEXT_MAX 400
#define NEVER 100 /* a deciding difference weighs more than all others */

/* clang-format off */
static const struct schema training_schema = SCHEMA(training,
	FIELD(training, chip),
	FIELD(training, devices),
	FIELD(training, precision),
	FIELD(training, sequence),
	FIELD(training, stage),
	FIELD(training, micro_batch),
	FIELD(training, accumulate),
	FIELD(training, tp),
	FIELD(training, pp),
	FIELD(training, sharding_stage));

static const char *const published_keys[] = {
	"model", "rate", "unit", "source", "recipe", "chip", "devices",
	"precision", "sequence", "stage", "micro_batch", "accumulate", "tp",
	"pp", "sharding_stage", NULL,
};
/* clang-format on */

static const char **trait_text(const struct training *of,
			       const struct field *field)
{
	return (const char **)((char *)of + field->offset);
}

static uint32_t *trait_number(const struct training *of,
			      const struct field *field)
{
	return (uint32_t *)(void *)((char *)of + field->offset);
}

static int published_read_training(struct training *to,
				   const struct value *entry, struct error *err)
{
	for (size_t i = 0; i < training_schema.count; i++) {
		const struct field *field = &training_schema.fields[i];
		const struct value *value = value_get(entry, field->name);

		if (value &&
		    (field->kind == FIELD_STRING
			     ? value_string(value, TEXT_MAX,
					    trait_text(to, field), err)
			     : value_u32(value, 1, 1U << 30,
					 trait_number(to, field), err)) < 0)
			return -1;
	}
	return 0;
}

static const struct value *entry_get(const struct value *entry, const char *key,
				     struct error *err)
{
	const struct value *value = value_get(entry, key);

	if (!value)
		value_error(entry, err, "missing \"%s\"", key);
	return value;
}

static int read_names(struct published *to, const struct catalog *catalog,
		      const struct value *entry, struct error *err)
{
	const struct value *model = entry_get(entry, "model", err);
	const struct value *chip_name = value_get(entry, "chip");
	const struct model *found;
	const struct chip *chip;

	if (!model || value_string(model, TEXT_MAX, &to->model, err) < 0)
		return -1;
	found = catalog_model(catalog, to->model);
	if (!found)
		return catalog_unknown(catalog, CATALOG_MODEL, model, err);
	to->model = found->name;
	if (!chip_name)
		return 0;
	chip = catalog_chip(catalog, NULL, to->with.chip);
	if (!chip)
		return catalog_unknown(catalog, CATALOG_CHIP, chip_name, err);
	to->with.chip = (char *)chip->name;
	return 0;
}

int published_read(struct published *to, const struct catalog *catalog,
		   const struct value *entry, struct error *err)
{
	const struct value *rate, *unit, *source, *recipe;
	size_t word;

	*to = (struct published){ 0 };
	if (value_expect(entry, VALUE_MAP, err) < 0 ||
	    value_check_keys(entry, published_keys, err) < 0 ||
	    published_read_training(&to->with, entry, err) < 0 ||
	    read_names(to, catalog, entry, err) < 0 ||
	    !(rate = entry_get(entry, "rate", err)) ||
	    value_double(rate, 1e-9, 1e15, &to->rate, err) < 0 ||
	    !(unit = entry_get(entry, "unit", err)) ||
	    value_enum(unit, rate_units, &word, err) < 0 ||
	    !(source = entry_get(entry, "source", err)) ||
	    value_string(source, TEXT_MAX, &to->source, err) < 0)
		return -1;
	to->unit = (uint32_t)word;
	recipe = value_get(entry, "recipe");
	return recipe ? value_string(recipe, TEXT_MAX, &to->recipe, err) : 0;
}

/* What a result was measured with; borrowed from it. */
static struct training training_of(const struct result_info *of)
{
	const struct measure_spec *measure = &of->setup->measure;
	const struct layout_spec *layout = &of->setup->layout;

	return (struct training){
		.chip = measure->chip,
		.devices = of->devices,
		.precision = measure->precision,
		.sequence = measure->sequence,
		.stage = measure->stage,
		.micro_batch = measure->micro_batch,
		.accumulate = measure->accumulate,
		.tp = layout->tp,
		.pp = layout->pp,
		.sharding_stage = layout->stage,
	};
}

/* Append "devices 8, not 16; " if they differ. A recipe that the result does
 * not tell does not differ.
 */
static bool trait_differs(const struct field *field, bool decides,
			  const struct training *own,
			  const struct training *published, char *text)
{
	const char *text_a, *text_b;
	uint32_t a, b;

	if (field->kind == FIELD_STRING) {
		text_a = *trait_text(own, field);
		text_b = *trait_text(published, field);
		if (!text_b || (!text_a && !decides) ||
		    (text_a && !strcasecmp(text_a, text_b)))
			return false;
		text_append(text, TEXT_MAX, "%s %.40s, not %.40s; ",
			    field->name, text_a ? text_a : "unknown", text_b);
		return true;
	}
	a = *trait_number(own, field);
	b = *trait_number(published, field);
	if (!b || (!a && !decides) || a == b)
		return false;
	if (a)
		text_append(text, TEXT_MAX, "%s %u", field->name, a);
	else
		text_append(text, TEXT_MAX, "%s unknown", field->name);
	text_append(text, TEXT_MAX, ", not %u; ", b);
	return true;
}

/* How far the result is from the figure. */
static unsigned training_distance(const struct training *own,
				  const struct training *published,
				  char text[TEXT_MAX])
{
	unsigned distance = 0;

	text[0] = 0;
	for (size_t i = 0; i < training_schema.count; i++)
		if (trait_differs(&training_schema.fields[i], i < DECIDING, own,
				  published, text))
			distance += i < DECIDING ? NEVER : 1;
	if (*text)
		text[strlen(text) - 2] = 0;
	return distance;
}

static int published_describe(const struct published *figure,
			      const struct training *own, double rate,
			      struct published_info **to, struct error *err)
{
	struct published_info *info = *to = calloc(1, sizeof(*info));
	char text[TEXT_MAX];

	if (!info)
		return error_nomem(err, "published");
	info->rate = figure->rate;
	info->percent = (double)NAN;
	if (training_distance(own, &figure->with, text) < NEVER)
		info->percent = rate / figure->rate * 100;
	return string_set(&info->differs, *text ? text : NULL, err) < 0 ||
			       string_set(&info->source, figure->source, err) <
				       0
		       ? -1
		       : string_set(&info->recipe, figure->recipe, err);
}

/* NULL past the last. */
static const struct published *published_at(const struct catalog *catalog,
					    size_t index)
{
	const struct catalog *of = catalog->base ? catalog->base : catalog;

	return index < of->published_count ? &of->published[index] : NULL;
}

int published_find(const struct catalog *catalog, const struct result_info *of,
		   struct published_info **to, struct error *err)
{
	const char *name = of->setup ? of->setup->measure.model : NULL;
	const struct model *model = name ? catalog_model(catalog, name) : NULL;
	struct rate rate = result_rate(of->result);
	const struct published *figure, *nearest = NULL;
	unsigned least = UINT32_MAX;
	struct training own;
	char text[TEXT_MAX];

	if (!model || !rate.unit)
		return 0;
	own = training_of(of);
	for (size_t i = 0; (figure = published_at(catalog, i)); i++) {
		unsigned distance =
			training_distance(&own, &figure->with, text);

		if (strcmp(figure->model, model->name) != 0 ||
		    figure->unit != rate.unit || distance >= least)
			continue;
		least = distance;
		nearest = figure;
	}
	return nearest ? published_describe(nearest, &own, rate.value, to, err)
		       : 0;
}
