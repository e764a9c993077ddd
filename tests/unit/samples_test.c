/* samples_test.c - every sample log says what its expect file claims.
 *
 * tests/samples/log-variants/ are made up: formats, versions, restarts, NaN,
 * ranks, escapes and cuts. Recorded logs of others are read where there are
 * some (recordings.h, training-logs/), with expectations computed without any
 * extractor.
 */
#include "controller/catalog/catalog.h"
#include "controller/results/formula.h"
#include "controller/results/rules/rule.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/expectations.h"
#include "tests/unit/recordings.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>

#define MADE_UP "tests/samples/log-variants"

/* Whose log it is, by the start of the sample's name: the longest counts. */
static const struct {
	const char *start;
	const char *framework;
} families[] = {
	{ "base-", "base" },
	{ "deepspeed-", "deepspeed" },
	{ "flagscale-", "flagscale_2409" },
	{ "hf-", "deepspeed-torch" },
	{ "megatron-", "megatron" },
	{ "megatron-bridge-", "megatron_core060" },
	{ "megatron-deepspeed-", "megatron-deepspeed" },
	{ "mindspore-", "mindspore" },
	{ "operation-", "operation" },
	{ "paddle", "paddle_2.5.1" },
	{ "perflog-", "pytorch_1.13" },
	{ "tf2-", "tensorflow2" },
};

/* Claims that are not compared, and why: the place, and what is below it. */
static const struct {
	const char *sample;
	const char *path;
} unread[] = {
	/* Its dicts name no step; between those of the engine it would be a
	 * guess to which one each belongs.
	 */
	{ "deepspeed-hf-wrapped", "loss" },
	/* The losses are of micro batches: a step keeps the last one. */
	{ "deepspeed-flagperf-baichuan2.synthetic", "steps" },
	{ "deepspeed-flagperf-baichuan2.synthetic", "loss" },
	{ "deepspeed-mooer", "loss" },
	/* One line of GPT-NeoX: the framework megatron reads those. */
	{ "deepspeed-versions-truncated.synthetic", "loss" },
	/* Steps that only a bar has are no records. */
	{ "hf-deepspeed-gpt2-tqdm", "steps" },
	/* The clock of its last dict, not of its closing block. */
	{ "hf-deepspeed-gpt2-tqdm", "derived.mean_iter_time_s" },
	{ "hf-tqdm-cr-nan.synthetic", "steps" },
	/* The Trainer prints 0 for NaN, beside a gradient that is none. */
	{ "hf-tqdm-cr-nan.synthetic", "loss.values" },
	/* Of eight ranks' results the last is read, not the first. */
	{ "hf-tqdm-cr-nan.synthetic", "train_result" },
	{ "hf-tqdm-cr-nan.synthetic", "derived" },
	/* Records have the step of the run, and the time of one. */
	{ "mindspore-resnet-lossmonitor", "records.step_in_epoch" },
	{ "mindspore-resnet-lossmonitor", "records.epoch_time_s" },
	/* It has no end, so that its last number may be cut. */
	{ "paddle-ansi-1mb-nonutf8.synthetic", "records.5" },
};

static struct catalog *catalog;

struct text {
	char *data;
	size_t size;
};

/* What is read, and with what. */
struct sample {
	char name[128];
	struct text log;
	cJSON *expect;
	struct extract_rules *rules;
};

static const cJSON *get(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* NaN: none. */
static double number_of(const cJSON *object, const char *name)
{
	return cJSON_GetNumberValue(get(object, name));
}

static bool is_listed(const char *const *list, const char *name)
{
	while (*list && strcmp(*list, name) != 0)
		list++;
	return *list;
}

static const char *framework_of(const struct sample *sample)
{
	const char *named = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(sample->expect, "framework"));
	size_t longest = 0;
	const char *found = named;

	for (size_t i = 0; !named && i < sizeof(families) / sizeof(*families);
	     i++) {
		size_t size = strlen(families[i].start);

		if (size > longest &&
		    !strncmp(sample->name, families[i].start, size)) {
			longest = size;
			found = families[i].framework;
		}
	}
	return found;
}

static struct extract_rules *rules_for(const char *framework)
{
	const struct framework *found = catalog_framework(catalog, framework);
	const struct value *logs[CATALOG_LOGS_MAX];
	struct error err = { 0 };
	struct extract_rules *rules = NULL;
	size_t count;

	if (found && catalog_logs(catalog, found, logs, &count, &err) == 0)
		rules = extract_rules_new(logs, count, &err);
	ok(rules != NULL, "rules of %s %s", framework, err.text);
	return rules;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

static bool is_unread(const struct sample *sample, const char *path)
{
	for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
		if (!strcmp(unread[i].sample, sample->name) &&
		    !strcmp(unread[i].path, path))
			return true;
	return false;
}

/* Have the records these values, in order? A value, or [step, value]. */
static bool listed(const cJSON *got, const cJSON *values, const char *name)
{
	const cJSON *record = got->child, *want;
	bool good = true;

	cJSON_ArrayForEach(want, values)
	{
		const cJSON *first = cJSON_GetArrayItem(want, 0);
		const cJSON *value = first ? first->next : want;

		while (record &&
		       cJSON_IsNull(
			       cJSON_GetObjectItemCaseSensitive(record, name)))
			record = record->next;
		good &= record &&
			(!first ||
			 first->valuedouble ==
				 cJSON_GetObjectItemCaseSensitive(record,
								  "step")
					 ->valuedouble) &&
			(!value ||
			 cJSON_Compare(cJSON_GetObjectItemCaseSensitive(record,
									name),
				       value, true));
		record = record ? record->next : NULL;
	}
	return good;
}

static void tell_difference(const char *path, const cJSON *got,
			    const cJSON *want)
{
	char *text[2] = { cJSON_PrintUnformatted(got),
			  cJSON_PrintUnformatted(want) };

	printf("# %s: %s instead of %s\n", path, text[0] ? text[0] : "nothing",
	       text[1]);
	cJSON_free(text[0]);
	cJSON_free(text[1]);
}

/* Is it the same value? A number with the digits that are claimed. */
static bool same_value(const char *path, const cJSON *got, const cJSON *want)
{
	const cJSON *item;
	bool good = true;
	int i = 0;

	if (cJSON_IsNull(want)) {
		good = !got || cJSON_IsNull(got);
	} else if (cJSON_IsNumber(want)) {
		good = cJSON_IsNumber(got) &&
		       near(got->valuedouble, want->valuedouble);
	} else if (cJSON_IsArray(want)) {
		cJSON_ArrayForEach(item, want)
		{
			good &= same_value(path, cJSON_GetArrayItem(got, i++),
					   item);
		}
		return good;
	} else {
		good = got && cJSON_Compare(got, want, true);
	}
	if (!good)
		tell_difference(path, got, want);
	return good;
}

/* Has `got` every member that want claims, of those listed (NULL: all)? */
static bool has_members(const struct sample *sample, const char *place,
			const cJSON *got, const cJSON *want,
			const char *const *list)
{
	const cJSON *item;
	bool good = true;

	if (is_unread(sample, place))
		return true;
	cJSON_ArrayForEach(item, want)
	{
		char path[256];

		snprintf(path, sizeof(path), "%s.%s", place, item->string);
		if ((!list || is_listed(list, item->string)) &&
		    !is_unread(sample, path))
			good &= same_value(path, get(got, item->string), item);
	}
	return good;
}

static bool same_records(const struct sample *sample, const cJSON *view)
{
	const cJSON *got = get(view, "records"), *item;
	bool good = true;
	int i = 0;

	cJSON_ArrayForEach(item, get(sample->expect, "records"))
	{
		char path[32];

		snprintf(path, sizeof(path), "records.%d", i);
		if (is_unread(sample, path))
			continue;
		good &= has_members(sample, "records",
				    cJSON_GetArrayItem(got, i++), item, NULL);
	}
	if (!i || i == cJSON_GetArraySize(got))
		return good;
	printf("# %d records instead of %d\n", cJSON_GetArraySize(got), i);
	return false;
}

static bool same_ranges(const struct sample *sample, const cJSON *view)
{
	static const char *const keys[] = { "count", "first", "last", NULL };
	static const char *const lists[][2] = { { "steps", "step" },
						{ "loss", "loss" } };
	bool good = true;

	for (size_t i = 0; i < 2; i++) {
		const cJSON *want = get(sample->expect, lists[i][0]);
		const cJSON *values = get(want, "values");

		good &= has_members(sample, lists[i][0], get(view, lists[i][0]),
				    want, keys);
		if (values && !is_unread(sample, lists[i][0]) &&
		    !is_unread(sample, "loss.values") &&
		    !listed(get(view, "records"), values, lists[i][1])) {
			printf("# the values of %s\n", lists[i][0]);
			good = false;
		}
	}
	return good;
}

/* The most memory that any line reports. */
static bool same_memory(const struct sample *sample, const cJSON *view)
{
	/* Megatron-Bridge's GB are GiB. */
	static const struct {
		const char *name;
		double mib;
	} units[] = {
		{ "max_mib", 1 },
		{ "max_gib", 1024 },
		{ "max_allocated_mib", 1 },
		{ "max_allocated_gib", 1024 },
		{ "max_allocated_gb", 1024 },
	};
	double got = number_of(get(view, "result"), "memory_mib");
	bool good = true;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double want = number_of(get(sample->expect, "memory"),
					units[i].name) *
			      units[i].mib;

		if (isnan(want) || near(got, want))
			continue;
		printf("# memory: %g MiB instead of %g\n", got, want);
		good = false;
	}
	return good;
}

/* What the program printed at its end is a metric. */
static bool same_metrics(const struct sample *sample, const cJSON *view)
{
	static const char *const sections[] = { "finished", "summary_printed",
						"train_result", "metrics" };
	const cJSON *item;
	bool good = true;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		cJSON_ArrayForEach(item, get(sample->expect, sections[i]))
		{
			const cJSON *got =
				get(get(view, "metrics"), item->string);

			if (!got)
				got = get(get(view, "result"), item->string);
			if (cJSON_IsNumber(item) &&
			    !is_unread(sample, sections[i]))
				good &= same_value(item->string, got, item);
		}
	return good;
}

/* The mean of a metric over all results of its first unit. */
static double mean_of(const cJSON *results, const cJSON *first)
{
	const cJSON *one;
	double sum = 0;
	int count = 0;

	cJSON_ArrayForEach(one, results)
	{
		if (get(one, "whole_card_of_2_chips") ||
		    !cJSON_Compare(get(one, "metric"), get(first, "metric"),
				   true) ||
		    !cJSON_Compare(get(one, "unit"), get(first, "unit"), true))
			continue;
		sum += number_of(one, "value");
		count++;
	}
	return sum / count;
}

/* A suite's results: of each metric the mean is kept, of other figures the
 * last.
 */
static bool same_results(const struct sample *sample, const cJSON *view)
{
	const cJSON *results = get(sample->expect, "results"), *one, *item;
	cJSON *want = cJSON_CreateObject();
	bool good;

	cJSON_ArrayForEach(one, results)
	{
		double mean = mean_of(results, one);
		const char *name = cJSON_GetStringValue(get(one, "metric"));

		if (name && isfinite(mean) && !get(want, name))
			cJSON_AddNumberToObject(want, name, mean);
		cJSON_ArrayForEach(item, one)
		{
			if (name || !cJSON_IsNumber(item))
				continue;
			cJSON_DeleteItemFromObjectCaseSensitive(want,
								item->string);
			cJSON_AddNumberToObject(want, item->string,
						item->valuedouble);
		}
	}
	good = has_members(sample, "results", get(view, "metrics"), want, NULL);
	cJSON_Delete(want);
	return good;
}

/* Rates of the run: over its steps, or as the program printed them. */

/* Samples per second of TimeHistory's intervals from a step on. */
static double interval_rate(const cJSON *records, double warmup, double batch)
{
	double steps = 0, seconds = 0;
	const cJSON *record;

	cJSON_ArrayForEach(record, records)
	{
		double from = number_of(record, "from_step");

		if (!(from >= warmup))
			continue;
		steps += number_of(record, "step") - from;
		seconds += number_of(record, "interval_s");
	}
	return steps * batch / seconds;
}

/* Samples per second as printed for the whole run; NaN: not printed. */
static double printed_rate(const cJSON *view)
{
	static const char *const names[] = { "training_sequences_per_second",
					     "train_samples_per_second" };
	double rate = NAN;
	const cJSON *record;

	for (size_t i = 0; i < 2 && isnan(rate); i++)
		rate = number_of(get(view, "metrics"), names[i]);
	if (!isnan(rate))
		return rate;
	/* DeepSpeed prints its running average. */
	cJSON_ArrayForEach(record, get(view, "records"))
	{
		double last = number_of(record, "samples_per_s_running_avg");

		rate = isfinite(last) ? last : rate;
	}
	return rate;
}

/* The mean time of a step: of those after a warm-up that is claimed, of the
 * steady state, or of all that a Trainer made.
 */
static void add_mean(cJSON *to, const cJSON *view, const cJSON *claim,
		     const cJSON *context)
{
	const cJSON *steady = get(get(view, "result"), "iteration_ms"), *record;
	double steps = number_of(claim, "warmup_steps"), sum = 0;
	double skip = number_of(claim, "warmup_records");
	double runtime = number_of(get(view, "metrics"), "train_runtime_s");
	int count = 0;

	if (isnan(steps))
		steps = number_of(context, "warmup_steps");
	cJSON_ArrayForEach(record, get(view, "records"))
	{
		double time = number_of(record, "iter_time_s");

		if (!(time > 0) || number_of(record, "step") <= steps ||
		    skip-- > 0)
			continue;
		sum += time;
		count++;
	}
	sum /= count;
	if (isnan(steps) && !get(claim, "warmup_records")) {
		count = (int)number_of(steady, "n");
		sum = number_of(steady, "mean") / 1000;
		if (runtime > 0)
			sum = runtime / number_of(context, "total_steps");
	}
	cJSON_AddNumberToObject(to, "timed_records", count);
	if (isfinite(sum))
		cJSON_AddNumberToObject(to, "mean_iter_time_s", sum);
}

static void add_rates(cJSON *to, double samples, const cJSON *context)
{
	double devices = number_of(context, "world_size");
	struct flops flops = {
		.factor = formula_stage("pretrain"),
		.parameters = number_of(context, "n_params"),
		.layers = (uint32_t)fmax(number_of(context, "layers"), 0),
		.hidden = (uint32_t)fmax(number_of(context, "hidden"), 0),
		.sequence = (uint32_t)fmax(number_of(context, "seq_length"), 0),
	};
	double tokens = formula_tokens_from_samples(samples, flops.sequence);
	double each = formula_per_device(tokens, (uint64_t)fmax(devices, 0));
	double peak = number_of(context, "peak_flops_per_device");

	cJSON_AddNumberToObject(to, "samples_per_s", samples);
	cJSON_AddNumberToObject(to, "tokens_per_s", tokens);
	cJSON_AddNumberToObject(to, "tokens_per_s_per_device", each);
	for (int f = 0; f < FORMULAS; f++)
		cJSON_AddNumberToObject(
			to, f == FORMULA_6N ? "mfu_6n" : "mfu_palm",
			formula_utilisation(each, formula_flops(f, &flops),
					    peak));
}

static cJSON *derive(const struct sample *sample, const cJSON *view,
		     const cJSON *claim)
{
	const cJSON *context = get(sample->expect, "context");
	double batch = number_of(context, "global_batch");
	double rate = interval_rate(get(view, "records"),
				    number_of(claim, "warmup_steps"), batch);
	cJSON *to = cJSON_CreateObject();

	add_mean(to, view, claim, context);
	if (isnan(rate) && !get(claim, "timed_records"))
		rate = printed_rate(view);
	if (isnan(rate))
		rate = batch / number_of(to, "mean_iter_time_s");
	if (isnan(rate))
		rate = number_of(get(view, "result"), "samples_per_second");
	add_rates(to, rate, context);
	return to;
}

static bool same_rates(const struct sample *sample, const cJSON *view)
{
	static const char *const keys[] = {
		"timed_records",
		"mean_iter_time_s",
		"samples_per_s",
		"tokens_per_s",
		"mfu_6n",
		"mfu_palm",
		"tokens_per_s_per_device",
		NULL,
	};
	const cJSON *all = get(sample->expect, "derived");
	const cJSON *const claims[] = {
		all,
		get(all, "after_warmup"),
		get(all, "all_intervals"),
		get(sample->expect, "derived_warmup_0"),
		get(sample->expect, "derived_warmup_1"),
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		cJSON *got = derive(sample, view, claims[i]);

		good &= has_members(sample, "derived", got, claims[i], keys);
		cJSON_Delete(got);
	}
	return good;
}

/* Values that a careless rule would take for a metric. */
static bool kept_out(const cJSON *got, const cJSON *list)
{
	const cJSON *one, *record;
	bool good = true;

	cJSON_ArrayForEach(one, list)
	{
		const char *metric = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(one, "metric"));
		const cJSON *value =
			cJSON_GetObjectItemCaseSensitive(one, "value");

		cJSON_ArrayForEach(record,
				   cJSON_GetObjectItemCaseSensitive(got,
								    "records"))
		{
			const cJSON *item =
				cJSON_GetObjectItemCaseSensitive(record,
								 metric);

			good &= !cJSON_IsNumber(item) ||
				!near(item->valuedouble, value->valuedouble);
		}
	}
	return good;
}

static void check_claims(const struct sample *sample, const cJSON *got)
{
	static const char *const lists[] = { "must_not", "should_not" };

	ok(same_ranges(sample, got) & same_records(sample, got) &
		   same_memory(sample, got) & same_metrics(sample, got) &
		   same_results(sample, got) & same_rates(sample, got),
	   "%s: as expected", sample->name);
	for (size_t i = 0; i < 2; i++) {
		const cJSON *list =
			cJSON_GetObjectItemCaseSensitive(sample->expect,
							 lists[i]);

		if (list)
			ok(kept_out(got, list), "%s: nothing that it %s",
			   sample->name, lists[i]);
	}
}

static void check_pieces(const struct sample *sample, const cJSON *whole)
{
	char *want = cJSON_PrintUnformatted(whole);
	bool good = true;

	for (int round = 0; round < 6; round++) {
		cJSON *json = log_view(sample->rules, sample->log.data,
				       sample->log.size, round ? 0 : 1);
		char *got = cJSON_PrintUnformatted(json);

		good &= !strcmp(got, want);
		cJSON_free(got);
		cJSON_Delete(json);
	}
	ok(good, "%s: the same in pieces of any size", sample->name);
	cJSON_free(want);
}

/* Is every number of a cut log one of the whole log, or of what stood before
 * the cut line?
 */
static bool is_part(const cJSON *cut, const cJSON *whole, const cJSON *before,
		    const char *path)
{
	static const char *const follow[] = { "steps", "loss",    "result",
					      "bytes", "metrics", NULL };
	const cJSON *item;
	bool good = true;
	int i = 0;

	if (cJSON_IsNull(cut))
		return true; /* what a line would have said later */
	/* A maximum may grow. */
	if (!strcmp(path, "memory_mib") && whole &&
	    cut->valuedouble <= whole->valuedouble)
		return true;
	if (cJSON_IsObject(cut) || cJSON_IsArray(cut)) {
		cJSON_ArrayForEach(item, cut)
		{
			const char *name = item->string;
			bool skip = false;

			for (size_t f = 0; name && !*path && follow[f]; f++)
				skip |= !strcmp(name, follow[f]);
			if (skip)
				continue;
			good &= is_part(
				item,
				name ? cJSON_GetObjectItemCaseSensitive(whole,
									name)
				     : cJSON_GetArrayItem(whole, i),
				name ? cJSON_GetObjectItemCaseSensitive(before,
									name)
				     : cJSON_GetArrayItem(before, i),
				name ? name : "[]");
			i++;
		}
		return good;
	}
	good = (whole && cJSON_Compare(cut, whole, true)) ||
	       (before && cJSON_Compare(cut, before, true));
	if (!good) {
		char *text = cJSON_PrintUnformatted(cut);

		printf("# %s: %s is of no uncut line\n", path, text);
		cJSON_free(text);
	}
	return good;
}

/* Cut one line everywhere, with those before it that it may belong to. */
static bool cut_line(const struct sample *sample, size_t from, size_t line,
		     size_t end)
{
	const char *data = sample->log.data;
	cJSON *before = log_view(sample->rules, data + from, line - from, 4096);
	cJSON *whole = log_view(sample->rules, data + from, end - from, 4096);
	bool good = true;

	for (size_t cut = line + 1; cut + 1 < end && good; cut++) {
		cJSON *json =
			log_view(sample->rules, data + from, cut - from, 4096);

		good = is_part(json, whole, before, "");
		if (!good)
			printf("# cut: %.*s\n", (int)(cut - line), data + line);
		cJSON_Delete(json);
	}
	cJSON_Delete(before);
	cJSON_Delete(whole);
	return good;
}

static void check_cuts(const struct sample *sample)
{
	const char *data = sample->log.data;
	size_t starts[3] = { 0, 0, 0 }; /* of the lines before */
	bool good = true;
	int lines = 0;

	for (size_t line = 0; line < sample->log.size && lines < 40; lines++) {
		const char *lf =
			memchr(data + line, '\n', sample->log.size - line);
		size_t end = lf ? (size_t)(lf - data) + 1 : sample->log.size;

		/* Lines of bars have records of their own, too many to cut. */
		if (lf && end - line <= 700)
			good &= cut_line(sample, starts[0], line, end);
		starts[0] = starts[1];
		starts[1] = starts[2];
		starts[2] = line;
		line = end;
	}
	ok(good, "%s: no number that was cut", sample->name);
}

/* The same log between bytes that are no text, in lines that end in CRLF. */
static void check_noise(const struct sample *sample, const cJSON *whole)
{
	static const char noise[] = "\xff\xfe\0\xc3 GBK \xbb\xf0\n\0\0\r\x1b[2K"
				    "\x1b]0;title\a\n";
	struct text text = {
		malloc(sample->log.size * 2 + (1u << 20) + 4 * sizeof(noise)), 0
	};
	cJSON *json;
	bool good = true;

	memcpy(text.data, noise, sizeof(noise) - 1);
	text.size = sizeof(noise) - 1;
	memset(text.data + text.size, 'x', 1 << 20);
	text.size += 1 << 20;
	text.data[text.size++] = '\n';
	for (size_t i = 0; i < sample->log.size; i++) {
		if (sample->log.data[i] == '\n')
			text.data[text.size++] = '\r';
		text.data[text.size++] = sample->log.data[i];
	}
	json = log_view(sample->rules, text.data, text.size, 4096);
	for (const cJSON *item = whole->child; item; item = item->next)
		if (strcmp(item->string, "bytes") != 0)
			good &= cJSON_Compare(item,
					      cJSON_GetObjectItemCaseSensitive(
						      json, item->string),
					      true);
	ok(good, "%s: the same between binary bytes, behind a line of a MiB",
	   sample->name);
	cJSON_Delete(json);
	free(text.data);
}

static bool read_file(const char *path, struct text *text)
{
	struct buffer buffer;
	bool good;

	buffer_init(&buffer, 2 << 20);
	good = file_read(AT_FDCWD, path, &buffer, NULL) == 0;
	text->size = buffer.size;
	text->data = buffer_take(&buffer);
	return good && text->data;
}

static void check_sample(const char *folder, const char *name)
{
	struct sample sample = { 0 };
	struct text expect = { 0 };
	char path[512];
	cJSON *whole;

	snprintf(sample.name, sizeof(sample.name), "%.*s",
		 (int)(strlen(name) - strlen(".expect.json")), name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (read_file(path, &expect))
		sample.expect = cJSON_Parse(expect.data);
	free(expect.data);
	snprintf(path, sizeof(path), "%s/%s.log", folder, sample.name);
	if (ok(sample.expect && read_file(path, &sample.log), "%s is there",
	       sample.name) &&
	    (sample.rules = rules_for(framework_of(&sample)))) {
		whole = log_view(sample.rules, sample.log.data, sample.log.size,
				 1 << 16);
		check_claims(&sample, whole);
		check_pieces(&sample, whole);
		check_cuts(&sample);
		check_noise(&sample, whole);
		cJSON_Delete(whole);
	}
	extract_rules_free(sample.rules);
	cJSON_Delete(sample.expect);
	free(sample.log.data);
}

/* The search works only where each rule has a text that all its matches hold.
 */
static void check_literals(void)
{
	const struct framework *framework;

	for (size_t i = 0; (framework = catalog_framework_at(catalog, i));
	     i++) {
		struct extract_rules *rules =
			framework->log ? rules_for(framework->name) : NULL;

		if (rules)
			ok(rules->literals || rules->marks,
			   "%s: each rule shows what it looks for",
			   framework->name);
		extract_rules_free(rules);
	}
}

static int check_folder(const char *folder)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, NULL, alphasort), count = 0;

	for (int i = 0; i < n; i++) {
		const char *end = strstr(entries[i]->d_name, ".expect.json");

		if (end && end != entries[i]->d_name) {
			check_sample(folder, entries[i]->d_name);
			count++;
		}
		free(entries[i]);
	}
	free(entries);
	return count;
}

int main(void)
{
	struct error err = { 0 };
	char folder[160];

	tap_begin(300);
	srand(1);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the descriptions are read %s", err.text)) {
		check_literals();
		ok(check_folder(MADE_UP) >= 12, "all samples were read");
		if (recordings_folder("training-logs", folder, sizeof(folder)))
			check_folder(folder);
	}
	catalog_free(catalog);
	return tap_done();
}
