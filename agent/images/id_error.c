/* id_error.c - explains why an engine without root cannot unpack an image.
 */
#include "agent/images/id_error.h"

#include <errno.h>
#include <string.h>

void id_error_explain(struct error *err)
{
	if (!strstr(err->text, "insufficient UIDs") &&
	    !strstr(err->text, "not enough IDs available") &&
	    (!strstr(err->text, "lchown ") ||
	     !strstr(err->text, "invalid argument")))
		return;
	error_set(err, EPERM,
		  "the image has files with user or group ids that the "
		  "engine's user may not use; give this user 65536 ids in "
		  "/etc/subuid and /etc/subgid, then run podman system "
		  "migrate");
}
