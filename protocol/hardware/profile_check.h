/* profile_check.h - what the sections of a profile say of each other.
 */
#ifndef PROTOCOL_HARDWARE_PROFILE_CHECK_H
#define PROTOCOL_HARDWARE_PROFILE_CHECK_H

#include "protocol/hardware/profile.h"

/* Every number that is used is there and can be found, every name is given
 * once. EINVAL with file and line.
 */
int profile_check(const struct profile *profile, struct error *err);

#endif
