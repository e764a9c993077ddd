/* device.h - finds the accelerators of a node by a vendor's profile, in /sys
 * and /dev.
 *
 * No program is run here. Facts that only a vendor's tool knows (uuid, product
 * name, memory, some numbers) come from samples that the caller took. Devices
 * are sorted by bus id, or by the number in the name of their device node.
 *
 * Source: Linux sysfs, Documentation/ABI/testing/sysfs-bus-pci; numa_node -1
 * is "unknown".
 */
#pragma once

#include "protocol/hardware/devices.h"
#include "protocol/hardware/profile.h"

#include <limits.h>

/* Find the profile's devices. monitor and map are the samples of its tools
 * (NULL: none). known is the result of an earlier call (NULL: none). To find no
 * device is success; `why` (cut to size) then says what was looked for, and
 * which devices were left out. A device whose node is missing has an error
 * text. The rules of numbers apply in their order: a rule may use the numbers
 * before it, and {order: ...} numbers only the devices that have none yet. A
 * known device keeps the number that {order: bus} gave it; a new device gets
 * the first free one. E2BIG: more than DEVICES_MAX devices, or a folder with
 * too many entries; *devices is then unchanged.
 */
int devices_find(const struct profile *profile, const struct sysroot *roots,
		 const struct samples *monitor, const struct samples *map,
		 const struct devices *known, struct devices *devices,
		 char *why, size_t size, struct error *err);

/* A path of the profile, with {bus} and the {number}s of the device filled in.
 * ENOENT: the device lacks a number.
 */
int device_path(const struct device_info *device, const char *pattern,
		char out[PATH_MAX], struct error *err);

/* The device nodes of one device: container.nodes.device of the profile with
 * the numbers filled in, each as HOST_PATH:PATH_INSIDE. The error names the
 * first path that does not exist, is no device node, or leads out of its root.
 * roots NULL: no file is looked at; both paths are the one inside.
 */
int device_nodes(const struct profile *profile, const struct sysroot *roots,
		 const struct device_info *device, struct strings *nodes,
		 struct error *err);
