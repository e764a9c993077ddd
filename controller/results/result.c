/* result.c - computes the result of a job from its records: figures, flags,
 * verdict.
 */
#include "controller/results/result.h"
#include "controller/results/formula.h"
#include "controller/results/metrics.h"
#include "controller/results/remarks.h"
#include "controller/results/usage.h"
#include "protocol/base/list.h"

#include <math.h>
#include <string.h>

/* Compares figures that have two sources.
 *
 * It compares the rate that the program prints with the rate from its step
 * time, the printed step time with the arrival of the lines, a token counter
 * with the batch, and the printed TFLOPS with the computed ones. A difference
 * of more than 3 % is reported with both numbers.
 */

#define DISAGREE 0.03
#define WIDE                                                                   \
	0.25 /* share of the median; a larger interquartile range is too wide  \
	      */
#define WIDE_STEPS 5
#define TERA 1e12
#define ARRIVAL_BLOCKS 5 /* with fewer, the difference may be chance */

/* The input and the figures that are compared. */
struct checking {
	const struct result_input *input;
	const struct statistics *figures;
};

/* Two figures; both NaN: there is nothing to compare. With `high`, the second
 * is a range from `second` to `high`.
 */
struct pair {
	double first;
	double second;
	double high; /* NaN: no range */
};

static const struct pair nothing = { NAN, NAN, NAN };

/* The mean of a metric over the steady steps; NaN: no step has it. */
static double steady_metric(const struct checking *checking, const char *name)
{
	const struct result_input *input = checking->input;
	int metric =
		input->extract ? extract_metric_find(input->extract, name) : -1;
	double sum = 0, number;
	size_t n = 0;

	for (size_t i = checking->figures->first;
	     metric >= 0 && i < input->record_count; i++)
		if (record_metric(&input->records[i], (size_t)metric,
				  &number) &&
		    isfinite(number)) {
			sum += number;
			n++;
		}
	return n ? sum / (double)n : NAN;
}

/* The growth of a counter per step, from its first to its last value; NaN:
 * unknown.
 */
static double growth(const struct checking *checking, const char *name)
{
	const struct result_input *input = checking->input;
	int metric =
		input->extract ? extract_metric_find(input->extract, name) : -1;
	const struct record *first = NULL, *last = NULL;
	double from = NAN, to = NAN, number;

	for (size_t i = 0; metric >= 0 && i < input->record_count; i++) {
		if (!record_metric(&input->records[i], (size_t)metric, &number))
			continue;
		if (!first) {
			first = &input->records[i];
			from = number;
		}
		last = &input->records[i];
		to = number;
	}
	if (!first || last->step <= first->step || !(to > from))
		return NAN;
	return (to - from) / (double)(last->step - first->step);
}

static struct pair tokens_and_time(const struct checking *checking)
{
	const struct statistics *figures = checking->figures;

	if (!figures->source || strcmp(figures->source, "iteration") != 0)
		return nothing;
	return (struct pair){ figures->reported, figures->tokens_per_second,
			      NAN };
}

/* For runs without a sequence length, and so without tokens. */
static struct pair samples_and_time(const struct checking *checking)
{
	const struct statistics *figures = checking->figures;
	double batch = (double)checking->input->measure->global_batch;

	if (isfinite(figures->reported) || !figures->samples.n ||
	    !figures->iteration.n || !(batch > 0))
		return nothing;
	return (struct pair){ figures->samples.median,
			      batch * 1000 / figures->iteration.median, NAN };
}

static struct pair batch(const struct checking *checking)
{
	double said = steady_metric(checking, "global_batch");

	if (!isfinite(said))
		said = steady_metric(checking, "samples_per_step");
	return (struct pair){ said,
			      (double)checking->input->measure->global_batch,
			      NAN };
}

/* What the log states of a step at its start. */
static struct pair tokens_stated(const struct checking *checking)
{
	const struct result_input *input = checking->input;
	int metric = input->extract ? extract_metric_find(input->extract,
							  "tokens_per_step")
				    : -1;
	double said = NAN;

	if (metric >= 0 && input->summary)
		record_metric(input->summary, (size_t)metric, &said);
	return (struct pair){ said,
			      (double)input->measure->global_batch *
				      input->measure->sequence,
			      NAN };
}

static struct pair samples_counter(const struct checking *checking)
{
	return (struct pair){ growth(checking, "consumed_samples"),
			      (double)checking->input->measure->global_batch,
			      NAN };
}

static struct pair tokens_counter(const struct checking *checking)
{
	const struct measure_spec *measure = checking->input->measure;
	double grown = growth(checking, "consumed_tokens");

	if (!isfinite(grown))
		grown = growth(checking, "num_input_tokens_seen");
	return (struct pair){ grown,
			      (double)measure->global_batch * measure->sequence,
			      NAN };
}

/* The reported value, and the range of ours: from the plain formula to the one
 * with attention, or with recomputation.
 */
static struct pair ours(const struct checking *checking, double said,
			double unit)
{
	const struct result_input *input = checking->input;
	double tokens = formula_per_device(checking->figures->tokens_per_second,
					   input->inputs.devices);
	double plain = formula_flops(FORMULA_6N, &input->inputs.flops) * tokens;
	double palm =
		formula_flops(FORMULA_PALM, &input->inputs.flops) * tokens;
	double twice =
		formula_flops_recomputed(FORMULA_PALM, &input->inputs.flops) *
		tokens;
	bool full = input->measure->recompute &&
		    !strcmp(input->measure->recompute, "full");
	double high = isfinite(palm) ? palm : plain;

	if (full && isfinite(twice))
		high = twice;
	return (struct pair){ said, plain / unit, high / unit };
}

static struct pair tflops(const struct checking *checking)
{
	return ours(checking,
		    steady_metric(checking, "tflops_per_device_reported"),
		    TERA);
}

static struct pair mfu(const struct checking *checking)
{
	if (!(checking->input->inputs.peak_flops > 0))
		return nothing;
	return ours(checking, steady_metric(checking, "mfu_percent_reported"),
		    checking->input->inputs.peak_flops / 100);
}

/* Lines that arrived at once, after a node was out of reach, are not compared.
 */
static struct pair arrival(const struct checking *checking)
{
	const struct arrival *arrival = &checking->input->inputs.arrival;
	const struct spread *step = &checking->figures->iteration;

	if (!step->n || checking->figures->arrived ||
	    arrival->arrival_blocks < ARRIVAL_BLOCKS ||
	    arrival->arrival_ms < step->median / 2)
		return nothing;
	return (struct pair){ step->median,
			      arrival->arrival_ms - arrival->arrival_error_ms,
			      arrival->arrival_ms + arrival->arrival_error_ms };
}

static const struct cross_check {
	struct pair (*figures)(const struct checking *checking);
	enum remark_code code;
} table[] = {
	{ tokens_and_time, REMARK_TOKENS_DIFFER },
	{ samples_and_time, REMARK_SAMPLES_DIFFER },
	{ arrival, REMARK_ARRIVAL_DIFFERS },
	{ batch, REMARK_BATCH_DIFFERS },
	{ samples_counter, REMARK_SAMPLES_GROW },
	{ tokens_counter, REMARK_TOKENS_GROW },
	{ tokens_stated, REMARK_TOKENS_STATED },
	{ tflops, REMARK_TFLOPS_DIFFER },
	{ mfu, REMARK_MFU_DIFFERS },
};

static bool differ(const struct pair *pair)
{
	double high = isfinite(pair->high) ? pair->high : pair->second;

	if (!isfinite(pair->first) || !isfinite(pair->second) ||
	    !(pair->first > 0) || !(pair->second > 0))
		return false;
	return pair->first < pair->second * (1 - DISAGREE) ||
	       pair->first > high * (1 + DISAGREE);
}

/* A range of one value is none. */
static int flag_difference(struct result *to, enum remark_code code,
			   const struct pair *pair, struct error *err)
{
	struct remark_said said = {
		.code = code,
		.numbers = { pair->first, pair->second,
			     pair->high > pair->second * 1.001 ? pair->high
							       : (double)NAN },
	};

	return remark_add(&to->flags, &to->flags_count, &said, err);
}

/* Times that are spread so widely have no typical value. */
static int flag_spread(struct result *to, const struct spread *step,
		       struct error *err)
{
	if (step->n < WIDE_STEPS ||
	    !(step->q3 - step->q1 > WIDE * step->median))
		return 0;
	return remark_add(&to->flags, &to->flags_count,
			  SAID(WIDE_SPREAD,
			       .numbers = { step->q1, step->q3, step->median }),
			  err);
}

/* Flag each pair of figures that do not agree, and step times that are spread
 * too widely. ENOMEM.
 */
static int cross_checks(const struct result_input *input,
			const struct statistics *figures, struct result *to,
			struct error *err)
{
	const struct checking checking = { input, figures };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct pair pair = table[i].figures(&checking);

		if (differ(&pair) &&
		    flag_difference(to, table[i].code, &pair, err) < 0)
			return -1;
	}
	return flag_spread(to, &figures->iteration, err);
}

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
	struct result *to;
	bool failed;
	struct error *err;
};

static void builder_note(struct builder *builder, int rc)
{
	builder->failed |= rc < 0;
}

static void put_word(struct builder *builder, char **to, const char *text)
{
	builder_note(builder, string_set(to, text, builder->err));
}

/* A struct that is zero; NULL: memory ran out. */
static void *result_add_part(struct builder *builder, size_t size)
{
	void *part = calloc(1, size);

	if (!part)
		builder_note(builder, error_nomem(builder->err, "result"));
	return part;
}

static void flag(struct builder *builder, const struct remark_said *said)
{
	builder_note(builder,
		     remark_add(&builder->to->flags, &builder->to->flags_count,
				said, builder->err));
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
static enum truth complete_value(const struct builder *builder)
{
	const struct statistics *figures = &builder->figures;

	if (ends_before(figures, builder->input->measure->steps))
		return TRUTH_NO;
	if (figures->finished)
		return TRUTH_YES;
	if (!figures->total_known || !figures->reached)
		return TRUTH_UNKNOWN;
	return ends_early(figures) ? TRUTH_NO : TRUTH_YES;
}

static void add_slow(struct builder *builder)
{
	const struct statistics *figures = &builder->figures;
	struct slow_steps *slow;

	if (!figures->slow)
		return;
	slow = builder->to->slow_steps =
		result_add_part(builder, sizeof(*builder->to->slow_steps));
	if (!slow)
		return;
	slow->count = figures->slow;
	slow->lost_ms = figures->lost_ms;
	for (size_t i = 0; i < figures->slow && i < STATISTICS_SLOW; i++)
		builder_note(builder,
			     numbers_add(&slow->steps, figures->slow_steps[i],
					 builder->err));
}

static void result_add_steps(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct statistics *figures = &builder->figures;
	struct result *to = builder->to;
	size_t count = input->record_count;

	to->steps =
		count ? (double)input->records[count - 1].step : (double)NAN;
	to->steps_total =
		figures->total_known ? (double)figures->total : (double)NAN;
	to->complete = complete_value(builder);
	to->warmup_steps = figures->above;
	put_word(builder, &to->warmup,
		 input->measure->warmup_steps ? "given" : "found");
	add_slow(builder);
}

static void flag_progress(struct builder *builder)
{
	const struct statistics *figures = &builder->figures;
	const struct extract *extract = builder->input->extract;
	struct remark_said said = {
		.code = figures->finished ? REMARK_END_REPORTED
					  : REMARK_LOG_ENDS,
		.numbers = { (double)figures->reached, (double)figures->total },
	};

	if (ends_early(figures))
		flag(builder, &said);
	else if (builder->input->record_count && !figures->finished &&
		 extract && extract_rules_finish(extract_rules_of(extract)))
		flag(builder, SAID(END_UNREPORTED, ));
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
		     SAID(SLOWDOWN, .numbers = { (double)figures->above + 1,
						 figures->iteration.median }));
}

/* Steps that take longer than the job. */
static void flag_sum(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct statistics *figures = &builder->figures;
	double mean = figures->iteration.mean;
	double from = (double)input->records[figures->first].step;
	double to = (double)input->records[input->record_count - 1].step;
	double sum_s = mean / 1000 * (to - from);

	if (sum_s > figures->wall_s * LONGER + CLOCK_S)
		flag(builder,
		     SAID(LONGER_THAN_JOB, .numbers = { from, to, mean, sum_s,
							figures->wall_s }));
}

static void flag_steps(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct statistics *figures = &builder->figures;
	size_t impossible_times = figures->iteration.impossible;
	size_t impossible = figures->tokens.impossible +
			    figures->per_device.impossible +
			    figures->samples.impossible;
	struct remark_said shares = {
		.code = input->extract ? extract_steps_remark(input->extract)
				       : REMARKS,
	};

	flag_progress(builder);
	if (shares.code != REMARKS)
		flag(builder, &shares);
	if (impossible_times)
		flag(builder, SAID(IMPOSSIBLE_TIMES,
				   .numbers = { (double)impossible_times }));
	if (impossible)
		flag(builder,
		     SAID(IMPOSSIBLE_RATES, .numbers = { (double)impossible }));
	if (input->record_count == 1 && !input->measure->warmup_steps)
		flag(builder, SAID(ONE_STEP, ));
	if (!figures->settled)
		flag(builder, SAID(UNSETTLED, ));
	if ((double)figures->slow > SLOW_SHARE * (double)figures->paced)
		flag(builder,
		     SAID(SLOW_STEPS, .numbers = { (double)figures->slow,
						   (double)figures->paced }));
	if (!input->record_count || !figures->iteration.n)
		return;
	flag_slowdown(builder);
	flag_sum(builder);
}

static void add_spread(struct builder *builder)
{
	const struct spread *spread = &builder->figures.iteration;
	struct step_spread *to;

	if (!spread->n)
		return;
	to = builder->to->iteration_ms =
		result_add_part(builder, sizeof(*builder->to->iteration_ms));
	if (to)
		*to = (struct step_spread){
			.median = spread->median,
			.q1 = spread->q1,
			.q3 = spread->q3,
			.iqr = spread->q3 - spread->q1,
			.mean = spread->mean,
			.min = spread->min,
			.max = spread->max,
			.n = spread->n,
		};
}

/* Loss. */

static void result_add_loss(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct record *first = NULL, *last = NULL, *bad = NULL;
	size_t count = 0;

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
		     SAID(LOSS, .words = { number_word(bad->loss) },
			  .numbers = { (double)bad->step, (double)count }));
	if (!last)
		return;
	builder->to->loss =
		result_add_part(builder, sizeof(*builder->to->loss));
	if (builder->to->loss)
		*builder->to->loss =
			(struct loss_range){ first->loss, last->loss };
}

/* Rates. */

/* A share of the peak; NAN with a flag if it is above 1. */
static double share_of(struct builder *builder, enum remark_code impossible,
		       double flops_per_token)
{
	const struct result_inputs *inputs = &builder->input->inputs;
	double share = formula_utilisation(
		formula_per_device(builder->figures.tokens_per_second,
				   inputs->devices),
		flops_per_token, inputs->peak_flops);
	struct remark_said said = { .code = impossible,
				    .numbers = { share * 100 } };

	if (!(share > 1))
		return share;
	flag(builder, &said);
	return (double)NAN;
}

static void add_shares(struct builder *builder)
{
	const struct result_input *input = builder->input;
	const struct flops *flops = &input->inputs.flops;
	const char *recompute = input->measure->recompute;
	bool full = recompute && !strcmp(recompute, "full");
	struct result *to = builder->to;
	char formula[16];

	snprintf(formula, sizeof(formula), "%gN", flops->factor);
	put_word(builder, &to->mfu_formula, flops->factor > 0 ? formula : NULL);
	to->mfu = share_of(builder, REMARK_IMPOSSIBLE_MFU,
			   formula_flops(FORMULA_6N, flops));
	to->mfu_palm = share_of(builder, REMARK_IMPOSSIBLE_PALM,
				formula_flops(FORMULA_PALM, flops));
	to->hfu = share_of(builder, REMARK_IMPOSSIBLE_HFU,
			   full ? formula_flops_recomputed(FORMULA_6N, flops)
				: (double)NAN);
}

static void add_rates(struct builder *builder)
{
	const struct result_inputs *inputs = &builder->input->inputs;
	const struct statistics *figures = &builder->figures;
	struct result *to = builder->to;

	to->tokens_per_second = figures->tokens_per_second;
	/* A log with both rates knows its devices. */
	to->tokens_per_second_per_device =
		figures->tokens.n && figures->per_device.n
			? figures->per_device.median
			: formula_per_device(figures->tokens_per_second,
					     inputs->devices);
	to->samples_per_second = figures->samples_per_second;
	put_word(builder, &to->source, figures->source);
	to->reported_tokens_per_second = figures->reported;
	add_shares(builder);
	/* W / (token/s) is J/token. */
	to->joules_per_token =
		formula_joules_per_token(inputs->power_w,
					 figures->tokens_per_second);
	builder_note(builder,
		     cross_checks(builder->input, figures, to, builder->err));
}

static void result_add_memory(struct builder *builder)
{
	const struct result_input *input = builder->input;
	uint64_t peak_bytes = input->inputs.memory_peak_bytes;
	double reported = builder->figures.memory_mib;
	double chip = input->inputs.chip_memory_bytes / MIB;
	double sampled =
		input->usage ? input->usage->mem_used_mib : (double)NAN;
	double peak = peak_bytes ? (double)peak_bytes / MIB : (double)NAN;
	const char *source = isfinite(reported)  ? "reported"
			     : isfinite(sampled) ? "sampled"
			     : isfinite(peak)    ? "cgroup"
						 : NULL;
	struct result *to = builder->to;

	/* A training reports the memory of its device; the kernel counts only
	 * the memory of the host.
	 */
	to->memory_mib = isfinite(reported)  ? reported
			 : isfinite(sampled) ? sampled
					     : peak;
	if (chip > 0 && reported > chip) {
		flag(builder,
		     SAID(IMPOSSIBLE_MEMORY, .numbers = { reported, chip }));
		to->memory_mib = (double)NAN;
	}
	put_word(builder, &to->memory_source, source);
	to->host_memory_mib = peak;
	builder_note(builder,
		     usage_memories(input->usage, &to->memory_by_rank_mib,
				    builder->err));
	to->chip_memory_gib = chip > 0 ? chip / 1024 : (double)NAN;
}

/* Verdict. */

const char result_unread[] = "no format matches the log; 'regatta extract LOG "
			     "--learn' proposes rules";

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

/* Flags that the job's nodes, or its log, gave already. */
static void flag_copies(struct builder *builder, const struct remark *remarks,
			size_t count)
{
	struct result *to = builder->to;
	for (size_t i = 0; i < count; i++) {
		struct remark *added;

		if (builder->input->inputs.devices == 1 &&
		    !builder->input->devices_guessed && remarks[i].code &&
		    !strcmp(remarks[i].code,
			    remark_code_name(REMARK_SCOPE_OPEN)))
			continue; /* one device is all of them */
		added = LIST_ADD(to->flags, to->flags_count, builder->err);
		if (!added || codec_copy(&remark_schema, &remarks[i], added,
					 builder->err) < 0) {
			builder_note(builder, -1);
			return;
		}
	}
}

static void fill_result(struct builder *builder)
{
	const struct result_input *input = builder->input;
	struct result *to = builder->to;
	char text[240] = "";

	to->formula = FORMULA_VERSION;
	to->measured = verdict(builder, text, sizeof(text));
	put_word(builder, &to->text, to->measured ? NULL : text);
	result_add_steps(builder);
	add_spread(builder);
	result_add_loss(builder);
	add_rates(builder);
	result_add_memory(builder);
	to->wall_s = builder->figures.wall_s;
	if (input->extract)
		builder_note(builder, metrics_compute(input->extract,
						      builder->figures.first,
						      to, builder->err));
	flag_steps(builder);
	if (input->usage)
		builder_note(builder,
			     usage_remarks(input->usage, to, builder->err));
	flag_copies(builder, input->inputs.warnings,
		    input->inputs.warnings_count);
	if (input->extract) {
		size_t count;
		const struct remark *remarks =
			extract_remarks(input->extract, &count);

		flag_copies(builder, remarks, count);
	}
	if (builder->figures.arrived)
		flag(builder,
		     SAID(ARRIVAL,
			  .numbers = {
				  builder->figures.iteration.median,
				  input->inputs.arrival.arrival_error_ms }));
	if (input->inputs.simulated)
		flag(builder, SAID(SIMULATED, ));
}

int result_compute(struct result_input *input, struct result *to,
		   struct error *err)
{
	struct builder builder = { .input = input, .to = to, .err = err };
	double power = input->usage ? input->usage->power_w : 0;

	*to = (struct result){ 0 };
	if (!(input->inputs.power_w > 0) && power > 0 && isfinite(power))
		input->inputs.power_w = power;
	if (statistics_compute(input, &builder.figures, err) < 0)
		builder.failed = true;
	else
		fill_result(&builder);
	to->usage = take(input->usage);
	to->inputs = input->inputs;
	input->inputs = (struct result_inputs){ 0 };
	if (!builder.failed)
		return 0;
	result_clear(to);
	return -1;
}

void result_input_clear(struct result_input *input)
{
	struct result owner = { .inputs = input->inputs };

	owner.usage = take(input->usage);
	input->inputs = (struct result_inputs){ 0 };
	result_clear(&owner);
}

void result_clear(struct result *result)
{
	codec_clear(&result_schema, result);
}

bool result_complete(const struct result *result, char *text, size_t size)
{
	bool complete = result->complete != TRUTH_NO;

	*text = 0;
	if (!complete)
		snprintf(text, size, "the log ends at step %.0f of %.0f",
			 result->steps, result->steps_total);
	return complete;
}
