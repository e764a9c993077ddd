/* record.h - one step of a log, or its summary: what rules catch, as numbers.
 */
#ifndef CONTROLLER_RESULTS_RULES_RECORD_H
#define CONTROLLER_RESULTS_RULES_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTRACT_RECORDS_MAX 262144 /* steps kept; later ones only as latest */
/* Records that give way, each time, to steps that come before them in order
 * but after them in the log: half a second in all.
 */
#define EXTRACT_MOVES_MAX (UINT64_C(1) << 27)
#define EXTRACT_METRICS_MAX 64 /* of the steps; of the run as many */

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

/* One step, or the summary. A field holds something only if it has its bit in
 * `has`; a loss may be NaN or infinite, as printed. So with metrics, which
 * extract_metric_name() numbers.
 */
struct record {
	uint64_t step;
	uint64_t steps_total;
	int64_t came_ms; /* when its first line came, wall clock; 0: unknown */
	double loss;
	double iteration_ms;
	double tokens_per_second;
	double samples_per_second;
	double tokens_per_device; /* and second */
	double memory_mib;
	uint64_t has_metric; /* bit 1 << its number */
	double *metrics;     /* by number, as far as there is one */
	unsigned metric_room;
	unsigned has; /* bit 1 << RECORD_... */
	uint32_t rank;
	bool finished;
	bool restarted; /* came last behind a later step: a restart's first */
};

static inline bool record_has(const struct record *record,
			      enum record_field field)
{
	return record->has & 1u << field;
}

/* Has the record the metric with this number? Then *number is it. */
static inline bool record_metric(const struct record *record, size_t metric,
				 double *number)
{
	if (metric >= EXTRACT_METRICS_MAX ||
	    !(record->has_metric & (uint64_t)1 << metric))
		return false;
	*number = record->metrics[metric];
	return true;
}

/* The field of a record that is a double; NULL for the other fields. */
double *record_number(struct record *record, enum record_field field);

/* What rules with `metric` caught. */
struct run_metric {
	char *name;
	char *unit; /* NULL: none */
	uint64_t count;
	double sum;
	double min;
	double max;
	double last;
};

#endif
