/* usage_internal.h - holds the sums over one stream, for usage.c and
 * usage_summary.c.
 */
#ifndef CONTROLLER_RESULTS_USAGE_INTERNAL_H
#define CONTROLLER_RESULTS_USAGE_INTERNAL_H

#include "controller/results/curve.h"
#include "controller/results/usage.h"
#include "protocol/hardware/sample_format.h"

/* All readings of one kind. */
struct figure {
	double sum, max, first, last;
	size_t count;
};

/* The times of readings, and their gaps. */
struct course {
	int64_t first_ms, last_ms;
	size_t count, gaps;
	int64_t gaps_ms;
};

/* Readings that are kept as curves; the first CURVES_SHOWN are drawn. */
#define CURVES 8
#define CURVES_SHOWN 4
extern const enum reading usage_curve_readings[CURVES];

struct usage_device {
	uint32_t index;
	char *name, *bus_id;
	struct figure figures[READINGS];
	struct course rows, power;
	struct curve *curves; /* CURVES of them; NULL: not kept */
	double power_last_w, energy_j;
	int64_t energy_ms;
};

struct trouble {
	char *text;
	size_t count;
};

struct usage {
	struct buffer line;
	bool too_long; /* skip the rest of the line */
	struct sample_format_columns columns;
	struct sample_format_head head; /* the last one */
	struct usage_device *devices;
	size_t devices_count;
	struct figure host[HOST_READINGS];
	size_t host_count;
	int64_t host_first_ms;
	struct curve host_cpu;
	struct trouble troubles[USAGE_ERRORS_MAX];
	size_t troubles_count, broken;
};

#endif
