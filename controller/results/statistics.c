/* statistics.c - computes the figures of a job from its records: spreads,
 * rates, progress.
 */
#include "controller/results/statistics.h"

#include "controller/results/formula.h"
#include "controller/results/steady.h"

#include <math.h>
#include <string.h>

/* The duration of a record's step: its time, or the inverse of its rate, in an
 * arbitrary unit.
 */
static double pace_by(const struct record *record, enum record_field field)
{
	double value = record_value(record, field);

	if (!isfinite(value) || !(value > 0))
		return NAN;
	return field == RECORD_ITERATION_MS ? value : 1 / value;
}

static enum record_field pace_field(const struct result_input *input)
{
	static const enum record_field fields[] = {
		RECORD_ITERATION_MS,
		RECORD_TOKENS_PER_SECOND,
		RECORD_TOKENS_PER_DEVICE,
		RECORD_SAMPLES_PER_SECOND,
	};

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
		for (size_t i = 0; i < input->record_count; i++)
			if (isfinite(pace_by(&input->records[i], fields[f])))
				return fields[f];
	return fields[0];
}

/* Which records have a pace, and which are left out. */
struct work {
	const struct result_input *input;
	struct statistics *figures;
	double *values; /* as many as there are records */
	size_t *places; /* record of each pace */
	bool *is_slow;  /* by pace */
	bool *left_out; /* by record */
};

static void statistics_work_clear(struct work *work)
{
	free(work->values);
	free(work->places);
	free(work->is_slow);
	free(work->left_out);
}
OWNED_VALUE(struct work, statistics_work_clear)

static int work_init(struct work *work, const struct result_input *input,
		     struct statistics *figures, struct error *err)
{
	size_t count = input->record_count + 1;

	work->input = input;
	work->figures = figures;
	work->values = calloc(count, sizeof(*work->values));
	work->places = calloc(count, sizeof(*work->places));
	work->is_slow = calloc(count, sizeof(*work->is_slow));
	work->left_out = calloc(count, sizeof(*work->left_out));
	if (!work->values || !work->places || !work->is_slow || !work->left_out)
		return error_nomem(err, "result");
	return 0;
}

static void note_slow(struct work *work, const struct steady *steady,
		      size_t paces, bool is_time)
{
	struct statistics *figures = work->figures;

	figures->paced = paces - steady->first;
	figures->slow = steady->slow;
	figures->lost_ms = is_time ? steady->lost : NAN;
	for (size_t p = 0, n = 0; p < paces; p++) {
		size_t place = work->places[p];

		if (!work->is_slow[p])
			continue;
		work->left_out[place] = true;
		if (n < STATISTICS_SLOW)
			figures->slow_steps[n++] =
				work->input->records[place].step;
	}
}

static int find_steady(struct work *work, struct error *err)
{
	const struct result_input *input = work->input;
	struct statistics *figures = work->figures;
	uint32_t warmup = input->measure->warmup_steps;
	enum record_field field = pace_field(input);
	size_t paces = 0, given = 0;
	struct steady steady;

	for (size_t i = 0; i < input->record_count; i++) {
		double pace = pace_by(&input->records[i], field);

		if (!isfinite(pace))
			continue;
		given += input->records[i].step <= warmup;
		work->places[paces] = i;
		work->values[paces++] = pace;
	}
	if (steady_find(work->values, paces, warmup ? given : STEADY_FIND,
			work->is_slow, &steady, err) < 0)
		return -1;
	figures->settled = steady.settled;
	note_slow(work, &steady, paces, field == RECORD_ITERATION_MS);
	if (!warmup) {
		if (steady.first < paces)
			figures->first = work->places[steady.first];
		figures->above =
			figures->first ? input->records[figures->first - 1].step
				       : 0;
		return 0;
	}
	figures->above = warmup;
	while (figures->first < input->record_count &&
	       input->records[figures->first].step <= warmup)
		figures->first++;
	return 0;
}

/* This sorts values[0..n). */
static void spread_sum_up(double *values, size_t n, struct spread *spread)
{
	double sum = 0;

	spread->n = n;
	if (!n)
		return;
	sort_values(values, n);
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	spread->mean = sum / (double)n;
	spread->min = values[0];
	spread->max = values[n - 1];
	spread->median = quantile(values, n, 0.5);
	spread->q1 = quantile(values, n, 0.25);
	spread->q3 = quantile(values, n, 0.75);
}

static void work_get_spread(const struct work *work, enum record_field field,
			    struct spread *spread)
{
	const struct result_input *input = work->input;
	size_t n = 0;

	for (size_t i = work->figures->first; i < input->record_count; i++) {
		const struct record *record = &input->records[i];
		double value = record_value(record, field);

		if (work->left_out[i] || !record_has(record, field))
			continue;
		if (isfinite(value) && value > 0)
			work->values[n++] = value;
		else
			spread->impossible++;
	}
	spread_sum_up(work->values, n, spread);
}

/* Rates of samples that a log has of each device alone, over all. */
static void samples_of_devices(const struct work *work, struct spread *spread)
{
	const struct result_input *input = work->input;
	int metric = input->extract
			     ? extract_metric_find(input->extract,
						   "samples_per_second_per_"
						   "device")
			     : -1;
	double value;
	size_t n = 0;

	for (size_t i = work->figures->first;
	     metric >= 0 && i < input->record_count; i++)
		if (!work->left_out[i] &&
		    record_metric(&input->records[i], (size_t)metric, &value) &&
		    isfinite(value) && value > 0)
			work->values[n++] =
				formula_over_devices(value,
						     input->inputs.devices);
	spread_sum_up(work->values, n, spread);
}

static double summary_rate(const struct result_input *input)
{
	const struct record *summary = input->summary;

	if (!summary)
		return NAN;
	if (record_has(summary, RECORD_TOKENS_PER_SECOND))
		return summary->tokens_per_second;
	if (record_has(summary, RECORD_TOKENS_PER_DEVICE))
		return formula_over_devices(summary->tokens_per_device,
					    input->inputs.devices);
	if (record_has(summary, RECORD_SAMPLES_PER_SECOND))
		return formula_tokens_from_samples(summary->samples_per_second,
						   input->measure->sequence);
	return NAN;
}

/* Are the step times those of a progress bar, under a rate that the log gives
 * for the whole run? The program knows better what a step was.
 */
static bool summary_is_surer(const struct result_input *input)
{
	bool by_bar = false;

	for (size_t i = 0; i < input->record_count; i++)
		by_bar |= input->records[i].by_bar;
	return by_bar && summary_rate(input) > 0;
}

/* The rate from the best source there is. */
static void find_rates(const struct result_input *input,
		       struct statistics *figures)
{
	const struct measure_spec *measure = input->measure;
	double step = figures->iteration.n && !summary_is_surer(input)
			      ? figures->iteration.median
			      : NAN;
	double samples = figures->samples.n ? figures->samples.median : NAN;

	figures->samples_per_second =
		formula_samples_per_second(measure->global_batch, step);
	if (!isfinite(figures->samples_per_second))
		figures->samples_per_second = samples;
	figures->reported =
		figures->tokens.n ? figures->tokens.median
		: figures->per_device.n
			? formula_over_devices(figures->per_device.median,
					       input->inputs.devices)
			: formula_tokens_from_samples(samples,
						      measure->sequence);
	figures->source = "iteration";
	figures->tokens_per_second =
		formula_tokens_per_second(measure->global_batch,
					  measure->sequence, step);
	if (isfinite(figures->tokens_per_second))
		return;
	figures->source = "reported";
	figures->tokens_per_second = figures->reported;
	if (isfinite(figures->tokens_per_second))
		return;
	figures->source = "summary";
	figures->tokens_per_second = summary_rate(input);
	if (isfinite(figures->tokens_per_second) &&
	    figures->tokens_per_second > 0)
		return;
	figures->tokens_per_second = NAN;
	figures->source = NULL;
}

/* For logs without times and rates: use the arrival of the lines. */
static void use_arrival(const struct result_input *input,
			struct statistics *figures)
{
	const struct arrival *arrival = &input->inputs.arrival;

	if (!(arrival->arrival_ms > 0) || figures->iteration.n ||
	    figures->source || isfinite(figures->samples_per_second))
		return;
	figures->arrived = true;
	figures->iteration = (struct spread){
		.median = arrival->arrival_ms,
		.q1 = arrival->arrival_q1_ms,
		.q3 = arrival->arrival_q3_ms,
		.mean = NAN,
		.min = NAN,
		.max = NAN,
		.n = arrival->arrival_blocks,
	};
	find_rates(input, figures);
	if (figures->source)
		figures->source = "arrival";
}

static int numbers_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Find the last step, and the number of steps that were planned. */
static int find_progress(const struct result_input *input,
			 struct statistics *figures, struct error *err)
{
	size_t count = input->record_count;
	const struct record *records = input->records;
	const struct record *total = input->summary;
	uint64_t *gaps;

	if (count && record_has(&records[count - 1], RECORD_STEPS))
		total = &records[count - 1];
	figures->total_known = total && record_has(total, RECORD_STEPS);
	figures->total = figures->total_known ? total->steps_total : 0;
	if (input->measure->steps > figures->total) {
		figures->total_known = true;
		figures->total = input->measure->steps;
	}
	figures->finished = input->summary && input->summary->finished;
	figures->stride = 1;
	if (!count)
		return 0;
	figures->reached = records[count - 1].step + !records[0].step;
	if (count == 1)
		figures->stride = figures->reached;
	gaps = calloc(count, sizeof(*gaps));
	if (!gaps)
		return error_nomem(err, "result");
	for (size_t i = 1; i < count; i++)
		gaps[i - 1] = records[i].step - records[i - 1].step;
	if (count > 1) {
		qsort(gaps, count - 1, sizeof(*gaps), numbers_compare);
		figures->stride = gaps[(count - 1) / 2];
	}
	free(gaps);
	return 0;
}

bool statistics_steady_span(const struct result_input *input, int64_t *from_ms,
			    int64_t *to_ms)
{
	owned(statistics_work_clear) struct work work = { 0 };
	struct statistics found = { 0 };
	size_t count = input->record_count;

	if (work_init(&work, input, &found, NULL) < 0 ||
	    find_steady(&work, NULL) < 0 || found.first >= count)
		return false;
	*from_ms = input->records[found.first].came_ms;
	*to_ms = input->records[count - 1].came_ms;
	return *from_ms > 0 && *to_ms > *from_ms;
}

int statistics_compute(const struct result_input *input,
		       struct statistics *figures, struct error *err)
{
	owned(statistics_work_clear) struct work work = { 0 };
	struct statistics found = { .wall_s = NAN, .memory_mib = NAN };

	if (work_init(&work, input, &found, err) < 0 ||
	    find_steady(&work, err) < 0 ||
	    find_progress(input, &found, err) < 0)
		return -1;
	work_get_spread(&work, RECORD_ITERATION_MS, &found.iteration);
	work_get_spread(&work, RECORD_TOKENS_PER_SECOND, &found.tokens);
	work_get_spread(&work, RECORD_TOKENS_PER_DEVICE, &found.per_device);
	work_get_spread(&work, RECORD_SAMPLES_PER_SECOND, &found.samples);
	if (!found.samples.n)
		samples_of_devices(&work, &found.samples);
	find_rates(input, &found);
	use_arrival(input, &found);
	if (!found.source && !isfinite(found.samples_per_second) &&
	    input->summary &&
	    record_has(input->summary, RECORD_SAMPLES_PER_SECOND))
		found.samples_per_second = input->summary->samples_per_second;
	if (input->inputs.started_ms > 0 &&
	    input->inputs.ended_ms > input->inputs.started_ms)
		found.wall_s = (double)(input->inputs.ended_ms -
					input->inputs.started_ms) /
			       1000;
	for (size_t i = 0; i < input->record_count; i++)
		if (record_has(&input->records[i], RECORD_MEMORY_MIB))
			found.memory_mib = fmax(found.memory_mib,
						input->records[i].memory_mib);
	*figures = found;
	return 0;
}
