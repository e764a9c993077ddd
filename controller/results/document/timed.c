/* timed.c - collects the steps of a log that have a time, and computes their
 * rates.
 */
#include "controller/results/document/timed.h"

#include "controller/results/formula.h"
#include "controller/results/steady.h"

#include <math.h>

void timed_clear(struct timed *timed)
{
	free(timed->times);
	free(timed->steps);
	*timed = (struct timed){ 0 };
}

/* The end of the warm-up in the context; SIZE_MAX: none. */
static size_t given_warmup(const struct timed *timed,
			   const struct context *context)
{
	size_t first = 0;

	if (context->warmup_records >= 0)
		return context->warmup_records < (double)timed->count
			       ? (size_t)context->warmup_records
			       : timed->count;
	if (context->warmup_steps < 0)
		return SIZE_MAX;
	while (first < timed->count &&
	       (double)timed->steps[first] <= context->warmup_steps)
		first++;
	return first;
}

/* A slow first step after a restart belongs to the warm-up, too. */
static void drop_restarts(struct timed *timed, const bool *restarted,
			  const bool *slow)
{
	size_t kept = timed->first;

	for (size_t i = timed->first; i < timed->count; i++) {
		if (restarted[i] && slow[i])
			continue;
		timed->times[kept] = timed->times[i];
		timed->steps[kept++] = timed->steps[i];
	}
	timed->count = kept;
}

static int find_warmup(struct timed *timed, const struct context *context,
		       const bool *restarted, struct error *err)
{
	owned_free bool *slow = calloc(timed->count + 1, sizeof(*slow));
	size_t given = given_warmup(timed, context);
	struct steady steady = { .first = given == SIZE_MAX ? 0 : given };

	if (!slow)
		return error_nomem(err, "rates");
	if (timed->count > 1 &&
	    steady_find(timed->times, timed->count,
			given == SIZE_MAX ? STEADY_FIND : given, slow, &steady,
			err) < 0)
		return -1;
	timed->first = steady.first;
	drop_restarts(timed, restarted, slow);
	timed->warmup_steps = context->warmup_steps;
	if (timed->warmup_steps < 0)
		timed->warmup_steps =
			timed->first ? (double)timed->steps[timed->first - 1]
				     : 0;
	return 0;
}

int timed_collect(struct timed *timed, const struct derive_input *input,
		  timed_fn *fn, const void *arg, struct error *err)
{
	size_t count;
	const struct record *records = extract_records(input->extract, &count);
	owned_free bool *restarted = calloc(count + 1, sizeof(*restarted));

	*timed = (struct timed){ 0 };
	timed->times = calloc(count + 1, sizeof(*timed->times));
	timed->steps = calloc(count + 1, sizeof(*timed->steps));
	if (!timed->times || !timed->steps || !restarted)
		return error_nomem(err, "rates");
	for (size_t i = 0; i < count; i++) {
		double time = fn(&records[i], arg);

		if (!isfinite(time) || !(time > 0))
			continue;
		restarted[timed->count] = records[i].restarted;
		timed->times[timed->count] = time;
		timed->steps[timed->count++] = records[i].step;
	}
	return find_warmup(timed, input->context, restarted, err);
}

void add_figure(cJSON *object, const char *name, double figure)
{
	if (isfinite(figure))
		cJSON_AddNumberToObject(object, name, figure);
}

void add_rates(cJSON *object, const struct context *context,
	       double samples_per_second)
{
	struct flops flops = {
		.factor = formula_stage("pretrain"),
		.parameters = context->n_params,
		.layers = (uint32_t)fmin(context->layers, UINT32_MAX),
		.hidden = (uint32_t)fmin(context->hidden, UINT32_MAX),
		.sequence = (uint32_t)fmin(context->seq_length, UINT32_MAX),
	};
	double peak = context->peak_flops_per_device;
	double tokens =
		formula_tokens_from_samples(samples_per_second, flops.sequence);
	double per_device =
		formula_per_device(tokens, (uint64_t)context->world_size);

	add_figure(object, "samples_per_s", samples_per_second);
	add_figure(object, "tokens_per_s", tokens);
	add_figure(object, "tokens_per_s_per_device", per_device);
	add_figure(object, "mfu_6n",
		   formula_utilisation(per_device,
				       formula_flops(FORMULA_6N, &flops),
				       peak));
	add_figure(object, "mfu_palm",
		   formula_utilisation(per_device,
				       formula_flops(FORMULA_PALM, &flops),
				       peak));
}

/* Add the mean time of `count` steps, and the rates that follow from it. */
static void add_mean(cJSON *object, const struct context *context,
		     double sum_ms, size_t count)
{
	double mean = count ? sum_ms / (double)count : NAN;

	add_figure(object, "mean_iter_time_s", mean / 1000);
	if (mean > 0)
		add_rates(object, context,
			  formula_samples_per_second((uint64_t)context
							     ->global_batch,
						     mean));
}

void add_timed(cJSON *object, const struct context *context,
	       const struct timed *timed)
{
	double sum = 0;

	for (size_t i = timed->first; i < timed->count; i++)
		sum += timed->times[i];
	add_figure(object, "warmup_steps", timed->warmup_steps);
	add_figure(object, "warmup_records", (double)timed->first);
	add_figure(object, "timed_records",
		   (double)(timed->count - timed->first));
	cJSON_AddStringToObject(object, "rule",
				"mean of iter_time_s over records with step > "
				"warmup_steps; tokens_per_s = "
				"global_batch*seq_length/mean");
	add_mean(object, context, sum, timed->count - timed->first);
}

void add_unevaluated(cJSON *object, const struct derive_input *input,
		     const struct timed *timed)
{
	cJSON *inner;
	double sum = 0;
	size_t kept = 0;

	for (size_t i = timed->first; i < timed->count; i++)
		if (!sections_evaluated(input->sections, timed->steps[i])) {
			sum += timed->times[i];
			kept++;
		}
	if (kept == timed->count - timed->first || !kept)
		return;
	inner = cJSON_AddObjectToObject(object, "without_the_interval_after_"
						"evaluation");
	add_figure(inner, "kept", (double)kept);
	add_mean(inner, input->context, sum, kept);
}
