/* curve.c - keeps readings over time in at most CURVE_POINTS points.
 */
#include "controller/results/curve.h"

#include "controller/results/json_object.h"
#include "protocol/base/units.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static void merge_points(struct curve *curve)
{
	for (size_t i = 0; i < CURVE_POINTS / 2; i++) {
		curve->sum[i] = curve->sum[2 * i] + curve->sum[2 * i + 1];
		curve->count[i] = curve->count[2 * i] + curve->count[2 * i + 1];
	}
	memset(curve->sum + CURVE_POINTS / 2, 0, sizeof(curve->sum) / 2);
	memset(curve->count + CURVE_POINTS / 2, 0, sizeof(curve->count) / 2);
	curve->stretch_ms *= 2;
	curve->points = (curve->points + 1) / 2;
}

void curve_add(struct curve *curve, int64_t time_ms, double value,
	       uint32_t interval_ms)
{
	int64_t place;

	if (!curve->stretch_ms) {
		curve->from_ms = time_ms;
		curve->stretch_ms = interval_ms ? interval_ms : 1;
	}
	if (time_ms < curve->from_ms || !isfinite(value))
		return;
	while (time_ms - curve->from_ms >= CURVE_POINTS * curve->stretch_ms)
		merge_points(curve);
	place = (time_ms - curve->from_ms) / curve->stretch_ms;
	curve->sum[place] += value;
	curve->count[place]++;
	if (place >= curve->points)
		curve->points = (uint32_t)place + 1;
}

double curve_mean(const struct curve *curve, int64_t from_ms, int64_t to_ms)
{
	double sum = 0, count = 0;

	for (uint32_t i = 0; i < curve->points; i++) {
		int64_t middle_ms =
			curve->from_ms + (2 * i + 1) * curve->stretch_ms / 2;

		if (middle_ms < from_ms || middle_ms > to_ms)
			continue;
		sum += curve->sum[i];
		count += curve->count[i];
	}
	return count > 0 ? sum / count : (double)NAN;
}

#define CURVE_DIGITS 5 /* enough for a picture */

cJSON *curve_json(const struct curve *curve, int64_t since_ms)
{
	cJSON *list = cJSON_CreateArray();
	bool failed = !list;

	for (uint32_t i = 0; i < curve->points; i++) {
		double middle_ms = (double)(curve->from_ms - since_ms) +
				   (i + 0.5) * (double)curve->stretch_ms;
		double point[2] = { round(middle_ms) / 1000, 0 };

		if (!curve->count[i])
			continue;
		point[1] = round_digits(curve->sum[i] / curve->count[i],
					CURVE_DIGITS);
		json_add(list, NULL, cJSON_CreateDoubleArray(point, 2),
			 &failed);
	}
	if (!failed)
		return list;
	cJSON_Delete(list);
	return NULL;
}
