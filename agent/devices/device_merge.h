/* device_merge.h - updates the list of known devices with those just found.
 *
 * A device keeps its index as long as the node is up. One that is not found any
 * more stays in the list as gone. Devices are identified by their bus id, or by
 * their node below /dev where they have none.
 */
#ifndef AGENT_DEVICES_DEVICE_MERGE_H
#define AGENT_DEVICES_DEVICE_MERGE_H

#include "protocol/hardware/devices.h"

/* The contents of *found are moved. *news is increased by the number of devices
 * that are new or back. ENOMEM.
 */
int device_merge(struct devices *known, struct devices *found, size_t *news,
		 struct error *err);

#endif
