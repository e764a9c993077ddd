/* recompute.c - a stored result against what its log gives now.
 */
#include "controller/results/recompute.h"

#include "controller/results/inputs.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SAME 1e-9 /* relative */
#define PATH_BYTES 200
#define DEPTH_MAX                                                              \
	16 /* of objects in a result, which may be a person's file             \
	    */

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Takes the item; false when memory ran out. */
static bool put(cJSON *object, const char *name, cJSON *item)
{
	if (item && cJSON_AddItemToObject(object, name, item))
		return true;
	cJSON_Delete(item);
	return false;
}

int recompute_measure(const cJSON *row, struct measure_spec *measure,
		      struct error *err)
{
	const cJSON *setup = get(row, "setup");
	cJSON *known = cJSON_CreateObject();
	bool whole = known;
	int rc;

	/* The setup holds more than this. */
	for (size_t i = 0; whole && i < measure_spec_schema.count; i++) {
		const char *name = measure_spec_schema.fields[i].name;
		const cJSON *item = get(setup, name);

		if (item && !cJSON_IsNull(item))
			whole = put(known, name, cJSON_Duplicate(item, true));
	}
	if (!whole) {
		cJSON_Delete(known);
		return error_nomem(err, "result");
	}
	rc = codec_from_object(&measure_spec_schema, known, measure, err);
	cJSON_Delete(known);
	return rc < 0 ? error_prefix(err, "setup") : 0;
}

cJSON *recompute_result(const cJSON *row, const struct measure_spec *measure,
			const struct extract *extract,
			const struct result_input *figures, struct error *err)
{
	const cJSON *devices = get(row, "devices");
	const cJSON *usage = get(get(row, "result"), "usage");
	struct result_input input = {
		.measure = measure,
		.devices = cJSON_IsNumber(devices) && devices->valuedouble >= 1
				   ? (uint64_t)devices->valuedouble
				   : 1,
		.summary = extract_summary(extract),
		.extract = extract,
		.usage = cJSON_IsObject(usage) ? usage : NULL,
	};

	input.records = extract_records(extract, &input.record_count);
	inputs_read(get(get(row, "result"), "inputs"), &input);
	input.flops = figures->flops;
	input.peak_flops = figures->peak_flops;
	input.chip_memory_bytes = figures->chip_memory_bytes;
	return result_new(&input, err);
}

struct comparison {
	cJSON *list;
	bool failed;
};

static void note(struct comparison *comparison, const char *path,
		 const cJSON *stored, const cJSON *computed)
{
	cJSON *entry = cJSON_CreateObject();

	if (!entry || !cJSON_AddStringToObject(entry, "field", path) ||
	    !put(entry, "stored",
		 stored ? cJSON_Duplicate(stored, true) : cJSON_CreateNull()) ||
	    !put(entry, "computed",
		 computed ? cJSON_Duplicate(computed, true)
			  : cJSON_CreateNull()) ||
	    !cJSON_AddItemToArray(comparison->list, entry)) {
		cJSON_Delete(entry);
		comparison->failed = true;
	}
}

static bool is_null(const cJSON *item)
{
	return !item || cJSON_IsNull(item);
}

static bool same_number(double a, double b)
{
	return fabs(a - b) <= SAME * fmax(fabs(a), fabs(b));
}

static void compare(struct comparison *comparison, const char *path,
		    const cJSON *stored, const cJSON *computed, int depth);

static void compare_member(struct comparison *comparison, const char *path,
			   const cJSON *stored, const cJSON *computed,
			   const char *name, int depth)
{
	char inner[PATH_BYTES];

	snprintf(inner, sizeof(inner), "%s%s%.100s", path, *path ? "." : "",
		 name);
	compare(comparison, inner, get(stored, name), get(computed, name),
		depth + 1);
}

static void compare_objects(struct comparison *comparison, const char *path,
			    const cJSON *stored, const cJSON *computed,
			    int depth)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, computed)
	{
		compare_member(comparison, path, stored, computed, item->string,
			       depth);
	}
	cJSON_ArrayForEach(item, stored)
	{
		if (!get(computed, item->string))
			compare_member(comparison, path, stored, computed,
				       item->string, depth);
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
		if (!same_number(stored->valuedouble, computed->valuedouble))
			note(comparison, path, stored, computed);
		return;
	}
	if (!stored || !computed || !cJSON_Compare(stored, computed, true))
		note(comparison, path, stored, computed);
}

cJSON *recompute_compare(const cJSON *stored, const cJSON *computed,
			 struct error *err)
{
	struct comparison comparison = { .list = cJSON_CreateArray() };

	if (comparison.list) {
		compare(&comparison, "", stored, computed, 0);
		if (!comparison.failed)
			return comparison.list;
	}
	cJSON_Delete(comparison.list);
	error_nomem(err, "comparison");
	return NULL;
}

#define REASONS_TEXT 480 /* bytes */
#define UNKNOWN_REASON                                                         \
	"rules, formulas and chip are unchanged; the log or the program that " \
	"reads it has changed"

/* What figures follow from beside the log, as it stands in a result. */
static const struct {
	const char *inputs; /* the object that has it; NULL: the result */
	const char *name;
	const char *said;
	/* how fields begin that follow from it; NULL: all but inputs */
	const char *moves[4];
} origins[] = {
	{ NULL, "formula", "the version of the formulas", { NULL } },
	{ "inputs",
	  "peak_flops",
	  "the chip's peak",
	  { "mfu", "hfu", "flags", "metric" } },
	{ "inputs",
	  "chip_memory_bytes",
	  "the chip's memory",
	  { "chip_memory", "flags" } },
	{ "inputs", "factor", "the model's k", { "mfu", "hfu", "flags" } },
	{ "inputs",
	  "parameters",
	  "the model's parameters",
	  { "mfu", "hfu", "flags" } },
	{ "inputs", "layers", "the model's layers", { "mfu", "hfu", "flags" } },
	{ "inputs",
	  "hidden",
	  "the model's hidden size",
	  { "mfu", "hfu", "flags" } },
};

/* Whether the field may follow from what a list names; an input follows from
 * itself alone.
 */
static bool may_move(const char *field, const char *const moves[4],
		     const char *name)
{
	if (!strncmp(field, "inputs.", 7))
		return name && !strcmp(field + 7, name);
	for (size_t i = 0; i < 4 && moves[i]; i++)
		if (!strncmp(field, moves[i], strlen(moves[i])))
			return true;
	return !moves[0];
}

static double origin(const cJSON *result, size_t i)
{
	return cJSON_GetNumberValue(
		get(origins[i].inputs ? get(result, origins[i].inputs) : result,
		    origins[i].name));
}

__attribute__((format(printf, 2, 3))) static void
add_reason(char *text, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	if (used)
		used += (size_t)snprintf(text + used, REASONS_TEXT - used,
					 "; ");
	if (used >= REASONS_TEXT)
		return;
	va_start(args, fmt);
	vsnprintf(text + used, REASONS_TEXT - used, fmt, args);
	va_end(args);
}

/* What the field of the computed result was computed with, and the row's was
 * not; "" where nothing of it is known.
 */
static void find_reasons(const cJSON *row, const cJSON *computed,
			 const char *rules, const char *field,
			 char text[REASONS_TEXT])
{
	static const char *const all[4] = { NULL };
	const cJSON *stored = get(row, "result");
	const char *before =
		cJSON_GetStringValue(get(get(row, "provenance"), "rules"));

	*text = 0;
	if (before && *before && strcmp(before, rules) != 0 &&
	    may_move(field, all, NULL))
		add_reason(text, "other rules (%.12s, now %.12s)", before,
			   rules);
	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
		double then = origin(stored, i), now = origin(computed, i);

		if (isfinite(then) && isfinite(now) &&
		    !same_number(then, now) &&
		    may_move(field, origins[i].moves, origins[i].name))
			add_reason(text, "%s (%g, now %g)", origins[i].said,
				   then, now);
	}
}

int recompute_explain(cJSON *differences, const cJSON *row,
		      const cJSON *computed, const char *rules,
		      struct error *err)
{
	char text[REASONS_TEXT];
	cJSON *entry;

	cJSON_ArrayForEach(entry, differences)
	{
		find_reasons(row, computed, rules,
			     cJSON_GetStringValue(get(entry, "field")), text);
		if (!cJSON_AddStringToObject(entry, "reason",
					     *text ? text : UNKNOWN_REASON))
			return error_nomem(err, "comparison");
	}
	return 0;
}
