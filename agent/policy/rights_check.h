/* rights_check.h - decides as which user a container may run, and whether it
 * may make files that give rights.
 *
 * Pure, but for resolving links. The other rules of the policy are in
 * agent/policy/policy_check.h.
 */
#pragma once

#include "agent/policy/policy_check.h"

/* user: the sweep's, else the image's; "" and "root" are 0. A number, with or
 * without a group, is matched as a pattern. A name is resolved by the image's
 * own passwd, so the policy must have the same name or "*". EPERM.
 */
int rights_check_user(const struct policy *policy, const char *user,
		      struct error *err);

/* May the container set setuid and setgid bits and make device nodes, within
 * its capabilities? Only if it has a mount that the policy allows with `suid:
 * true`, and every other host folder that it may write to, except that of its
 * output, is below such mounts, too.
 */
bool rights_check_suid(const struct policy *policy, const cJSON *request,
		       const struct policy_resolver *resolver);
