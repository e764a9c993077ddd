/* id_error.h - explains why an engine without root cannot unpack an image.
 *
 * Its user has only the user and group ids of /etc/subuid and /etc/subgid.
 * Sources: containers/storage pkg/archive/archive.go ("insufficient UIDs");
 * moby pkg/archive (lchown(2), EINVAL: a number that the namespace has not).
 */
#ifndef AGENT_IMAGES_ID_ERROR_H
#define AGENT_IMAGES_ID_ERROR_H

#include "protocol/base/error.h"

/* err: from the engine. An error about missing ids becomes EPERM with an
 * explanation, because no retry helps. Other errors stay unchanged.
 */
void id_error_explain(struct error *err);

#endif
