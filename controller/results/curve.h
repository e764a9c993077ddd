/* curve.h - readings over time, in few points however long it took.
 *
 * A curve has at most CURVE_POINTS points, each the mean over an equal stretch
 * of time; when they do not suffice, neighbours are put together.
 */
#ifndef CONTROLLER_RESULTS_CURVE_H
#define CONTROLLER_RESULTS_CURVE_H

#include <cjson/cJSON.h>
#include <stdint.h>

#define CURVE_POINTS 128

/* All zero is empty. */
struct curve {
	int64_t from_ms;    /* of the first reading */
	int64_t stretch_ms; /* of one point */
	double sum[CURVE_POINTS];
	uint32_t count[CURVE_POINTS];
	uint32_t points; /* up to the last that has a reading */
};

/* Readings come in order; one that is before the first is left out.
 * interval_ms: what lies between two, for the first stretch.
 */
void curve_add(struct curve *curve, int64_t time_ms, double value,
	       uint32_t interval_ms);

/* [[seconds since since_ms, mean] ...]; stretches without a reading have no
 * point. The caller deletes it; NULL: ENOMEM.
 */
cJSON *curve_json(const struct curve *curve, int64_t since_ms);

#endif
