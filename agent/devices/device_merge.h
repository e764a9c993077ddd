/* device_merge.h - brings the known devices up to date with those just found.
 *
 * A device keeps its index for as long as the node is up. One that is found no
 * more stays in the list as gone. Devices are told apart by their place on the
 * bus, or by their node below /dev where they have none.
 */
#ifndef AGENT_DEVICES_DEVICE_MERGE_H
#define AGENT_DEVICES_DEVICE_MERGE_H

#include "protocol/hardware/device.h"

/* What was found is moved. *news grows by the devices that are new or back. -1:
 * no memory.
 */
int device_merge(struct devices *known, struct devices *found, size_t *news);

#endif
