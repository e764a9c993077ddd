/* device.h - finds the accelerators of a node: a profile against /sys and
 * /dev.
 *
 * Nothing here runs a program: what only a tool can tell (uuid, product name,
 * memory, some numbers) is laid over what the files say, from samples that the
 * caller took. Devices are in order of their bus id, or of the number in the
 * name of their node.
 *
 * Source: Linux sysfs, Documentation/ABI/testing/sysfs-bus-pci; numa_node -1
 * is "unknown".
 */
#ifndef PROTOCOL_HARDWARE_DEVICE_H
#define PROTOCOL_HARDWARE_DEVICE_H

#include "protocol/hardware/profile.h"
#include "protocol/message/device_info.h"

#include <limits.h>

struct devices {
	struct device_info *list;
	size_t count;
	size_t left_out; /* there, but without a number that they need */
	bool simulated;  /* below roots that are not the machine's own */
};
void devices_clear(struct devices *devices);
OWNED_VALUE(struct devices, devices_clear)

/* Look for the profile's devices; monitor and map (NULL: not known) are what
 * its tools printed, known (NULL: nothing) what was found before. None is
 * success, with `why` (cut to size) saying what was looked for and not found,
 * or found and left out. One that is there but lacks a node has a text. Numbers
 * are found rule by rule: a rule may use those before it, and an order counts
 * only what they left. A known device keeps the number that an order by bus
 * gave it, as it keeps its node when another one goes; a new one gets the first
 * that none of the known has. E2BIG: more than DEVICES_MAX, or a folder without
 * end; the old devices are kept.
 */
int devices_find(const struct profile *profile, const struct sysroot *roots,
		 const struct samples *monitor, const struct samples *map,
		 const struct devices *known, struct devices *devices,
		 char *why, size_t size, struct error *err);

/* A path of the profile with the device's {bus} and {number}s in it. ENOENT:
 * one that it does not have.
 */
int device_path(const struct device_info *device, const char *pattern,
		char out[PATH_MAX], struct error *err);

/* The nodes of one device: container.nodes.device with the numbers filled in,
 * as paths on this host (below the roots) with ':' and the path inside. The
 * error names the first that is not there, not a device node, or not below its
 * root. roots NULL: no host to look at; the path inside twice.
 */
int device_nodes(const struct profile *profile, const struct sysroot *roots,
		 const struct device_info *device, struct strings *nodes,
		 struct error *err);

#endif
