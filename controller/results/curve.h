/* curve.h - keeps readings over time in at most CURVE_POINTS points.
 *
 * Each point is the mean over an interval; all intervals are equally long. When
 * there would be too many points, neighbours are merged.
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

/* Add a reading; they come in order, and one before the first is ignored.
 * interval_ms: usual time between readings, the length of the first interval.
 */
void curve_add(struct curve *curve, int64_t time_ms, double value,
	       uint32_t interval_ms);

/* The mean of the points whose middle lies in from_ms to to_ms; NAN: there is
 * none.
 */
double curve_mean(const struct curve *curve, int64_t from_ms, int64_t to_ms);

/* [[seconds since since_ms, mean] ...]; intervals without a reading have no
 * point. The caller deletes it; NULL: ENOMEM.
 */
cJSON *curve_json(const struct curve *curve, int64_t since_ms);

#endif
