/* needs.h - what a container gets for its devices: profile + devices + spec.
 *
 * Pure but for looking whether optional paths exist. Device nodes are passed
 * explicitly for every vendor, also beside a runtime or a device request: a
 * reload of systemd on the host can then not take them away from a running
 * container.
 *
 * The sweep's own words win: a variable, ulimit, shm or ipc that the spec
 * already has is left as it is; lists are joined, each entry once.
 */
#ifndef PROTOCOL_HARDWARE_NEEDS_H
#define PROTOCOL_HARDWARE_NEEDS_H

#include "protocol/hardware/device.h"

#include <cjson/cJSON.h>

/* What the engine can do, from its GET /info. */
struct engine_abilities {
	struct strings runtimes; /* names of Runtimes */
	bool cdi;                /* CDISpecDirs is there and not empty */
};
void engine_abilities_clear(struct engine_abilities *abilities);
int engine_abilities_read(const cJSON *info, struct engine_abilities *abilities,
			  struct error *err);

/* Complete spec for these devices of the node. EINVAL names the first required
 * node or mount that is not there (failure class preflight).
 */
int needs_apply(const struct profile *profile, const struct roots *roots,
		const struct engine_abilities *abilities,
		const struct device_info *const *devices, size_t count,
		struct container_spec *spec, struct error *err);

#endif
