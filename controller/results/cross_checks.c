/* cross_checks.c - compares figures that have two sources.
 */
#include "controller/results/cross_checks.h"

#include "controller/results/formula.h"
#include "controller/results/remarks.h"

#include <math.h>
#include <string.h>

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

int cross_checks(const struct result_input *input,
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
