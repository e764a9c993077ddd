/* step_samples.c - steps that a log numbers by its samples.
 */
#include "controller/results/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEYOND 2 /* times the steps that were done: no step */

/* Are the steps without samples numbers of samples? Those are multiples of the
 * batch, and one is far beyond the steps that the log has done.
 */
static bool steps_are_samples(const struct steps *steps)
{
	bool beyond = false;

	for (size_t i = 0; i < steps->count; i++) {
		double step = (double)steps->records[i].step;

		if (steps->records[i].sampled)
			continue;
		if (fmod(step, steps->batch) != 0)
			return false;
		beyond |= step <= steps->samples &&
			  step > BEYOND * steps->samples / steps->batch;
	}
	return beyond;
}

int step_numbers_samples(struct steps *steps)
{
	struct steps others = { .names = steps->names,
				.metric_count = steps->metric_count };
	size_t kept = 0;
	int rc;

	if (!steps->batch_said || !steps_are_samples(steps))
		return 0;
	others.records = calloc(steps->count, sizeof(*others.records));
	if (!others.records)
		return -1;
	memcpy(others.metrics, steps->metrics, sizeof(others.metrics));
	for (size_t i = 0; i < steps->count; i++) {
		struct record *record = &steps->records[i];

		if (record->sampled) {
			steps->records[kept++] = *record;
			continue;
		}
		record->step /= (uint64_t)steps->batch;
		others.records[others.count++] = *record;
	}
	steps->count = kept;
	rc = steps_merge(steps, &others);
	for (size_t i = 0; i < others.count; i++)
		free(others.records[i].metrics);
	free(others.records);
	return rc;
}
