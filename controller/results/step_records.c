/* step_records.c - keeps the records of a log by the number of their step.
 */
#include "controller/results/steps.h"

#include <string.h>

/* The index of the step's record, or where it has to be inserted. */
static size_t steps_find_place(const struct steps *steps, uint64_t step)
{
	size_t low = 0, high = steps->count;

	if (high && steps->records[high - 1].step < step)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (steps->records[middle].step < step)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of the successive numbers that a coarse log divides its steps into, are both
 * of the same?
 */
static bool same_block(const struct steps *steps, uint64_t a, uint64_t b)
{
	return a >> steps->coarse == b >> steps->coarse;
}

/* Free a record behind another one; its peak of memory counts. */
static void record_drop(struct record *record, struct record *kept)
{
	if (record_has(record, RECORD_MEMORY_MIB))
		record_put(kept, RECORD_MEMORY_MIB, record->memory_mib);
	free(record->metrics);
}

/* Keep half of the records, or less: the first of each block, and the last. */
static void steps_thin(struct steps *steps)
{
	struct record *records = steps->records;
	size_t count = steps->count, kept;

	do {
		steps->coarse++;
		kept = 1;
		for (size_t i = 1; i < count; i++)
			kept += !same_block(steps, records[i].step,
					    records[i - 1].step);
	} while (kept > EXTRACT_RECORDS_MAX / 2);
	kept = 0;
	for (size_t i = 1; i < count; i++) {
		if (i + 1 < count &&
		    same_block(steps, records[i].step, records[kept].step))
			record_drop(&records[i], &records[kept]);
		else
			records[++kept] = records[i];
	}
	steps->count = kept + 1;
	steps->current = kept;
}

/* Make room for a step. False: it shall not be kept. */
static bool steps_make_room(struct steps *steps, uint64_t step)
{
	struct record *records = steps->records;
	size_t count = steps->count;
	size_t place = steps_find_place(steps, step);

	if (!records)
		return true;
	if (steps->coarse && place < count && place &&
	    same_block(steps, step, records[place - 1].step))
		return false;
	/* The last one was kept for being the last. */
	if (steps->coarse && place == count && count > 1 &&
	    same_block(steps, records[count - 1].step,
		       records[count - 2].step)) {
		record_drop(&records[count - 1], &records[count - 2]);
		steps->count--;
	}
	if (steps->count == EXTRACT_RECORDS_MAX)
		steps_thin(steps);
	return true;
}

/* Insert an empty record. 1: done, 0: there are too many, -1: no memory. */
static int steps_insert(struct steps *steps, size_t place)
{
	struct record *records = steps->records;
	size_t behind = steps->count - place;

	/* Moving records for steps in reverse order would take minutes. */
	if (behind && steps->moved + behind > EXTRACT_MOVES_MAX) {
		steps->lost++;
		return 0;
	}
	steps->moved += behind;
	if (!records || steps->count == steps->capacity) {
		size_t capacity = steps->capacity ? steps->capacity * 2 : 16;

		records = realloc(records, capacity * sizeof(*records));
		if (!records)
			return -1;
		steps->records = records;
		steps->capacity = capacity;
	}
	memmove(records + place + 1, records + place,
		behind * sizeof(*records));
	records[place] = (struct record){ 0 };
	steps->count++;
	steps->made++;
	return 1;
}

int steps_record(struct steps *steps, uint64_t step, struct record **record)
{
	size_t place = steps_find_place(steps, step);
	int rc = 1;

	if (!steps->records || place == steps->count ||
	    steps->records[place].step != step) {
		if (!steps_make_room(steps, step))
			return 0;
		place = steps_find_place(steps, step);
		rc = steps_insert(steps, place);
	}
	if (rc == 1) {
		steps->current = place;
		*record = &steps->records[place];
		record_put(*record, RECORD_STEP, (double)step);
	}
	return rc;
}

/* Does the log end in a run that has not reached the last step of the one
 * before?
 */
static bool ends_in_shorter_run(const struct steps *steps)
{
	const struct again *again = &steps->again;

	return steps->last < again->to &&
	       again->to - again->from > LATE_RANKS * again->stride &&
	       steps->last > again->from + LATE_RANKS * again->stride;
}

/* Does it begin again, with other losses, and end soon? */
static bool began_anew(const struct steps *steps)
{
	const struct again *again = &steps->again;

	return again->to && again->clashes && steps->last < again->to &&
	       again->from == steps->records[0].step;
}

/* Nothing is left of what was printed before. */
static void drop_before(struct steps *steps, uint64_t taken)
{
	size_t kept = 0;

	for (size_t i = 0; i < steps->count; i++)
		if (steps->records[i].taken < taken)
			free(steps->records[i].metrics);
		else
			steps->records[kept++] = steps->records[i];
	steps->count = kept;
	steps->current = kept ? kept - 1 : 0;
	steps->several = true;
}

void steps_keep_last_run(struct steps *steps)
{
	const struct again *again = &steps->again;
	/* From its first step on, of that many that it prints? */
	bool whole = again->from <= again->stride;
	size_t kept = 0;

	if (steps->anew)
		drop_before(steps, steps->anew);
	if (!ends_in_shorter_run(steps)) {
		steps->several |= began_anew(steps);
		return;
	}
	for (size_t i = 0; i < steps->count; i++) {
		struct record *record = &steps->records[i];

		if ((whole || record->step >= again->from) &&
		    record->taken < again->taken)
			free(record->metrics);
		else
			steps->records[kept++] = *record;
	}
	steps->count = kept;
	steps->current = kept - 1;
	steps->several = true;
	if (steps->summed >= again->taken)
		return;
	free(steps->summary.metrics);
	steps->summary = (struct record){ 0 };
}
