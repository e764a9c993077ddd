/* result.c - the records of one job to one result: figures, flags, verdict.
 */
#include "controller/results/result.h"

#include "controller/results/cross_checks.h"
#include "controller/results/inputs.h"
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

/* Names are literals: they are not copied. */
static void add(struct making *making, cJSON *to, const char *name, cJSON *item)
{
	if (item && cJSON_AddItemToObjectCS(to, name, item))
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
	cJSON *object, *steps;

	if (!figures->slow) {
		add(making, making->object, "slow_steps", cJSON_CreateNull());
		return;
	}
	object = cJSON_CreateObject();
	steps = cJSON_CreateArray();
	if (object && steps) {
		add_number(making, object, "count", (double)figures->slow);
		for (size_t i = 0; i < figures->slow && i < STATISTICS_SLOW;
		     i++) {
			cJSON *step = cJSON_CreateNumber(
				(double)figures->slow_steps[i]);

			if (!step || !cJSON_AddItemToArray(steps, step)) {
				cJSON_Delete(step);
				making->failed = true;
			}
		}
		add(making, object, "steps", take(steps));
		add_number(making, object, "lost_ms", figures->lost_ms);
	}
	cJSON_Delete(steps);
	add(making, making->object, "slow_steps", object);
}

static void add_steps(struct making *making)
{
	const struct result_input *input = making->input;
	const struct statistics *figures = &making->figures;
	size_t count = input->record_count;

	add_number(making, making->object, "steps",
		   count ? (double)input->records[count - 1].step : NAN);
	add_number(making, making->object, "steps_total",
		   figures->total_known ? (double)figures->total : NAN);
	add(making, making->object, "complete", complete_value(making));
	add_number(making, making->object, "warmup_steps",
		   (double)figures->above);
	add_text(making, making->object, "warmup",
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
		add_number(making, object, "mean", spread->mean);
		add_number(making, object, "min", spread->min);
		add_number(making, object, "max", spread->max);
		add_number(making, object, "n", (double)spread->n);
	}
	add(making, making->object, "iteration_ms", object);
}

/* Loss. */

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
		     "the loss is %s at step %llu, and not a number at %zu "
		     "steps in total",
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
	add_number(making, making->object, name, share > 1 ? NAN : share);
}

static void add_shares(struct making *making)
{
	const struct result_input *input = making->input;
	const struct flops *flops = &input->flops;
	const char *recompute = input->measure->recompute;
	bool full = recompute && !strcmp(recompute, "full");

	char formula[16];

	snprintf(formula, sizeof(formula), "%gN", flops->factor);
	add_text(making, making->object, "mfu_formula",
		 flops->factor > 0 ? formula : NULL);
	add_share(making, "mfu", "an MFU", formula_flops(FORMULA_6N, flops));
	add_share(making, "mfu_palm", "an MFU by PaLM's formula",
		  formula_flops(FORMULA_PALM, flops));
	add_share(making, "hfu", "an HFU",
		  full ? formula_flops_recomputed(FORMULA_6N, flops) : NAN);
}

static void add_rates(struct making *making)
{
	const struct statistics *figures = &making->figures;

	add_number(making, making->object, "tokens_per_second",
		   figures->tokens_per_second);
	add_number(making, making->object, "tokens_per_second_per_device",
		   formula_per_device(figures->tokens_per_second,
				      making->input->devices));
	add_number(making, making->object, "samples_per_second",
		   figures->samples_per_second);
	add_text(making, making->object, "source", figures->source);
	add_number(making, making->object, "reported_tokens_per_second",
		   figures->reported);
	add_shares(making);
	/* W / (token/s) is J/token. */
	add_number(making, making->object, "joules_per_token",
		   formula_joules_per_token(making->input->power_w,
					    figures->tokens_per_second));
	cross_checks(making->input, &making->figures, flag_difference, making);
}

static void add_memory(struct making *making)
{
	const struct result_input *input = making->input;
	double reported = making->figures.memory_mib;
	double chip = input->chip_memory_bytes / MIB;
	double sampled = cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(input->usage, "mem_used_mib"));
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
	add_number(making, making->object, "memory_mib", memory);
	add_text(making, making->object, "memory_source", source);
	add_number(making, making->object, "host_memory_mib", peak);
	add(making, making->object, "memory_by_rank_mib",
	    usage_memories(input->usage));
	add_number(making, making->object, "chip_memory_gib",
		   chip > 0 ? chip / 1024 : NAN);
}

static void add_metrics(struct making *making)
{
	const struct extract *extract = making->input->extract;
	cJSON *metrics = extract ? metrics_json(extract, making->figures.first)
				 : cJSON_CreateObject();

	add(making, making->object, "metric_columns",
	    extract ? metrics_columns(extract, metrics) : cJSON_CreateArray());
	add(making, making->object, "metric_percents",
	    extract ? metrics_percents(extract, metrics) : cJSON_CreateArray());
	add(making, making->object, "metrics", metrics);
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

	add_number(making, making->object, "formula", FORMULA_VERSION);
	add(making, making->object, "measured", cJSON_CreateBool(measured));
	add_text(making, making->object, "text", measured ? NULL : text);
	add_steps(making);
	add_spread(making);
	add_loss(making);
	add_rates(making);
	add_memory(making);
	add_number(making, making->object, "wall_s", making->figures.wall_s);
	add_metrics(making);
	add(making, making->object, "usage",
	    making->input->usage ? cJSON_Duplicate(making->input->usage, true)
				 : cJSON_CreateNull());
	add(making, making->object, "inputs", inputs_json(making->input));
	flag_steps(making);
	if (making->input->usage &&
	    usage_warnings(making->input->usage, making->flags, NULL) < 0)
		making->failed = true;
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
	struct making making = { .input = &all };
	double power = cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(input->usage, "power_w"));

	if (!(all.power_w > 0) && power > 0)
		all.power_w = power;

	making.object = cJSON_CreateObject();
	making.flags = cJSON_CreateArray();
	if (!making.object || !making.flags ||
	    statistics_compute(&all, &making.figures, err) < 0)
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

bool result_complete(const cJSON *result, char *text, size_t size)
{
	const cJSON *steps = cJSON_GetObjectItemCaseSensitive(result, "steps");
	const cJSON *total =
		cJSON_GetObjectItemCaseSensitive(result, "steps_total");

	*text = 0;
	if (!cJSON_IsFalse(
		    cJSON_GetObjectItemCaseSensitive(result, "complete")))
		return true;
	snprintf(text, size, "the log ends at step %.0f of %.0f",
		 cJSON_GetNumberValue(steps), cJSON_GetNumberValue(total));
	return false;
}
