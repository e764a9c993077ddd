/* share_steps.c - which step a share of all epochs is.
 */
#include "controller/results/share_steps.h"

#include "controller/results/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-6 /* of what is computed in doubles */

void share_steps_clear(struct share_steps *shares)
{
	free(shares->seen);
}

/* Half of the last digit that a number was rounded to: the second one at least,
 * for zeros at the end are not printed.
 */
static double half_digit(const struct caught_value *value)
{
	const char *dot = memchr(value->text, '.', value->size);
	size_t digits = dot ? value->size - (size_t)(dot - value->text) - 1 : 0;

	digits = digits < 2 ? 2 : digits > 16 ? 16 : digits;
	return 0.5 * pow(10, -(double)digits);
}

static struct share_seen seen_of(const struct steps *steps,
				 const struct caught_value *share)
{
	double half = half_digit(share);

	return (struct share_seen){ .low = share->number - half,
				    .high = share->number + half,
				    .printed = share->number,
				    .bar = steps->progress };
}

/* The first and the last step that a share may be of. */
static void range_of(const struct steps *steps, const struct share_seen *seen,
		     double *low, double *high)
{
	double per_epoch = (double)steps->total / (double)steps->shares.epochs;

	*low = fmax(1, ceil(seen->low * per_epoch - SLACK));
	*high = floor(seen->high * per_epoch + SLACK);
	if (*low > *high)
		*low = *high = round(seen->printed * per_epoch);
}

/* Of several steps the one that a bar shows, or the next one; 0: none. */
static uint64_t pick(const struct steps *steps, const struct share_seen *seen,
		     uint64_t last)
{
	double low, high;
	uint64_t step;

	if (!steps->total || !steps->shares.epochs)
		return 0;
	range_of(steps, seen, &low, &high);
	if (high < 1)
		return 0;
	step = (uint64_t)low;
	if (seen->bar > step && (double)seen->bar <= high)
		step = seen->bar;
	if (last >= step && (double)last + 1 <= high)
		step = last + 1;
	return step;
}

/* Are the steps that were given those that hold now? *ordered: what holds now
 * is in order, and all records have such steps.
 */
static bool hold(const struct steps *steps, bool *ordered)
{
	const struct share_steps *shares = &steps->shares;
	uint64_t last = 0;
	bool same = true;

	*ordered = shares->count == steps->count;
	for (size_t i = 0; i < shares->count; i++) {
		uint64_t given = shares->seen[i].step;
		uint64_t step = pick(steps, &shares->seen[i], last);

		same &= step == given;
		*ordered &= step > last && i < steps->count &&
			    given == steps->records[i].step;
		last = step;
	}
	return same;
}

/* Give the steps anew, where that is possible. */
static void give_anew(struct steps *steps)
{
	struct share_steps *shares = &steps->shares;
	uint64_t last = 0;
	bool ordered;

	if (hold(steps, &ordered))
		return;
	/* Times of steps that a clock gave would be wrong. */
	if (!ordered || steps->elapsed[1].seconds > 0) {
		shares->unsure = true;
		return;
	}
	for (size_t i = 0; i < shares->count; i++) {
		last = pick(steps, &shares->seen[i], last);
		shares->seen[i].step = steps->records[i].step = last;
	}
}

/* The number of epochs within its bounds; where it changes, so do steps. */
static void settle(struct steps *steps, double likely)
{
	struct share_steps *shares = &steps->shares;
	double epochs = fmin(round(likely), floor(shares->most + SLACK));

	epochs = fmax(fmax(epochs, shares->least), 1);
	if (!(epochs < 1e9) || shares->epochs == (uint64_t)epochs)
		return;
	shares->epochs = (uint64_t)epochs;
	give_anew(steps);
}

/* The bar before a share: at most so many epochs. How both have grown since the
 * first share says how many are likely, as a bar mostly lags by as much.
 */
static void bound_from_above(struct steps *steps, const struct share_seen *seen)
{
	struct share_steps *shares = &steps->shares;
	const struct share_seen *first = shares->seen;
	double total = (double)steps->total, bar = (double)seen->bar;
	double most, likely;

	if (shares->announced || !seen->bar || !steps->total)
		return;
	most = fmax(1, seen->high * total / bar);
	if (!(shares->most > 0) || most < shares->most)
		shares->most = most;
	likely = shares->count && seen->bar > first->bar
			 ? (seen->printed - first->printed) * total /
				   (bar - (double)first->bar)
			 : seen->printed * total / bar;
	settle(steps, likely);
}

/* The bar behind one: at least so many. */
void share_steps_bar(struct steps *steps)
{
	struct share_steps *shares = &steps->shares;
	const struct share_seen *seen =
		shares->count ? &shares->seen[shares->count - 1] : NULL;
	double least;

	if (!seen || shares->announced || !steps->total || !steps->progress ||
	    steps->progress < seen->bar)
		return;
	least = ceil(seen->low * (double)steps->total /
			     (double)steps->progress -
		     SLACK);
	if (!(least > shares->least))
		return;
	shares->least = least;
	if (shares->most > 0)
		settle(steps, (double)shares->epochs);
}

int share_step(struct steps *steps, const struct caught_value *share,
	       uint64_t *step)
{
	uint64_t last = steps->count ? steps->records[steps->current].step : 0;
	struct share_seen seen = seen_of(steps, share);

	if (!(share->number > 0))
		return 0;
	bound_from_above(steps, &seen);
	*step = pick(steps, &seen, last);
	return *step > 0;
}

void share_step_given(struct steps *steps, const struct caught_value *share,
		      uint64_t step)
{
	struct share_steps *shares = &steps->shares;
	struct share_seen seen = seen_of(steps, share);

	seen.step = step;
	if (shares->count && shares->seen[shares->count - 1].step == step)
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
	shares->seen[shares->count++] = seen;
}

/* Is a step out of the even pace that programs mostly have? A bar that lags
 * shows another step now and then. The first line may be of step 1, before that
 * pace; one line alone has none.
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

bool share_steps_unsure(const struct steps *steps)
{
	const struct share_steps *shares = &steps->shares;
	bool behind = false, ahead = false, wide = false, odd = false;

	if (!steps->total || !shares->count)
		return false;
	if (shares->unsure || !shares->epochs)
		return true;
	for (size_t i = 0; i < shares->count; i++) {
		const struct share_seen *seen = &shares->seen[i];
		double low, high;

		range_of(steps, seen, &low, &high);
		behind |= (double)seen->bar < low;
		ahead |= (double)seen->bar > high;
		if (low == high || (seen->redrawn && seen->step == seen->bar))
			continue;
		wide = true;
		odd |= uneven(shares, i);
	}
	if (odd || (wide && (behind || ahead)))
		return true;
	return !shares->announced &&
	       (ahead || (behind && shares->least < shares->epochs));
}
