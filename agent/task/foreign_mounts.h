/* foreign_mounts.h - judges a mount of a container that its request did not ask
 * for.
 *
 * Beside those of the request a container has the mounts that an engine makes
 * for each container: file systems of the kernel, its own files such as
 * /etc/hosts, volumes of the image, device nodes. A runtime of a vendor, a
 * hook, or a CDI description adds others, and what it takes for a library of
 * its driver may be a path that an image chose. So each other mount has to be
 * of a path that the vendor's profile, a CDI description of that vendor, which
 * also says whether it is writable, or the policy names. Of the files that an
 * engine keeps for containers these are the container's own. A volume is one
 * that the engine made for a VOLUME line of the image, fresh, with the image's
 * own files, and removes with the container: a request names none, and whose it
 * is its name does not tell. It takes nothing from the node but room, which
 * write_watch.h counts; it may hide a mount of the request from the image's own
 * programs, and nothing of Regatta's (release_check.h).
 */
#pragma once

#include "agent/devices/device_injection.h"
#include "agent/policy/resolved_paths.h"
#include "agent/task/mount_table.h"
#include "protocol/config/policy.h"
#include "protocol/hardware/profile.h"

#include <cjson/cJSON.h>

struct foreign_mounts {
	const struct policy *policy;
	const cJSON *request;                /* of the container's creation */
	struct resolved_paths *paths;        /* of the policy's answer */
	const struct container_rules *rules; /* of the node's profile */
	const struct cdi_mounts *cdi_mounts; /* of the node; NULL: none */
	const struct mount_table *host, *inside; /* of agent and container */
};

/* row: of `inside`, no mount of the request or what lies below it on the node.
 * EPERM: nobody who may has asked for it; the text names it.
 */
int foreign_mounts_check(const struct foreign_mounts *mounts,
			 const struct mount_row *row, struct error *err);

/* Do the devices of this profile come from descriptions of the kind? What is
 * before the slash is the vendor. rules: NULL: no.
 */
bool foreign_cdi_is_of(const struct container_rules *rules, const char *kind);
