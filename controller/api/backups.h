/* backups.h - makes a backup and sends it to its client in pieces.
 *
 * A child process makes the file below the state folder. There is one backup at
 * a time. It is removed when its end was read, when nobody reads it for a
 * minute, and when a controller starts.
 */
#pragma once

#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"

#include <systemd/sd-event.h>

#define BACKUP_PIECE 262144

struct backups;
struct backups *backups_new(sd_event *loop, const char *state,
			    struct error *err);
void backups_free(struct backups *backups);
OWNED_POINTER(struct backups, backups_free)

/* *begun: the backup was started by this message. EBUSY: another one is being
 * made or read; ENOENT: the one with that id was removed.
 */
int backups_answer(struct backups *backups,
		   const struct message_backup *message,
		   struct reply_backup *reply, struct buffer *bytes,
		   bool *begun, struct error *err);
