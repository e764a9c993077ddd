/* usage_summary.c - writes the samples of a job as a summary and as curves.
 */
#include "controller/results/json_object.h"
#include "controller/results/usage_internal.h"

#include <math.h>

static double known(bool is_known, double value)
{
	return is_known ? value : NAN;
}

static void add_figure(cJSON *to, const char *name, const struct figure *figure,
		       bool *failed)
{
	cJSON *object;

	if (!figure->count) {
		json_add(to, name, cJSON_CreateNull(), failed);
		return;
	}
	object = cJSON_AddObjectToObject(to, name);
	json_add_number(object, "mean", figure->sum / (double)figure->count,
			failed);
	json_add_number(object, "max", figure->max, failed);
}

static cJSON *device_object(const struct usage *usage,
			    const struct usage_device *device, bool *failed)
{
	const struct course *rows = &device->rows;
	const struct course *gaps =
		device->power.count ? &device->power : &device->rows;
	const struct figure *total = &device->figures[READING_MEM_TOTAL_MIB];
	cJSON *to = cJSON_CreateObject();

	json_add_text(to, "node", usage->head.node, failed);
	json_add_number(to, "rank", usage->head.rank, failed);
	json_add_number(to, "device", device->index, failed);
	json_add_text(to, "name", device->name, failed);
	json_add_text(to, "bus_id", device->bus_id, failed);
	json_add_number(to, "samples", (double)rows->count, failed);
	json_add_number(to, "interval_ms",
			known(rows->count > 1,
			      (double)(rows->last_ms - rows->first_ms) /
				      (double)(rows->count - 1)),
			failed);
	for (int i = 0; i < READINGS; i++)
		if (i != READING_MEM_TOTAL_MIB)
			add_figure(to, reading_name((enum reading)i),
				   &device->figures[i], failed);
	json_add_number(to, "mem_total_mib", known(total->count, total->last),
			failed);
	json_add_number(to, "energy_j",
			known(device->energy_ms > 0, device->energy_j), failed);
	json_add_number(to, "energy_s", (double)device->energy_ms / 1000,
			failed);
	json_add_number(to, "gaps", (double)gaps->gaps, failed);
	json_add_number(to, "gaps_s", (double)gaps->gaps_ms / 1000, failed);
	return to;
}

static cJSON *host_object(const struct usage *usage, bool *failed)
{
	const struct sample_format_head *head = &usage->head;
	cJSON *to = cJSON_CreateObject();

	json_add_text(to, "node", head->node, failed);
	json_add_number(to, "rank", head->rank, failed);
	json_add_number(to, "samples", (double)usage->host_count, failed);
	json_add_number(to, "interval_ms", head->interval_ms, failed);
	json_add_text(to, "tool", head->tool, failed);
	json_add_text(to, "cpus", head->cpus, failed);
	json_add(to, "clock", cJSON_CreateBool(head->clock), failed);
	json_add_number(to, "offset_ms",
			known(head->clock, (double)head->offset_ms), failed);
	json_add_number(to, "round_trip_ms",
			known(head->clock, (double)head->round_trip_ms),
			failed);
	for (int i = 0; i < HOST_READINGS; i++)
		add_figure(to, host_reading_name((enum host_reading)i),
			   &usage->host[i], failed);
	return to;
}

/* Over the devices of all nodes. */
struct totals {
	size_t devices, power_told, energy_told;
	double power_w, energy_j;
	struct figure used, total; /* memory of the fullest device */
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
	    (!totals->used.count || used->max > totals->used.max)) {
		totals->used = *used;
		totals->total = device->figures[READING_MEM_TOTAL_MIB];
	}
}

static void add_totals(cJSON *to, const struct totals *totals, bool *failed)
{
	bool any = totals->devices > 0;

	json_add_number(to, "power_w",
			known(any && totals->power_told == totals->devices,
			      totals->power_w),
			failed);
	json_add_number(to, "energy_j",
			known(any && totals->energy_told == totals->devices,
			      totals->energy_j),
			failed);
	json_add_number(to, "mem_used_mib",
			known(totals->used.count, totals->used.max), failed);
	json_add_number(to, "mem_total_mib",
			known(totals->total.count, totals->total.last), failed);
}

static void add_errors(cJSON *list, const struct usage *usage, bool *failed)
{
	for (size_t i = 0; i < usage->troubles_count; i++) {
		cJSON *to = cJSON_CreateObject();

		json_add_text(to, "node", usage->head.node, failed);
		json_add_text(to, "text", usage->troubles[i].text, failed);
		json_add_number(to, "count", (double)usage->troubles[i].count,
				failed);
		json_add(list, NULL, to, failed);
	}
}

/* The object or list, unless memory ran out. */
static cJSON *finish(cJSON *json, bool failed, struct error *err)
{
	if (!failed)
		return json;
	cJSON_Delete(json);
	return error_null(error_nomem(err, "usage"));
}

cJSON *usage_summary(const struct usage *const *streams, size_t count,
		     struct error *err)
{
	cJSON *to = cJSON_CreateObject();
	cJSON *devices = cJSON_AddArrayToObject(to, "devices");
	cJSON *hosts = cJSON_AddArrayToObject(to, "hosts");
	cJSON *errors = cJSON_CreateArray();
	bool failed = !devices || !hosts;
	struct totals totals = { 0 };
	size_t broken = 0;

	for (size_t i = 0; i < count; i++) {
		const struct usage *usage = streams[i];

		if (!usage || !usage->columns.known)
			continue;
		json_add(hosts, NULL, host_object(usage, &failed), &failed);
		for (size_t d = 0; d < usage->devices_count; d++) {
			const struct usage_device *device = &usage->devices[d];

			json_add(devices, NULL,
				 device_object(usage, device, &failed),
				 &failed);
			count_device(&totals, device);
		}
		add_errors(errors, usage, &failed);
		broken += usage->broken;
	}
	add_totals(to, &totals, &failed);
	json_add(to, "errors", errors, &failed);
	json_add_number(to, "broken_lines", (double)broken, &failed);
	return finish(to, failed, err);
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

static cJSON *device_curves(const struct usage *usage,
			    const struct usage_device *device, int64_t since_ms,
			    bool *failed)
{
	cJSON *to = cJSON_CreateObject();
	char name[16];

	snprintf(name, sizeof(name), "%u", device->index);
	json_add_text(to, "node", usage->head.node, failed);
	json_add_text(to, "device", name, failed);
	for (size_t i = 0; i < CURVES; i++)
		json_add(to, reading_name(usage_curve_readings[i]),
			 curve_json(&device->curves[i], since_ms), failed);
	return to;
}

cJSON *usage_curves(const struct usage *const *streams, size_t count,
		    struct error *err)
{
	int64_t since_ms = first_ms(streams, count);
	cJSON *list = cJSON_CreateArray();
	bool failed = !list;
	int kept = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t d = 0; streams[i] && d < streams[i]->devices_count;
		     d++) {
			const struct usage_device *device =
				&streams[i]->devices[d];

			if (!device->rows.count || !device->curves ||
			    kept == USAGE_CURVES_MAX)
				continue;
			json_add(list, NULL,
				 device_curves(streams[i], device, since_ms,
					       &failed),
				 &failed);
			kept++;
		}
	return finish(list, failed, err);
}

cJSON *usage_host_curves(const struct usage *const *streams, size_t count,
			 struct error *err)
{
	int64_t since_ms = first_ms(streams, count);
	cJSON *list = cJSON_CreateArray();
	bool failed = !list;
	int kept = 0;

	for (size_t i = 0; i < count && kept < USAGE_CURVES_MAX; i++) {
		const struct usage *usage = streams[i];
		cJSON *to;

		if (!usage || !usage->host_cpu.points)
			continue;
		to = cJSON_CreateObject();
		json_add_text(to, "node", usage->head.node, &failed);
		json_add(to, host_reading_name(HOST_CPU_PCT),
			 curve_json(&usage->host_cpu, since_ms), &failed);
		json_add(list, NULL, to, &failed);
		kept++;
	}
	return finish(list, failed, err);
}
