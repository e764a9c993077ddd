/* result.c - computes the result of a job from its records: figures, flags,
 * verdict.
 */
#include "controller/results/result.h"

#include "controller/results/cross_checks.h"
#include "controller/results/json_object.h"
#include "controller/results/metrics.h"
#include "controller/results/statistics.h"
#include "controller/results/usage.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* A larger share of slow steps is flagged. */
#define SLOWDOWN 0.95    /* of the median: a faster step */
#define SLOWDOWN_STEPS 5 /* at least, in the warm-up */
#define SLOW_SHARE 0.25
#define LONGER 1.03 /* times the whole job: steps cannot take longer */
#define CLOCK_S 1   /* error of logs with times in whole seconds */
#define MIB 1048576.0

/* A result that is being computed. failed: memory ran out. */
struct builder {
	const struct result_input *input;
	struct statistics figures;
	cJSON *object;
	cJSON *flags;
	bool failed;
};

static void put(struct builder *builder, const char *name, cJSON *item)
{
	json_add(builder->object, name, item, &builder->failed);
}

static void put_number(struct builder *builder, const char *name, double number)
{
	json_add_number(builder->object, name, number, &builder->failed);
}

static void put_text(struct builder *builder, const char *name,
		     const char *text)
{
	json_add_text(builder->object, name, text, &builder->failed);
}

__attribute__((format(printf, 2, 3))) static void flag(struct builder *builder,
						       const char *fmt, ...)
{
	char text[240];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_add_text(builder->flags, NULL, text, &builder->failed);
}

/* Steps. */

/* Does the log end before this step? With a stride, the last steps may not be
 * printed.
 */
static bool ends_before(const struct statistics *figures, uint64_t step)
{
	return figures->reached && figures->reached + figures->stride <= step;
}

static bool ends_early(const struct statistics *figures)
{
	return figures->total_known && ends_before(figures, figures->total);
}

/* A training may finish before the step that it announced, but not before the
 * steps of the sweep.
 */
static cJSON *complete_value(const struct builder *builder)
{
	const struct statistics *figures = &builder->figures;

	if (ends_before(figures, builder->input->measure->steps))
		return cJSON_CreateFalse();
	if (figures->finished)
		return cJSON_CreateTrue();
	if (!figures->total_known || !figures->reached)
		return cJSON_CreateNull();
	return cJSON_CreateBool(!ends_early(figures));
}

static void add_slow(struct builder *builder)
{
	const struct statistics *figures = &builder->figures;
	bool *failed = &builder->failed;
	cJSON *object, *steps;

	if (!figures->slow) {
		put(builder, "slow_steps", cJSON_CreateNull());
		return;
	}
	object = cJSON_AddObjectToObject(builder->object, "slow_steps");
	json_add_number(object, "count", (double)figures->slow, failed);
	steps = cJSON_AddArrayToObject(object, "steps");
	for (size_t i = 0; i < figures->slow && i < STATISTICS_SLOW; i++)
		json_add_number(steps, NULL, (double)figures->slow_steps[i],
				failed);
	json_add_number(object, "lost_ms", figures->lost_ms, failed);
}

static void add_steps(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct statistics *figures = &builder->figures;
	size_t count = input->record_count;

	put_number(builder, "steps",
		   count ? (double)input->records[count - 1].step : NAN);
	put_number(builder, "steps_total",
		   figures->total_known ? (double)figures->total : NAN);
	put(builder, "complete", complete_value(builder));
	put_number(builder, "warmup_steps", (double)figures->above);
	put_text(builder, "warmup",
		 input->measure->warmup_steps ? "given" : "found");
	add_slow(builder);
}

static void flag_progress(struct builder *builder)
{
	const struct statistics *figures = &builder->figures;
	const struct extract *extract = builder->input->extract;

	if (!ends_early(figures)) {
		if (builder->input->record_count && !figures->finished &&
		    extract && extract_rules_finish(extract_rules_of(extract)))
			flag(builder,
			     "the log does not report the end of the training");
		return;
	}
	flag(builder,
	     figures->finished ? "the log reports the end of the training at "
				 "step %llu of %llu"
			       : "the log ends at step %llu of %llu",
	     (unsigned long long)figures->reached,
	     (unsigned long long)figures->total);
}

/* A warm-up is slower than the steps after it. If it is faster, the training
 * has slowed down, and the result describes only its end.
 */
static void flag_slowdown(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct statistics *figures = &builder->figures;
	size_t faster = 0, timed = 0;

	for (size_t i = 1; figures->settled && i < figures->first; i++) {
		const struct record *record = &input->records[i];

		if (!record_has(record, RECORD_ITERATION_MS))
			continue;
		timed++;
		faster += record->iteration_ms <
			  figures->iteration.median * SLOWDOWN;
	}
	if (timed >= SLOWDOWN_STEPS && faster > timed / 2)
		flag(builder,
		     "the training slows down: most steps before step %llu "
		     "take less than %.1f ms, the median of the steps after it",
		     (unsigned long long)figures->above + 1,
		     figures->iteration.median);
}

static void flag_steps(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct statistics *figures = &builder->figures;
	const struct spread *step = &figures->iteration;
	const char *warning =
		input->extract ? extract_steps_warning(input->extract) : NULL;
	uint64_t from, to;
	size_t impossible;
	double sum_s;

	flag_progress(builder);
	if (warning)
		flag(builder, "%s", warning);
	if (step->impossible)
		flag(builder, "%zu steps with an impossible time are excluded",
		     step->impossible);
	impossible = figures->tokens.impossible +
		     figures->per_device.impossible +
		     figures->samples.impossible;
	if (impossible)
		flag(builder, "%zu impossible rates are excluded", impossible);
	if (input->record_count == 1 && !input->measure->warmup_steps)
		flag(builder, "only one step: the values include its warm-up");
	if (!figures->settled)
		flag(builder, "the step times do not settle: no end of the "
			      "warm-up was found in the first half");
	if ((double)figures->slow > SLOW_SHARE * (double)figures->paced)
		flag(builder,
		     "%zu of %zu steps are much slower than the median, and "
		     "excluded",
		     figures->slow, figures->paced);
	if (!input->record_count || !step->n)
		return;
	flag_slowdown(builder);
	from = input->records[figures->first].step;
	to = input->records[input->record_count - 1].step;
	sum_s = step->mean / 1000 * (double)(to - from);
	if (sum_s > figures->wall_s * LONGER + CLOCK_S)
		flag(builder,
		     "steps %llu to %llu at %.1f ms, %.1f s in all, take "
		     "longer than the whole job, %.1f s",
		     (unsigned long long)from, (unsigned long long)to,
		     step->mean, sum_s, figures->wall_s);
}

static void add_spread(struct builder *builder)
{
	const struct spread *spread = &builder->figures.iteration;
	bool *failed = &builder->failed;
	cJSON *object;

	if (!spread->n) {
		put(builder, "iteration_ms", cJSON_CreateNull());
		return;
	}
	object = cJSON_AddObjectToObject(builder->object, "iteration_ms");
	json_add_number(object, "median", spread->median, failed);
	json_add_number(object, "q1", spread->q1, failed);
	json_add_number(object, "q3", spread->q3, failed);
	json_add_number(object, "iqr", spread->q3 - spread->q1, failed);
	json_add_number(object, "mean", spread->mean, failed);
	json_add_number(object, "min", spread->min, failed);
	json_add_number(object, "max", spread->max, failed);
	json_add_number(object, "n", (double)spread->n, failed);
}

/* Loss. */

static void add_loss(struct builder *builder)
{
	const struct result_input *input = builder->input;
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
		flag(builder,
		     "the loss is %s at step %llu, and not a number at %zu "
		     "steps in total",
		     number_word(bad->loss), (unsigned long long)bad->step,
		     count);
	if (!last) {
		put(builder, "loss", cJSON_CreateNull());
		return;
	}
	object = cJSON_AddObjectToObject(builder->object, "loss");
	json_add(object, "first", number_json(first->loss), &builder->failed);
	json_add(object, "last", number_json(last->loss), &builder->failed);
}

/* Rates. */

/* cross_check_fn */
static void flag_difference(const char *sentence, void *arg)
{
	flag(arg, "%s", sentence);
}

/* A share of the peak; null with a flag if it is above 1. */
static void add_share(struct builder *builder, const char *name,
		      const char *title, double flops_per_token)
{
	const struct result_input *input = builder->input;
	double share = formula_utilisation(
		formula_per_device(builder->figures.tokens_per_second,
				   input->devices),
		flops_per_token, input->peak_flops);

	if (share > 1)
		flag(builder, "%s of %.1f %% is impossible", title,
		     share * 100);
	put_number(builder, name, share > 1 ? NAN : share);
}

static void add_shares(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct flops *flops = &input->flops;
	const char *recompute = input->measure->recompute;
	bool full = recompute && !strcmp(recompute, "full");

	char formula[16];

	snprintf(formula, sizeof(formula), "%gN", flops->factor);
	put_text(builder, "mfu_formula", flops->factor > 0 ? formula : NULL);
	add_share(builder, "mfu", "an MFU", formula_flops(FORMULA_6N, flops));
	add_share(builder, "mfu_palm", "an MFU by PaLM's formula",
		  formula_flops(FORMULA_PALM, flops));
	add_share(builder, "hfu", "an HFU",
		  full ? formula_flops_recomputed(FORMULA_6N, flops) : NAN);
}

static void add_rates(struct builder *builder)
{
	const struct statistics *figures = &builder->figures;

	put_number(builder, "tokens_per_second", figures->tokens_per_second);
	put_number(builder, "tokens_per_second_per_device",
		   formula_per_device(figures->tokens_per_second,
				      builder->input->devices));
	put_number(builder, "samples_per_second", figures->samples_per_second);
	put_text(builder, "source", figures->source);
	put_number(builder, "reported_tokens_per_second", figures->reported);
	add_shares(builder);
	/* W / (token/s) is J/token. */
	put_number(builder, "joules_per_token",
		   formula_joules_per_token(builder->input->power_w,
					    figures->tokens_per_second));
	cross_checks(builder->input, &builder->figures, flag_difference,
		     builder);
}

static void add_memory(struct builder *builder)
{
	const struct result_input *input = builder->input;
	double reported = builder->figures.memory_mib;
	double chip = input->chip_memory_bytes / MIB;
	double sampled = row_double(input->usage, "mem_used_mib");
	double peak = input->memory_peak_bytes
			      ? (double)input->memory_peak_bytes / MIB
			      : NAN;
	const char *source = isfinite(reported)  ? "reported"
			     : isfinite(sampled) ? "sampled"
			     : isfinite(peak)    ? "cgroup"
						 : NULL;
	/* A training reports the memory of its device; the kernel counts only
	 * the memory of the host.
	 */
	double memory = isfinite(reported)  ? reported
			: isfinite(sampled) ? sampled
					    : peak;

	if (chip > 0 && reported > chip) {
		flag(builder,
		     "a memory of %.0f MiB is impossible: the device has "
		     "%.0f",
		     reported, chip);
		memory = NAN;
	}
	put_number(builder, "memory_mib", memory);
	put_text(builder, "memory_source", source);
	put_number(builder, "host_memory_mib", peak);
	put(builder, "memory_by_rank_mib", usage_memories(input->usage));
	put_number(builder, "chip_memory_gib", chip > 0 ? chip / 1024 : NAN);
}

static void add_metrics(struct builder *builder)
{
	const struct extract *extract = builder->input->extract;
	cJSON *metrics = extract ? metrics_json(extract, builder->figures.first)
				 : cJSON_CreateObject();

	put(builder, "metric_columns",
	    extract ? metrics_names(extract, metrics, extract_rules_column)
		    : cJSON_CreateArray());
	put(builder, "metric_percents",
	    extract ? metrics_names(extract, metrics, extract_rules_percent)
		    : cJSON_CreateArray());
	put(builder, "metrics", metrics);
}

/* Verdict. */

/* Was anything measured? If not, text says what is missing. */
static bool verdict(const struct builder *builder, char *text, size_t size)
{
	const struct result_input *input = builder->input;
	const struct statistics *figures = &builder->figures;

	if (figures->iteration.n || figures->source ||
	    isfinite(figures->samples_per_second) ||
	    (input->extract && metrics_run_count(input->extract)))
		return true;
	if (!input->record_count && input->unread)
		snprintf(text, size, "%s", input->unread);
	else if (!input->record_count)
		snprintf(text, size,
			 "nothing in the log matches the rules of %s",
			 input->measure->framework ? input->measure->framework
						   : "its framework");
	else if (figures->first == input->record_count)
		snprintf(text, size,
			 "%zu steps in the log, none after the warm-up of %u",
			 input->record_count, input->measure->warmup_steps);
	else
		snprintf(text, size,
			 "%zu steps in the log, but no step time and no rate",
			 input->record_count);
	return false;
}

static void fill(struct builder *builder)
{
	char text[240] = "";
	bool measured = verdict(builder, text, sizeof(text));
	const cJSON *warning;

	put_number(builder, "formula", FORMULA_VERSION);
	put(builder, "measured", cJSON_CreateBool(measured));
	put_text(builder, "text", measured ? NULL : text);
	add_steps(builder);
	add_spread(builder);
	add_loss(builder);
	add_rates(builder);
	add_memory(builder);
	put_number(builder, "wall_s", builder->figures.wall_s);
	add_metrics(builder);
	json_add_copy(builder->object, "usage", builder->input->usage,
		      &builder->failed);
	put(builder, "inputs", inputs_json(builder->input));
	flag_steps(builder);
	usage_warnings(builder->input->usage, builder->flags, &builder->failed);
	cJSON_ArrayForEach(warning, builder->input->warnings)
	{
		if (cJSON_IsString(warning))
			flag(builder, "%s", warning->valuestring);
	}
	if (builder->figures.arrived)
		flag(builder,
		     "the log contains no step time: %.1f ms (+-%.1f) is "
		     "computed from the times of arrival of its lines",
		     builder->figures.iteration.median,
		     builder->input->arrival.arrival_error_ms);
	if (builder->input->simulated)
		flag(builder, "the devices were simulated: these are not "
			      "measurements of real hardware");
}

cJSON *result_new(const struct result_input *input, struct error *err)
{
	struct result_input all = *input;
	struct builder builder = {
		.input = &all,
		.object = cJSON_CreateObject(),
		.flags = cJSON_CreateArray(),
	};
	double power = row_double(input->usage, "power_w");

	if (!(all.power_w > 0) && power > 0)
		all.power_w = power;
	if (statistics_compute(&all, &builder.figures, err) < 0)
		builder.failed = true;
	else
		fill(&builder);
	json_add(builder.object, "flags", builder.flags, &builder.failed);
	if (!builder.failed)
		return builder.object;
	cJSON_Delete(builder.object);
	return error_null(error_nomem(err, "result"));
}

bool result_measured(const cJSON *result, const char **text)
{
	const char *why = row_text(result, "text");

	*text = why ? why : "";
	return cJSON_IsTrue(row_at(result, "measured"));
}

bool result_complete(const cJSON *result, char *text, size_t size)
{
	bool complete = !cJSON_IsFalse(row_at(result, "complete"));

	*text = 0;
	if (!complete)
		snprintf(text, size, "the log ends at step %.0f of %.0f",
			 row_double(result, "steps"),
			 row_double(result, "steps_total"));
	return complete;
}
