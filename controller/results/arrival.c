/* arrival.c - computes the time of a step from the arrival of log lines.
 */
#include "controller/results/arrival.h"

#include "controller/results/steady.h"

#include <math.h>
#include <stdlib.h>

#define BLOCKS 20 /* about so many, if the steps take long enough */
#define BLOCK_MS_MIN 1000.0
#define BLOCK_MS_MAX 10000.0

/* Find the first and the last record with an arrival time. */
static bool find_ends(const struct record *records, size_t count, size_t *first,
		      size_t *last)
{
	*first = 0;
	while (*first < count && records[*first].came_ms <= 0)
		++*first;
	*last = count;
	while (*last > *first && records[*last - 1].came_ms <= 0)
		--*last;
	return *last - *first >= 2 && (*last)--;
}

/* Put the step times of the blocks into times[0 .. last - first); return their
 * number.
 */
static size_t read_blocks(const struct record *records, size_t first,
			  size_t last, double block_ms, double *times)
{
	size_t n = 0, start = first;

	for (size_t i = first + 1; i <= last; i++) {
		double ms =
			(double)(records[i].came_ms - records[start].came_ms);

		if (records[i].came_ms <= 0 || ms < block_ms)
			continue;
		times[n++] =
			ms / (double)(records[i].step - records[start].step);
		start = i;
	}
	return n;
}

struct arrival arrival_of(const struct record *records, size_t count)
{
	struct arrival arrival = { 0 };
	size_t first, last, n;
	double span, block_ms, *times;

	if (!find_ends(records, count, &first, &last))
		return arrival;
	span = (double)(records[last].came_ms - records[first].came_ms);
	if (span < BLOCK_MS_MIN)
		return arrival;
	block_ms = fmin(fmax(span / BLOCKS, BLOCK_MS_MIN), BLOCK_MS_MAX);
	times = calloc(last - first, sizeof(*times));
	n = times ? read_blocks(records, first, last, block_ms, times) : 0;
	if (n) {
		sort_values(times, n);
		arrival.arrival_ms = quantile(times, n, 0.5);
		arrival.arrival_q1_ms = quantile(times, n, 0.25);
		arrival.arrival_q3_ms = quantile(times, n, 0.75);
		arrival.arrival_error_ms = arrival.arrival_ms * 2 *
					   ARRIVAL_PRECISION_MS / block_ms;
		arrival.arrival_blocks = n;
	}
	free(times);
	return arrival;
}
