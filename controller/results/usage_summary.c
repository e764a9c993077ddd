/* usage_summary.c - sums up the samples of a job, and draws their curves.
 */
#include "controller/results/json_object.h"
#include "controller/results/straggler.h"
#include "controller/results/usage_internal.h"

#include <math.h>

/* What a reading of a device becomes. */
enum sum {
	NOTHING,
	MEAN_MAX, /* a struct mean_max */
	LAST,     /* a number, as the next ones */
	GROWN,    /* from the first to the last one */
	STEADY    /* the mean over the steady state */
};

struct summing {
	enum sum as;
	size_t offset; /* in device_usage, or host_usage */
};

/* clang-format off */
#define SUM(as, m) { as, offsetof(struct device_usage, m) }
static const struct summing device_sums[READINGS][2] = {
	[READING_TEMP_C] = { SUM(MEAN_MAX, temp_c) },
	[READING_POWER_W] = { SUM(MEAN_MAX, power_w) },
	[READING_POWER_CAP_W] = { SUM(MEAN_MAX, power_cap_w) },
	[READING_MEM_USED_MIB] = { SUM(MEAN_MAX, mem_used_mib) },
	[READING_MEM_TOTAL_MIB] = { SUM(LAST, mem_total_mib) },
	[READING_UTIL_PCT] = { SUM(MEAN_MAX, util_pct) },
	[READING_MEM_USED_PCT] = { SUM(MEAN_MAX, mem_used_pct) },
	[READING_CLOCK_MHZ] = { SUM(MEAN_MAX, clock_mhz),
				SUM(STEADY, clock_steady_mhz) },
	[READING_CLOCK_MAX_MHZ] = { SUM(LAST, clock_max_mhz) },
	[READING_THROTTLE_THERMAL_PCT] = { SUM(STEADY, throttle_thermal_pct) },
	[READING_THROTTLE_POWER_PCT] = { SUM(STEADY, throttle_power_pct) },
	[READING_THROTTLE_OTHER_PCT] = { SUM(STEADY, throttle_other_pct) },
	[READING_ECC_CORRECTED] = { SUM(GROWN, ecc_corrected) },
	[READING_ECC_UNCORRECTED] = { SUM(GROWN, ecc_uncorrected) },
	[READING_REMAP_PENDING] = { SUM(LAST, remap_pending) },
	[READING_PCIE_GEN] = { SUM(LAST, pcie_gen) },
	[READING_PCIE_WIDTH] = { SUM(LAST, pcie_width) },
	[READING_LINK_ERRORS] = { SUM(GROWN, link_errors) },
};

#define HOST_SUM(as, m) { as, offsetof(struct host_usage, m) }
static const struct summing host_sums[HOST_READINGS] = {
	[HOST_CPU_PCT] = HOST_SUM(MEAN_MAX, cpu_pct),
	[HOST_MEM_USED_MIB] = HOST_SUM(MEAN_MAX, mem_used_mib),
	[HOST_DISK_READ_MIB_S] = HOST_SUM(MEAN_MAX, disk_read_mib_s),
	[HOST_DISK_WRITE_MIB_S] = HOST_SUM(MEAN_MAX, disk_write_mib_s),
	[HOST_NET_IN_MIB_S] = HOST_SUM(MEAN_MAX, net_in_mib_s),
	[HOST_NET_OUT_MIB_S] = HOST_SUM(MEAN_MAX, net_out_mib_s),
	[HOST_CPU_POWER_W] = HOST_SUM(MEAN_MAX, cpu_power_w),
	[HOST_POWER_W] = HOST_SUM(MEAN_MAX, power_w),
	[HOST_NET_ERRORS] = HOST_SUM(GROWN, net_errors),
	[HOST_NET_RETRANSMITS] = HOST_SUM(GROWN, net_retransmits),
};
/* clang-format on */

static double known(bool is_known, double value)
{
	return is_known ? value : (double)NAN;
}

/* The mean_max at the offset of a struct. */
static int figure_put(void *to, size_t offset, const struct figure *figure,
		      struct error *err)
{
	struct mean_max *made;

	if (!figure->count)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return error_nomem(err, "usage");
	made->mean = figure->sum / (double)figure->count;
	made->max = figure->max;
	*(struct mean_max **)((char *)to + offset) = made;
	return 0;
}

static double steady_mean(const struct usage_device *device,
			  enum reading reading, const struct usage_span *steady)
{
	for (size_t i = 0; device->curves && i < CURVES; i++)
		if (usage_curve_readings[i] == reading)
			return curve_mean(&device->curves[i], steady->from_ms,
					  steady->to_ms);
	return NAN;
}

/* A counter that was reset during the job has not grown. */
static double grown(const struct figure *figure)
{
	double by = figure->last - figure->first;

	return known(figure->count, by > 0 ? by : 0);
}

/* Set a member of a struct; steady: the mean over the steady state. */
static int summing_put(const struct summing *summing, void *to,
		       const struct figure *figure, double steady,
		       struct error *err)
{
	double *number = (double *)(void *)((char *)to + summing->offset);

	switch (summing->as) {
	case MEAN_MAX:
		return figure_put(to, summing->offset, figure, err);
	case LAST:
		*number = known(figure->count, figure->last);
		break;
	case GROWN:
		*number = grown(figure);
		break;
	case STEADY:
		*number = steady;
		break;
	case NOTHING:
		break;
	}
	return 0;
}

static int device_put_readings(const struct usage_device *device,
			       const struct usage_span *steady,
			       struct device_usage *to, struct error *err)
{
	for (int i = 0; i < READINGS * 2; i++) {
		enum reading reading = (enum reading)(i / 2);

		if (summing_put(&device_sums[reading][i % 2], to,
				&device->figures[reading],
				steady_mean(device, reading, steady), err) < 0)
			return -1;
	}
	return 0;
}

static int device_sum_up(const struct usage *usage,
			 const struct usage_device *device,
			 const struct usage_span *steady,
			 struct device_usage *to, struct error *err)
{
	const struct course *rows = &device->rows;
	const struct course *gaps =
		device->power.count ? &device->power : &device->rows;

	to->rank = usage->head.rank;
	to->device = device->index;
	to->samples = rows->count;
	to->power_samples = device->power.count;
	to->interval_ms = known(rows->count > 1,
				(double)(rows->last_ms - rows->first_ms) /
					(double)(rows->count - 1));
	to->energy_j = known(device->energy_ms > 0, device->energy_j);
	to->energy_s = (double)device->energy_ms / 1000;
	to->gaps = gaps->gaps;
	to->gaps_s = (double)gaps->gaps_ms / 1000;
	if (device_put_readings(device, steady, to, err) < 0)
		return -1;
	return string_set(&to->node, usage->head.node, err) < 0 ||
			       string_set(&to->name, device->name, err) < 0
		       ? -1
		       : string_set(&to->bus_id, device->bus_id, err);
}

static int host_sum_up(const struct usage *usage, struct host_usage *to,
		       struct error *err)
{
	const struct sample_format_head *head = &usage->head;

	to->rank = head->rank;
	to->samples = usage->host_count;
	to->interval_ms = head->interval_ms;
	to->clock = head->clock;
	to->offset_ms = known(head->clock, (double)head->offset_ms);
	to->round_trip_ms = known(head->clock, (double)head->round_trip_ms);
	for (int i = 0; i < HOST_READINGS; i++)
		if (summing_put(&host_sums[i], to, &usage->host[i], (double)NAN,
				err) < 0)
			return -1;
	return string_set(&to->node, head->node, err) < 0 ||
			       string_set(&to->tool, head->tool, err) < 0
		       ? -1
		       : string_set(&to->cpus, head->cpus, err);
}

static int errors_sum_up(const struct usage *usage, struct usage_summary *to,
			 struct error *err)
{
	for (size_t i = 0; i < usage->troubles_count; i++) {
		struct usage_error *error = &to->errors[to->errors_count++];

		error->count = usage->troubles[i].count;
		if (string_set(&error->node, usage->head.node, err) < 0 ||
		    string_set(&error->text, usage->troubles[i].text, err) < 0)
			return -1;
	}
	return 0;
}

static double throttled(const struct device_usage *device)
{
	return fmax(device->throttle_thermal_pct,
		    fmax(device->throttle_power_pct,
			 device->throttle_other_pct));
}

/* Over the devices of all nodes; of the memory, that of the fullest one. */
static void devices_sum_up(struct usage_summary *to)
{
	bool any = to->devices_count > 0;

	to->power_w = to->energy_j = to->clock_mhz = known(any, 0);
	to->mem_used_mib = to->mem_total_mib = to->throttled_pct = (double)NAN;
	for (size_t i = 0; i < to->devices_count; i++) {
		const struct device_usage *device = &to->devices[i];
		const struct mean_max *used = device->mem_used_mib;

		to->power_w +=
			device->power_w ? device->power_w->mean : (double)NAN;
		to->energy_j += device->energy_j;
		to->clock_mhz +=
			device->clock_steady_mhz / (double)to->devices_count;
		to->throttled_pct = fmax(to->throttled_pct, throttled(device));
		if (!used || used->max <= to->mem_used_mib)
			continue;
		to->mem_used_mib = used->max;
		to->mem_total_mib = device->mem_total_mib;
	}
}

static int powers_sum_up(struct usage_summary *to, struct error *err)
{
	const char *tool = to->hosts_count ? to->hosts[0].tool : NULL;
	char source[128];

	to->node_power_w = known(to->hosts_count, 0);
	for (size_t i = 0; i < to->hosts_count; i++) {
		const struct mean_max *power = to->hosts[i].power_w;

		to->node_power_w += power ? power->mean : (double)NAN;
	}
	if (!isfinite(to->power_w) || !tool)
		return 0;
	snprintf(source, sizeof(source), "device, by %.100s", tool);
	return string_set(&to->power_source, source, err);
}

/* Make room for the rows of all streams. */
static int summary_reserve(const struct usage *const *streams, size_t count,
			   struct usage_summary *to, struct error *err)
{
	size_t devices = 0, errors = 0;

	for (size_t i = 0; i < count; i++) {
		devices += streams[i] ? streams[i]->devices_count : 0;
		errors += streams[i] ? streams[i]->troubles_count : 0;
	}
	to->devices = calloc(devices + 1, sizeof(*to->devices));
	to->hosts = calloc(count + 1, sizeof(*to->hosts));
	to->errors = calloc(errors + 1, sizeof(*to->errors));
	return to->devices && to->hosts && to->errors
		       ? 0
		       : error_nomem(err, "usage");
}

static int streams_sum_up(const struct usage *const *streams, size_t count,
			  const struct usage_span *steady,
			  struct usage_summary *to, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct usage *usage = streams[i];

		if (!usage || !usage->columns.known)
			continue;
		if (host_sum_up(usage, &to->hosts[to->hosts_count++], err) < 0)
			return -1;
		for (size_t d = 0; d < usage->devices_count; d++)
			if (device_sum_up(usage, &usage->devices[d], steady,
					  &to->devices[to->devices_count++],
					  err) < 0)
				return -1;
		if (errors_sum_up(usage, to, err) < 0)
			return -1;
		to->broken_lines += usage->broken;
	}
	return 0;
}

int usage_summarize(const struct usage *const *streams, size_t count,
		    const struct usage_span *steady, struct usage_summary *to,
		    struct error *err)
{
	static const struct usage_span all = { INT64_MIN, INT64_MAX };

	*to = (struct usage_summary){ .steady_s = (double)NAN };
	if (steady)
		to->steady_s = (double)(steady->to_ms - steady->from_ms) / 1000;
	if (summary_reserve(streams, count, to, err) == 0 &&
	    streams_sum_up(streams, count, steady ? steady : &all, to, err) ==
		    0) {
		devices_sum_up(to);
		if (powers_sum_up(to, err) == 0 &&
		    straggler_find(streams, count, steady, &to->straggler,
				   err) == 0)
			return 0;
	}
	codec_clear(&usage_summary_schema, to);
	return -1;
}

int usage_memories(const struct usage_summary *usage, struct doubles *to,
		   struct error *err)
{
	for (size_t i = 0; usage && i < usage->devices_count; i++)
		if (!usage->devices[i].mem_used_mib)
			return 0;
	for (size_t i = 0; usage && i < usage->devices_count; i++)
		if (doubles_add(to, usage->devices[i].mem_used_mib->max, err) <
		    0)
			return -1;
	return 0;
}

/* Curves. */

/* The object or list, unless memory ran out. */
static cJSON *curves_end(cJSON *json, bool failed, struct error *err)
{
	if (!failed)
		return json;
	cJSON_Delete(json);
	return error_null(error_nomem(err, "usage"));
}

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
	for (size_t i = 0; i < CURVES_SHOWN; i++)
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
	return curves_end(list, failed, err);
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
	return curves_end(list, failed, err);
}
