/* usage_internal.h - holds the sums over one stream, for usage.c and
 * usage_summary.c.
 */
#pragma once

#include "controller/results/usage.h"
#include "protocol/hardware/sample_format.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* Keeps readings over time in at most CURVE_POINTS points.
 *
 * Each point is the mean over an interval; all intervals are equally long. When
 * there would be too many points, neighbours are merged.
 */

#define CURVE_POINTS 128

/* All zero is empty. */
struct curve {
	int64_t from_ms;    /* of the first reading */
	int64_t stretch_ms; /* of one point */
	double sum[CURVE_POINTS];
	uint32_t count[CURVE_POINTS];
	uint32_t points; /* up to the last that has a reading */
};

/* The mean of the points whose middle lies in from_ms to to_ms; NAN: there is
 * none.
 */
double curve_mean(const struct curve *curve, int64_t from_ms, int64_t to_ms);

/* [[seconds since since_ms, mean] ...]; intervals without a reading have no
 * point. The caller deletes it; NULL: ENOMEM.
 */
cJSON *curve_json(const struct curve *curve, int64_t since_ms);

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
