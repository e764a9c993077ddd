/* device_binding.h - completes the spec of a task for the devices that it
 * was given.
 */
#pragma once

#include "agent/devices/inventory.h"
#include "agent/devices/device_injection.h"
#include "protocol/message/spec.h"

/* Borrowed. */
struct device_binding_source {
	const struct inventory *inventory;
	const struct sysroot *roots;
	const struct engine_features *features;
};

void task_spec_clear(struct task_spec *spec);
OWNED_VALUE(struct task_spec, task_spec_clear)

/* A copy of the spec with the device nodes, mounts and variables that its
 * devices need; the caller clears it. On a node that only knows the number of
 * its devices it is a plain copy. probe: also check that the devices answer.
 * ENODEV names the missing device, device node or mount.
 */
int device_binding_apply(const struct device_binding_source *source,
			 const struct task_spec *spec, bool probe,
			 struct task_spec *completed, struct error *err);
