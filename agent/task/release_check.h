/* release_check.h - compares a container with what the policy allowed, before
 * its command is released.
 *
 * What a policy allows are paths; what an engine mounts is what they lead to at
 * that moment, through links that others may change, onto places that an image
 * chose. So regatta-init waits as process 1 of the container, and this module
 * reads from the kernel what the container has:
 *
 *	/proc/PID/exe		is regatta-init
 *	/proc/PID/mountinfo	each mount of the request is there, of the file
 *				that was opened when the policy was asked, and
 *				read-only if that was asked for; nothing but
 *				Regatta's own is mounted at or below /regatta;
 *				foreign_mounts.h judges the others
 *	/proc/PID/root		each device node is the device that was opened;
 *				foreign_nodes.h judges the others
 *	/proc/PID/status	users, groups, capabilities, no_new_privs,
 * seccomp
 *
 * No path is followed inside the container but those of device nodes, and those
 * through no link; with a policy that allows all, no device node is judged.
 */
#pragma once

#include "agent/devices/device_injection.h"
#include "agent/policy/resolved_paths.h"
#include "protocol/config/policy.h"
#include "protocol/hardware/profile.h"

#include <cjson/cJSON.h>
#include <sys/types.h>

struct release_check {
	const struct policy *policy;
	const char *init_program;     /* on the host */
	const char *user;             /* as the request or the image names it;
					 NULL: not known */
	const cJSON *request;         /* of the container's creation */
	struct resolved_paths *paths; /* of the policy's answer */
	const struct container_rules *rules; /* of the node's profile, and */
	const struct cdi_mounts *cdi_mounts; /* of its CDI descriptions, for
						foreign_mounts.h; or NULL */
	/* For foreign_nodes.h. */
	const struct cdi_nodes *cdi_nodes;
	const struct sysroot *roots;
	const struct devices *devices;
	const struct strings *given;
};

/* Open what the request names, unless the policy's question has done so. */
void release_check_prepare(const cJSON *request, struct resolved_paths *paths);

/* pid: process 1 of the container. EPERM: the text says what differs. EACCES:
 * this agent may not look at the process (it is not root); what it could read
 * did not differ. Others: it cannot be read, such as ESRCH.
 */
int release_check_run(const struct release_check *check, pid_t pid,
		      struct error *err);

/* Is the process process 1 of a container that has this folder of the node as
 * its CONTAINER_OUT? false also: this agent may not look at it.
 */
bool release_check_has(pid_t pid, const char *out);

/* Compare the mounts alone, also before process 1 has become regatta-init. */
int release_check_mounts(const struct release_check *check, pid_t pid,
			 struct error *err);
