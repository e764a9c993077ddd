/* recompute.c - computes a stored result again from its log, and compares.
 */
#include "controller/results/recompute.h"

#include "controller/results/inputs.h"
#include "controller/results/json_object.h"
#include "protocol/base/strings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAME 1e-9 /* relative */
#define PATH_BYTES 200
#define DEPTH_MAX                                                              \
	16 /* of objects in a result, which may be a person's file             \
	    */

static bool is_null(const cJSON *item)
{
	return !item || cJSON_IsNull(item);
}

int recompute_measure(const cJSON *row, struct measure_spec *measure,
		      struct error *err)
{
	const cJSON *setup = row_at(row, "setup");
	cJSON *known = cJSON_CreateObject();
	bool failed = !known;
	int rc;

	/* The setup has other members, too. */
	for (size_t i = 0; i < measure_spec_schema.count; i++) {
		const char *name = measure_spec_schema.fields[i].name;
		const cJSON *item =
			cJSON_GetObjectItemCaseSensitive(setup, name);

		if (!is_null(item))
			json_add_copy(known, name, item, &failed);
	}
	rc = failed ? error_nomem(err, "result")
		    : codec_from_object(&measure_spec_schema, known, measure,
					err);
	cJSON_Delete(known);
	return rc < 0 && !failed ? error_prefix(err, "setup") : rc;
}

cJSON *recompute_result(const cJSON *row, const struct measure_spec *measure,
			const struct extract *extract,
			const struct result_input *figures, struct error *err)
{
	const cJSON *usage = row_at(row, "result.usage");
	struct result_input input = {
		.measure = measure,
		.devices = (uint64_t)fmax(number_at(row, "devices"), 1),
		.summary = extract_summary(extract),
		.extract = extract,
		.usage = cJSON_IsObject(usage) ? usage : NULL,
	};

	input.records = extract_records(extract, &input.record_count);
	inputs_read(row_at(row, "result.inputs"), &input);
	input.flops = figures->flops;
	input.peak_flops = figures->peak_flops;
	input.chip_memory_bytes = figures->chip_memory_bytes;
	return result_new(&input, err);
}

struct comparison {
	cJSON *list;
	bool failed;
};

static void add_difference(struct comparison *comparison, const char *path,
			   const cJSON *stored, const cJSON *computed)
{
	cJSON *entry = cJSON_CreateObject();

	json_add_text(entry, "field", path, &comparison->failed);
	json_add_copy(entry, "stored", stored, &comparison->failed);
	json_add_copy(entry, "computed", computed, &comparison->failed);
	json_add(comparison->list, NULL, entry, &comparison->failed);
}

static bool same_number(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

static void compare(struct comparison *comparison, const char *path,
		    const cJSON *stored, const cJSON *computed, int depth);

static void compare_objects(struct comparison *comparison, const char *path,
			    const cJSON *stored, const cJSON *computed,
			    int depth)
{
	const cJSON *const objects[] = { computed, stored };
	const cJSON *item;

	for (size_t i = 0; i < 2; i++)
		cJSON_ArrayForEach(item, objects[i])
		{
			const char *name = item->string;
			const cJSON *now =
				cJSON_GetObjectItemCaseSensitive(computed,
								 name);
			char inner[PATH_BYTES];

			if (i && now)
				continue;
			snprintf(inner, sizeof(inner), "%s%s%.100s", path,
				 *path ? "." : "", name);
			compare(comparison, inner,
				cJSON_GetObjectItemCaseSensitive(stored, name),
				now, depth + 1);
		}
}

static void compare(struct comparison *comparison, const char *path,
		    const cJSON *stored, const cJSON *computed, int depth)
{
	if (is_null(stored) && is_null(computed))
		return;
	if (cJSON_IsObject(stored) && cJSON_IsObject(computed) &&
	    depth < DEPTH_MAX) {
		compare_objects(comparison, path, stored, computed, depth);
		return;
	}
	if (cJSON_IsNumber(stored) && cJSON_IsNumber(computed)) {
		if (!same_number(cJSON_GetNumberValue(stored),
				 cJSON_GetNumberValue(computed)))
			add_difference(comparison, path, stored, computed);
		return;
	}
	if (!stored || !computed || !cJSON_Compare(stored, computed, true))
		add_difference(comparison, path, stored, computed);
}

cJSON *recompute_compare(const cJSON *stored, const cJSON *computed,
			 struct error *err)
{
	struct comparison comparison = { .list = cJSON_CreateArray() };

	compare(&comparison, "", stored, computed, 0);
	if (comparison.list && !comparison.failed)
		return comparison.list;
	cJSON_Delete(comparison.list);
	return error_null(error_nomem(err, "comparison"));
}

#define REASONS_TEXT 480 /* bytes */
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
} origins[] = {
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
static void find_reasons(const cJSON *row, const cJSON *computed,
			 const char *rules, const char *field,
			 char text[REASONS_TEXT])
{
	static const char *const all[4] = { NULL };
	const char *before = row_text(row, "provenance.rules");

	*text = 0;
	if (before && *before && strcmp(before, rules) != 0 &&
	    may_move(field, all, ""))
		text_append(text, REASONS_TEXT, "log rules (%.12s, now %.12s)",
			    before, rules);
	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		const char *path = origins[i].path;
		double then = row_double(row_at(row, "result"), path);
		double now = row_double(computed, path);

		if (isfinite(then) && isfinite(now) &&
		    !same_number(then, now) &&
		    may_move(field, origins[i].moves, path))
			text_append(text, REASONS_TEXT, "%s%s (%g, now %g)",
				    *text ? "; " : "", origins[i].said, then,
				    now);
	}
}

int recompute_explain(cJSON *differences, const cJSON *row,
		      const cJSON *computed, const char *rules,
		      struct error *err)
{
	char text[REASONS_TEXT];
	bool failed = false;
	cJSON *entry;

	cJSON_ArrayForEach(entry, differences)
	{
		find_reasons(row, computed, rules, row_text(entry, "field"),
			     text);
		json_add_text(entry, "reason", *text ? text : UNKNOWN_REASON,
			      &failed);
	}
	return failed ? error_nomem(err, "comparison") : 0;
}
