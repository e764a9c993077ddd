/* sample_claims.c - does a log say what its expect file claims?
 */
#include "tests/unit/sample_claims.h"

#include "controller/results/formula.h"

#include <math.h>
#include <string.h>

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

struct claims {
	const char *name; /* of the sample */
	const cJSON *expect;
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

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

static bool is_unread(const struct claims *claims, const char *path)
{
	for (size_t i = 0; i < sizeof(unread) / sizeof(unread[0]); i++)
		if (!strcmp(unread[i].sample, claims->name) &&
		    !strcmp(unread[i].path, path))
			return true;
	return false;
}

/* Have the records these values, in order? A value, or [step, value]. */
static bool listed(const cJSON *got, const cJSON *values, const char *name)
{
	const cJSON *record = got->child, *want;
	bool good = true;

	cJSON_ArrayForEach(want, values) {
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
			good &= same_value(path, cJSON_GetArrayItem(got, i++),
					   item);
		return good;
	} else {
		good = got && cJSON_Compare(got, want, true);
	}
	if (!good)
		tell_difference(path, got, want);
	return good;
}

/* Has `got` every member that want claims, of those listed (NULL: all)? */
static bool has_members(const struct claims *claims, const char *place,
			const cJSON *got, const cJSON *want,
			const char *const *list)
{
	const cJSON *item;
	bool good = true;

	if (is_unread(claims, place))
		return true;
	cJSON_ArrayForEach(item, want) {
		char path[256];

		snprintf(path, sizeof(path), "%s.%s", place, item->string);
		if ((!list || is_listed(list, item->string)) &&
		    !is_unread(claims, path))
			good &= same_value(path, get(got, item->string), item);
	}
	return good;
}

static bool same_records(const struct claims *claims, const cJSON *view)
{
	const cJSON *got = get(view, "records"), *item;
	bool good = true;
	int i = 0;

	cJSON_ArrayForEach(item, get(claims->expect, "records")) {
		char path[32];

		snprintf(path, sizeof(path), "records.%d", i);
		if (is_unread(claims, path))
			continue;
		good &= has_members(claims, "records",
				    cJSON_GetArrayItem(got, i++), item, NULL);
	}
	if (!i || i == cJSON_GetArraySize(got))
		return good;
	printf("# %d records instead of %d\n", cJSON_GetArraySize(got), i);
	return false;
}

static bool same_ranges(const struct claims *claims, const cJSON *view)
{
	static const char *const keys[] = { "count", "first", "last", NULL };
	static const char *const lists[][2] = { { "steps", "step" },
						{ "loss", "loss" } };
	bool good = true;

	for (size_t i = 0; i < 2; i++) {
		const cJSON *want = get(claims->expect, lists[i][0]);
		const cJSON *values = get(want, "values");

		good &= has_members(claims, lists[i][0], get(view, lists[i][0]),
				    want, keys);
		if (values && !is_unread(claims, lists[i][0]) &&
		    !is_unread(claims, "loss.values") &&
		    !listed(get(view, "records"), values, lists[i][1])) {
			printf("# the values of %s\n", lists[i][0]);
			good = false;
		}
	}
	return good;
}

/* The most memory that any line reports. */
static bool same_memory(const struct claims *claims, const cJSON *view)
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
		double want = number_of(get(claims->expect, "memory"),
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
static bool same_metrics(const struct claims *claims, const cJSON *view)
{
	static const char *const sections[] = { "finished", "summary_printed",
						"train_result", "metrics" };
	const cJSON *item;
	bool good = true;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		cJSON_ArrayForEach(item, get(claims->expect, sections[i])) {
			const cJSON *got =
				get(get(view, "metrics"), item->string);

			if (!got)
				got = get(get(view, "result"), item->string);
			if (cJSON_IsNumber(item) &&
			    !is_unread(claims, sections[i]))
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

	cJSON_ArrayForEach(one, results) {
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
static bool same_results(const struct claims *claims, const cJSON *view)
{
	const cJSON *results = get(claims->expect, "results"), *one, *item;
	cJSON *want = cJSON_CreateObject();
	bool good;

	cJSON_ArrayForEach(one, results) {
		double mean = mean_of(results, one);
		const char *name = cJSON_GetStringValue(get(one, "metric"));

		if (name && isfinite(mean) && !get(want, name))
			cJSON_AddNumberToObject(want, name, mean);
		cJSON_ArrayForEach(item, one) {
			if (name || !cJSON_IsNumber(item))
				continue;
			cJSON_DeleteItemFromObjectCaseSensitive(want,
								item->string);
			cJSON_AddNumberToObject(want, item->string,
						item->valuedouble);
		}
	}
	good = has_members(claims, "results", get(view, "metrics"), want, NULL);
	cJSON_Delete(want);
	return good;
}

/* Rates of the run: over its steps, or as the program printed them. */

/* Samples per second of TimeHistory's intervals from a step on. */
static double interval_rate(const cJSON *records, double warmup, double batch)
{
	double steps = 0, seconds = 0;
	const cJSON *record;

	cJSON_ArrayForEach(record, records) {
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
	cJSON_ArrayForEach(record, get(view, "records")) {
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
	cJSON_ArrayForEach(record, get(view, "records")) {
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

static cJSON *derive(const struct claims *claims, const cJSON *view,
		     const cJSON *claim)
{
	const cJSON *context = get(claims->expect, "context");
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

static bool same_rates(const struct claims *claims, const cJSON *view)
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
	const cJSON *all = get(claims->expect, "derived");
	const cJSON *const rates[] = {
		all,
		get(all, "after_warmup"),
		get(all, "all_intervals"),
		get(claims->expect, "derived_warmup_0"),
		get(claims->expect, "derived_warmup_1"),
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		cJSON *got = derive(claims, view, rates[i]);

		good &= has_members(claims, "derived", got, rates[i], keys);
		cJSON_Delete(got);
	}
	return good;
}

bool sample_claims_kept_out(const cJSON *got, const cJSON *list)
{
	const cJSON *one, *record;
	bool good = true;

	cJSON_ArrayForEach(one, list) {
		const char *metric = cJSON_GetStringValue(
			cJSON_GetObjectItemCaseSensitive(one, "metric"));
		const cJSON *value =
			cJSON_GetObjectItemCaseSensitive(one, "value");

		cJSON_ArrayForEach(record, cJSON_GetObjectItemCaseSensitive(
						   got, "records")) {
			const cJSON *item =
				cJSON_GetObjectItemCaseSensitive(record,
								 metric);

			good &= !cJSON_IsNumber(item) ||
				!near(item->valuedouble, value->valuedouble);
		}
	}
	return good;
}

bool sample_claims_met(const char *name, const cJSON *expect, const cJSON *got)
{
	const struct claims claims = { name, expect };

	return same_ranges(&claims, got) & same_records(&claims, got) &
	       same_memory(&claims, got) & same_metrics(&claims, got) &
	       same_results(&claims, got) & same_rates(&claims, got);
}
