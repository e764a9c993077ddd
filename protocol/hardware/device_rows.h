/* device_rows.h - matches the rows of a monitor's output to devices.
 */
#ifndef PROTOCOL_HARDWARE_DEVICE_ROWS_H
#define PROTOCOL_HARDWARE_DEVICE_ROWS_H

#include "protocol/hardware/device.h"

/* rows[i] becomes the row of devices->list[i], or NULL. A row is matched by its
 * bus id (if several dies share one, in their order), else by its uuid, else by
 * the tool's device number if the device has that number. If this matches no
 * row at all, rows are matched by position, provided there are as many rows as
 * devices that are present.
 */
void device_rows(const struct devices *devices, const struct samples *samples,
		 const struct device_sample *rows[DEVICES_MAX]);

#endif
