/* usage.c - a job's samples to one summary: power, heat, load, memory, energy.
 */
#include "controller/results/usage.h"
#include "controller/results/curve.h"
#include "protocol/hardware/sample_format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAPS_TOLD 3 /* devices whose gaps are told one by one */

/* One kind of reading, over all of them. */
struct figure {
	double sum, max, last;
	size_t count;
};

/* Readings in time: where they have gaps. */
struct course {
	int64_t first_ms, last_ms;
	size_t count, gaps;
	int64_t gaps_ms;
};

/* Readings that are kept as curves. */
static const enum reading curve_readings[] = { READING_POWER_W, READING_TEMP_C,
					       READING_UTIL_PCT,
					       READING_MEM_USED_MIB };
#define CURVES (sizeof(curve_readings) / sizeof(curve_readings[0]))

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
	bool too_long; /* the rest of the line is left out */
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

struct usage *usage_new(struct error *err)
{
	struct usage *usage = calloc(1, sizeof(*usage));

	if (!usage) {
		error_nomem(err, "usage");
		return NULL;
	}
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
	figure->last = value;
	figure->sum += value;
	figure->count++;
}

/* How long after the one before, when that can be bridged; else 0. */
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

static int device_add(struct usage *usage,
		      const struct sample_format_device *from,
		      struct error *err)
{
	struct usage_device *devices, *device;

	if (device_find(usage, from->index) ||
	    usage->devices_count >= SAMPLE_DEVICES_MAX)
		return 0;
	devices = realloc(usage->devices,
			  (usage->devices_count + 1) * sizeof(*devices));
	if (!devices)
		return error_nomem(err, "usage");
	usage->devices = devices;
	device = &devices[usage->devices_count];
	*device = (struct usage_device){ .index = from->index };
	usage->devices_count++;
	device->name = from->name ? strdup(from->name) : NULL;
	device->bus_id = from->bus_id ? strdup(from->bus_id) : NULL;
	if (usage->devices_count <= USAGE_CURVES_MAX)
		device->curves = calloc(CURVES, sizeof(*device->curves));
	return 0;
}

static int take_head(struct usage *usage, struct sample_format_line *line,
		     struct error *err)
{
	codec_clear(&sample_format_head_schema, &usage->head);
	usage->head = line->head;
	line->head = (struct sample_format_head){ 0 };
	for (size_t i = 0; i < usage->head.devices_count; i++)
		if (device_add(usage, &usage->head.devices[i], err) < 0)
			return -1;
	return 0;
}

static void take_point(struct usage *usage,
		       const struct sample_format_point *point, int64_t time_ms)
{
	struct usage_device *device = device_find(usage, point->index);
	double power_w = point->value[READING_POWER_W];
	int64_t since_ms;

	/* What the head does not name was not allocated. */
	if (!device)
		return;
	for (int i = 0; i < READINGS; i++)
		if (point->has & 1U << i)
			figure_add(&device->figures[i], point->value[i]);
	for (size_t i = 0; device->curves && i < CURVES; i++)
		if (point->has & 1U << curve_readings[i])
			curve_add(&device->curves[i], time_ms,
				  point->value[curve_readings[i]],
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

static void take_host(struct usage *usage,
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
		i--; /* the last one stands for all that follow */
	if (i == usage->troubles_count) {
		usage->troubles[i].text = take(line->text);
		usage->troubles_count++;
	}
	usage->troubles[i].count++;
}

static int take_line(struct usage *usage, struct error *err)
{
	owned(sample_format_line_clear) struct sample_format_line line = { 0 };
	struct error why;

	if (!usage->line.size && !usage->too_long)
		return 0; /* another agent went on, behind a whole line */
	if (usage->too_long ||
	    sample_format_read(&usage->columns, usage->line.data,
			       usage->line.size, &line, &why) < 0) {
		usage->broken++;
		return 0;
	}
	if (line.kind == SAMPLE_FORMAT_HEAD)
		return take_head(usage, &line, err);
	if (line.kind == SAMPLE_FORMAT_ERROR)
		take_error(usage, &line);
	for (size_t i = 0; i < line.count; i++)
		take_point(usage, &line.points[i], line.time_ms);
	if (line.kind == SAMPLE_FORMAT_HOST)
		take_host(usage, &line);
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
		if (take_line(usage, err) < 0)
			return -1;
		buffer_consume(&usage->line, usage->line.size);
		usage->too_long = false;
	}
	return 0;
}

bool usage_latest(const struct usage *usage, size_t i,
		  struct device_metrics *latest)
{
	const struct usage_device *device = &usage->devices[i];

	if (i >= usage->devices_count)
		return false;
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

/* The summary. */

static void add_number(cJSON *to, const char *name, bool known, double value)
{
	if (known && isfinite(value))
		cJSON_AddNumberToObject(to, name, value);
	else
		cJSON_AddNullToObject(to, name);
}

static void add_text(cJSON *to, const char *name, const char *text)
{
	if (text)
		cJSON_AddStringToObject(to, name, text);
	else
		cJSON_AddNullToObject(to, name);
}

static void add_figure(cJSON *to, const char *name, const struct figure *figure)
{
	cJSON *object;

	if (!figure->count) {
		cJSON_AddNullToObject(to, name);
		return;
	}
	object = cJSON_AddObjectToObject(to, name);
	add_number(object, "mean", true, figure->sum / (double)figure->count);
	add_number(object, "max", true, figure->max);
}

static cJSON *device_object(const struct usage *usage,
			    const struct usage_device *device)
{
	const struct course *rows = &device->rows;
	const struct course *gaps =
		device->power.count ? &device->power : &device->rows;
	const struct figure *total = &device->figures[READING_MEM_TOTAL_MIB];
	cJSON *to = cJSON_CreateObject();

	add_text(to, "node", usage->head.node);
	add_number(to, "rank", true, usage->head.rank);
	add_number(to, "device", true, device->index);
	add_text(to, "name", device->name);
	add_text(to, "bus_id", device->bus_id);
	add_number(to, "samples", true, (double)rows->count);
	add_number(to, "interval_ms", rows->count > 1,
		   (double)(rows->last_ms - rows->first_ms) /
			   (double)(rows->count - 1));
	for (int i = 0; i < READINGS; i++)
		if (i != READING_MEM_TOTAL_MIB)
			add_figure(to, reading_name((enum reading)i),
				   &device->figures[i]);
	add_number(to, "mem_total_mib", total->count, total->last);
	add_number(to, "energy_j", device->energy_ms > 0, device->energy_j);
	add_number(to, "energy_s", true, (double)device->energy_ms / 1000);
	add_number(to, "gaps", true, (double)gaps->gaps);
	add_number(to, "gaps_s", true, (double)gaps->gaps_ms / 1000);
	return to;
}

static cJSON *host_object(const struct usage *usage)
{
	const struct sample_format_head *head = &usage->head;
	cJSON *to = cJSON_CreateObject();

	add_text(to, "node", head->node);
	add_number(to, "rank", true, head->rank);
	add_number(to, "samples", true, (double)usage->host_count);
	add_number(to, "interval_ms", true, head->interval_ms);
	add_text(to, "tool", head->tool);
	add_text(to, "cpus", head->cpus);
	cJSON_AddBoolToObject(to, "clock", head->clock);
	add_number(to, "offset_ms", head->clock, (double)head->offset_ms);
	add_number(to, "round_trip_ms", head->clock,
		   (double)head->round_trip_ms);
	for (int i = 0; i < HOST_READINGS; i++)
		add_figure(to, host_reading_name((enum host_reading)i),
			   &usage->host[i]);
	return to;
}

/* Over the devices of all nodes. */
struct totals {
	size_t devices, power_told, energy_told;
	double power_w, energy_j;
	const struct usage_device *fullest;
};

static void count_device(struct totals *totals,
			 const struct usage_device *device)
{
	const struct figure *power = &device->figures[READING_POWER_W];
	const struct figure *used = &device->figures[READING_MEM_USED_MIB];

	totals->devices++;
	totals->power_told += power->count > 0;
	totals->energy_told += device->energy_ms > 0;
	if (power->count)
		totals->power_w += power->sum / (double)power->count;
	totals->energy_j += device->energy_j;
	if (used->count &&
	    (!totals->fullest ||
	     used->max > totals->fullest->figures[READING_MEM_USED_MIB].max))
		totals->fullest = device;
}

static void add_totals(cJSON *to, const struct totals *totals)
{
	const struct usage_device *fullest = totals->fullest;
	const struct figure *total =
		fullest ? &fullest->figures[READING_MEM_TOTAL_MIB] : NULL;
	bool any = totals->devices > 0;

	add_number(to, "power_w", any && totals->power_told == totals->devices,
		   totals->power_w);
	add_number(to, "energy_j",
		   any && totals->energy_told == totals->devices,
		   totals->energy_j);
	add_number(to, "mem_used_mib", fullest,
		   fullest ? fullest->figures[READING_MEM_USED_MIB].max : 0);
	add_number(to, "mem_total_mib", total && total->count,
		   total ? total->last : 0);
}

static void add_errors(cJSON *list, const struct usage *usage)
{
	for (size_t i = 0; i < usage->troubles_count; i++) {
		cJSON *to = cJSON_CreateObject();

		add_text(to, "node", usage->head.node);
		add_text(to, "text", usage->troubles[i].text);
		add_number(to, "count", true, (double)usage->troubles[i].count);
		cJSON_AddItemToArray(list, to);
	}
}

cJSON *usage_summary(const struct usage *const *streams, size_t count,
		     struct error *err)
{
	cJSON *to = cJSON_CreateObject();
	cJSON *devices = cJSON_AddArrayToObject(to, "devices");
	cJSON *hosts = cJSON_AddArrayToObject(to, "hosts");
	cJSON *errors = cJSON_CreateArray();
	struct totals totals = { 0 };
	size_t broken = 0;

	for (size_t i = 0; i < count; i++) {
		const struct usage *usage = streams[i];

		if (!usage || !usage->columns.known)
			continue;
		cJSON_AddItemToArray(hosts, host_object(usage));
		for (size_t d = 0; d < usage->devices_count; d++) {
			cJSON_AddItemToArray(devices,
					     device_object(usage,
							   &usage->devices[d]));
			count_device(&totals, &usage->devices[d]);
		}
		add_errors(errors, usage);
		broken += usage->broken;
	}
	if (!hosts || !errors) {
		cJSON_Delete(errors);
		cJSON_Delete(to);
		error_nomem(err, "usage");
		return NULL;
	}
	add_totals(to, &totals);
	cJSON_AddItemToObject(to, "errors", errors);
	add_number(to, "broken_lines", true, (double)broken);
	return to;
}

/* Curves. */

static int64_t first_ms(const struct usage *const *streams, size_t count)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < count; i++) {
		const struct usage *usage = streams[i];

		if (usage && usage->host_count && usage->host_first_ms < first)
			first = usage->host_first_ms;
		for (size_t d = 0; usage && d < usage->devices_count; d++) {
			const struct course *rows = &usage->devices[d].rows;

			if (rows->count && rows->first_ms < first)
				first = rows->first_ms;
		}
	}
	return first;
}

static bool add_curves(cJSON *list, const struct usage *usage,
		       const struct usage_device *device, int64_t since_ms)
{
	cJSON *to = cJSON_CreateObject();
	char name[16];

	if (!cJSON_AddItemToArray(list, to))
		return false;
	snprintf(name, sizeof(name), "%u", device->index);
	add_text(to, "node", usage->head.node);
	add_text(to, "device", name);
	for (size_t i = 0; i < CURVES; i++) {
		cJSON *curve = curve_json(&device->curves[i], since_ms);

		if (!curve)
			return false;
		cJSON_AddItemToObject(to, reading_name(curve_readings[i]),
				      curve);
	}
	return true;
}

cJSON *usage_curves(const struct usage *const *streams, size_t count,
		    struct error *err)
{
	int64_t since_ms = first_ms(streams, count);
	cJSON *list = cJSON_CreateArray();
	bool good = list != NULL;
	int kept = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t d = 0;
		     good && streams[i] && d < streams[i]->devices_count &&
		     kept < USAGE_CURVES_MAX;
		     d++) {
			const struct usage_device *device =
				&streams[i]->devices[d];

			if (!device->rows.count || !device->curves)
				continue;
			good = add_curves(list, streams[i], device, since_ms);
			kept++;
		}
	if (good)
		return list;
	cJSON_Delete(list);
	error_nomem(err, "usage");
	return NULL;
}

cJSON *usage_host_curves(const struct usage *const *streams, size_t count,
			 struct error *err)
{
	int64_t since_ms = first_ms(streams, count);
	cJSON *list = cJSON_CreateArray();
	int kept = 0;

	for (size_t i = 0; list && i < count && kept < USAGE_CURVES_MAX; i++) {
		const struct usage *usage = streams[i];
		cJSON *to, *curve;

		if (!usage || !usage->host_cpu.points)
			continue;
		to = cJSON_CreateObject();
		curve = curve_json(&usage->host_cpu, since_ms);
		add_text(to, "node", usage->head.node);
		if (!curve ||
		    !cJSON_AddItemToObject(to, host_reading_name(HOST_CPU_PCT),
					   curve) ||
		    !cJSON_AddItemToArray(list, to)) {
			cJSON_Delete(list);
			list = NULL;
		}
		kept++;
	}
	if (!list)
		error_nomem(err, "usage");
	return list;
}

/* Warnings. */

static const char *text_of(const cJSON *item, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(item, name));

	return text ? text : "?";
}

static double number_of(const cJSON *item, const char *name)
{
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(item, name);

	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

cJSON *usage_memories(const cJSON *usage)
{
	const cJSON *devices =
		cJSON_GetObjectItemCaseSensitive(usage, "devices");
	cJSON *list = cJSON_CreateArray();
	const cJSON *device;

	if (!list)
		return NULL;
	cJSON_ArrayForEach(device, devices)
	{
		const cJSON *peak = cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(device,
							 "mem_used_mib"),
			"max");

		if (!cJSON_IsNumber(peak))
			break;
		if (!cJSON_AddItemToArray(list, cJSON_CreateNumber(
							peak->valuedouble))) {
			cJSON_Delete(list);
			return NULL;
		}
	}
	if (!device && cJSON_GetArraySize(devices))
		return list;
	cJSON_Delete(list);
	return cJSON_CreateNull();
}

__attribute__((format(printf, 3, 4))) static int
warn(cJSON *list, struct error *err, const char *fmt, ...)
{
	char text[SAMPLE_FORMAT_TEXT_MAX + 200];
	va_list args;
	cJSON *item;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	item = cJSON_CreateString(text);
	if (item && cJSON_AddItemToArray(list, item))
		return 0;
	cJSON_Delete(item);
	return error_nomem(err, "usage");
}

static int warn_gaps(const cJSON *devices, cJSON *list, struct error *err)
{
	const cJSON *device;
	int told = 0, more = 0;

	cJSON_ArrayForEach(device, devices)
	{
		if (!number_of(device, "samples")) {
			if (told++ < GAPS_TOLD &&
			    warn(list, err, "%s: device %.0f was never sampled",
				 text_of(device, "node"),
				 number_of(device, "device")) < 0)
				return -1;
		} else if (number_of(device, "gaps")) {
			if (told++ < GAPS_TOLD &&
			    warn(list, err,
				 "%s: device %.0f was not sampled for %.1f s, "
				 "which its energy leaves out",
				 text_of(device, "node"),
				 number_of(device, "device"),
				 number_of(device, "gaps_s")) < 0)
				return -1;
		}
	}
	more = told - GAPS_TOLD;
	return more > 0 ? warn(list, err,
			       "%d more devices were sampled with gaps", more)
			: 0;
}

int usage_warnings(const cJSON *usage, cJSON *list, struct error *err)
{
	const cJSON *error;

	cJSON_ArrayForEach(error,
			   cJSON_GetObjectItemCaseSensitive(usage, "errors"))
	{
		if (warn(list, err, "%s: monitor: %s", text_of(error, "node"),
			 text_of(error, "text")) < 0)
			return -1;
	}
	return warn_gaps(cJSON_GetObjectItemCaseSensitive(usage, "devices"),
			 list, err);
}
