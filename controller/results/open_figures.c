/* open_figures.c - asks the numbers of a log what its names leave open.
 */
#include "controller/results/open_figures.h"

#include "controller/results/steady.h"

#include <math.h>
#include <string.h>

/* A time agrees with the clock, which also holds what lies between steps. */
#define CLOCK_LEAST 0.4
#define CLOCK_MOST 1.15
#define CLOCK_FAR 0.2
#define CLOCK_SPAN 5    /* whole seconds that are enough to tell */
#define AGREE 0.1       /* of two figures of the program itself */
#define STEP_S_MIN 5e-4 /* no step takes less, or more */
#define STEP_S_MAX 1800
#define DEVICES_MAX 65536
#define TAKEN_MAX 320 /* bytes of the names that were taken */

/* What is known of a log beside the open numbers. NaN: nothing. */
struct evidence {
	const struct meaning_found *found;
	struct steps *steps;
	double *values; /* room for a value of each record */
	double clock_s; /* of a step, by the clock of the lines */
	double step_s;  /* as the program prints it */
	double samples; /* of a step */
	double tokens;
	double stride; /* steps from one record to the next */
};

static uint8_t number_of_metric(const struct steps *steps, uint16_t field)
{
	return field == FIELD_NONE ? METRIC_NONE : steps->metric_of[field];
}

static bool metric_value(const struct steps *steps, size_t record,
			 uint16_t field, double *number)
{
	uint8_t metric = number_of_metric(steps, field);

	return metric != METRIC_NONE &&
	       record_metric(&steps->records[record], metric, number) &&
	       isfinite(*number);
}

static double median_of(double *values, size_t count)
{
	if (!count)
		return NAN;
	sort_values(values, count);
	return quantile(values, count, 0.5);
}

/* The median of a metric. */
static double metric_median(const struct evidence *evidence, uint16_t field)
{
	size_t count = 0;

	for (size_t i = 0; i < evidence->steps->count; i++)
		if (metric_value(evidence->steps, i, field,
				 &evidence->values[count]))
			count++;
	return median_of(evidence->values, count);
}

static double known_median(const struct evidence *evidence,
			   enum record_field field)
{
	size_t count = 0;

	for (size_t i = 0; i < evidence->steps->count; i++) {
		double value =
			record_value(&evidence->steps->records[i], field);

		if (isfinite(value) && value > 0)
			evidence->values[count++] = value;
	}
	return median_of(evidence->values, count);
}

/* The median growth of a metric from one record to the next: per step, or (per
 * record) as it is.
 */
static double metric_growth(const struct evidence *evidence, uint16_t field,
			    bool per_step)
{
	const struct steps *steps = evidence->steps;
	size_t count = 0;
	double before, now;

	for (size_t i = 1; i < steps->count; i++) {
		double between = (double)(steps->records[i].step -
					  steps->records[i - 1].step);

		if (metric_value(steps, i - 1, field, &before) &&
		    metric_value(steps, i, field, &now))
			evidence->values[count++] =
				(now - before) / (per_step ? between : 1);
	}
	return median_of(evidence->values, count);
}

/* How a metric changes from step to step. One that grows may do so by chance,
 * unless it doubles.
 */
enum growth { GROWS_NOT, GROWS, DOUBLES };

static enum growth metric_grows(const struct evidence *evidence, uint16_t field)
{
	size_t count = 0;
	double first = NAN, last = -INFINITY, now;

	for (size_t i = 0; i < evidence->steps->count; i++) {
		if (!metric_value(evidence->steps, i, field, &now))
			continue;
		if (now <= last)
			return GROWS_NOT;
		first = count ? first : now;
		last = now;
		count++;
	}
	if (count < 3)
		return GROWS_NOT;
	return last >= 2 * first ? DOUBLES : GROWS;
}

static uint16_t metric_field(const struct steps *steps, const char *name)
{
	for (size_t m = 0; m < steps->metric_count; m++)
		if (!strcmp(fields_name(&steps->names, steps->metrics[m]),
			    name))
			return steps->metrics[m];
	return FIELD_NONE;
}

/* The time of a step by the clock of the lines. A clock of whole seconds tells
 * only over a longer span.
 */
static double clock_step(const struct evidence *evidence)
{
	const struct meaning_found *found = evidence->found;
	const struct meaning_clock *clocks = found->clocks;
	size_t last = found->clock_count ? found->clock_count - 1 : 0;
	double span, step;
	size_t count = 0;

	if (!last)
		return NAN;
	span = clocks[last].seconds - clocks[0].seconds;
	if (!(span > 0) || (!found->fractions && span < CLOCK_SPAN))
		return NAN;
	for (size_t i = 1; i <= last && i < evidence->steps->count; i++)
		evidence->values[count++] =
			(clocks[i].seconds - clocks[i - 1].seconds) /
			(double)(clocks[i].step - clocks[i - 1].step);
	if (found->fractions || span / (double)last >= CLOCK_SPAN) {
		/* Most lines of a bar have the clock of a line before it. */
		step = median_of(evidence->values, count);
		return step > 0 ? step : (double)NAN;
	}
	return span / (double)(clocks[last].step - clocks[0].step);
}

/* The steps between two records: the median. */
static double median_stride(const struct evidence *evidence)
{
	const struct steps *steps = evidence->steps;

	for (size_t i = 1; i < steps->count; i++)
		evidence->values[i - 1] = (double)(steps->records[i].step -
						   steps->records[i - 1].step);
	return median_of(evidence->values, steps->count - 1);
}

static bool agrees(double a, double b)
{
	return isfinite(a) && isfinite(b) && fabs(a - b) <= AGREE * fabs(b);
}

/* How a time is to be read: its unit, and of how many steps it is. */
struct reading {
	double unit_s;
	enum { OF_STEP, OF_INTERVAL, SINCE_START } of;
};

/* The step time that a reading gives. */
static double reading_step(const struct evidence *evidence,
			   const struct reading *reading, uint16_t field)
{
	switch (reading->of) {
	case OF_STEP:
		return metric_median(evidence, field) * reading->unit_s;
	case OF_INTERVAL:
		return metric_median(evidence, field) * reading->unit_s /
		       evidence->stride;
	default:
		return metric_growth(evidence, field, true) * reading->unit_s;
	}
}

/* Does another figure of the log say the same? */
static bool reading_holds(const struct evidence *evidence, double step)
{
	double rate = known_median(evidence, RECORD_SAMPLES_PER_SECOND);
	double tokens = known_median(evidence, RECORD_TOKENS_PER_SECOND);

	if (isfinite(evidence->step_s))
		return agrees(step, evidence->step_s);
	if (isfinite(rate) && isfinite(evidence->samples))
		return agrees(step, evidence->samples / rate);
	if (isfinite(tokens) && isfinite(evidence->tokens))
		return agrees(step, evidence->tokens / tokens);
	return isfinite(evidence->clock_s) &&
	       step >= evidence->clock_s * CLOCK_LEAST &&
	       step <= evidence->clock_s * CLOCK_MOST;
}

/* Is there anything to compare a time with? */
static bool can_compare(const struct evidence *evidence)
{
	return isfinite(evidence->clock_s) || isfinite(evidence->step_s) ||
	       isfinite(evidence->samples) || isfinite(evidence->tokens);
}

/* Readings of an open time that the numbers bear out; returns how many, and the
 * first. Of a step, of an interval of one step: the same.
 */
static size_t find_readings(const struct evidence *evidence,
			    const struct meaning_open *open,
			    struct reading *found)
{
	static const double units[] = { 1, 1e-3 };
	enum growth growth = metric_grows(evidence, open->field);
	size_t count = 0;

	if (growth == GROWS && !can_compare(evidence))
		return 0;
	for (size_t u = 0; u < 2; u++)
		for (int of = OF_STEP; of <= SINCE_START; of++) {
			struct reading reading = { units[u], of };
			double step;

			if (isfinite(open->unit_s)) {
				if (u)
					continue;
				reading.unit_s = open->unit_s;
			}
			if ((growth != GROWS &&
			     (of == SINCE_START) != (growth == DOUBLES)) ||
			    (of == OF_INTERVAL && evidence->stride == 1) ||
			    (of != OF_STEP && open->role == ROLE_STEP_TIME))
				continue;
			step = reading_step(evidence, &reading, open->field);
			if (!(step >= STEP_S_MIN && step <= STEP_S_MAX) ||
			    (can_compare(evidence) &&
			     !reading_holds(evidence, step)))
				continue;
			if (!count++)
				*found = reading;
		}
	return count;
}

/* "time" beside "data_time" is of a step, in seconds, in every program that
 * prints both.
 */
static bool is_meter(const struct evidence *evidence,
		     const struct meaning_open *open)
{
	return evidence->found->data_time && open->role != ROLE_RATE &&
	       !isfinite(open->unit_s) &&
	       metric_grows(evidence, open->field) == GROWS_NOT;
}

/* Can the time be read in one way only? */
static bool time_settled(const struct evidence *evidence,
			 const struct meaning_open *open,
			 struct reading *reading)
{
	size_t count = find_readings(evidence, open, reading);
	double median;

	if (count == 1)
		return true;
	if (is_meter(evidence, open)) {
		*reading = (struct reading){ 1, OF_STEP };
		return !can_compare(evidence) || count > 1;
	}
	if (can_compare(evidence))
		return false;
	/* Only the value itself tells: a step of less than 1 ms, or of more
	 * than half an hour, is none.
	 */
	median = metric_median(evidence, open->field);
	if (isfinite(open->unit_s) || open->role != ROLE_STEP_TIME)
		return false;
	*reading = (struct reading){ median < 1 ? 1 : 1e-3, OF_STEP };
	return median < 1 || median > STEP_S_MAX;
}

static void put_field(struct record *record, enum record_field field,
		      double number)
{
	if (!(number > 0) || !isfinite(number) || record_has(record, field))
		return;
	if (field == RECORD_ITERATION_MS)
		record->iteration_ms = number;
	else if (field == RECORD_SAMPLES_PER_SECOND)
		record->samples_per_second = number;
	else if (field == RECORD_TOKENS_PER_SECOND)
		record->tokens_per_second = number;
	else
		record->tokens_per_device = number;
	record->has |= 1u << field;
}

static void put_times(struct steps *steps, const struct meaning_open *open,
		      const struct reading *reading)
{
	double value, before = NAN;

	for (size_t i = 0; i < steps->count; i++) {
		struct record *record = &steps->records[i];
		double between =
			i ? (double)(record->step - steps->records[i - 1].step)
			  : NAN;
		double ms;

		if (!metric_value(steps, i, open->field, &value))
			continue;
		ms = reading->unit_s * 1000 *
		     (reading->of == OF_STEP ? value
		      : reading->of == OF_INTERVAL
			      ? value / between
			      : (value - before) / between);
		before = value;
		put_field(record, RECORD_ITERATION_MS, ms);
	}
}

/* A rate without a unit: what it counts, the step time says. */
static bool rate_settled(const struct evidence *evidence,
			 const struct meaning_open *open,
			 enum record_field *field)
{
	double rate = metric_median(evidence, open->field);
	double step = isfinite(evidence->step_s) ? evidence->step_s
						 : evidence->clock_s;

	if (!(rate > 0) || !(step > 0))
		return false;
	if (agrees(rate * step, evidence->samples)) {
		*field = RECORD_SAMPLES_PER_SECOND;
		return true;
	}
	if (agrees(rate * step, evidence->tokens)) {
		*field = RECORD_TOKENS_PER_SECOND;
		return true;
	}
	if (agrees(rate * step, 1)) {
		*field = RECORD_ITERATION_MS;
		return true;
	}
	return false;
}

static void put_rates(struct steps *steps, const struct meaning_open *open,
		      enum record_field field)
{
	double value;

	for (size_t i = 0; i < steps->count; i++)
		if (metric_value(steps, i, open->field, &value))
			put_field(&steps->records[i], field,
				  field == RECORD_ITERATION_MS ? 1000 / value
							       : value);
}

/* Is the rate of tokens that of one device? 1; 0: of all; -1: unknown. */
static int scope_of(const struct evidence *evidence)
{
	double rate = known_median(evidence, RECORD_TOKENS_PER_SECOND);
	double step = evidence->step_s;
	double devices;

	if (!(rate > 0) || !(step > 0) || !(evidence->tokens > 0))
		return -1;
	devices = evidence->tokens / step / rate;
	if (agrees(devices, 1))
		return 0;
	return devices < DEVICES_MAX && devices > 1.5 &&
			       fabs(devices - round(devices)) < 0.1
		       ? 1
		       : -1;
}

static void move_to_device(struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		struct record *record = &steps->records[i];

		if (!record_has(record, RECORD_TOKENS_PER_SECOND))
			continue;
		put_field(record, RECORD_TOKENS_PER_DEVICE,
			  record->tokens_per_second);
		record->has &= ~(1u << RECORD_TOKENS_PER_SECOND);
	}
}

static void gather(struct evidence *evidence)
{
	const struct steps *steps = evidence->steps;

	evidence->stride = median_stride(evidence);
	evidence->clock_s = clock_step(evidence);
	evidence->step_s = known_median(evidence, RECORD_ITERATION_MS) / 1000;
	evidence->samples =
		metric_growth(evidence, metric_field(steps, "consumed_samples"),
			      true);
	if (!(evidence->samples > 0))
		evidence->samples =
			metric_median(evidence,
				      metric_field(steps, "global_batch"));
	evidence->tokens =
		metric_growth(evidence, metric_field(steps, "consumed_tokens"),
			      true);
	if (!(evidence->samples > 0))
		evidence->samples = NAN;
	if (!(evidence->tokens > 0))
		evidence->tokens = NAN;
}

/* "step from iter, loss from total_loss" */
static void names_taken(const struct meaning_found *found, char *text,
			size_t size)
{
	*text = 0;
	for (int role = 0; role < MEANING_ROLES; role++)
		if (found->names[role][0])
			text_append(text, size, "%s%s from \"%s\"",
				    *text ? ", " : "",
				    meaning_role_name((enum meaning_role)role),
				    found->names[role]);
}

static int say_steps(const struct meaning_found *found, struct remark **remarks,
		     size_t *count, struct error *err)
{
	if (found->steps == STEPS_EPOCHS &&
	    remark_add(remarks, count, SAID(STEPS_EPOCHS, ), err) < 0)
		return -1;
	if (found->steps == STEPS_COUNTED &&
	    remark_add(remarks, count, SAID(STEPS_COUNTED, ), err) < 0)
		return -1;
	if (found->steps == STEPS_NAMED && found->nameless &&
	    remark_add(remarks, count, SAID(STEPS_NAMELESS, ), err) < 0)
		return -1;
	if (found->loss_parts && !*found->names[ROLE_LOSS] &&
	    remark_add(remarks, count, SAID(LOSS_PARTS, ), err) < 0)
		return -1;
	if (found->loss_guessed &&
	    remark_add(remarks, count,
		       SAID(LOSS_GUESSED, .words = { found->names[ROLE_LOSS] }),
		       err) < 0)
		return -1;
	if (found->epochs.begins_late &&
	    remark_add(remarks, count, SAID(BEGINS_LATE, ), err) < 0)
		return -1;
	return found->epochs.guessed
		       ? remark_add(remarks, count, SAID(EPOCHS_GUESSED, ), err)
		       : 0;
}

/* A step cannot take longer than its lines are apart; nor much less, unless the
 * time is not that of a step.
 */
static int say_clock(const struct evidence *evidence, struct remark **remarks,
		     size_t *count, struct error *err)
{
	double step = evidence->step_s, clock = evidence->clock_s;

	if (!isfinite(step) || !isfinite(clock) ||
	    (step <= clock * CLOCK_MOST && step >= clock * CLOCK_FAR))
		return 0;
	return remark_add(remarks, count,
			  SAID(CLOCK_DIFFERS,
			       .numbers = { step * 1000, clock * 1000 }),
			  err);
}

static int settle_one(struct evidence *evidence,
		      const struct meaning_open *open, struct remark **remarks,
		      size_t *count, struct error *err)
{
	struct reading reading;
	enum record_field field;

	if (open->role == ROLE_RATE) {
		if (rate_settled(evidence, open, &field)) {
			put_rates(evidence->steps, open, field);
			return 0;
		}
	} else if (isfinite(evidence->step_s)) {
		/* Another time is that of the step. */
		return 0;
	} else if (time_settled(evidence, open, &reading)) {
		put_times(evidence->steps, open, &reading);
		evidence->step_s =
			known_median(evidence, RECORD_ITERATION_MS) / 1000;
		return 0;
	}
	return remark_add(remarks, count,
			  SAID(FIGURE_OPEN, .words = { open->name }), err);
}

int open_figures(const struct meaning_found *found, struct steps *steps,
		 struct remark **remarks, size_t *count, struct error *err)
{
	owned_free double *values = calloc(steps->count + 1, sizeof(*values));
	struct evidence evidence = { found, steps, values, .clock_s = NAN };
	char names[TAKEN_MAX];
	int scope;

	if (!values)
		return error_nomem(err, "log");
	if (!steps->count)
		return 0;
	gather(&evidence);
	names_taken(found, names, sizeof(names));
	if (remark_add(remarks, count, SAID(BY_MEANING, .words = { names }),
		       err) < 0 ||
	    say_steps(found, remarks, count, err) < 0)
		return -1;
	/* Times first: rates are asked of them. */
	for (int rates = 0; rates < 2; rates++)
		for (size_t i = 0; i < found->open_count; i++)
			if ((found->open[i].role == ROLE_RATE) == rates &&
			    settle_one(&evidence, &found->open[i], remarks,
				       count, err) < 0)
				return -1;
	if (say_clock(&evidence, remarks, count, err) < 0)
		return -1;
	if (found->decimal &&
	    remark_add(remarks, count, SAID(MEMORY_UNIT, ), err) < 0)
		return -1;
	scope = found->scope_open ? scope_of(&evidence) : 0;
	if (scope > 0)
		move_to_device(steps);
	return scope < 0 ? remark_add(remarks, count, SAID(SCOPE_OPEN, ), err)
			 : 0;
}
