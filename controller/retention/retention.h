/* retention.h - removes old output and old rows of the audit log.
 *
 * Output is removed on request (`regatta gc`), or when there is more than
 * `keep` allows: job by job, oldest first, in slices of a few milliseconds, so
 * that the controller keeps answering. An event of the job is committed before
 * its output is removed. Collected files are removed on request, and otherwise
 * only when the disk is full. Jobs that are not final, or whose containers are
 * not all removed, are left alone. Results stay.
 */
#pragma once

#include "controller/retention/retention_config.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"

/* The kind of the event: the output of the attempt was removed. */
#define RETENTION_REMOVED "output-removed"

/* The kind of the event: the job's collected files were removed. */
#define RETENTION_FILES_REMOVED "files-removed"

/* state: the folder, copied. */
struct retention;
struct retention *retention_new(const struct retention_config *config,
				const char *state, struct error *err);
void retention_free(struct retention *retention);
OWNED_POINTER(struct retention, retention_free)

/* One slice of a request, some milliseconds long. reply->more: send the next
 * one.
 */
int retention_order(struct retention *retention,
		    const struct message_gc *message, struct reply_gc *reply,
		    struct error *err);

/* When the output of the attempt was removed; 0: it was not. */
int64_t retention_removed(struct retention *retention, uint64_t job,
			  uint32_t attempt);
