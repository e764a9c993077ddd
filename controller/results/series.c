/* series.c - keeps the loss and rate of a job over its steps, in bounded size.
 */
#include "controller/results/series.h"
#include "controller/results/formula.h"
#include "controller/results/json_object.h"

#include <math.h>
#include <string.h>

/* The number, or the other one if that is not known. */
static double known_or(double number, double other)
{
	return isfinite(number) ? number : other;
}

struct rate step_rate(const struct record *record,
		      const struct measure_spec *measure, uint64_t devices)
{
	double ms = record_value(record, RECORD_ITERATION_MS);
	double samples =
		known_or(formula_samples_per_second(measure->global_batch, ms),
			 record_value(record, RECORD_SAMPLES_PER_SECOND));
	double tokens = formula_per_device(
		known_or(formula_tokens_per_second(measure->global_batch,
						   measure->sequence, ms),
			 record_value(record, RECORD_TOKENS_PER_SECOND)),
		devices);

	tokens = known_or(tokens,
			  record_value(record, RECORD_TOKENS_PER_DEVICE));
	tokens =
		known_or(tokens,
			 formula_per_device(formula_tokens_from_samples(
						    samples, measure->sequence),
					    devices));
	return rate_of(tokens, samples, devices, 1000 / ms);
}

/* Is it the first of its `stride` successive numbers? */
static bool is_kept(const struct record *records, size_t i, uint64_t stride)
{
	return !i || records[i].step / stride != records[i - 1].step / stride;
}

/* The smallest power of two that leaves at most SERIES_STEPS_MAX steps. */
static uint64_t stride_of(const struct record *records, size_t count)
{
	for (uint64_t stride = 1;; stride *= 2) {
		size_t left = 0;

		for (size_t i = 0; i < count; i++)
			left += is_kept(records, i, stride);
		if (left <= SERIES_STEPS_MAX)
			return stride;
	}
}

static void series_add_point(cJSON *list, uint64_t step, double value,
			     bool *failed)
{
	cJSON *point = cJSON_CreateArray();

	json_add_number(point, NULL, (double)step, failed);
	json_add_number(point, NULL, value, failed);
	json_add(list, NULL, point, failed);
}

cJSON *series_new(const struct record *records, size_t count,
		  const struct measure_spec *measure, uint64_t devices,
		  struct error *err)
{
	uint64_t stride = stride_of(records, count);
	uint32_t unit = RATE_NONE;
	cJSON *series = cJSON_CreateObject();
	cJSON *loss = cJSON_AddArrayToObject(series, "loss");
	cJSON *rate = cJSON_AddArrayToObject(series, "rate");
	bool failed = !loss || !rate;

	for (size_t i = 0; i < count; i++) {
		const struct record *record = &records[i];
		struct rate of = step_rate(record, measure, devices);

		if (!is_kept(records, i, stride))
			continue;
		if (record_has(record, RECORD_LOSS))
			series_add_point(loss, record->step, record->loss,
					 &failed);
		/* The first step of another unit does not change it. */
		unit = unit ? unit : of.unit;
		if (of.unit && of.unit == unit)
			series_add_point(rate, record->step, of.value, &failed);
	}
	failed |=
		!cJSON_AddStringToObject(series, "rate_unit", rate_units[unit]);
	if (!failed)
		return series;
	cJSON_Delete(series);
	return error_null(error_nomem(err, "series"));
}

const cJSON *series_rate(const cJSON *series, const char **unit)
{
	const cJSON *rate = row_at(series, "rate");

	*unit = rate ? row_text(series, "rate_unit") : "token/s";
	return rate ? rate : row_at(series, "tokens_per_second");
}

/* Step and value of a point; a value that is null is NaN. */
static bool series_read_point(const cJSON *point, double *step, double *value)
{
	const cJSON *first = cJSON_GetArrayItem(point, 0);
	const cJSON *second = cJSON_GetArrayItem(point, 1);

	if (!cJSON_IsNumber(first))
		return false;
	*step = first->valuedouble;
	*value = cJSON_IsNumber(second) ? second->valuedouble : NAN;
	return true;
}

static void alignment_add_step(struct alignment *sum, double step, double a,
			       double b)
{
	double difference;

	if (!isfinite(a) || !isfinite(b)) {
		sum->broken += isfinite(a) != isfinite(b);
		return;
	}
	if (b == 0 && a != 0)
		return; /* no relative difference to 0 */
	difference = b == 0 ? 0 : fabs(a - b) / fabs(b);
	sum->steps++;
	sum->mean += (difference - sum->mean) / (double)sum->steps;
	if (difference > sum->largest || sum->steps == 1) {
		sum->largest = difference;
		sum->at = (uint64_t)step;
	}
}

void series_align(const cJSON *series, const cJSON *baseline,
		  uint64_t from_step, struct alignment *alignment)
{
	const cJSON *mine = row_at(series, "loss");
	const cJSON *other = row_at(baseline, "loss");
	const cJSON *a = mine ? mine->child : NULL;
	const cJSON *b = other ? other->child : NULL;
	struct alignment sum = { .steps = 0 };
	double step_a, step_b, value_a, value_b;

	/* Both are sorted by step. */
	while (a && b) {
		if (!series_read_point(a, &step_a, &value_a)) {
			a = a->next;
			continue;
		}
		if (!series_read_point(b, &step_b, &value_b)) {
			b = b->next;
			continue;
		}
		if (step_a == step_b && step_a >= (double)from_step)
			alignment_add_step(&sum, step_a, value_a, value_b);
		/* Both advance if the steps are equal. */
		a = step_a <= step_b ? a->next : a;
		b = step_b <= step_a ? b->next : b;
	}
	if (!sum.steps)
		sum.mean = sum.largest = NAN;
	*alignment = sum;
}
