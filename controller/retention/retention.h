/* retention.h - what is kept, and what goes: old output, old orders.
 *
 * Output goes in slices of a few milliseconds, between which everything else
 * goes on. What goes by an order and what goes by itself, because there is more
 * than `keep` allows, is one walk over the jobs, oldest first: all
 * output of a job that is over is removed, which is an event of the job,
 * committed before it begins. Its collected files go by an order, and by itself
 * when it is the disk that is full. Nothing of a job that is not over, or whose
 * containers are not all gone, is touched. Results stay.
 */
#ifndef CONTROLLER_RETENTION_RETENTION_H
#define CONTROLLER_RETENTION_RETENTION_H

#include "controller/retention/retention_config.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"

/* The kind of the event: the output of the attempt was removed. */
#define RETENTION_REMOVED "output-removed"

/* The job's collected files were. */
#define RETENTION_FILES_REMOVED "files-removed"

/* state: the folder, copied. */
struct retention;
struct retention *retention_new(const struct retention_config *config,
				const char *state, struct error *err);
void retention_free(struct retention *retention);
OWNED_POINTER(struct retention, retention_free)

/* Fills the reply, or sets *err. Takes some milliseconds: who asks goes on
 * until there is no more.
 */
int retention_order(struct retention *retention,
		    const struct message_gc *message, struct reply_gc *reply,
		    struct error *err);

/* When the output of the attempt was removed; 0: it was not. */
int64_t retention_removed(struct retention *retention, uint64_t job,
			  uint32_t attempt);

#endif
