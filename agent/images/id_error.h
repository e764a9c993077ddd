/* id_error.h - what an engine without root means that cannot unpack an image.
 *
 * Its user has only the numbers of users that /etc/subuid and /etc/subgid give.
 * Sources: containers/storage pkg/archive/archive.go ("insufficient UIDs");
 * moby pkg/archive (lchown(2), EINVAL: a number that the namespace has not).
 */
#ifndef AGENT_IMAGES_ID_ERROR_H
#define AGENT_IMAGES_ID_ERROR_H

#include "protocol/base/error.h"

/* err: what the engine said. Where numbers are missing it says so, with the
 * code EPERM: no retry helps. Other errors are left as they are.
 */
void id_error_explain(struct error *err);

#endif
