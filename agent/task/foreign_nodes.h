/* foreign_nodes.h - judges the device nodes of a container that its request did
 * not ask for.
 *
 * An engine makes a few in each /dev, such as null. A runtime of a vendor, a
 * hook, or a CDI description adds others, and which ones may be the word of an
 * image. Each has to be one of the request, of a device of the task by the
 * kernel's word, or one that the vendor's profile has for all devices, a CDI
 * description has for the requested ones, or the policy names.
 */
#pragma once

#include "agent/devices/device_injection.h"
#include "agent/policy/resolved_paths.h"
#include "protocol/config/policy.h"
#include "protocol/hardware/devices.h"
#include "protocol/hardware/profile.h"

#include <cjson/cJSON.h>

#define FOREIGN_NODES_NAMES 4096 /* in /dev of a container */

struct foreign_nodes {
	const struct policy *policy;
	const cJSON *request;         /* of the container's creation */
	struct resolved_paths *paths; /* of the policy's answer */
	const struct container_rules
		*rules;                    /* of the node's profile, or NULL */
	const struct cdi_nodes *cdi_nodes; /* of the node; or NULL */
	const struct sysroot *roots;
	const struct devices *devices; /* of the node */
	const struct strings *given;   /* numbers of those of the task */
};

/* root: that of the container, whose command has not begun. EPERM: nobody who
 * may has asked for a node below /dev; the text names it.
 */
int foreign_nodes_check(const struct foreign_nodes *nodes, int root,
			struct error *err);
