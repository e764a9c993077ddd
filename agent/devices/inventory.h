/* inventory.h - the devices of this node: found at the start, watched later.
 *
 * The vendor's tools run once at the start, and again when a device is new or
 * back. /sys and /dev are searched every INVENTORY_LOOK_MS, and soon after a
 * change in /dev, but not more often than every INVENTORY_PAUSE_MS, because a
 * benchmark may be running.
 *
 * A device keeps its index, by which jobs hold it, until the machine reboots.
 * The list is stored in <state>/devices.json with the boot id. A device that
 * has vanished stays in it as gone.
 */
#pragma once

#include "protocol/hardware/device.h"
#include "agent/devices/offered.h"
#include "protocol/hardware/devices.h"

#include <sched.h>
#include <systemd/sd-event.h>

/* Updates the list of known devices with those just found.
 *
 * A device keeps its index as long as the node is up. One that is not found any
 * more stays in the list as gone. Devices are identified by their bus id, or by
 * their node below /dev where they have none.
 */

/* The contents of *found are moved. *news is increased by the number of devices
 * that are new or back. ENOMEM.
 */
int device_merge(struct devices *known, struct devices *found, size_t *news,
		 struct error *err);

#define INVENTORY_LOOK_MS 30000
#define INVENTORY_PAUSE_MS 10000

/* Borrowed until inventory_free(). */
struct inventory_config {
	const struct sysroot *roots;
	const char *vendor; /* name or alias; "auto": the first vendor with a
			       device here, else cpu */
	const char *images; /* folder with vendors/ in it, or NULL */
	const char *state;  /* folder */
	uint32_t devices;   /* their number, where they cannot be found */
	const struct offered *only; /* NULL: all devices are offered */
	uint32_t pause_ms;          /* between looks; 0: INVENTORY_PAUSE_MS */
	const cpu_set_t *cpus;      /* where tools run; NULL: anywhere */
};

/* Called from the loop: when the first inventory is complete, then after each
 * change.
 */
typedef void inventory_fn(void *arg);

/* Begin the search. EINVAL, with file and line: a profile is not valid. */
struct inventory;
struct inventory *inventory_new(sd_event *loop,
				const struct inventory_config *config,
				inventory_fn *changed, void *arg,
				struct error *err);
void inventory_free(struct inventory *inventory);
OWNED_POINTER(struct inventory, inventory_free)

/* The vendor, and its profile; NULL: there is none, and only the number of
 * devices is known.
 */
const char *inventory_vendor(const struct inventory *inventory);
const struct profile *inventory_profile(const struct inventory *inventory);

/* All devices by index, gone ones too; empty: only their number is known. */
const struct devices *inventory_devices(const struct inventory *inventory);
uint32_t inventory_count(const struct inventory *inventory);

/* Could devices of this vendor be found, and does this machine, which is not
 * simulated, have none? Then the configured devices do not exist.
 */
bool inventory_missing(const struct inventory *inventory);

/* Add to the facts of the host what the vendor's tool, or the files in its
 * place, said last: "tool_ms", how long the tool ran, and "remap_pending", how
 * many devices wait for a reset; and "devices_missing", a sentence, if a device
 * is offered that is not there.
 */
void inventory_facts(const struct inventory *inventory, cJSON *facts);
