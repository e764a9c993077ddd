/* device_metrics.c - readings of devices as metrics, named as NVIDIA's DCGM
 * exporter names them.
 */
#include "protocol/hardware/device_metrics.h"

#include <inttypes.h>

static const struct {
	const char *name;
	const char *help;
	double scale; /* 0: as it is read */
} families[READINGS] = {
	[READING_TEMP_C] = { "DCGM_FI_DEV_GPU_TEMP",
			     "Temperature of the device, in C." },
	[READING_POWER_W] = { "DCGM_FI_DEV_POWER_USAGE", "Power draw, in W." },
	[READING_POWER_CAP_W] = { "DCGM_FI_DEV_POWER_MGMT_LIMIT",
				  "Power limit, in W." },
	[READING_MEM_USED_MIB] = { "DCGM_FI_DEV_FB_USED",
				   "Memory used, in MiB." },
	[READING_UTIL_PCT] = { "DCGM_FI_DEV_GPU_UTIL",
			       "Utilisation of the device, in %." },
	[READING_MEM_TOTAL_MIB] = { "DCGM_FI_DEV_FB_TOTAL",
				    "Memory of the device, in MiB." },
	[READING_MEM_USED_PCT] = { "DCGM_FI_DEV_FB_USED_PERCENT",
				   "Memory used, as a share of 1.", 0.01 },
};

static void device_metrics_put_device(struct openmetrics *metrics,
				      const struct device_metrics *device,
				      int reading)
{
	double scale = families[reading].scale, value = device->value[reading];
	char index[12], job[24] = "";

	snprintf(index, sizeof(index), "%" PRIu32, device->index);
	if (device->job)
		snprintf(job, sizeof(job), "%" PRIu64, device->job);
	openmetrics_value(metrics, scale != 0 ? value * scale : value, "gpu",
			  index, "UUID", device->uuid, "pci_bus_id",
			  device->bus_id, "modelName", device->name, "Hostname",
			  device->node, "job", job, NULL);
}

void device_metrics_put(struct openmetrics *metrics,
			const struct device_metrics *devices, size_t count)
{
	for (int reading = 0; reading < READINGS; reading++) {
		bool begun = false;

		for (size_t i = 0; i < count; i++) {
			if (!(devices[i].has & 1U << reading))
				continue;
			if (!begun)
				openmetrics_family(metrics,
						   families[reading].name,
						   METRIC_GAUGE,
						   families[reading].help);
			begun = true;
			device_metrics_put_device(metrics, &devices[i],
						  reading);
		}
	}
}
