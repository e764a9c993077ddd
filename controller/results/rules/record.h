/* record.h - the captured values of one step of a log, or of its summary.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps that are kept. If a log has more, one of each 2, 4, 8, ... successive
 * numbers is, and the last.
 */
#define EXTRACT_RECORDS_MAX 65536
/* Limit of moved records, in total, when steps appear out of order in the log:
 * it costs about half a second.
 */
#define EXTRACT_MOVES_MAX (UINT64_C(1) << 27)
#define EXTRACT_METRICS_MAX 64 /* of the steps, and as many of the run */

enum record_field {
	RECORD_STEP,
	RECORD_STEPS,
	RECORD_LOSS,
	RECORD_ITERATION_MS,
	RECORD_TOKENS_PER_SECOND,
	RECORD_SAMPLES_PER_SECOND,
	RECORD_TOKENS_PER_DEVICE,
	RECORD_MEMORY_MIB,
	RECORD_RANK,
	RECORD_FINISHED,
	RECORD_FIELDS
};

/* One step, or the summary. A field is valid only if its bit in `has` is set; a
 * loss may be NaN or infinite, as printed. A metric is valid only if its bit in
 * `has_metric` is set; extract_metric_name() gives the names by number.
 */
struct record {
	uint64_t step;
	uint64_t steps_total;
	uint64_t taken;  /* matches of the log up to the last one of it */
	int64_t came_ms; /* arrival of its first line, wall clock; 0: unknown */
	double loss;
	double iteration_ms;
	double tokens_per_second;
	double samples_per_second;
	double tokens_per_device; /* and second */
	double memory_mib;
	uint64_t has_metric; /* bit 1 << its number */
	double *metrics;     /* metric_room values, by number */
	unsigned metric_room;
	unsigned has; /* bit 1 << RECORD_... */
	uint32_t rank;
	bool finished;
	bool sampled; /* the log says the samples of the step */
	bool by_bar;  /* its time is that of a progress bar */
};

static inline bool record_has(const struct record *record,
			      enum record_field field)
{
	return record->has & 1u << field;
}

/* Get a metric by its number. False: the record does not have it. */
static inline bool record_metric(const struct record *record, size_t metric,
				 double *number)
{
	if (metric >= EXTRACT_METRICS_MAX ||
	    !(record->has_metric & (uint64_t)1 << metric))
		return false;
	*number = record->metrics[metric];
	return true;
}

/* The predefined name of a field: "loss". */
const char *record_field_name(enum record_field field);

/* The value of a field that is a double; NaN: the record does not have it. */
double record_value(const struct record *record, enum record_field field);

/* Where that is; NULL: the field is no double. */
double *record_number(struct record *record, enum record_field field);

/* Set a field; of memory the maximum stays. */
void record_put(struct record *record, enum record_field field, double number);

/* The values that rules with `metric` captured under one name. */
struct run_metric {
	char *name;
	char *unit; /* NULL: none */
	uint64_t count;
	double sum;
};
