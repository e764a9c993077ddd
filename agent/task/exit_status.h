/* exit_status.h - classifies how a command ended: class, sentence, exit
 * code.
 */
#ifndef AGENT_TASK_EXIT_STATUS_H
#define AGENT_TASK_EXIT_STATUS_H

#include "agent/spool/exit_record.h"
#include "protocol/message/state.h"

#include <cjson/cJSON.h>

struct exit_status {
	enum failure failure; /* FAILURE_NONE: it did its work */
	char text[240];       /* "" when there is nothing to say; printable */
	int64_t exit_code;
	uint64_t started_ms, ended_ms;
	uint64_t memory_peak_bytes;
};

/* From the exit record. ordered: why we told it to stop, FAILURE_NONE: we did
 * not.
 */
void exit_status_from_record(struct exit_status *outcome,
			     const struct exit_record *record,
			     enum failure ordered);

/* Without a record: regatta-init itself was killed. container: the engine's
 * inspect answer, or NULL: the container is gone too.
 */
void exit_status_from_engine(struct exit_status *outcome,
			     const cJSON *container, enum failure ordered);

/* The record cannot be read or cannot be true: somebody in the container wrote
 * in its place, for regatta-init leaves a whole one or none. why: what is wrong
 * with it.
 */
void exit_status_from_ruin(struct exit_status *outcome, const cJSON *container,
			   const struct error *why, enum failure ordered);

#endif
