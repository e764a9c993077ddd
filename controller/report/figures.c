/* figures.c - the table of what reports can show of a row.
 */
#include "controller/report/figures.h"

#include "controller/results/json_object.h"

#include <math.h>
#include <string.h>

#define ROW(m) .member = MEMBER(OF_ROW, report_row, m)
#define SETUP(m) .member = MEMBER(OF_SETUP, setup, m)
#define ORIGIN(m) .member = MEMBER(OF_ORIGIN, provenance, m)
#define ENVIRONMENT(key)                                                       \
	.member = MEMBER_KEY(OF_ORIGIN, provenance, environment, key)
/* Of completed rows. */
#define RESULT(m) .member = MEMBER(OF_RESULT, result, m), .measured = true
#define STEPS(m) .member = MEMBER(OF_STEPS, step_spread, m), .measured = true
#define LOSS(m) .member = MEMBER_WORDS(OF_LOSS, loss_range, m), .measured = true
#define USAGE(m) .member = MEMBER(OF_USAGE, usage_summary, m), .measured = true
#define REPEATS(m)                                                             \
	.member = MEMBER(OF_REPEATS, repeats_info, m), .measured = true
#define RELATION(m)                                                            \
	.member = { OF_REPEATS,                                                \
		    FIELD_(repeats_info, m, FIELD_ENUM,                        \
			   .names = relation_names),                           \
		    NULL },                                                    \
	.measured = true
#define STORE(m) .member = MEMBER(OF_STORE, cell_history, m), .measured = true
#define PUBLISHED(m)                                                           \
	.member = MEMBER(OF_PUBLISHED, published_info, m), .measured = true
#define ALIGNMENT(m)                                                           \
	.member = MEMBER(OF_ALIGNMENT, alignment_info, m), .measured = true

/* clang-format off */
static const struct report_figure figures[] = {
	{ .name = "job", ROW(info.job) },
	{ .name = "cell", ROW(info.cell),
	  .place[IN_TABLE] = 1, .title = "cell" },
	{ .name = "repeat", ROW(info.repeat),
	  .place[IN_TABLE] = 2, .title = "repeat", .format = "%.0f",
	  .optional = true, .labelled = true, .indexed = true },
	{ .name = "state", ROW(info.state),
	  .place[IN_TABLE] = 22, .title = "state" },
	{ .name = "failure", ROW(info.failure) },
	{ .name = "text", ROW(info.text) },
	{ .name = "nodes", ROW(info.nodes),
	  .place = { [IN_TABLE] = 3, [DROPPED] = 7 },
	  .title = "nodes", .format = "%.0f" },
	{ .name = "devices", ROW(info.devices),
	  .place = { [IN_TABLE] = 4, [DROPPED] = 11 },
	  .title = "devices", .format = "%.0f" },
	{ .name = "tokens_per_second_per_device",
	  RESULT(tokens_per_second_per_device),
	  .published = "token/p/s", .style = PUBLISHED_RATE },
	{ .name = "tokens_per_second", RESULT(tokens_per_second) },
	{ .name = "loss_first", LOSS(first) },
	{ .name = "loss_last", LOSS(last),
	  .place = { [IN_TABLE] = 13, [DROPPED] = 13 },
	  .title = "loss", .format = "%.4f",
	  .published = "loss", .style = PUBLISHED_LOSS },
	{ .name = "memory_mib", RESULT(memory_mib),
	  .place = { [IN_TABLE] = 16, [DROPPED] = 12, [IN_CHART] = 3 },
	  .title = "memory (MiB)", .format = "%.1f",
	  .chart = "Memory per device", .unit = "MiB",
	  .limit = MEMBER(OF_RESULT, result, chip_memory_gib),
	  .limit_scale = 1024,
	  .limited = "Memory per device (dashed: size of the memory)" },
	{ .name = "iteration_ms_median", STEPS(median),
	  .place = { [IN_TABLE] = 20, [DROPPED] = 8 },
	  .title = "step time (ms)", .format = "%.1f" },
	{ .name = "iteration_ms_q1", STEPS(q1) },
	{ .name = "iteration_ms_q3", STEPS(q3) },
	{ .name = "iteration_n", STEPS(n), .counted = true },
	{ .name = "steps", RESULT(steps),
	  .place[AS_FACT] = 15, .label = "steps" },
	{ .name = "wall_s", RESULT(wall_s),
	  .place = { [IN_TABLE] = 21, [DROPPED] = 3 },
	  .title = "wall time (s)", .format = "%.1f" },
	{ .name = "mfu", RESULT(mfu),
	  .place = { [IN_TABLE] = 11, [IN_CHART] = 2 },
	  .title = "MFU (%)", .format = "%.2f", .scale = 100, .optional = true,
	  .chart = "Model FLOPS utilisation", .unit = "%",
	  .published = "MFU", .style = PUBLISHED_PERCENT },
	{ .name = "formula", RESULT(formula), .counted = true,
	  .place[AS_FACT] = 18, .label = "formula" },
	{ .name = "image", ORIGIN(image),
	  .place[AS_FACT] = 9, .label = "image id" },
	{ .name = "engine", ORIGIN(engine),
	  .place[AS_FACT] = 10, .label = "engine" },
	{ .name = "kernel", ORIGIN(kernel),
	  .place[AS_FACT] = 12, .label = "kernel" },
	{ .name = "node_names", ORIGIN(nodes),
	  .place[AS_FACT] = 1, .label = "nodes" },
	{ .name = "flags",
	  .member = MEMBER_REMARKS(OF_RESULT, result, flags),
	  .measured = true },
	{ .name = "anomalies",
	  .member = MEMBER_REMARKS(OF_ROW, report_row, anomalies),
	  .measured = true },
	{ .name = "repeats", REPEATS(n) },
	{ .name = "repeats_mean", REPEATS(mean) },
	{ .name = "repeats_stdev", REPEATS(stdev) },
	{ .name = "repeats_cv_percent", REPEATS(cv_percent) },
	{ .name = "mfu_palm", RESULT(mfu_palm) },
	{ .name = "hfu", RESULT(hfu),
	  .place = { [IN_TABLE] = 12, [DROPPED] = 4 },
	  .title = "HFU (%)", .format = "%.2f", .scale = 100,
	  .optional = true },
	{ .name = "joules_per_token", RESULT(joules_per_token),
	  .place = { [IN_TABLE] = 17, [DROPPED] = 9, [IN_CHART] = 5 },
	  .title = "J/token", .format = "%.3f", .optional = true,
	  .chart = "Energy per token", .unit = "J" },
	{ .name = "slow_steps",
	  .member = MEMBER(OF_SLOW_STEPS, slow_steps, count),
	  .measured = true },
	{ .name = "vendor", SETUP(vendor),
	  .place[AS_SUBJECT] = 2, .label = "vendor" },
	{ .name = "chip", SETUP(measure.chip),
	  .place[AS_SUBJECT] = 3, .label = "chip" },
	{ .name = "model", SETUP(measure.model),
	  .place[AS_SUBJECT] = 1, .label = "model" },
	{ .name = "precision", SETUP(measure.precision),
	  .place[AS_SUBJECT] = 5, .label = "precision",
	  .published = "precision" },
	{ .name = "framework", SETUP(measure.framework),
	  .place[AS_SUBJECT] = 4, .label = "framework" },
	{ .name = "driver", ORIGIN(driver),
	  .place[AS_FACT] = 3, .label = "driver" },
	{ .name = "started_utc", RESULT(inputs.started_ms), .time = true },
	{ .name = "ended_utc", RESULT(inputs.ended_ms), .time = true },
	{ .name = "iteration_ms_mean", STEPS(mean) },
	{ .name = "iteration_ms_min", STEPS(min) },
	{ .name = "iteration_ms_max", STEPS(max) },
	{ .name = "samples_per_second", RESULT(samples_per_second) },
	{ .name = "power_w", USAGE(power_w),
	  .place[IN_CHART] = 4,
	  .chart = "Power of all devices", .unit = "W" },
	{ .name = "energy_j", USAGE(energy_j) },
	{ .name = "chip_memory_gib", RESULT(chip_memory_gib),
	  .place[AS_FACT] = 2, .label = "device memory (GiB)" },
	{ .name = "rate", .rate = row_rate, .measured = true,
	  .place = { [IN_TABLE] = 5, [IN_CHART] = 1 },
	  .title = "rate", .format = "%.1f", .flagged = true,
	  .chart = "Throughput per device", .spread = true,
	  .published = "rate", .style = PUBLISHED_RATE },
	{ .name = "rate_unit", .rate = row_rate, .is_unit = true,
	  .measured = true },
	{ .name = "power_source", USAGE(power_source) },
	{ .name = "node_power_w", USAGE(node_power_w) },
	{ .name = "clock_mhz", USAGE(clock_mhz),
	  .place = { [IN_TABLE] = 18, [DROPPED] = 1 },
	  .title = "clock (MHz)", .format = "%.0f", .optional = true },
	{ .name = "throttled_percent", USAGE(throttled_pct),
	  .place = { [IN_TABLE] = 19, [DROPPED] = 2 },
	  .title = "throttled (%)", .format = "%.1f", .optional = true },
	{ .name = "seed", ROW(info.seed) },
	{ .name = "store_run", STORE(run) },
	{ .name = "store_runs", STORE(runs), .says = SAYS_STORE,
	  .place = { [IN_TABLE] = 10, [DROPPED] = 6 },
	  .title = "in the store (best / median / worst)", .format = "%.0f",
	  .optional = true },
	{ .name = "store_best", STORE(best) },
	{ .name = "store_median", STORE(median) },
	{ .name = "store_worst", STORE(worst) },
	{ .name = "published_rate", PUBLISHED(rate), .says = SAYS_PUBLISHED,
	  .place = { [IN_TABLE] = 9, [DROPPED] = 15 },
	  .title = "published", .format = "%.0f", .optional = true },
	{ .name = "published_percent", PUBLISHED(percent) },
	{ .name = "published_differs", PUBLISHED(differs) },
	{ .name = "published_source", PUBLISHED(source),
	  .place[AS_FACT] = 17, .label = "published figures" },
	{ .name = "published_recipe", PUBLISHED(recipe) },
	/* Not in CSV. */
	{ RESULT(warmup_steps), .place[AS_FACT] = 16, .label = "warm-up steps" },
	{ .member = MEMBER(OF_REPEATS, repeats_info, runs), .says = CELL_RUNS,
	  .optional = true,
	  .place = { [IN_TABLE] = 6, [DROPPED] = 14 },
	  .title = "runs", .format = "%.0f" },
	{ REPEATS(min), .says = CELL_RANGE, .optional = true,
	  .place = { [IN_TABLE] = 7, [DROPPED] = 5 },
	  .title = "min-max", .format = "%.0f" },
	{ RELATION(relation), .says = CELL_RELATION, .optional = true,
	  .place = { [IN_TABLE] = 8, [DROPPED] = 16 }, .title = "relative" },
	{ ALIGNMENT(mean_percent),
	  .place = { [IN_TABLE] = 14, [DROPPED] = 10 },
	  .title = "loss difference (%)", .format = "%.2f", .optional = true },
	{ ALIGNMENT(verdict),
	  .place[IN_TABLE] = 15, .title = "aligned", .optional = true,
	  .published = "aligned", .style = PUBLISHED_VERDICT },
	{ ENVIRONMENT("machine"), .place[AS_FACT] = 4, .label = "machine" },
	{ ORIGIN(cpu), .place[AS_FACT] = 5, .label = "processor" },
	{ ENVIRONMENT("network"), .place[AS_FACT] = 6, .label = "network" },
	{ ORIGIN(image_reference), .place[AS_FACT] = 7, .label = "image name" },
	{ ORIGIN(image_pin), .place[AS_FACT] = 8, .label = "image digest" },
	{ ORIGIN(os), .place[AS_FACT] = 11, .label = "system" },
	{ .member = MEMBER_KEY(OF_SETUP, setup, about, "framework"),
	  .place[AS_FACT] = 13, .label = "framework version" },
	{ ORIGIN(regatta), .place[AS_FACT] = 14, .label = "Regatta" },
	{ .member = MEMBER_KEY(OF_ROW, report_row, info.values, "config"),
	  .published = "config" },
};
/* clang-format on */

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

const struct report_figure *figure_at(size_t index)
{
	return index < FIGURES ? &figures[index] : NULL;
}

const struct report_figure *figure_used(enum figure_use use, size_t index)
{
	for (size_t i = 0; i < FIGURES; i++)
		if (figures[i].place[use] == index + 1)
			return &figures[i];
	return NULL;
}

const struct report_figure *figure_published(const char *name)
{
	for (size_t i = 0; i < FIGURES; i++)
		if (figures[i].published && !strcmp(figures[i].published, name))
			return &figures[i];
	return NULL;
}

bool figure_is_state(const struct report_figure *figure)
{
	return figure->member.of == OF_ROW &&
	       figure->member.field.offset ==
		       offsetof(struct report_row, info.state);
}

/* The struct with the member; NULL: the row has none. */
static const void *member_base(const struct report_row *row, enum member_of of)
{
	const struct result *result = row->info.result;

	switch (of) {
	case OF_ROW:
		return row;
	case OF_SETUP:
		return row->info.setup;
	case OF_RESULT:
		return result;
	case OF_STEPS:
		return result ? result->iteration_ms : NULL;
	case OF_SLOW_STEPS:
		return result ? result->slow_steps : NULL;
	case OF_LOSS:
		return result ? result->loss : NULL;
	case OF_USAGE:
		return result ? result->usage : NULL;
	case OF_ORIGIN:
		return row->info.provenance;
	case OF_REPEATS:
		return row->repeats;
	case OF_ALIGNMENT:
		return row->alignment;
	case OF_STORE:
		return row->info.store;
	case OF_PUBLISHED:
		return row->info.published;
	}
	return NULL;
}

static struct datum text_datum(const char *text)
{
	return (struct datum){ .kind = text ? DATUM_TEXT : DATUM_NONE,
			       .number = NAN,
			       .text = text };
}

static struct datum number_datum(double number)
{
	return (struct datum){ .kind = isfinite(number) ? DATUM_NUMBER
							: DATUM_NONE,
			       .number = number };
}

static struct datum field_datum(const struct field *field, const char *key,
				const void *base)
{
	const void *at = (const char *)base + field->offset;
	const cJSON *item;

	switch (field->kind) {
	case FIELD_U32:
		return number_datum(*(const uint32_t *)at);
	case FIELD_U64:
		return number_datum((double)*(const uint64_t *)at);
	case FIELD_I64:
		return number_datum((double)*(const int64_t *)at);
	case FIELD_DOUBLE:
		if (field->words && !isfinite(*(const double *)at))
			return text_datum(number_word(*(const double *)at));
		return number_datum(*(const double *)at);
	case FIELD_STRING:
		return text_datum(*(char *const *)at);
	case FIELD_ENUM:
		return text_datum(*(const uint32_t *)at
					  ? field->names[*(const uint32_t *)at]
					  : NULL);
	case FIELD_STRINGS:
		return (struct datum){ .kind = DATUM_LIST,
				       .number = NAN,
				       .list = at };
	case FIELD_LIST:
		return (struct datum){
			.kind = DATUM_REMARKS,
			.number = NAN,
			.remarks = *(struct remark *const *)at,
			.count = *(const size_t *)((const char *)base +
						   field->count_offset),
		};
	case FIELD_JSON:
		item = row_at(*(cJSON *const *)at, key);
		return cJSON_IsNumber(item)
			       ? number_datum(item->valuedouble)
			       : text_datum(cJSON_GetStringValue(item));
	default:
		return (struct datum){ .number = NAN };
	}
}

struct datum row_datum(const struct report_row *row,
		       const struct member *member)
{
	const void *base = member_base(row, member->of);

	return base ? field_datum(&member->field, member->key, base)
		    : (struct datum){ .number = NAN };
}

double row_number(const struct report_row *row, const struct member *member)
{
	return row_datum(row, member).number;
}

const char *row_string(const struct report_row *row,
		       const struct member *member)
{
	return row_datum(row, member).text;
}

struct datum figure_datum(const struct report_figure *figure,
			  const struct report_row *row)
{
	struct rate rate;
	struct datum datum;

	if (figure->rate) {
		rate = figure->rate(row);
		return figure->is_unit
			       ? text_datum(rate.unit ? rate_units[rate.unit]
						      : NULL)
			       : number_datum(rate.value);
	}
	datum = row_datum(row, &figure->member);

	if ((figure->measured && !row_completed(row)) ||
	    ((figure->counted || figure->time) && !(datum.number > 0)))
		return (struct datum){ .number = NAN };
	datum.number += figure->indexed;
	return datum;
}
