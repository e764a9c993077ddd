/* recompute.c - computes a stored result again from its log, and compares.
 */
#include "controller/results/recompute.h"

#include "controller/results/remarks.h"
#include "protocol/base/strings.h"
#include "protocol/message/json_get.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAME 1e-9 /* relative */
#define PATH_BYTES 200

static bool is_null(const cJSON *item)
{
	return !item || cJSON_IsNull(item);
}

int recompute_result(const struct result_info *row,
		     const struct extract *extract,
		     const struct result_inputs *today, struct result *to,
		     struct error *err)
{
	static const struct measure_spec nothing;
	owned(result_clear) struct result kept = { 0 };
	owned(result_input_clear) struct result_input input = {
		.measure = row->setup ? &row->setup->measure : &nothing,
		.summary = extract_summary(extract),
		.extract = extract,
	};

	if (row->result &&
	    codec_copy(&result_schema, row->result, &kept, err) < 0)
		return -1;
	input.records = extract_records(extract, &input.record_count);
	input.usage = take(kept.usage);
	input.inputs = kept.inputs;
	kept.inputs = (struct result_inputs){ 0 };
	input.inputs.flops = today->flops;
	input.inputs.peak_flops = today->peak_flops;
	input.inputs.chip_memory_bytes = today->chip_memory_bytes;
	if (!input.inputs.devices)
		input.inputs.devices = row->devices ? row->devices : 1;
	return result_compute(&input, to, err);
}

/* A result as it is compared: remarks are sentences. NULL: ENOMEM. */
static cJSON *result_tree(const struct result *result, struct error *err)
{
	owned(cJSON_Delete) cJSON *tree =
		codec_object(&result_schema, result, err);
	cJSON *flags = remarks_sentences(result->flags, result->flags_count);

	cJSON_DeleteItemFromObjectCaseSensitive(tree, "flags");
	if (tree && flags && cJSON_AddItemToObject(tree, "flags", flags)) {
		cJSON_DeleteItemFromObjectCaseSensitive(json_get(tree,
								 "inputs"),
							"warnings");
		return take(tree);
	}
	cJSON_Delete(flags);
	return error_null(error_nomem(err, "comparison"));
}

struct comparison {
	cJSON *list;
	const struct result_info *row;
	const struct result *computed;
	const char *rules; /* hash of today's */
	bool failed;
};

static bool numbers_agree(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

#define REASONS_TEXT 480 /* bytes */
#define ORIGINS 7
#define UNKNOWN_REASON                                                         \
	"rules, formulas and chip are the same; the log has changed, or "      \
	"Regatta reads it differently"

/* What figures are computed from beside the log, and as what results name it.
 */
/* clang-format off */
static const struct {
	const char *path; /* in a result */
	const char *said;
	const char *moves[4]; /* prefixes of the fields that depend on it; none:
				 all but inputs */
} origins[ORIGINS] = {
	{ "formula", "version of the formulas", { NULL } },
	{ "inputs.peak_flops", "peak of the chip",
	  { "mfu", "hfu", "flags", "metric" } },
	{ "inputs.chip_memory_bytes", "memory of the chip",
	  { "chip_memory", "flags" } },
	{ "inputs.factor", "FLOPs per parameter", { "mfu", "hfu", "flags" } },
	{ "inputs.parameters", "parameters of the model",
	  { "mfu", "hfu", "flags" } },
	{ "inputs.layers", "layers of the model", { "mfu", "hfu", "flags" } },
	{ "inputs.hidden", "hidden size of the model",
	  { "mfu", "hfu", "flags" } },
};
/* clang-format on */

/* In the order of origins. */
static void origins_read(const struct result *result, double values[ORIGINS])
{
	const struct result_inputs *inputs = &result->inputs;
	const double all[ORIGINS] = {
		result->formula,           inputs->peak_flops,
		inputs->chip_memory_bytes, inputs->flops.factor,
		inputs->flops.parameters,  inputs->flops.layers,
		inputs->flops.hidden,
	};

	memcpy(values, all, sizeof(all));
}

/* May the field depend on what is at the path? An input depends only on itself.
 */
static bool may_move(const char *field, const char *const moves[4],
		     const char *path)
{
	if (!strncmp(field, "inputs.", 7))
		return !strcmp(field, path);
	for (size_t i = 0; i < 4 && moves[i]; i++)
		if (!strncmp(field, moves[i], strlen(moves[i])))
			return true;
	return !moves[0];
}

/* Inputs of the field that differ between the results; "": none is known. */
static void find_reasons(const struct comparison *comparison, const char *field,
			 char text[REASONS_TEXT])
{
	static const char *const all[4] = { NULL };
	const struct result_info *row = comparison->row;
	const char *before = row->provenance ? row->provenance->rules : NULL;
	double then[ORIGINS], now[ORIGINS];

	*text = 0;
	if (before && *before && strcmp(before, comparison->rules) != 0 &&
	    may_move(field, all, ""))
		text_append(text, REASONS_TEXT, "log rules (%.12s, now %.12s)",
			    before, comparison->rules);
	origins_read(row->result, then);
	origins_read(comparison->computed, now);
	for (size_t i = 0; i < ORIGINS; i++)
		if (!numbers_agree(then[i], now[i]) &&
		    may_move(field, origins[i].moves, origins[i].path))
			text_append(text, REASONS_TEXT, "%s%s (%g, now %g)",
				    *text ? "; " : "", origins[i].said, then[i],
				    now[i]);
}

static void comparison_add(struct comparison *comparison, cJSON *entry,
			   const char *name, const cJSON *value)
{
	cJSON *copy = value ? cJSON_Duplicate(value, true) : cJSON_CreateNull();

	if (copy && cJSON_AddItemToObject(entry, name, copy))
		return;
	cJSON_Delete(copy);
	comparison->failed = true;
}

static void comparison_add_entry(struct comparison *comparison,
				 const char *path, const cJSON *stored,
				 const cJSON *computed)
{
	cJSON *entry = cJSON_CreateObject();
	char reason[REASONS_TEXT];

	find_reasons(comparison, path, reason);
	comparison->failed |= !cJSON_AddStringToObject(entry, "field", path);
	comparison_add(comparison, entry, "stored", stored);
	comparison_add(comparison, entry, "computed", computed);
	comparison->failed |=
		!cJSON_AddStringToObject(entry, "reason",
					 *reason ? reason : UNKNOWN_REASON);
	if (!entry || !cJSON_AddItemToArray(comparison->list, entry)) {
		cJSON_Delete(entry);
		comparison->failed = true;
	}
}

static void values_recompare(struct comparison *comparison, const char *path,
			     const cJSON *stored, const cJSON *computed);

static void compare_objects(struct comparison *comparison, const char *path,
			    const cJSON *stored, const cJSON *computed)
{
	const cJSON *const objects[] = { computed, stored };
	const cJSON *item;

	for (size_t i = 0; i < 2; i++)
		cJSON_ArrayForEach(item, objects[i]) {
			const char *name = item->string;
			const cJSON *now =
				cJSON_GetObjectItemCaseSensitive(computed,
								 name);
			char inner[PATH_BYTES];

			if (i && now)
				continue;
			snprintf(inner, sizeof(inner), "%s%s%.100s", path,
				 *path ? "." : "", name);
			values_recompare(
				comparison, inner,
				cJSON_GetObjectItemCaseSensitive(stored, name),
				now);
		}
}

static void values_recompare(struct comparison *comparison, const char *path,
			     const cJSON *stored, const cJSON *computed)
{
	if (is_null(stored) && is_null(computed))
		return;
	if (cJSON_IsObject(stored) && cJSON_IsObject(computed)) {
		compare_objects(comparison, path, stored, computed);
		return;
	}
	if (cJSON_IsNumber(stored) && cJSON_IsNumber(computed)) {
		if (!numbers_agree(cJSON_GetNumberValue(stored),
				   cJSON_GetNumberValue(computed)))
			comparison_add_entry(comparison, path, stored,
					     computed);
		return;
	}
	if (!stored || !computed || !cJSON_Compare(stored, computed, true))
		comparison_add_entry(comparison, path, stored, computed);
}

cJSON *recompute_compare(const struct result_info *row,
			 const struct result *computed, const char *rules,
			 struct error *err)
{
	owned(cJSON_Delete) cJSON *list = cJSON_CreateArray();
	owned(cJSON_Delete) cJSON *then = result_tree(row->result, err);
	owned(cJSON_Delete) cJSON *now = result_tree(computed, err);
	struct comparison comparison = {
		.list = list, .row = row, .computed = computed, .rules = rules
	};

	if (!list || !then || !now)
		return error_null(error_nomem(err, "comparison"));
	values_recompare(&comparison, "", then, now);
	return comparison.failed ? error_null(error_nomem(err, "comparison"))
				 : take(list);
}
