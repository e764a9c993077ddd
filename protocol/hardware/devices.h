/* devices.h - a list of devices; which entries of two lists, and which rows of
 * a tool's output, are the same device.
 */
#pragma once

#include "protocol/hardware/sample.h"
#include "protocol/message/device_info.h"

struct devices {
	struct device_info *list;
	size_t count;
	size_t left_out; /* found, but a required number is missing */
	bool missing;    /* one that is offered was not found */
	bool simulated; /* found below roots that replace /dev, /sys or /proc */
};
void devices_clear(struct devices *devices);
OWNED_VALUE(struct devices, devices_clear)

/* Does a tool mean this device by a PCI address, a UUID? */
bool device_has_bus(const struct device_info *device, const char *address);
bool device_has_uuid(const struct device_info *device, const char *uuid);

/* The place in `others` of the device at `index`; others->count: it is not
 * there. Devices are the same by their bus id, or by their first number where
 * they have none. Dies that share a bus id are the same in their order.
 */
size_t devices_match(const struct devices *devices, size_t index,
		     const struct devices *others);

/* The row of the device at `index`, or NULL. It is found by the bus id (the
 * rows of dies that share one in their order), else by the uuid, else by the
 * tool's device number if the device has that number.
 */
const struct device_sample *devices_row(const struct devices *devices,
					size_t index,
					const struct samples *samples);

/* rows[i] becomes the row of the device at i, or NULL. If devices_row() finds
 * no row at all, rows are matched by position, provided there are as many rows
 * as devices that are present.
 */
void devices_rows(const struct devices *devices, const struct samples *samples,
		  const struct device_sample *rows[DEVICES_MAX]);
