/* inventory.h - the devices of this node: found at the start, watched later.
 *
 * What only the vendor's tools know is asked of them once at the start, and
 * again when a device is new or back; between that, /sys and /dev are looked
 * through every INVENTORY_LOOK_MS, and soon after something in /dev changed,
 * never more often than every INVENTORY_PAUSE_MS: a benchmark may be running.
 *
 * A device keeps its index, by which jobs hold it, until the machine starts
 * anew: the list lies in <state>/devices.json with the boot's id, and one that
 * vanished stays in it as gone.
 */
#ifndef AGENT_DEVICES_INVENTORY_H
#define AGENT_DEVICES_INVENTORY_H

#include "protocol/hardware/device.h"

#include <sched.h>
#include <systemd/sd-event.h>

#define INVENTORY_LOOK_MS 30000
#define INVENTORY_PAUSE_MS 10000

/* Borrowed until inventory_free(). */
struct inventory_config {
	const struct sysroot *roots;
	const char *vendor;    /* name or alias; "auto": the first one of which
				  there is a device, else cpu */
	const char *images;    /* folder with vendors/ in it, or NULL */
	const char *state;     /* folder */
	uint32_t devices;      /* how many there are when none can be found */
	const cpu_set_t *only; /* the devices that are offered, by their order;
				  NULL: all */
	uint32_t pause_ms;     /* between looks; 0: INVENTORY_PAUSE_MS */
	const cpu_set_t *cpus; /* where tools run; NULL: anywhere */
};

/* From the loop: once when the first inventory is complete, then whenever it
 * changed.
 */
typedef void inventory_fn(void *arg);

/* The search begins. EINVAL, with file and line: a profile is broken. */
struct inventory;
struct inventory *inventory_new(sd_event *loop,
				const struct inventory_config *config,
				inventory_fn *changed, void *arg,
				struct error *err);
void inventory_free(struct inventory *inventory);
OWNED_POINTER(struct inventory, inventory_free)

/* changed() has run. */
bool inventory_ready(const struct inventory *inventory);

/* Its vendor, and that vendor's profile (NULL: there is none, and its devices
 * are only counted).
 */
const char *inventory_vendor(const struct inventory *inventory);
const struct profile *inventory_profile(const struct inventory *inventory);

/* All of them by index, gone ones too; empty: they are only counted. */
const struct devices *inventory_devices(const struct inventory *inventory);
uint32_t inventory_count(const struct inventory *inventory);

/* Devices of this vendor can be found, and this machine, a real one, has none:
 * those that are counted are not there.
 */
bool inventory_missing(const struct inventory *inventory);

#endif
