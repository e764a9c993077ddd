/* step_number.c - finds the step that a match belongs to.
 */
#include "controller/results/steps.h"

#include <math.h>

/* The number of a step over all epochs. */
static uint64_t step_in_all(struct steps *steps, double epoch, uint64_t step)
{
	struct epochs *epochs = &steps->epochs;

	if (!epochs->begun) {
		epochs->begun = true;
		epochs->first = epochs->now = epoch;
		epochs->low = step;
	} else if (epoch > epochs->now) {
		epochs->base += epochs->last + (epochs->low == 0);
		epochs->now = epoch;
	} else if (epoch < epochs->now) {
		/* A restart: all epochs are of the same length. */
		epochs->base =
			epoch <= epochs->first
				? 0
				: (uint64_t)((double)epochs->base *
					     (epoch - epochs->first) /
					     (epochs->now - epochs->first));
		epochs->now = epoch;
	}
	epochs->last = step;
	return epochs->base + step;
}

/* The number in the match, counted over all epochs: 1; 0: none. */
static int own_step(struct steps *steps, const struct captured *captured,
		    uint64_t *step)
{
	const struct rule *rule = captured->rule;
	const struct captured_value *own = captured_find(captured, RECORD_STEP);
	const struct captured_value *epoch =
		captured_find(captured, rule->epoch);
	const struct captured_value *length =
		captured_find(captured, rule->epoch_steps);

	if (!own)
		return 0;
	*step = (uint64_t)own->number;
	if (epoch && length) {
		double before, from = (double)rule->epoch_from;

		/* Versions of a program differ in that. */
		steps->epochs.from_zero |= epoch->number == 0;
		steps->epochs.whole |= epoch->number <= from;
		steps->epochs.late |= epoch->number > from;
		if (steps->epochs.from_zero)
			from = 0;
		before = (epoch->number - from) * length->number;

		if (before > 0 && before < 9007199254740992.0)
			*step += (uint64_t)before;
	} else if (epoch) {
		*step = step_in_all(steps, epoch->number, *step);
	}
	return 1;
}

/* A restart: count on behind the last step before this share of the epochs. */
static void recount_from(struct steps *steps, double share)
{
	const struct share_steps *shares = &steps->shares;
	size_t i = shares->count;

	while (i && shares->seen[i - 1].printed >= share)
		i--;
	steps->numbered = i ? shares->seen[i - 1].step : 0;
}

static struct said said_by(const struct captured *captured)
{
	const struct captured_value *loss =
		captured_find(captured, RECORD_LOSS);
	const struct captured_value *share =
		captured_find(captured, captured->rule->share);
	struct said said = {
		.loss = loss ? loss->number : NAN,
		.share = share ? share->number : NAN,
	};

	for (size_t i = 0; i < captured->count; i++) {
		const struct captured_value *value = &captured->values[i];

		said.fields = said.fields * 31 + value->field + 1u;
		if (value->kind == CAPTURED_NUMBER && isfinite(value->number))
			said.sum += value->number * (double)(i + 1);
	}
	return said;
}

/* Has another writer, with other fields, said the same loss at the same place?
 */
static bool said_by_other(const struct said *now, const struct said *last)
{
	return now->fields != last->fields && now->loss == last->loss &&
	       now->share == last->share;
}

/* Count a step, unless the match says the last one again: another rank, with
 * the same values, or another writer.
 */
static void count_step(struct steps *steps, const struct captured *captured)
{
	struct said said = said_by(captured);
	const struct said *last = &steps->said;

	if (steps->numbered &&
	    (said_by_other(&said, last) ||
	     (said.fields == last->fields && said.sum == last->sum)))
		return;
	if (said.share < last->share)
		recount_from(steps, said.share);
	steps->said = said;
	steps->numbered++;
	if (steps->progress > steps->numbered)
		steps->numbered = steps->progress;
}

/* The step from the number of samples: 1; -1: they are not a whole number of
 * batches, so the step is unknown.
 */
static int step_of_samples(struct steps *steps, double samples, uint64_t *step)
{
	double batches;

	if (steps->paired)
		return -1;
	if (steps->batch_said) {
		batches = round(samples / steps->batch);
		*step = batches >= 0 && batches < 9007199254740992.0
				? (uint64_t)batches
				: 0;
		return *step || samples == 0 ? 1 : -1;
	}
	if (!(samples > 0))
		return -1;
	if (!(steps->batch > 0))
		steps->batch = samples;
	batches = samples / steps->batch;
	if (batches != floor(batches) || batches > 9007199254740992.0)
		return -1;
	*step = (uint64_t)batches - 1;
	return 1;
}

/* Do shares still have the right steps? *ordered: the new steps are in order,
 * and all records got theirs from shares.
 */
static bool shares_hold(const struct steps *steps, bool *ordered)
{
	const struct share_steps *shares = &steps->shares;
	uint64_t last = 0;
	bool same = true;

	*ordered = shares->count == steps->count;
	for (size_t i = 0; i < shares->count; i++) {
		uint64_t given = shares->seen[i].step;
		uint64_t step = share_step(shares, steps->total,
					   &shares->seen[i], i, last);

		same &= step == given;
		*ordered &= step > last && i < steps->count &&
			    given == steps->records[i].step;
		last = step;
	}
	return same;
}

/* The number of epochs changed: number the steps again, if that is possible. */
static void give_anew(struct steps *steps)
{
	struct share_steps *shares = &steps->shares;
	uint64_t last = 0;
	bool ordered;

	if (shares_hold(steps, &ordered))
		return;
	/* Step times that came from a clock would become wrong. */
	if (!ordered || steps->elapsed[1].seconds > 0) {
		shares->unsure = true;
		return;
	}
	for (size_t i = 0; i < shares->count; i++) {
		last = share_step(shares, steps->total, &shares->seen[i], i,
				  last);
		shares->seen[i].step = steps->records[i].step = last;
	}
	steps->last = steps->records[steps->current].step;
}

void step_numbers_bar(struct steps *steps)
{
	if (share_steps_bar(&steps->shares, steps->total, steps->progress))
		give_anew(steps);
}

void step_numbers_end(struct steps *steps, const struct captured *captured)
{
	const struct captured_value *share =
		captured_find(captured, captured->rule->share);

	if (share && share->number > 0 && steps->total &&
	    steps->progress == steps->total &&
	    share_steps_end(&steps->shares, share->number))
		give_anew(steps);
}

/* The step from the share of all epochs: 1; 0: unknown. */
static int step_of_share(struct steps *steps, const struct share_seen *seen,
			 uint64_t *step)
{
	struct share_steps *shares = &steps->shares;

	if (share_steps_bound(shares, steps->total, seen))
		give_anew(steps);
	*step = share_step(shares, steps->total, seen, shares->count,
			   steps->count ? steps->last : 0);
	/* A limited number of steps may end in the first of the epochs that are
	 * announced.
	 */
	shares->useless |=
		!shares->count && steps->count && *step <= steps->last;
	return *step > 0 && !shares->useless;
}

/* Is this the end of an epoch? Epochs have the length of the first one; an
 * evaluation has another.
 */
static bool is_epoch(struct steps *steps, double length)
{
	if (!(steps->epochs.length > 0))
		steps->epochs.length = length;
	return steps->epochs.length == length;
}

static int find_number(struct steps *steps, const struct captured *captured,
		       const struct share_seen *share, uint64_t *step)
{
	const struct rule *rule = captured->rule;
	const struct captured_value *number =
		captured_find(captured, rule->number);
	const struct captured_value *samples =
		captured_find(captured, rule->samples);
	const struct captured_value *length =
		captured_find(captured, rule->epoch_steps);

	if (samples && (steps->batch_said || rule->number == FIELD_NONE))
		return step_of_samples(steps, samples->number, step);
	if (share && step_of_share(steps, share, step))
		return 1;
	if (rule->counted) {
		count_step(steps, captured);
		*step = steps->numbered;
		return 1;
	}
	if (steps->progress) {
		*step = steps->progress;
		return 1;
	}
	if (number && (steps->numbered || !steps->count)) {
		if (length && !is_epoch(steps, length->number))
			return -1;
		if (!steps->numbered || number->number != steps->number)
			steps->numbered++;
		steps->number = number->number;
		*step = steps->numbered;
		if (length && length->number >= 1 && length->number < 1e9)
			*step *= (uint64_t)length->number;
		return 1;
	}
	if (!steps->count)
		return 0;
	*step = steps->last;
	return 1;
}

int step_number(struct steps *steps, const struct captured *captured,
		uint64_t *step)
{
	const struct captured_value *share =
		captured_find(captured, captured->rule->share);
	struct share_seen seen;
	struct said said;
	int rc;

	if (own_step(steps, captured, step)) {
		steps->paired |= captured_find(captured,
					       captured->rule->samples) != NULL;
		return 1;
	}
	if (!share || !(share->number > 0))
		return find_number(steps, captured, NULL, step);
	said = said_by(captured);
	if (said_by_other(&said, &steps->said)) {
		*step = steps->last;
		return 1;
	}
	if (!steps->count)
		steps->idle = steps->total && steps->progress == steps->total;
	seen = share_seen(share, steps->progress);
	rc = find_number(steps, captured, &seen, step);
	if (rc == 1) {
		share_step_given(&steps->shares, &seen, *step);
		steps->said = said;
	}
	return rc;
}
