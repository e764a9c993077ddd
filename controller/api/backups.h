/* backups.h - a backup on its way to whoever ordered it.
 *
 * A process of its own makes the file below the state folder; then it is read
 * in pieces. One at a time; it is removed when its end was read, when nobody
 * reads it for ten minutes, and when a controller starts.
 */
#ifndef CONTROLLER_API_BACKUPS_H
#define CONTROLLER_API_BACKUPS_H

#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"

#include <systemd/sd-event.h>

#define BACKUP_PIECE 262144

struct backups;
struct backups *backups_new(sd_event *loop, const char *state,
			    struct error *err);
void backups_free(struct backups *backups);
OWNED_POINTER(struct backups, backups_free)

/* *begun: it was ordered just now. EBUSY: another one is
 * being made or read; ENOENT: the one of that id is gone.
 */
int backups_answer(struct backups *backups,
		   const struct message_backup *message,
		   struct reply_backup *reply, struct buffer *bytes,
		   bool *begun, struct error *err);

#endif
