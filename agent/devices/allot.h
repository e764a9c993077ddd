/* allot.h - a task's spec, completed for the devices that it was given.
 */
#ifndef AGENT_DEVICES_ALLOT_H
#define AGENT_DEVICES_ALLOT_H

#include "agent/devices/inventory.h"
#include "protocol/hardware/device_injection.h"
#include "protocol/message/spec.h"

/* Borrowed. */
struct allot_source {
	const struct inventory *inventory;
	const struct sysroot *roots;
	const struct engine_features *abilities;
};

/* A copy of the spec with all that its devices need; the caller clears it.
 * Where devices are only counted it is no more than a copy. probe: also look
 * whether the devices answer. ENODEV names what is missing: a device, a node, a
 * mount.
 */
int allot_spec(const struct allot_source *source, const struct task_spec *spec,
	       bool probe, struct task_spec *completed, struct error *err);

#endif
