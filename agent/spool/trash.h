/* trash.h - removes what tasks leave, without keeping anybody waiting.
 *
 * A command may leave millions of files, or folders thousands deep. Its node is
 * free when its processes and its container are gone; a child process
 * (regatta-init, agent/init/init.h) removes the files.
 */
#ifndef AGENT_SPOOL_TRASH_H
#define AGENT_SPOOL_TRASH_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <systemd/sd-event.h>

/* folder: whose contents are removed. All is borrowed. */
struct trash;
struct trash *trash_new(sd_event *loop, const char *folder,
			const char *init_program, struct error *err);
void trash_free(struct trash *trash); /* the next agent goes on */
OWNED_POINTER(struct trash, trash_free)

/* There is, or may be, something in the folder. NULL is fine. */
void trash_empty(struct trash *trash);

#endif
