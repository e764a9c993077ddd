/* device_metrics.h - readings of devices as metrics, named as NVIDIA's DCGM
 * exporter names them, so that dashboards made for it show every vendor.
 *
 * Labels: gpu (the number on the node), UUID, pci_bus_id, modelName, Hostname
 * (the node), and job where a job holds the device. Memory is in MiB, power in
 * W, temperature in degrees Celsius, utilisation in percent, and the memory
 * used a share of 1 where only percents were read, as DCGM's dcgm_fields.h has
 * it.
 */
#ifndef PROTOCOL_HARDWARE_DEVICE_METRICS_H
#define PROTOCOL_HARDWARE_DEVICE_METRICS_H

#include "protocol/hardware/sample.h"
#include "protocol/http/openmetrics.h"

/* What was read last of one device; texts are borrowed, and may be NULL. */
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

/* A family for each kind of reading that one of them has. */
void device_metrics_put(struct openmetrics *metrics,
			const struct device_metrics *devices, size_t count);

#endif
