/* result.c - the records of one job to one result: figures, flags, verdict.
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

/* More slow steps than this share of all are no exceptions. */
#define SLOWDOWN 0.95    /* of the median: a faster step */
#define SLOWDOWN_STEPS 5 /* at least, in the warm-up */
#define SLOW_SHARE 0.25
#define LONGER 1.03 /* than the whole job: steps that cannot be */
#define CLOCK_S 1   /* that logs with times in whole seconds may be off */
#define MIB 1048576.0

/* One result on its way. That memory ran out is noted, and told at the end. */
struct making {
	const struct result_input *input;
	struct statistics figures;
	cJSON *object;
	cJSON *flags;
	bool failed;
};

static void put(struct making *making, const char *name, cJSON *item)
{
	json_add(making->object, name, item, &making->failed);
}

static void put_number(struct making *making, const char *name, double number)
{
	json_add_number(making->object, name, number, &making->failed);
}

static void put_text(struct making *making, const char *name, const char *text)
{
	json_add_text(making->object, name, text, &making->failed);
}

__attribute__((format(printf, 2, 3))) static void flag(struct making *making,
						       const char *fmt, ...)
{
	char text[240];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_add_text(making->flags, NULL, text, &making->failed);
}

/* Steps. */

/* Does the log end before this step? A step that is only told now and then may
 * have come without being told.
 */
static bool ends_before(const struct statistics *figures, uint64_t step)
{
	return figures->reached && figures->reached + figures->stride <= step;
}

static bool ends_early(const struct statistics *figures)
{
	return figures->total_known && ends_before(figures, figures->total);
}

/* A training may finish before what it announced, but not before what the sweep
 * asks for.
 */
static cJSON *complete_value(const struct making *making)
{
	const struct statistics *figures = &making->figures;

	if (ends_before(figures, making->input->measure->steps))
		return cJSON_CreateFalse();
	if (figures->finished)
		return cJSON_CreateTrue();
	if (!figures->total_known || !figures->reached)
		return cJSON_CreateNull();
	return cJSON_CreateBool(!ends_early(figures));
}

static void add_slow(struct making *making)
{
	const struct statistics *figures = &making->figures;
	bool *failed = &making->failed;
	cJSON *object, *steps;

	if (!figures->slow) {
		put(making, "slow_steps", cJSON_CreateNull());
		return;
	}
	object = cJSON_AddObjectToObject(making->object, "slow_steps");
	json_add_number(object, "count", (double)figures->slow, failed);
	steps = cJSON_AddArrayToObject(object, "steps");
	for (size_t i = 0; i < figures->slow && i < STATISTICS_SLOW; i++)
		json_add_number(steps, NULL, (double)figures->slow_steps[i],
				failed);
	json_add_number(object, "lost_ms", figures->lost_ms, failed);
}

static void add_steps(struct making *making)
{
	const struct result_input *input = making->input;
	const struct statistics *figures = &making->figures;
	size_t count = input->record_count;

	put_number(making, "steps",
		   count ? (double)input->records[count - 1].step : NAN);
	put_number(making, "steps_total",
		   figures->total_known ? (double)figures->total : NAN);
	put(making, "complete", complete_value(making));
	put_number(making, "warmup_steps", (double)figures->above);
	put_text(making, "warmup",
		 input->measure->warmup_steps ? "given" : "found");
	add_slow(making);
}

static void flag_progress(struct making *making)
{
	const struct statistics *figures = &making->figures;
	const struct extract *extract = making->input->extract;

	if (!ends_early(figures)) {
		if (making->input->record_count && !figures->finished &&
		    extract && extract_rules_finish(extract_rules_of(extract)))
			flag(making,
			     "the log does not report the end of the training");
		return;
	}
	flag(making,
	     figures->finished ? "the log reports the end of the training at "
				 "step %llu of %llu"
			       : "the log ends at step %llu of %llu",
	     (unsigned long long)figures->reached,
	     (unsigned long long)figures->total);
}

/* Behind the first step a warm-up is slower than what follows. Where it is not,
 * the training has slowed down, and the result is that of its end.
 */
static void flag_slowdown(struct making *making)
{
	const struct result_input *input = making->input;
	const struct statistics *figures = &making->figures;
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
		flag(making,
		     "the training slows down: most steps before step %llu "
		     "take less than %.1f ms, the median of the steps after it",
		     (unsigned long long)figures->above + 1,
		     figures->iteration.median);
}

static void flag_steps(struct making *making)
{
	const struct result_input *input = making->input;
	const struct statistics *figures = &making->figures;
	const struct spread *step = &figures->iteration;
	const char *warning =
		input->extract ? extract_steps_warning(input->extract) : NULL;
	uint64_t from, to;
	size_t impossible;
	double sum_s;

	flag_progress(making);
	if (warning)
		flag(making, "%s", warning);
	if (step->impossible)
		flag(making, "%zu steps with an impossible time are excluded",
		     step->impossible);
	impossible = figures->tokens.impossible +
		     figures->per_device.impossible +
		     figures->samples.impossible;
	if (impossible)
		flag(making, "%zu impossible rates are excluded", impossible);
	if (input->record_count == 1 && !input->measure->warmup_steps)
		flag(making, "only one step: the values include its warm-up");
	if (!figures->settled)
		flag(making, "the step times do not settle: no end of the "
			     "warm-up was found in the first half");
	if ((double)figures->slow > SLOW_SHARE * (double)figures->paced)
		flag(making,
		     "%zu of %zu steps are much slower than the median, and "
		     "excluded",
		     figures->slow, figures->paced);
	if (!input->record_count || !step->n)
		return;
	flag_slowdown(making);
	from = input->records[figures->first].step;
	to = input->records[input->record_count - 1].step;
	sum_s = step->mean / 1000 * (double)(to - from);
	if (sum_s > figures->wall_s * LONGER + CLOCK_S)
		flag(making,
		     "steps %llu to %llu at %.1f ms, %.1f s in all, take "
		     "longer than the whole job, %.1f s",
		     (unsigned long long)from, (unsigned long long)to,
		     step->mean, sum_s, figures->wall_s);
}

static void add_spread(struct making *making)
{
	const struct spread *spread = &making->figures.iteration;
	bool *failed = &making->failed;
	cJSON *object;

	if (!spread->n) {
		put(making, "iteration_ms", cJSON_CreateNull());
		return;
	}
	object = cJSON_AddObjectToObject(making->object, "iteration_ms");
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
		     "the loss is %s at step %llu, and not a number at %zu "
		     "steps in total",
		     number_word(bad->loss), (unsigned long long)bad->step,
		     count);
	if (!last) {
		put(making, "loss", cJSON_CreateNull());
		return;
	}
	object = cJSON_AddObjectToObject(making->object, "loss");
	json_add(object, "first", number_json(first->loss), &making->failed);
	json_add(object, "last", number_json(last->loss), &making->failed);
}

/* Rates, and what they are held against. */

/* cross_check_fn */
static void flag_difference(const char *sentence, void *arg)
{
	flag(arg, "%s", sentence);
}

/* A share of the peak: null and flagged when it is more than all of it. */
static void add_share(struct making *making, const char *name,
		      const char *title, double flops_per_token)
{
	const struct result_input *input = making->input;
	double share = formula_utilisation(
		formula_per_device(making->figures.tokens_per_second,
				   input->devices),
		flops_per_token, input->peak_flops);

	if (share > 1)
		flag(making, "%s of %.1f %% is impossible", title, share * 100);
	put_number(making, name, share > 1 ? NAN : share);
}

static void add_shares(struct making *making)
{
	const struct result_input *input = making->input;
	const struct flops *flops = &input->flops;
	const char *recompute = input->measure->recompute;
	bool full = recompute && !strcmp(recompute, "full");

	char formula[16];

	snprintf(formula, sizeof(formula), "%gN", flops->factor);
	put_text(making, "mfu_formula", flops->factor > 0 ? formula : NULL);
	add_share(making, "mfu", "an MFU", formula_flops(FORMULA_6N, flops));
	add_share(making, "mfu_palm", "an MFU by PaLM's formula",
		  formula_flops(FORMULA_PALM, flops));
	add_share(making, "hfu", "an HFU",
		  full ? formula_flops_recomputed(FORMULA_6N, flops) : NAN);
}

static void add_rates(struct making *making)
{
	const struct statistics *figures = &making->figures;

	put_number(making, "tokens_per_second", figures->tokens_per_second);
	put_number(making, "tokens_per_second_per_device",
		   formula_per_device(figures->tokens_per_second,
				      making->input->devices));
	put_number(making, "samples_per_second", figures->samples_per_second);
	put_text(making, "source", figures->source);
	put_number(making, "reported_tokens_per_second", figures->reported);
	add_shares(making);
	/* W / (token/s) is J/token. */
	put_number(making, "joules_per_token",
		   formula_joules_per_token(making->input->power_w,
					    figures->tokens_per_second));
	cross_checks(making->input, &making->figures, flag_difference, making);
}

static void add_memory(struct making *making)
{
	const struct result_input *input = making->input;
	double reported = making->figures.memory_mib;
	double chip = input->chip_memory_bytes / MIB;
	double sampled = row_double(input->usage, "mem_used_mib");
	double peak = input->memory_peak_bytes
			      ? (double)input->memory_peak_bytes / MIB
			      : NAN;
	const char *source = isfinite(reported)  ? "reported"
			     : isfinite(sampled) ? "sampled"
			     : isfinite(peak)    ? "cgroup"
						 : NULL;
	/* A training knows what it asked its device for; the kernel only
	 * counts what the container holds on the host. */
	double memory = isfinite(reported)  ? reported
			: isfinite(sampled) ? sampled
					    : peak;

	if (chip > 0 && reported > chip) {
		flag(making,
		     "a memory of %.0f MiB is impossible: the device has "
		     "%.0f",
		     reported, chip);
		memory = NAN;
	}
	put_number(making, "memory_mib", memory);
	put_text(making, "memory_source", source);
	put_number(making, "host_memory_mib", peak);
	put(making, "memory_by_rank_mib", usage_memories(input->usage));
	put_number(making, "chip_memory_gib", chip > 0 ? chip / 1024 : NAN);
}

static void add_metrics(struct making *making)
{
	const struct extract *extract = making->input->extract;
	cJSON *metrics = extract ? metrics_json(extract, making->figures.first)
				 : cJSON_CreateObject();

	put(making, "metric_columns",
	    extract ? metrics_names(extract, metrics, extract_rules_column)
		    : cJSON_CreateArray());
	put(making, "metric_percents",
	    extract ? metrics_names(extract, metrics, extract_rules_percent)
		    : cJSON_CreateArray());
	put(making, "metrics", metrics);
}

/* Verdict. */

/* Was anything measured? Else the sentence that says what is missing. */
static bool verdict(const struct making *making, char *text, size_t size)
{
	const struct result_input *input = making->input;
	const struct statistics *figures = &making->figures;

	if (figures->iteration.n || figures->source ||
	    isfinite(figures->samples_per_second) ||
	    (input->extract && metrics_told(input->extract)))
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

static void fill(struct making *making)
{
	char text[240] = "";
	bool measured = verdict(making, text, sizeof(text));
	const cJSON *warning;

	put_number(making, "formula", FORMULA_VERSION);
	put(making, "measured", cJSON_CreateBool(measured));
	put_text(making, "text", measured ? NULL : text);
	add_steps(making);
	add_spread(making);
	add_loss(making);
	add_rates(making);
	add_memory(making);
	put_number(making, "wall_s", making->figures.wall_s);
	add_metrics(making);
	json_add_copy(making->object, "usage", making->input->usage,
		      &making->failed);
	put(making, "inputs", inputs_json(making->input));
	flag_steps(making);
	usage_warnings(making->input->usage, making->flags, &making->failed);
	cJSON_ArrayForEach(warning, making->input->warnings)
	{
		if (cJSON_IsString(warning))
			flag(making, "%s", warning->valuestring);
	}
	if (making->figures.arrived)
		flag(making,
		     "the log contains no step time: %.1f ms (+-%.1f) is "
		     "computed from the times of arrival of its lines",
		     making->figures.iteration.median,
		     making->input->arrival.arrival_error_ms);
	if (making->input->simulated)
		flag(making, "the devices were simulated: these are not "
			     "measurements of real hardware");
}

cJSON *result_new(const struct result_input *input, struct error *err)
{
	struct result_input all = *input;
	struct making making = {
		.input = &all,
		.object = cJSON_CreateObject(),
		.flags = cJSON_CreateArray(),
	};
	double power = row_double(input->usage, "power_w");

	if (!(all.power_w > 0) && power > 0)
		all.power_w = power;
	if (statistics_compute(&all, &making.figures, err) < 0)
		making.failed = true;
	else
		fill(&making);
	json_add(making.object, "flags", making.flags, &making.failed);
	if (!making.failed)
		return making.object;
	cJSON_Delete(making.object);
	error_nomem(err, "result");
	return NULL;
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
