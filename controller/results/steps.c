/* steps.c - makes records from captured values: one per step, a summary, and
 * the latest values.
 */
#include "controller/results/steps.h"

#include <math.h>
#include <string.h>

#define OTHER_UNIT 3 /* times as high: a rate is of something else */

void steps_init(struct steps *steps, const struct extract_rules *rules)
{
	*steps = (struct steps){ .names.base = &rules->fields,
				 .before = UINT64_MAX };
	memset(steps->metric_of, METRIC_NONE, sizeof(steps->metric_of));
}

void steps_clear(struct steps *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		free(steps->records[i].metrics);
	free(steps->records);
	free(steps->summary.metrics);
	free(steps->latest.metrics);
	free(steps->pending.metrics);
	for (size_t i = 0; i < steps->run_count; i++) {
		free(steps->run[i].name);
		free(steps->run[i].unit);
	}
	free(steps->run);
	share_steps_clear(&steps->shares);
	fields_clear(&steps->names);
}

/* The metric number of a field, assigned on first use; METRIC_NONE: there are
 * too many.
 */
static uint8_t metric_of(struct steps *steps, uint16_t field)
{
	uint8_t metric = steps->metric_of[field];

	if (metric != METRIC_NONE || steps->metric_count == EXTRACT_METRICS_MAX)
		return metric;
	metric = (uint8_t)steps->metric_count++;
	steps->metrics[metric] = field;
	steps->metric_of[field] = metric;
	return metric;
}

static int record_put_metric(struct record *record, uint8_t metric,
			     double number)
{
	if (metric == METRIC_NONE)
		return 0;
	if (metric >= record->metric_room) {
		unsigned room = (metric | 3u) + 1;
		double *metrics =
			realloc(record->metrics, room * sizeof(*metrics));

		if (!metrics)
			return -1;
		record->metrics = metrics;
		record->metric_room = room;
	}
	record->metrics[metric] = number;
	record->has_metric |= (uint64_t)1 << metric;
	return 0;
}

/* Put all captured values but the step, and the share at the end of all. */
static int put_captured(struct steps *steps, struct record *record,
			const struct captured *captured)
{
	for (size_t i = 0; i < captured->count; i++) {
		const struct captured_value *value = &captured->values[i];

		if (value->kind == CAPTURED_TEXT ||
		    value->field == RECORD_STEP ||
		    (captured->rule->finished &&
		     value->field == captured->rule->share))
			continue;
		if (value->field < RECORD_FIELDS)
			record_put(record, (enum record_field)value->field,
				   value->number);
		else if (record_put_metric(record,
					   metric_of(steps, value->field),
					   value->number) < 0)
			return -1;
	}
	return 0;
}

/* Remove the rule's earlier values of this record: a repeated step without a
 * loss must not keep the loss of the first attempt.
 */
static void remove_values(const struct steps *steps, struct record *record,
			  const struct rule *rule)
{
	for (size_t i = 0; i < rule->source_count; i++) {
		const struct source *source = &rule->sources[i];

		for (size_t t = 0; t < source->target_count; t++) {
			uint16_t field = source->targets[t].field;
			uint8_t metric = steps->metric_of[field];

			if (field == RECORD_STEP || field == RECORD_MEMORY_MIB)
				continue;
			if (field < RECORD_FIELDS)
				record->has &= ~(1u << field);
			else if (metric != METRIC_NONE)
				record->has_metric &= ~((uint64_t)1 << metric);
		}
	}
	/* The time that came from a clock. */
	if (rule->elapsed != FIELD_NONE)
		record->has &= ~(1u << RECORD_ITERATION_MS);
	for (size_t m = 0; rule->others && m < steps->metric_count; m++)
		if (steps->metrics[m] >=
		    RECORD_FIELDS + steps->names.base->count)
			record->has_metric &= ~((uint64_t)1 << m);
}

/* Copy the fields in `mask` and the metrics in `metrics` that `from` has. Both
 * number their metrics in the same way.
 */
static int merge_fields(struct record *to, const struct record *from,
			unsigned mask, uint64_t metrics)
{
	struct record copy = *from;

	for (int field = 0; field < RECORD_FIELDS; field++) {
		enum record_field name = (enum record_field)field;
		double *number = record_number(&copy, name);

		if (!(from->has & mask & 1u << field))
			continue;
		if (number)
			*record_number(to, name) = *number;
		if (name == RECORD_ITERATION_MS)
			to->by_bar = from->by_bar;
	}
	mask &= from->has;
	if (mask & 1u << RECORD_STEP)
		to->step = from->step;
	if (mask & 1u << RECORD_STEPS)
		to->steps_total = from->steps_total;
	if (mask & 1u << RECORD_RANK)
		to->rank = from->rank;
	if (mask & 1u << RECORD_FINISHED)
		to->finished = from->finished;
	to->has |= mask;
	for (uint8_t m = 0; m < EXTRACT_METRICS_MAX; m++) {
		double number;

		if ((metrics >> m & 1) && record_metric(from, m, &number) &&
		    record_put_metric(to, m, number) < 0)
			return -1;
	}
	return 0;
}

/* Has the record values of a lower rank? */
static bool outranked(const struct record *record,
		      const struct captured *captured)
{
	const struct captured_value *rank =
		captured_find(captured, RECORD_RANK);

	return rank && record->has & 1u << RECORD_RANK &&
	       rank->number > record->rank;
}

/* Count a loss that replaces a different one of the same step and rank. */
static void count_clash(struct steps *steps, const struct record *record,
			const struct captured *captured)
{
	const struct captured_value *loss =
		captured_find(captured, RECORD_LOSS);
	const struct captured_value *rank =
		captured_find(captured, RECORD_RANK);

	if (rank && record_has(record, RECORD_RANK) &&
	    rank->number < record->rank)
		return;
	*(steps->again.to ? &steps->again.clashes : &steps->clashes) +=
		loss && record_has(record, RECORD_LOSS) &&
		fabs(loss->number - record->loss) > 1e-3 * fabs(record->loss);
}

/* A restart prints steps again, with other losses, and goes on behind the last
 * one. What jumps there was something else, such as an evaluation.
 */
static void follow_restart(struct steps *steps, uint64_t last, uint64_t step)
{
	struct again *again = &steps->again;

	if (step < last) {
		steps->back++;
		again->to = steps->records[steps->count - 1].step;
		again->from = step;
		again->taken = steps->taken;
		return;
	}
	if (again->to && step > again->to) {
		if (step - last > 2 * again->stride)
			steps->clashes += again->clashes;
		else if (again->clashes && again->from <= again->stride &&
			 again->to - again->from > LATE_RANKS * again->stride)
			steps->anew = again->taken;
		again->to = again->clashes = 0;
	}
	again->stride = step - last;
}

/* Does it say the loss of the record again? Then a callback and the program
 * have printed it, each with values of its own.
 */
static bool says_again(const struct record *record,
		       const struct captured *captured)
{
	const struct captured_value *loss =
		captured_find(captured, RECORD_LOSS);

	return loss && record_has(record, RECORD_LOSS) &&
	       loss->number == record->loss;
}

/* Divide the seconds since the record of step `before` by the number of steps:
 * from the step rate of the match, else from the step numbers. For the first
 * record, the number is known only if it is step 1.
 */
static void put_interval(struct record *record, const struct captured *captured,
			 uint64_t before)
{
	const struct captured_value *interval =
		captured_find(captured, captured->rule->interval);
	const struct captured_value *step =
		captured_find(captured, RECORD_ITERATION_MS);
	double ms, steps;

	if (!interval)
		return;
	ms = interval->number * 1000;
	steps = step                   ? round(ms / step->number)
		: before == UINT64_MAX ? (double)(record->step == 1)
				       : (double)record->step - (double)before;
	if (!(steps >= 1) || !(ms > 0))
		return;
	/* A rate with too few digits does not give the number of steps. */
	if (step && fabs(ms / steps - step->number) > 0.1 * step->number)
		return;
	record->iteration_ms = ms / steps;
	record->has |= 1u << RECORD_ITERATION_MS;
}

/* The step time from a clock, if no time is printed. A clock that was reset
 * gives none.
 */
static void put_elapsed(struct steps *steps, struct record *record,
			const struct captured *captured)
{
	const struct captured_value *clock =
		captured_find(captured, captured->rule->elapsed);
	struct elapsed *last = steps->elapsed;
	double seconds;

	if (!clock)
		return;
	/* If several ranks print a step, keep the clock of the step before it.
	 */
	if (last[1].step != record->step)
		last[0] = last[1];
	last[1] = (struct elapsed){ clock->number, record->step };
	seconds = last[1].seconds - last[0].seconds;
	if (last[0].seconds > 0 && seconds > 0 && record->step > last[0].step &&
	    !record_has(record, RECORD_ITERATION_MS)) {
		record->iteration_ms =
			seconds * 1000 / (double)(record->step - last[0].step);
		record->has |= 1u << RECORD_ITERATION_MS;
	}
}

/* The step time by the bar, if no time is printed. */
static void put_bar_time(struct steps *steps, struct record *record)
{
	double ms;

	if (record_has(record, RECORD_ITERATION_MS) && !record->by_bar)
		return;
	ms = bar_pace_of(&steps->bar, record->step);
	if (!(ms > 0))
		return;
	record_put(record, RECORD_ITERATION_MS, ms);
	record_put(&steps->latest, RECORD_ITERATION_MS, ms);
	record->by_bar = true;
}

/* A later step disproves a reported end, and all further reports of this log
 * are ignored. Earlier steps may come late, from other ranks.
 */
static void disprove_end(struct steps *steps)
{
	if (!steps->summary.finished)
		return;
	steps->summary.finished = false;
	steps->went_on = true;
}

static int take_step(struct steps *steps, const struct captured *captured)
{
	struct record *record = NULL;
	uint64_t step, last, made = steps->made;
	int rc = step_number(steps, captured, &step);

	if (rc < 0)
		return 0;
	if (!rc)
		return put_captured(steps, &steps->pending, captured);
	last = steps->count ? steps->last : UINT64_MAX;
	steps->last = step;
	rc = steps_record(steps, step, &record);
	if (!record)
		return rc;
	record->taken = steps->taken;
	record->sampled |=
		captured_find(captured, captured->rule->samples) != NULL;
	if (steps->made > made && steps->current + 1 == steps->count)
		disprove_end(steps);
	if (outranked(record, captured))
		return 0;
	if (last != UINT64_MAX && last != step)
		follow_restart(steps, last, step);
	count_clash(steps, record, captured);
	if (last != step || !says_again(record, captured))
		remove_values(steps, record, captured->rule);
	if (steps->pending.has || steps->pending.has_metric) {
		if (merge_fields(record, &steps->pending, ~0u, ~0ull) < 0)
			return -1;
		steps->pending.has = 0;
		steps->pending.has_metric = 0;
	}
	if (put_captured(steps, record, captured) < 0)
		return -1;
	if (last != step)
		steps->before = last;
	put_interval(record, captured, steps->before);
	put_elapsed(steps, record, captured);
	put_bar_time(steps, record);
	return 0;
}

static int take_summary(struct steps *steps, const struct captured *captured,
			bool finished)
{
	int rc;

	if (outranked(&steps->summary, captured))
		return 0;
	steps->summed = steps->taken;
	if (finished)
		record_put(&steps->summary, RECORD_FINISHED, 1);
	if (captured->rule->fills) {
		struct record lacking = { 0 };

		rc = put_captured(steps, &lacking, captured);
		if (rc == 0)
			rc = merge_fields(&steps->summary, &lacking,
					  ~steps->summary.has,
					  ~steps->summary.has_metric);
		free(lacking.metrics);
	} else {
		rc = put_captured(steps, &steps->summary, captured);
	}
	if (steps->went_on)
		steps->summary.finished = false;
	return rc;
}

static bool captured_copy_text(const struct captured_value *value,
			       char text[FIELD_NAME_MAX + 1])
{
	if (!value || value->kind != CAPTURED_TEXT ||
	    value->size > FIELD_NAME_MAX)
		return false;
	memcpy(text, value->text, value->size);
	text[value->size] = 0;
	return true;
}

/* Find or add the run's metric of this name and unit, or NULL for no unit.
 * NULL: there are too many, or (*failed) no memory.
 */
static struct run_metric *run_metric(struct steps *steps, const char *name,
				     const char *unit, bool *failed)
{
	struct run_metric *metric;

	for (size_t i = 0; i < steps->run_count; i++) {
		metric = &steps->run[i];
		if (!strcmp(metric->name, name) &&
		    !strcmp(metric->unit ? metric->unit : "", unit ? unit : ""))
			return metric;
	}
	if (steps->run_count == EXTRACT_METRICS_MAX)
		return NULL;
	if (!steps->run)
		steps->run = calloc(EXTRACT_METRICS_MAX, sizeof(*steps->run));
	metric = steps->run ? &steps->run[steps->run_count] : NULL;
	*failed = !metric || !(metric->name = strdup(name));
	if (*failed)
		return NULL;
	steps->run_count++;
	*failed = unit && !(metric->unit = strdup(unit));
	return metric;
}

static int take_run_metric(struct steps *steps, const struct captured *captured)
{
	const struct rule *rule = captured->rule;
	const struct captured_value *value =
		captured_find(captured, rule->metric_value);
	char name[FIELD_NAME_MAX + 1], unit[FIELD_NAME_MAX + 1];
	bool has_unit =
		captured_copy_text(captured_find(captured, rule->metric_unit),
				   unit);
	bool failed = false;
	struct run_metric *metric;

	if (!captured_copy_text(captured_find(captured, rule->metric_name),
				name) ||
	    !value || value->kind != CAPTURED_NUMBER)
		return 0;
	metric = run_metric(steps, name, has_unit ? unit : NULL, &failed);
	if (metric) {
		metric->sum += value->number;
		metric->count++;
	}
	return failed ? -1 : 0;
}

/* The latest holds known fields only: its metrics are never asked for. The pace
 * of a bar is not borne out yet.
 */
static void take_latest(struct steps *steps, const struct captured *captured)
{
	for (size_t i = 0; i < captured->count; i++) {
		const struct captured_value *value = &captured->values[i];

		if (value->kind != CAPTURED_TEXT &&
		    value->field < RECORD_FIELDS &&
		    !(captured->rule->progress &&
		      value->field == RECORD_ITERATION_MS))
			record_put(&steps->latest,
				   (enum record_field)value->field,
				   value->number);
	}
}

bool steps_counts(struct steps *steps, const struct captured *captured)
{
	const struct captured_value *total =
		captured_find(captured, RECORD_STEPS);

	if (!total || !(captured->rule->progress || captured->rule->total))
		return true;
	/* A bar that was complete before the first step is that of a download
	 * or an evaluation, even if it is known only by the next one.
	 */
	if (captured->rule->total || !steps->total ||
	    ((!steps->count || steps->idle) &&
	     steps->progress == steps->total)) {
		if (steps->idle && steps->total != (uint64_t)total->number)
			share_steps_forget_bar(&steps->shares);
		steps->total = (uint64_t)total->number;
		steps->idle = false;
	}
	return steps->total == (uint64_t)total->number;
}

/* Take the announced number of epochs. */
static void take_epochs(struct steps *steps, const struct captured *captured)
{
	const struct captured_value *epochs =
		captured_find(captured, captured->rule->epoch);

	if (!epochs || !(epochs->number >= 1 && epochs->number < 1e9))
		return;
	steps->shares.epochs = (uint64_t)epochs->number;
	steps->shares.announced = true;
}

/* Take the announced samples of a step. */
static void take_batch(struct steps *steps, const struct captured *captured)
{
	const struct captured_value *batch =
		captured_find(captured, captured->rule->batch);

	if (!batch || !(batch->number >= 1) || !isfinite(batch->number))
		return;
	steps->batch = batch->number;
	steps->batch_said = true;
}

void steps_check_rates(struct steps *steps)
{
	for (size_t i = 0; steps->batch_said && i < steps->count; i++) {
		struct record *record = &steps->records[i];
		double rate = steps->batch * 1000 / record->iteration_ms;

		if (record_has(record, RECORD_SAMPLES_PER_SECOND) &&
		    record_has(record, RECORD_ITERATION_MS) &&
		    !(record->samples_per_second < rate * OTHER_UNIT &&
		      record->samples_per_second > rate / OTHER_UNIT))
			record->samples_per_second = NAN;
	}
}

static void take_bar(struct steps *steps, const struct captured *captured)
{
	static const struct captured_value none = { .number = NAN };
	const struct rule *rule = captured->rule;
	const struct captured_value *values[] = {
		captured_find(captured, RECORD_STEP),
		captured_find(captured, RECORD_STEPS),
		captured_find(captured, rule->elapsed),
		captured_find(captured, RECORD_ITERATION_MS),
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		values[i] = values[i] ? values[i] : &none;
	steps->progress = values[0] == &none ? 0 : (uint64_t)values[0]->number;
	bar_pace_draw(&steps->bar,
		      &(struct bar_drawn){ .at = values[0]->number,
					   .total = values[1]->number,
					   .clock = values[2]->number,
					   .pace_ms = values[3]->number });
	step_numbers_bar(steps);
}

/* Forget all records. */
static void steps_forget(struct steps *steps)
{
	struct fields names = steps->names;

	steps->names.count = 0;
	steps_clear(steps);
	*steps = (struct steps){ .names = names, .before = UINT64_MAX };
	memset(steps->metric_of, METRIC_NONE, sizeof(steps->metric_of));
}

int steps_take(struct steps *steps, const struct captured *captured)
{
	const struct rule *rule = captured->rule;
	const struct captured_value *samples =
		captured_find(captured, rule->samples);
	bool finished =
		rule->finished || captured_find(captured, RECORD_FINISHED);

	if (rule->weak > steps->weak && steps->count)
		return 0;
	if (rule->weak < steps->weak)
		steps_forget(steps);
	steps->weak = rule->weak;
	steps->taken++;
	if (samples && samples->number > steps->samples)
		steps->samples = samples->number;
	take_latest(steps, captured);
	if (rule->metric_name != FIELD_NONE)
		return take_run_metric(steps, captured);
	if (rule->batch != FIELD_NONE) {
		take_batch(steps, captured);
		return 0;
	}
	if (finished)
		step_numbers_end(steps, captured);
	if (finished || rule->summary)
		return take_summary(steps, captured, finished);
	if (rule->progress)
		take_bar(steps, captured);
	if (rule->total)
		take_epochs(steps, captured);
	if (rule->progress || rule->total)
		return 0;
	if (rule->pending)
		return put_captured(steps, &steps->pending, captured);
	return take_step(steps, captured);
}

/* The number that `to` gives to a metric of `from`. */
static int steps_translate_metric(struct steps *to, const struct steps *from,
				  size_t metric, uint8_t *number)
{
	const char *name = fields_name(&from->names, from->metrics[metric]);
	uint16_t field = 0;
	double factor;
	int rc = fields_add(&to->names, name, strlen(name), &field, &factor);

	*number = rc == 1 ? metric_of(to, field) : METRIC_NONE;
	return rc < 0 ? -1 : 0;
}

/* Copy a record of `from` with the metric numbers of `to`. */
static int renumber(struct steps *to, const struct steps *from,
		    const struct record *record, struct record *copy)
{
	*copy = *record;
	copy->metrics = NULL;
	copy->has_metric = copy->metric_room = 0;
	for (size_t m = 0; m < from->metric_count; m++) {
		uint8_t metric;
		double number;

		if (record_metric(record, m, &number) &&
		    (steps_translate_metric(to, from, m, &metric) < 0 ||
		     record_put_metric(copy, metric, number) < 0))
			return -1;
	}
	return 0;
}

static int merge_into(struct steps *to, const struct steps *from,
		      struct record *record, const struct record *other)
{
	struct record copy;
	int rc = renumber(to, from, other, &copy);

	if (rc == 0)
		rc = merge_fields(record, &copy, ~record->has,
				  ~record->has_metric);
	free(copy.metrics);
	return rc;
}

static int merge_run(struct steps *to, const struct steps *from)
{
	for (size_t i = 0; i < from->run_count; i++) {
		const struct run_metric *other = &from->run[i];
		bool failed = false;
		struct run_metric *metric =
			run_metric(to, other->name, other->unit, &failed);

		if (failed)
			return -1;
		if (metric) {
			metric->sum += other->sum;
			metric->count += other->count;
		}
	}
	return 0;
}

int steps_merge(struct steps *to, const struct steps *from)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct record *other = &from->records[i];
		struct record *record = NULL;
		int rc = steps_record(to, other->step, &record);

		if (record)
			rc = merge_into(to, from, record, other);
		if (rc < 0)
			return -1;
	}
	to->lost += from->lost;
	merge_fields(&to->latest, &from->latest, ~to->latest.has, 0);
	if (merge_into(to, from, &to->summary, &from->summary) < 0)
		return -1;
	return merge_run(to, from);
}
