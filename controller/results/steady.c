/* steady.c - finds the steady state of a training, and its slow steps.
 */
#include "controller/results/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGMA                                                                  \
	1.4826 /* standard deviation / median absolute deviation of a normal   \
		  distribution */
#define LEVEL_WIDTH 4
#define LEVEL_SHARE 0.05
#define SLOW_WIDTH 6
#define SLOW_SHARE 0.20
#define WINDOW 5

static int values_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_values(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), values_compare);
}

double quantile(const double *values, size_t count, double p)
{
	double place = p * (double)(count - 1);
	size_t below = (size_t)place;

	if (below + 1 >= count)
		return values[count - 1];
	return values[below] +
	       (place - (double)below) * (values[below + 1] - values[below]);
}

/* The level of some times. */
struct level {
	double median;
	double deviation;
};

/* scratch has room for count values. */
static struct level level_of(const double *times, size_t count, double *scratch)
{
	struct level level;

	memcpy(scratch, times, count * sizeof(*times));
	sort_values(scratch, count);
	level.median = quantile(scratch, count, 0.5);
	for (size_t i = 0; i < count; i++)
		scratch[i] = fabs(times[i] - level.median);
	sort_values(scratch, count);
	level.deviation = SIGMA * quantile(scratch, count, 0.5);
	return level;
}

/* Are step i and most of the WINDOW steps from it on within the band? */
static bool has_arrived(const double *times, size_t count, size_t i,
			double median, double band)
{
	size_t n = count - i < WINDOW ? count - i : WINDOW, inside = 0;

	if (fabs(times[i] - median) > band)
		return false;
	for (size_t k = 0; k < n; k++)
		inside += fabs(times[i + k] - median) <= band;
	return 2 * inside > n;
}

static size_t find_first(const double *times, size_t count, bool *settled,
			 double *scratch)
{
	size_t half = count / 2;
	struct level level;
	double band;

	*settled = true;
	if (!count)
		return 0;
	level = level_of(times + half, count - half, scratch);
	band = fmax(LEVEL_WIDTH * level.deviation, LEVEL_SHARE * level.median);
	for (size_t i = 1; i <= half; i++)
		if (has_arrived(times, count, i, level.median, band))
			return i;
	*settled = count < 2;
	return half;
}

int steady_find(const double *times, size_t count, size_t first, bool *is_slow,
		struct steady *steady, struct error *err)
{
	double *scratch = calloc(count + 1, sizeof(*scratch));
	struct steady found = { .first = first, .settled = true };
	struct level level;
	double limit;

	if (!scratch)
		return error_nomem(err, "steady state");
	if (first == STEADY_FIND)
		found.first = find_first(times, count, &found.settled, scratch);
	memset(is_slow, 0, count * sizeof(*is_slow));
	if (found.first < count) {
		level = level_of(times + found.first, count - found.first,
				 scratch);
		limit = level.median + fmax(SLOW_WIDTH * level.deviation,
					    SLOW_SHARE * level.median);
		for (size_t i = found.first; i < count; i++) {
			if (times[i] <= limit)
				continue;
			is_slow[i] = true;
			found.slow++;
			found.lost += times[i] - level.median;
		}
	}
	free(scratch);
	*steady = found;
	return 0;
}
