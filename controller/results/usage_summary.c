/* usage_summary.c - the readings of all streams of a job as a summary and as
 * curves.
 */
#include "controller/results/usage_internal.h"

#include <math.h>

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
		cJSON_AddItemToObject(to, reading_name(usage_curve_readings[i]),
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
