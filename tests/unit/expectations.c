/* expectations.c - logs of formats, and what they are to say.
 */
#include "tests/unit/expectations.h"

#include "controller/results/extract_json.h"
#include "controller/results/result.h"
#include "protocol/base/file.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Figures of a record, and what others call them. A view has both names. */
static const struct {
	const char *theirs;
	const char *ours;
	double factor; /* from ours */
} spelled[] = {
	{ "total_steps", "steps", 1 },
	{ "iter_time_s", "iteration_ms", 1e-3 },
	{ "tokens_per_s_reported", "tokens_per_second", 1 },
	{ "samples_per_s_reported", "samples_per_second", 1 },
	{ "tokens_per_s_per_device_reported", "tokens_per_second_per_device",
	  1 },
	{ "steps_per_s_reported", "speed_steps_per_s", 1 },
	{ "steps_per_s_reported", "interval_steps_per_second", 1 },
	{ "loss_lm", "lm_loss", 1 },
	{ "loss_sop", "sop_loss", 1 },
};

/* What a record of an expect file of a format may claim, and of a view. */
static const struct {
	const char *theirs;
	const char *ours;
} figures[] = {
	{ "loss", "loss" },
	{ "iter_time_s", "iter_time_s" },
	{ "tokens_per_s", "tokens_per_s_reported" },
	{ "tokens_per_s_per_device", "tokens_per_s_per_device_reported" },
	{ "samples_per_s", "samples_per_s_reported" },
	{ "samples_per_s_per_device", "samples_per_s_per_device" },
	{ "tflops_per_device", "tflops_per_device_reported" },
	{ "mem_max_allocated_mib", "mem_max_allocated_mib" },
	{ "mem_max_allocated_gib", "mem_max_allocated_gib" },
	{ "mem_max_reserved_gib", "mem_max_reserved_gib" },
	{ "mem_max_active_gib", "mem_max_active_gib" },
	{ "mem_max_gb", "mem_max_gb" },
	{ "mem_reserved_gb", "mem_reserved_gb" },
	{ "mem_used_gb", "mem_used_gb" },
	{ "train_time_s", "train_time_s" },
	{ "samples_seen", "samples_seen" },
};

struct extract_rules *format_rules(const struct catalog *catalog,
				   const char *name)
{
	const struct framework *format = catalog_framework(catalog, name);
	const struct value *logs[CATALOG_LOGS_MAX];
	struct error err = { 0 };
	struct extract_rules *rules = NULL;
	size_t count;

	if (format && catalog_logs(catalog, format, logs, &count, &err) == 0)
		rules = extract_rules_new(logs, count, &err);
	if (!rules)
		printf("# %s: %s\n", name, err.text);
	return rules;
}

void all_formats_load(struct all_formats *all, const struct catalog *catalog)
{
	const struct framework *format;

	for (size_t i = 0; (format = catalog_framework_at(catalog, i)); i++)
		if (format->log && value_get(format->log, "rules")) {
			all->names[all->count] = format->name;
			all->rules[all->count++] =
				format_rules(catalog, format->name);
		}
}

void all_formats_clear(struct all_formats *all)
{
	for (size_t i = 0; i < all->count; i++)
		extract_rules_free(all->rules[i]);
}

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static void respell(cJSON *record)
{
	for (size_t i = 0; i < sizeof(spelled) / sizeof(spelled[0]); i++) {
		const cJSON *item = get(record, spelled[i].ours);

		if (!item || get(record, spelled[i].theirs))
			continue;
		cJSON_AddItemToObject(record, spelled[i].theirs,
				      cJSON_IsNumber(item)
					      ? cJSON_CreateNumber(
							item->valuedouble *
							spelled[i].factor)
					      : cJSON_Duplicate(item, true));
	}
	if (!get(record, "loss"))
		cJSON_AddNullToObject(record, "loss");
}

/* Of the records with this figure: their number, the first, and the last, with
 * its step unless it is the step itself.
 */
static void add_range(cJSON *view, const char *name, const char *figure)
{
	cJSON *range = cJSON_AddObjectToObject(view, name);
	const cJSON *record, *ends[2] = { NULL, NULL };
	int count = 0;

	cJSON_ArrayForEach(record, get(view, "records")) {
		if (cJSON_IsNull(get(record, figure)))
			continue;
		ends[0] = count++ ? ends[0] : record;
		ends[1] = record;
	}
	cJSON_AddNumberToObject(range, "count", count);
	for (int i = 0; i < 2; i++) {
		const cJSON *step = get(ends[i], "step");
		cJSON *end;

		if (!ends[i]) {
			end = cJSON_CreateNull();
		} else if (get(ends[i], figure) == step) {
			end = cJSON_Duplicate(step, true);
		} else {
			end = cJSON_CreateArray();
			cJSON_AddItemToArray(end, cJSON_Duplicate(step, true));
			cJSON_AddItemToArray(end, cJSON_Duplicate(get(ends[i],
								      figure),
								  true));
		}
		cJSON_AddItemToObject(range, i ? "last" : "first", end);
	}
}

static cJSON *json_of(const struct extract *extract,
		      const struct result *result, size_t size)
{
	owned(cJSON_Delete) cJSON *more = cJSON_Parse("{\"more\": true}");
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	cJSON *view;

	extract_print_json(out, extract, "any", result, size, more, NULL);
	fclose(out);
	view = cJSON_Parse(text);
	free(text);
	return view;
}

cJSON *log_view(struct extract_rules *rules, const char *data, size_t size,
		size_t piece)
{
	struct measure_spec measure = { 0 };
	struct extract *extract = extract_new(rules, NULL);
	struct result_input input = { .measure = &measure,
				      .inputs.devices = 1,
				      .extract = extract };
	struct result result;
	cJSON *view, *record;

	for (size_t at = 0; at < size;) {
		size_t n = piece ? piece : (size_t)rand() % 97 + 1;

		n = n < size - at ? n : size - at;
		extract_feed(extract, data + at, n, NULL);
		at += n;
	}
	extract_finish(extract, NULL);
	input.records = extract_records(extract, &input.record_count);
	input.summary = extract_summary(extract);
	result_compute(&input, &result, NULL);
	view = json_of(extract, &result, size);
	result_clear(&result);
	cJSON_ArrayForEach(record, get(view, "records"))
		respell(record);
	cJSON_DeleteItemFromObjectCaseSensitive(view, "steps");
	add_range(view, "steps", "step");
	add_range(view, "loss", "loss");
	extract_free(extract);
	return view;
}

static bool near(const cJSON *got, const cJSON *want)
{
	if (cJSON_IsNumber(want))
		return cJSON_IsNumber(got) &&
		       fabs(got->valuedouble - want->valuedouble) <=
			       1e-6 * fabs(want->valuedouble);
	return !got || cJSON_IsNull(got);
}

static bool same_figure(const char *what, double step, const cJSON *got,
			const cJSON *want, bool tell)
{
	if (near(got, want))
		return true;
	if (tell)
		printf("# step %g: %s: got %s%g, want %g\n", step, what,
		       got ? "" : "none, ", got ? got->valuedouble : NAN,
		       want->valuedouble);
	return false;
}

/* Figures that are read under another name, for they are not what they seem. */
static bool is_other(const char *family, const char *figure)
{
	static const char *const others[][2] = {
		/* The time of one micro batch, not of a step. */
		{ "litgpt", "iter_time_s" },
		/* A running mean over a clock that began anew. */
		{ "nanogpt-speedrun (tokens/sec)", "tokens_per_s" },
		/* Ranks over the time of a step: no sequences. */
		{ "wordplay (nanoGPT derivative)", "samples_per_s" },
	};

	for (size_t i = 0; family && i < sizeof(others) / sizeof(others[0]);
	     i++)
		if (!strcmp(others[i][0], family) &&
		    !strcmp(others[i][1], figure))
			return true;
	return false;
}

static const cJSON *record_of(const cJSON *view, double step)
{
	const cJSON *record, *number;

	cJSON_ArrayForEach(record, get(view, "records")) {
		number = get(record, "step");
		if (number && number->valuedouble == step)
			return record;
	}
	return NULL;
}

static bool same_record(const cJSON *view, const cJSON *want,
			const char *family, bool tell)
{
	const cJSON *step = get(want, "step");
	const cJSON *got;
	bool good = true;

	if (!cJSON_IsNumber(step))
		return true;
	got = record_of(view, step->valuedouble);
	if (!got) {
		if (tell)
			printf("# no step %g\n", step->valuedouble);
		return false;
	}
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		const cJSON *figure = get(want, figures[i].theirs);

		if (figure && !is_other(family, figures[i].theirs))
			good &= same_figure(figures[i].theirs,
					    step->valuedouble,
					    get(got, figures[i].ours), figure,
					    tell);
	}
	return good;
}

/* {"count": 3, "first": 1, "last": 30}, of which null claims nothing. */
static bool same_range(const cJSON *view, const cJSON *expect, const char *what,
		       bool tell)
{
	static const char *const names[] = { "count", "first", "last" };
	const cJSON *range = get(expect, what);
	bool good = true;

	if (cJSON_IsNull(get(range, "first")))
		return true;
	for (size_t i = 0; i < 3; i++) {
		const cJSON *want = get(range, names[i]);
		const cJSON *got = get(get(view, what), names[i]);

		if (cJSON_IsArray(want)) {
			if (cJSON_IsNull(cJSON_GetArrayItem(want, 0)))
				continue;
			want = cJSON_GetArrayItem(want, 1);
			got = cJSON_GetArrayItem(got, 1);
		}
		if (want)
			good &= same_figure(what, (double)i, got, want, tell);
	}
	return good;
}

/* Of several records of a step the last one counts. */
static bool comes_again(const cJSON *record)
{
	for (const cJSON *next = record->next; next; next = next->next)
		if (cJSON_IsNumber(get(next, "step")) &&
		    near(get(next, "step"), get(record, "step")))
			return true;
	return false;
}

bool expectation_met(const cJSON *view, const cJSON *expect, bool tell)
{
	const char *family = cJSON_GetStringValue(get(expect, "family"));
	bool good = same_range(view, expect, "steps", tell);
	const cJSON *want;

	/* A loss for each micro batch, of which a step keeps the last. */
	if (!get(get(expect, "loss"), "rule"))
		good &= same_range(view, expect, "loss", tell);
	cJSON_ArrayForEach(want, get(expect, "records"))
		if (!comes_again(want))
			good &= same_record(view, want, family, tell);
	return good;
}

cJSON *expectation_read(const char *path)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);

	if (file_read(AT_FDCWD, path, &text, NULL) < 0 ||
	    buffer_text(&text, "", NULL) < 0)
		return NULL;
	return cJSON_ParseWithLength(text.data, text.size);
}
