/* usage.c - reads the samples of a job into sums.
 */
#include "controller/results/usage_internal.h"
#include "controller/results/json_object.h"
#include "protocol/base/list.h"
#include "protocol/base/units.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
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

/* Add a reading; they come in order, and one before the first is ignored.
 * interval_ms: usual time between readings, the length of the first interval.
 */
static void curve_add(struct curve *curve, int64_t time_ms, double value,
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

const enum reading usage_curve_readings[CURVES] = {
	READING_POWER_W,
	READING_TEMP_C,
	READING_UTIL_PCT,
	READING_MEM_USED_MIB,
	READING_CLOCK_MHZ,
	READING_THROTTLE_THERMAL_PCT,
	READING_THROTTLE_POWER_PCT,
	READING_THROTTLE_OTHER_PCT
};

struct usage *usage_new(struct error *err)
{
	struct usage *usage = calloc(1, sizeof(*usage));

	if (!usage)
		return error_null(error_nomem(err, "usage"));
	buffer_init(&usage->line, SAMPLE_FORMAT_LINE_MAX);
	return usage;
}

void usage_free(struct usage *usage)
{
	if (!usage)
		return;
	for (size_t i = 0; i < usage->devices_count; i++) {
		free(usage->devices[i].name);
		free(usage->devices[i].bus_id);
		free(usage->devices[i].curves);
	}
	for (size_t i = 0; i < usage->troubles_count; i++)
		free(usage->troubles[i].text);
	free(usage->devices);
	codec_clear(&sample_format_head_schema, &usage->head);
	buffer_clear(&usage->line);
	free(usage);
}

/* Taking readings. */

static void figure_add(struct figure *figure, double value)
{
	figure->max =
		figure->count && figure->max > value ? figure->max : value;
	figure->first = figure->count ? figure->first : value;
	figure->last = value;
	figure->sum += value;
	figure->count++;
}

/* The time since the last reading; 0: the gap is too long, or it is the first
 * one.
 */
static int64_t course_add(struct course *course, int64_t time_ms,
			  int64_t interval_ms)
{
	int64_t since_ms = course->count ? time_ms - course->last_ms : 0;

	if (!course->count++)
		course->first_ms = time_ms;
	course->last_ms = time_ms;
	if (since_ms > USAGE_GAP_INTERVALS * interval_ms) {
		course->gaps++;
		course->gaps_ms += since_ms;
		return 0;
	}
	return since_ms > 0 ? since_ms : 0;
}

static struct usage_device *device_find(struct usage *usage, uint32_t index)
{
	for (size_t i = 0; i < usage->devices_count; i++)
		if (usage->devices[i].index == index)
			return &usage->devices[i];
	return NULL;
}

static int usage_add_device(struct usage *usage,
			    const struct sample_format_device *from,
			    struct error *err)
{
	struct usage_device *device;

	if (device_find(usage, from->index) ||
	    usage->devices_count >= SAMPLE_DEVICES_MAX)
		return 0;
	device = LIST_ADD(usage->devices, usage->devices_count, err);
	if (!device)
		return -1;
	device->index = from->index;
	device->name = from->name ? strdup(from->name) : NULL;
	device->bus_id = from->bus_id ? strdup(from->bus_id) : NULL;
	if (usage->devices_count <= USAGE_CURVES_MAX)
		device->curves = calloc(CURVES, sizeof(*device->curves));
	return 0;
}

static int usage_take_head(struct usage *usage, struct sample_format_line *line,
			   struct error *err)
{
	codec_clear(&sample_format_head_schema, &usage->head);
	usage->head = line->head;
	line->head = (struct sample_format_head){ 0 };
	for (size_t i = 0; i < usage->head.devices_count; i++)
		if (usage_add_device(usage, &usage->head.devices[i], err) < 0)
			return -1;
	return 0;
}

static void take_point(struct usage *usage,
		       const struct sample_format_point *point, int64_t time_ms)
{
	struct usage_device *device = device_find(usage, point->index);
	double power_w = point->value[READING_POWER_W];
	int64_t since_ms;

	/* Devices that the head does not name were not allocated. */
	if (!device)
		return;
	for (int i = 0; i < READINGS; i++)
		if (point->has & 1U << i)
			figure_add(&device->figures[i], point->value[i]);
	for (size_t i = 0; device->curves && i < CURVES; i++)
		if (point->has & 1U << usage_curve_readings[i])
			curve_add(&device->curves[i], time_ms,
				  point->value[usage_curve_readings[i]],
				  usage->head.interval_ms);
	course_add(&device->rows, time_ms, usage->head.interval_ms);
	if (!(point->has & 1U << READING_POWER_W))
		return;
	since_ms = course_add(&device->power, time_ms, usage->head.interval_ms);
	device->energy_j +=
		(device->power_last_w + power_w) / 2 * (double)since_ms / 1000;
	device->energy_ms += since_ms;
	device->power_last_w = power_w;
}

static void usage_take_host(struct usage *usage,
			    const struct sample_format_line *line)
{
	if (!usage->host_count++)
		usage->host_first_ms = line->time_ms;
	if (line->host.has & 1U << HOST_CPU_PCT)
		curve_add(&usage->host_cpu, line->time_ms,
			  line->host.value[HOST_CPU_PCT],
			  usage->head.interval_ms);
}

static void take_error(struct usage *usage, struct sample_format_line *line)
{
	size_t i = 0;

	while (i < usage->troubles_count &&
	       strcmp(usage->troubles[i].text, line->text) != 0)
		i++;
	if (i == USAGE_ERRORS_MAX)
		i--; /* the last one counts all further ones */
	if (i == usage->troubles_count) {
		usage->troubles[i].text = take(line->text);
		usage->troubles_count++;
	}
	usage->troubles[i].count++;
}

static int usage_take_line(struct usage *usage, struct error *err)
{
	owned(sample_format_line_clear) struct sample_format_line line = { 0 };
	struct error why;

	if (!usage->line.size && !usage->too_long)
		return 0; /* another agent continued after a whole line */
	if (usage->too_long ||
	    sample_format_read(&usage->columns, usage->line.data,
			       usage->line.size, &line, &why) < 0) {
		usage->broken++;
		return 0;
	}
	if (line.kind == SAMPLE_FORMAT_HEAD)
		return usage_take_head(usage, &line, err);
	if (line.kind == SAMPLE_FORMAT_ERROR)
		take_error(usage, &line);
	for (size_t i = 0; i < line.count; i++)
		take_point(usage, &line.points[i], line.time_ms);
	if (line.kind == SAMPLE_FORMAT_HOST)
		usage_take_host(usage, &line);
	for (int i = 0; i < HOST_READINGS; i++)
		if (line.host.has & 1U << i)
			figure_add(&usage->host[i], line.host.value[i]);
	return 0;
}

int usage_feed(struct usage *usage, const char *data, size_t size,
	       struct error *err)
{
	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;
		struct error why = { 0 };

		if (!usage->too_long &&
		    buffer_append(&usage->line, data, n, &why) < 0) {
			if (why.code == ENOMEM)
				return error_nomem(err, "usage");
			usage->too_long = true;
		}
		data += n;
		size -= n;
		if (!end)
			break;
		data++;
		size--;
		if (usage_take_line(usage, err) < 0)
			return -1;
		buffer_consume(&usage->line, usage->line.size);
		usage->too_long = false;
	}
	return 0;
}

bool usage_latest(const struct usage *usage, size_t i,
		  struct device_metrics *latest)
{
	const struct usage_device *device;

	if (i >= usage->devices_count)
		return false;
	device = &usage->devices[i];
	latest->node = usage->head.node;
	latest->index = device->index;
	latest->name = device->name;
	latest->bus_id = device->bus_id;
	latest->uuid = NULL;
	latest->has = 0;
	for (int r = 0; r < READINGS; r++) {
		latest->value[r] = device->figures[r].last;
		latest->has |= device->figures[r].count ? 1U << r : 0;
	}
	return true;
}
