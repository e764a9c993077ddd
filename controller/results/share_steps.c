/* share_steps.c - finds the steps of a log that prints only epochs.
 */
#include "controller/results/share_steps.h"

#include "controller/results/rules/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MAX 9007199254740992.0
#define SLACK 1e-6 /* for rounding errors of doubles */

void share_steps_clear(struct share_steps *shares)
{
	free(shares->seen);
}

/* Half of the last printed digit, at least of the second one, because trailing
 * zeros are not printed.
 */
static double half_digit(const struct captured_value *value)
{
	const char *dot = memchr(value->text, '.', value->size);
	size_t digits = dot ? value->size - (size_t)(dot - value->text) - 1 : 0;

	digits = digits < 2 ? 2 : digits > 16 ? 16 : digits;
	return 0.5 * pow(10, -(double)digits);
}

struct share_seen share_seen(const struct captured_value *share, uint64_t bar)
{
	double half = half_digit(share);

	return (struct share_seen){ .low = share->number - half,
				    .high = share->number + half,
				    .printed = share->number,
				    .bar = bar };
}

/* The first and the last step that round to the share. */
static void range_of(const struct share_steps *shares, uint64_t total,
		     const struct share_seen *seen, double *low, double *high)
{
	double per_epoch = (double)total / shares->epochs;

	*low = fmax(1, ceil(seen->low * per_epoch - SLACK));
	*high = floor(seen->high * per_epoch + SLACK);
	if (*low > *high)
		*low = *high = round(seen->printed * per_epoch);
}

uint64_t share_step(const struct share_steps *shares, uint64_t total,
		    const struct share_seen *seen, size_t i, uint64_t last)
{
	double low, high;
	uint64_t step, pace;

	if (!total || !(shares->epochs > 0))
		return 0;
	if (shares->useless)
		return seen->bar;
	range_of(shares, total, seen, &low, &high);
	if (!(high >= 1 && high < STEP_MAX))
		return 0;
	step = (uint64_t)low;
	pace = i > 1 ? shares->seen[i - 1].step - shares->seen[i - 2].step : 0;
	if ((double)seen->bar >= low && (double)seen->bar <= high)
		step = seen->bar;
	else if ((double)(last + pace) >= low && (double)(last + pace) <= high)
		step = last + pace;
	if (last >= step && (double)last + 1 <= high)
		step = last + 1;
	return step;
}

/* The likely number of epochs, within its bounds. */
static bool set_epochs(struct share_steps *shares, double likely)
{
	double epochs = fmin(round(likely), floor(shares->most + SLACK));

	epochs = fmax(fmax(epochs, shares->least), 1);
	if (!(epochs < 1e9) || shares->epochs == epochs ||
	    shares->count == SHARE_STEPS_MAX)
		return false;
	if (shares->changes == SHARE_CHANGES_MAX) {
		shares->unsure = true;
		return false;
	}
	shares->changes++;
	shares->epochs = epochs;
	return true;
}

/* The likely number of epochs follows from the growth of share and bar since
 * the first share, because the lag of a bar is mostly constant.
 */
bool share_steps_bound(struct share_steps *shares, uint64_t total,
		       const struct share_seen *seen)
{
	const struct share_seen *first = shares->count > shares->first
						 ? &shares->seen[shares->first]
						 : NULL;
	double bar = (double)seen->bar, all = (double)total;
	double most, likely;

	if (shares->announced || !seen->bar || !total)
		return false;
	most = fmax(1, seen->high * all / bar);
	if (!(shares->most > 0) || most < shares->most)
		shares->most = most;
	likely = first && seen->bar > first->bar
			 ? (seen->printed - first->printed) * all /
				   (bar - (double)first->bar)
			 : seen->printed * all / bar;
	return set_epochs(shares, likely);
}

bool share_steps_bar(struct share_steps *shares, uint64_t total, uint64_t bar)
{
	struct share_seen *seen =
		shares->count ? &shares->seen[shares->count - 1] : NULL;
	double least, low, high;

	if (!seen || !total || !bar || bar < seen->bar)
		return false;
	seen->redrawn |= bar == seen->bar;
	if (shares->announced) {
		if (shares->count > 1 || bar != seen->bar || shares->useless ||
		    !(shares->epochs > 0))
			return false;
		range_of(shares, total, seen, &low, &high);
		return shares->useless = (double)bar > high;
	}
	least = ceil(seen->low * (double)total / (double)bar - SLACK);
	if (!(least > shares->least))
		return false;
	shares->least = least;
	return shares->most > 0 && set_epochs(shares, shares->epochs);
}

void share_steps_forget_bar(struct share_steps *shares)
{
	shares->least = shares->most = 0;
	if (!shares->announced)
		shares->epochs = 0;
	for (size_t i = 0; i < shares->count; i++)
		shares->seen[i].bar = 0;
	shares->first = shares->count;
}

bool share_steps_end(struct share_steps *shares, double share)
{
	bool other = shares->epochs != share;

	shares->announced = shares->ended = true;
	shares->epochs = share;
	return other;
}

void share_step_given(struct share_steps *shares, const struct share_seen *seen,
		      uint64_t step)
{
	if ((shares->count && shares->seen[shares->count - 1].step == step) ||
	    shares->count == SHARE_STEPS_MAX)
		return;
	if (shares->count == shares->room) {
		size_t room = shares->room ? shares->room * 2 : 64;
		struct share_seen *more =
			realloc(shares->seen, room * sizeof(*more));

		if (!more) {
			shares->unsure = true;
			return;
		}
		shares->seen = more;
		shares->room = room;
	}
	shares->seen[shares->count] = *seen;
	shares->seen[shares->count++].step = step;
}

/* Does a step break the even distance between printed steps? A lagging bar does
 * that now and then. The first line may be step 1, before that distance; a
 * single line has none.
 */
static bool uneven(const struct share_steps *shares, size_t i)
{
	const struct share_seen *seen = &shares->seen[i];
	uint64_t pace = i ? seen->step - seen[-1].step : 0;

	if (shares->count == 1)
		return true;
	if (i < 2)
		return pace && shares->seen[0].step != 1 &&
		       shares->seen[0].step % pace;
	return (i > 2 || shares->seen[0].step != 1) &&
	       pace != seen[-1].step - seen[-2].step;
}

static bool unsure(const struct share_steps *shares, uint64_t total)
{
	bool behind = false, ahead = false, wide = false, odd = false;

	if (shares->unsure || !(shares->epochs > 0))
		return true;
	for (size_t i = 0; i < shares->count; i++) {
		const struct share_seen *seen = &shares->seen[i];
		double low, high;

		/* The bar that is drawn again shows the step. */
		if (shares->useless && i + 1 < shares->count &&
		    !(seen->redrawn && seen->step == seen->bar))
			return true;
		range_of(shares, total, seen, &low, &high);
		behind |= (double)seen->bar < low;
		ahead |= (double)seen->bar > high;
		if (low == high || (seen->redrawn && seen->step == seen->bar))
			continue;
		wide = true;
		odd |= uneven(shares, i);
	}
	if (shares->useless)
		return false;
	if (odd || (wide && !shares->ended && (behind || ahead)))
		return true;
	return !shares->announced &&
	       (ahead || (behind && shares->least < shares->epochs));
}

enum remark_code share_steps_remark(const struct share_steps *shares,
				    uint64_t total)
{
	if (!shares->count)
		return REMARKS;
	if (!total)
		return REMARK_EPOCH_SHARES;
	return unsure(shares, total) ? REMARK_EPOCH_BARS : REMARKS;
}
