/* device_metrics.h - writes the readings of devices as metrics with the names
 * of NVIDIA's DCGM exporter, so that dashboards for it show every vendor.
 *
 * Labels: gpu (the number on the node), UUID, pci_bus_id, modelName, Hostname
 * (the node), and job where a job holds the device. Memory is in MiB, power in
 * W, temperature in degrees Celsius, utilisation in percent, clocks in MHz.
 * Where a tool gives used memory only in percent, it is a share from 0 to 1.
 * What DCGM counts otherwise, or not at all, has a name of our own: shares of
 * time from 0 to 1, and errors. Source: dcgm_fields.h of DCGM.
 */
#pragma once

#include "protocol/hardware/sample.h"
#include "protocol/http/openmetrics.h"

/* The last readings of one device. Texts are borrowed and may be NULL. */
struct device_metrics {
	const char *node;
	const char *uuid;
	const char *bus_id;
	const char *name;
	uint64_t job; /* 0: none */
	double value[READINGS];
	uint32_t index;   /* on the node */
	unsigned int has; /* bit 1 << READING_... */
};

/* Write one family for each kind of reading that any of the devices has. */
void device_metrics_put(struct openmetrics *metrics,
			const struct device_metrics *devices, size_t count);
