/* expectations.c - logs of formats, and what they are to say.
 */
#include "tests/unit/expectations.h"

#include "controller/results/document/document.h"
#include "protocol/base/file.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Figures of a record that others call as we do, or otherwise. */
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

cJSON *format_read(struct extract_rules *rules, const struct buffer *log)
{
	struct context context;
	struct extract *extract = extract_new(rules, NULL);
	struct sections *sections = sections_new(NULL);
	const struct derive_input input = { extract, sections, &context };
	struct log_bytes bytes = { 0 };
	cJSON *json;

	context_init(&context);
	sections_listen(sections, extract);
	extract_feed(extract, log->data, log->size, NULL);
	extract_finish(extract, NULL);
	json = log_document(&input, &bytes, NULL);
	sections_free(sections);
	extract_free(extract);
	return json;
}

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
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

static const cJSON *record_of(const cJSON *document, double step)
{
	const cJSON *record;

	cJSON_ArrayForEach(record, get(document, "records"))
	{
		if (get(record, "step")->valuedouble == step)
			return record;
	}
	return NULL;
}

static bool same_record(const cJSON *document, const cJSON *want,
			const char *family, bool tell)
{
	const cJSON *step = get(want, "step");
	const cJSON *got;
	bool good = true;

	if (!cJSON_IsNumber(step))
		return true;
	got = record_of(document, step->valuedouble);
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
static bool same_range(const cJSON *document, const cJSON *expect,
		       const char *what, bool tell)
{
	static const char *const names[] = { "count", "first", "last" };
	const cJSON *range = get(expect, what);
	bool good = true;

	if (cJSON_IsNull(get(range, "first")))
		return true;
	for (size_t i = 0; i < 3; i++) {
		const cJSON *want = get(range, names[i]);
		const cJSON *got = get(get(document, what), names[i]);

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

bool expectation_met(const cJSON *document, const cJSON *expect, bool tell)
{
	const char *family = cJSON_GetStringValue(get(expect, "family"));
	bool good = same_range(document, expect, "steps", tell);
	const cJSON *want;

	/* A loss for each micro batch, of which a step keeps the last. */
	if (!get(get(expect, "loss"), "rule"))
		good &= same_range(document, expect, "loss", tell);
	cJSON_ArrayForEach(want, get(expect, "records"))
	{
		if (!comes_again(want))
			good &= same_record(document, want, family, tell);
	}
	return good;
}

cJSON *expectation_read(const char *path)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, 1 << 20);
	if (file_read(AT_FDCWD, path, &text, NULL) < 0 ||
	    buffer_text(&text, "", NULL) < 0)
		return NULL;
	return cJSON_ParseWithLength(text.data, text.size);
}
