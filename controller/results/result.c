/* result.c - the records of one job to one result: steady state, spread,
 * verdict.
 */
#include "controller/results/result.h"

#include "controller/results/formula.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Two sources of the same rate may differ by this before it is said. */
#define DISAGREE 0.10

/* The values of one field in the steady state. */
struct spread {
	double median, q1, q3, min, max;
	size_t n;
	size_t impossible; /* left out: not above 0, or not finite */
};

/* One result on its way. Text that does not fit in memory is noted once. */
struct making {
	const struct result_input *input;
	cJSON *object;
	cJSON *flags;
	bool failed;
	size_t first; /* steady record */
	struct spread iteration;
	struct spread tokens;
	struct spread samples;
	double tokens_per_second;
	double samples_per_second;
	const char *source;
};

static void add(struct making *making, cJSON *to, const char *name, cJSON *item)
{
	if (item && cJSON_AddItemToObject(to, name, item))
		return;
	cJSON_Delete(item);
	making->failed = true;
}

/* A number; null when it is not known. */
static void add_number(struct making *making, cJSON *to, const char *name,
		       double number)
{
	add(making, to, name,
	    isfinite(number) ? cJSON_CreateNumber(number) : cJSON_CreateNull());
}

static void add_text(struct making *making, cJSON *to, const char *name,
		     const char *text)
{
	add(making, to, name,
	    text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

__attribute__((format(printf, 2, 3))) static void flag(struct making *making,
						       const char *fmt, ...)
{
	char text[240];
	va_list args;
	cJSON *item;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	item = cJSON_CreateString(text);
	if (!item || !cJSON_AddItemToArray(making->flags, item)) {
		cJSON_Delete(item);
		making->failed = true;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The p-quantile of sorted values, by linear interpolation. */
static double quantile(const double *values, size_t n, double p)
{
	double place = p * (double)(n - 1);
	size_t below = (size_t)place;

	if (below + 1 >= n)
		return values[n - 1];
	return values[below] +
	       (place - (double)below) * (values[below + 1] - values[below]);
}

static void sum_up(double *values, size_t n, struct spread *spread)
{
	spread->n = n;
	if (!n)
		return;
	qsort(values, n, sizeof(*values), by_value);
	spread->min = values[0];
	spread->max = values[n - 1];
	spread->median = quantile(values, n, 0.5);
	spread->q1 = quantile(values, n, 0.25);
	spread->q3 = quantile(values, n, 0.75);
}

static int spread_of(const struct making *making, enum record_field field,
		     struct spread *spread)
{
	const struct result_input *input = making->input;
	double *values = calloc(input->record_count + 1, sizeof(*values));
	size_t n = 0;

	if (!values)
		return -1;
	for (size_t i = making->first; i < input->record_count; i++) {
		struct record record = input->records[i];
		double value;

		if (!record_has(&record, field))
			continue;
		value = *record_number(&record, field);
		if (isfinite(value) && value > 0)
			values[n++] = value;
		else
			spread->impossible++;
	}
	sum_up(values, n, spread);
	free(values);
	return 0;
}

/* The first record behind the warm-up. */
static size_t steady_from(const struct result_input *input)
{
	uint32_t warmup = input->measure->warmup_steps;
	size_t first = 0;

	if (!warmup) {
		first = (input->record_count + 9) / 10;
		return first < input->record_count ? first
		       : input->record_count       ? input->record_count - 1
						   : 0;
	}
	while (first < input->record_count &&
	       input->records[first].step <= warmup)
		first++;
	return first;
}

static double summary_rate(const struct result_input *input)
{
	const struct record *summary = input->summary;

	if (!summary)
		return NAN;
	if (record_has(summary, RECORD_TOKENS_PER_SECOND))
		return summary->tokens_per_second;
	if (record_has(summary, RECORD_SAMPLES_PER_SECOND))
		return formula_tokens_from_samples(summary->samples_per_second,
						   input->measure->sequence);
	return NAN;
}

/* The rate from the best source there is. */
static void find_rates(struct making *making)
{
	const struct measure_spec *measure = making->input->measure;
	double step = making->iteration.n ? making->iteration.median : NAN;
	double samples = making->samples.n ? making->samples.median : NAN;

	making->samples_per_second =
		measure->global_batch && step > 0
			? (double)measure->global_batch / (step / 1000)
			: samples;
	making->source = "iteration";
	making->tokens_per_second =
		formula_tokens_per_second(measure->global_batch,
					  measure->sequence, step);
	if (isfinite(making->tokens_per_second))
		return;
	making->source = "reported";
	making->tokens_per_second =
		making->tokens.n
			? making->tokens.median
			: formula_tokens_from_samples(samples,
						      measure->sequence);
	if (isfinite(making->tokens_per_second))
		return;
	making->source = "summary";
	making->tokens_per_second = summary_rate(making->input);
	if (!(making->tokens_per_second > 0) ||
	    !isfinite(making->tokens_per_second)) {
		making->tokens_per_second = NAN;
		making->source = NULL;
	}
}

static double wall_seconds(const struct result_input *input)
{
	if (input->started_ms <= 0 || input->ended_ms <= input->started_ms)
		return NAN;
	return (double)(input->ended_ms - input->started_ms) / 1000;
}

static void flag_steps(struct making *making)
{
	const struct result_input *input = making->input;
	const struct spread *step = &making->iteration;
	double wall = wall_seconds(input);
	uint64_t from, to;

	if (step->impossible)
		flag(making, "%zu steps with an impossible time are left out",
		     step->impossible);
	if (making->tokens.impossible || making->samples.impossible)
		flag(making, "%zu impossible rates are left out",
		     making->tokens.impossible + making->samples.impossible);
	if (input->record_count == 1 && !input->measure->warmup_steps)
		flag(making, "one step only: its warm-up is in the figures");
	if (!input->record_count || !step->n)
		return;
	from = input->records[making->first].step;
	to = input->records[input->record_count - 1].step;
	/* A figure in the wrong unit is off by a thousand. */
	if (step->median / 1000 * (double)(to - from) > wall * 1.1 + 1)
		flag(making,
		     "steps %llu to %llu at %.1f ms take longer than the "
		     "whole job, %.1f s",
		     (unsigned long long)from, (unsigned long long)to,
		     step->median, wall);
}

static void flag_rates(struct making *making)
{
	double reported = making->tokens.n ? making->tokens.median : NAN;

	if (making->source && !strcmp(making->source, "iteration") &&
	    fabs(reported - making->tokens_per_second) >
		    DISAGREE * making->tokens_per_second)
		flag(making,
		     "the program reports %.1f tokens/s, its step time and "
		     "batch give %.1f",
		     reported, making->tokens_per_second);
}

static void add_spread(struct making *making)
{
	const struct spread *spread = &making->iteration;
	cJSON *object;

	if (!spread->n) {
		add(making, making->object, "iteration_ms", cJSON_CreateNull());
		return;
	}
	object = cJSON_CreateObject();
	if (object) {
		add_number(making, object, "median", spread->median);
		add_number(making, object, "q1", spread->q1);
		add_number(making, object, "q3", spread->q3);
		add_number(making, object, "iqr", spread->q3 - spread->q1);
		add_number(making, object, "min", spread->min);
		add_number(making, object, "max", spread->max);
		add_number(making, object, "n", (double)spread->n);
	}
	add(making, making->object, "iteration_ms", object);
}

/* JSON has no word for these. */
static const char *loss_word(double loss)
{
	return isnan(loss) ? "nan" : loss > 0 ? "inf" : "-inf";
}

static void add_loss_value(struct making *making, cJSON *to, const char *name,
			   double loss)
{
	if (isfinite(loss))
		add_number(making, to, name, loss);
	else
		add_text(making, to, name, loss_word(loss));
}

static void add_loss(struct making *making)
{
	const struct result_input *input = making->input;
	const struct record *first = NULL, *last = NULL, *bad = NULL;
	size_t count = 0;
	cJSON *object;

	for (size_t i = 0; i < input->record_count; i++) {
		const struct record *record = &input->records[i];

		if (!record_has(record, RECORD_LOSS))
			continue;
		last = record;
		first = first ? first : record;
		if (isfinite(record->loss))
			continue;
		bad = bad ? bad : record;
		count++;
	}
	if (bad)
		flag(making,
		     "the loss is %s at step %llu, and no number at %zu "
		     "steps in all",
		     loss_word(bad->loss), (unsigned long long)bad->step,
		     count);
	if (!last) {
		add(making, making->object, "loss", cJSON_CreateNull());
		return;
	}
	object = cJSON_CreateObject();
	if (object) {
		add_loss_value(making, object, "first", first->loss);
		add_loss_value(making, object, "last", last->loss);
	}
	add(making, making->object, "loss", object);
}

static void add_rates(struct making *making)
{
	const struct result_input *input = making->input;
	double per_device =
		formula_per_device(making->tokens_per_second, input->devices);
	struct flops flops = { .factor = 6, .parameters = input->parameters };
	double mfu = formula_utilisation(per_device,
					 formula_flops(FORMULA_6N, &flops),
					 input->peak_flops);

	add_number(making, making->object, "tokens_per_second",
		   making->tokens_per_second);
	add_number(making, making->object, "tokens_per_second_per_device",
		   per_device);
	add_number(making, making->object, "samples_per_second",
		   making->samples_per_second);
	add_text(making, making->object, "source", making->source);
	add_number(making, making->object, "reported_tokens_per_second",
		   making->tokens.n ? making->tokens.median : NAN);
	if (mfu > 1)
		flag(making, "an MFU of %.1f %% is impossible", mfu * 100);
	add_number(making, making->object, "mfu", mfu > 1 ? NAN : mfu);
}

static void add_memory(struct making *making)
{
	const struct result_input *input = making->input;
	double reported = NAN;
	double peak = input->memory_peak_bytes
			      ? (double)input->memory_peak_bytes / (1 << 20)
			      : NAN;

	for (size_t i = 0; i < input->record_count; i++)
		if (record_has(&input->records[i], RECORD_MEMORY_MIB))
			reported = fmax(reported, input->records[i].memory_mib);
	/* A training knows what its device holds; the kernel only counts what
	 * the container holds on the host. */
	add_number(making, making->object, "memory_mib",
		   isfinite(reported) ? reported : peak);
	add_text(making, making->object, "memory_source",
		 isfinite(reported) ? "reported"
		 : isfinite(peak)   ? "cgroup"
				    : NULL);
	add_number(making, making->object, "host_memory_mib", peak);
}

/* Was anything measured? Else the sentence that says what is missing. */
static bool verdict(const struct making *making, char *text, size_t size)
{
	const struct result_input *input = making->input;

	if (making->iteration.n || making->source ||
	    isfinite(making->samples_per_second))
		return true;
	if (!input->record_count)
		snprintf(text, size,
			 "nothing in the log matches the rules of %s",
			 input->measure->framework ? input->measure->framework
						   : "its framework");
	else if (making->first == input->record_count)
		snprintf(text, size,
			 "%zu steps in the log, none behind the warm-up of %u",
			 input->record_count, input->measure->warmup_steps);
	else
		snprintf(text, size,
			 "%zu steps in the log, but no step time and no rate",
			 input->record_count);
	return false;
}

static void add_steps(struct making *making)
{
	const struct result_input *input = making->input;
	const struct record *last =
		input->record_count ? &input->records[input->record_count - 1]
				    : NULL;
	const struct record *total = input->summary;
	uint32_t warmup = input->measure->warmup_steps;

	if (last && record_has(last, RECORD_STEPS))
		total = last;
	if (total && !record_has(total, RECORD_STEPS))
		total = NULL;
	add_number(making, making->object, "steps",
		   last ? (double)last->step : NAN);
	add_number(making, making->object, "steps_total",
		   total ? (double)total->steps_total : NAN);
	add_number(making, making->object, "warmup_steps",
		   warmup ? warmup
		   : making->first
			   ? (double)input->records[making->first - 1].step
			   : 0);
}

static void fill(struct making *making)
{
	char text[240] = "";
	bool measured;

	find_rates(making);
	measured = verdict(making, text, sizeof(text));
	add_number(making, making->object, "formula", FORMULA_VERSION);
	add(making, making->object, "measured", cJSON_CreateBool(measured));
	add_text(making, making->object, "text", measured ? NULL : text);
	add_steps(making);
	add_spread(making);
	add_loss(making);
	add_rates(making);
	add_memory(making);
	add_number(making, making->object, "wall_s",
		   wall_seconds(making->input));
	flag_steps(making);
	flag_rates(making);
}

cJSON *result_new(const struct result_input *input, struct error *err)
{
	struct making making = { .input = input };

	making.first = steady_from(input);
	making.object = cJSON_CreateObject();
	making.flags = cJSON_CreateArray();
	if (!making.object || !making.flags ||
	    spread_of(&making, RECORD_ITERATION_MS, &making.iteration) < 0 ||
	    spread_of(&making, RECORD_TOKENS_PER_SECOND, &making.tokens) < 0 ||
	    spread_of(&making, RECORD_SAMPLES_PER_SECOND, &making.samples) < 0)
		making.failed = true;
	else
		fill(&making);
	if (making.object && making.flags)
		add(&making, making.object, "flags", take(making.flags));
	cJSON_Delete(making.flags);
	if (!making.failed)
		return making.object;
	cJSON_Delete(making.object);
	error_nomem(err, "result");
	return NULL;
}

bool result_measured(const cJSON *result, const char **text)
{
	const char *why = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(result, "text"));

	*text = why ? why : "";
	return cJSON_IsTrue(
		cJSON_GetObjectItemCaseSensitive(result, "measured"));
}
