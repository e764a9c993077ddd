/* device_rows.h - which row of a monitor's output speaks of which device.
 */
#ifndef PROTOCOL_HARDWARE_DEVICE_ROWS_H
#define PROTOCOL_HARDWARE_DEVICE_ROWS_H

#include "protocol/hardware/device.h"

/* rows[i] becomes the row of devices->list[i], or NULL. A row is known by its
 * bus id (the nth one where dies share a bus), else by its uuid, else by the
 * tool's number where that is one of the device's; and where no row is known
 * by any of these, by its position, if there are as many rows as devices that
 * are not gone.
 */
void device_rows(const struct devices *devices, const struct samples *samples,
		 const struct device_sample *rows[DEVICES_MAX]);

#endif
