/* result.c - computes the result of a job from its records: figures, flags,
 * verdict.
 */
#include "controller/results/result.h"

#include "controller/results/cross_checks.h"
#include "controller/results/formula.h"
#include "controller/results/metrics.h"
#include "controller/results/remarks.h"
#include "controller/results/usage.h"

#include <math.h>
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
	to->tokens_per_second_per_device =
		formula_per_device(figures->tokens_per_second, inputs->devices);
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
	struct remark *grown = realloc(to->flags, (to->flags_count + count +
						   1) * sizeof(*grown));

	if (!grown) {
		builder_note(builder, error_nomem(builder->err, "result"));
		return;
	}
	to->flags = grown;
	for (size_t i = 0; i < count; i++) {
		if (codec_copy(&remark_schema, &remarks[i],
			       &grown[to->flags_count], builder->err) < 0) {
			builder_note(builder, -1);
			return;
		}
		to->flags_count++;
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
