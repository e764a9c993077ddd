/* logread.h - a piece of a job's output, for a person who reads it.
 */
#ifndef CONTROLLER_SERVER_LOGREAD_H
#define CONTROLLER_SERVER_LOGREAD_H

#include "controller/jobs/cluster.h"

#define LOGREAD_BYTES (256 << 10) /* in one answer */

/* The answer's body (message_log_read in protocol/message/message.h) and the
 * bytes; the caller deletes it. NULL: ENOENT, no such job or attempt.
 */
cJSON *logread(struct cluster *cluster, const struct message_log_read *read,
	       struct buffer *bytes, struct error *err);

#endif
