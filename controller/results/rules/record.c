/* record.c - the captured values of one step of a log, or of its summary.
 */
#include "controller/results/rules/record.h"

#include <math.h>

double *record_number(struct record *record, enum record_field field)
{
	static const size_t offsets[RECORD_FIELDS] = {
		[RECORD_LOSS] = offsetof(struct record, loss),
		[RECORD_ITERATION_MS] = offsetof(struct record, iteration_ms),
		[RECORD_TOKENS_PER_SECOND] =
			offsetof(struct record, tokens_per_second),
		[RECORD_SAMPLES_PER_SECOND] =
			offsetof(struct record, samples_per_second),
		[RECORD_TOKENS_PER_DEVICE] =
			offsetof(struct record, tokens_per_device),
		[RECORD_MEMORY_MIB] = offsetof(struct record, memory_mib),
	};

	return offsets[field] ? (void *)((char *)record + offsets[field])
			      : NULL;
}

double record_value(const struct record *record, enum record_field field)
{
	return record_has(record, field)
		       ? *record_number((struct record *)record, field)
		       : NAN;
}

void record_put(struct record *record, enum record_field field, double number)
{
	switch (field) {
	case RECORD_STEP:
		record->step = (uint64_t)number;
		break;
	case RECORD_STEPS:
		record->steps_total = (uint64_t)number;
		break;
	case RECORD_RANK:
		record->rank =
			number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
		break;
	case RECORD_FINISHED:
		record->finished = true;
		break;
	case RECORD_MEMORY_MIB:
		/* The maximum over ranks and time. */
		if (record->has & 1u << field && record->memory_mib > number)
			break;
		record->memory_mib = number;
		break;
	default:
		*record_number(record, field) = number;
	}
	record->has |= 1u << field;
}
