/* bar_pace.c - takes the time of a step from the progress bar beside its
 * record.
 */
#include "controller/results/rules/bar_pace.h"

#include <math.h>

#define SPAN_S 5    /* of a clock of whole seconds that is enough */
#define BORNE_OUT 2 /* times as fast or slow as the clock, at most */
#define LAG 0.1     /* of the steps, that a bar may be drawn late */

void bar_pace_draw(struct bar_pace *bar, const struct bar_drawn *drawn)
{
	if (bar->hits <= bar->misses || bar->now.total == drawn->total)
		bar->now = *drawn;
}

/* Has the bar moved on as the steps did? One that begins again, in another
 * epoch, says nothing.
 */
static bool moved_with(struct bar_pace *bar, const struct bar_place *to)
{
	double items = to->at - bar->far.at;
	double steps = (double)to->step - (double)bar->far.step;

	if (!bar->begun || !(items > 0) || !(steps > 0))
		return false;
	if (fabs(items - steps) <= ceil(LAG * steps - 0.5)) {
		bar->hits++;
		return true;
	}
	bar->misses++;
	return false;
}

/* The pace, if the clock since `from` agrees. */
static double borne_out(const struct bar_place *from,
			const struct bar_place *to, double pace_ms)
{
	double seconds = to->clock - from->clock;
	double taken = (to->at - from->at) * pace_ms / 1000;

	return seconds >= SPAN_S && taken <= (seconds + 1) * BORNE_OUT &&
			       taken * BORNE_OUT >= seconds - 1
		       ? pace_ms
		       : (double)NAN;
}

double bar_pace_of(struct bar_pace *bar, uint64_t step)
{
	struct bar_place now = { bar->now.at, bar->now.clock, step };
	double pace_ms;

	/* No bar was drawn since the record before. */
	if (!(bar->now.pace_ms > 0) || now.at == bar->near.at)
		return NAN;
	if (!moved_with(bar, &now)) {
		bar->begun = true;
		bar->far = bar->near = now;
		return NAN;
	}
	pace_ms = bar->hits > bar->misses
			  ? borne_out(&bar->far, &now, bar->now.pace_ms)
			  : (double)NAN;
	if (now.clock - bar->near.clock >= SPAN_S) {
		bar->far = bar->near;
		bar->near = now;
	}
	return pace_ms;
}
