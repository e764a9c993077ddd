/* rights_check.h - decides as which user a container runs, and which files
 * it makes.
 *
 * Pure, but for resolving links; beside protocol/config/policy_check.h.
 */
#ifndef AGENT_POLICY_RIGHTS_CHECK_H
#define AGENT_POLICY_RIGHTS_CHECK_H

#include "protocol/config/policy_check.h"

/* user: what the sweep asks for, else what the image says; "" and "root" are 0.
 * A number with or without a group is matched as a pattern; a name means what
 * the image's own passwd says, so it passes only where the policy has that very
 * name or "*". EPERM.
 */
int rights_check_user(const struct policy *policy, const char *user,
		      struct error *err);

/* May the container set setuid and setgid bits and make device nodes, as far as
 * its capabilities go? Only if all of the host that it may write to, but for
 * the folder of its output, lies below mounts of the policy that say `suid:
 * true`, and there is such a mount.
 */
bool rights_check_suid(const struct policy *policy, const cJSON *request,
		       policy_check_resolve_fn *resolve);

#endif
