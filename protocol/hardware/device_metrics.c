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
	[READING_CLOCK_MHZ] = { "DCGM_FI_DEV_SM_CLOCK",
				"Clock of what computes, in MHz." },
	[READING_CLOCK_MAX_MHZ] = { "DCGM_FI_DEV_MAX_SM_CLOCK",
				    "The highest such clock, in MHz." },
	[READING_THROTTLE_THERMAL_PCT] = { "regatta_device_throttle_thermal",
					   "Share of the time that heat held "
					   "the clock down.",
					   0.01 },
	[READING_THROTTLE_POWER_PCT] = { "regatta_device_throttle_power",
					 "Share of the time that a limit of "
					 "power held the clock down.",
					 0.01 },
	[READING_THROTTLE_OTHER_PCT] = { "regatta_device_throttle_other",
					 "Share of the time that something "
					 "else held the clock down.",
					 0.01 },
	[READING_ECC_CORRECTED] = { "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL",
				    "Corrected errors of the memory." },
	[READING_ECC_UNCORRECTED] = { "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
				      "Uncorrected errors of the memory." },
	[READING_REMAP_PENDING] = { "DCGM_FI_DEV_ROW_REMAP_PENDING",
				    "1 if memory waits for a reset to be "
				    "repaired." },
	[READING_PCIE_GEN] = { "DCGM_FI_DEV_PCIE_LINK_GEN",
			       "Generation of its PCI Express link." },
	[READING_PCIE_WIDTH] = { "DCGM_FI_DEV_PCIE_LINK_WIDTH",
				 "Lanes of its PCI Express link." },
	[READING_LINK_ERRORS] = { "regatta_device_link_errors",
				  "Errors of its link since the machine was "
				  "started." },
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
