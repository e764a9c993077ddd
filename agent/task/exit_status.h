/* exit_status.h - classifies how a command ended: class, sentence, exit
 * code.
 */
#pragma once

#include "agent/spool/exit_record.h"
#include "protocol/message/state.h"

#include <cjson/cJSON.h>

struct exit_status {
	enum failure failure; /* FAILURE_NONE: success */
	char text[240];       /* one sentence or ""; printable */
	int64_t exit_code;
	uint64_t started_ms, ended_ms;
	uint64_t memory_peak_bytes;
};

/* From the exit record. launches: the command starts the ranks itself, so it is
 * called a task. ordered: why the task was told to stop; FAILURE_NONE: it was
 * not.
 */
void exit_status_from_record(struct exit_status *outcome,
			     const struct exit_record *record, bool launches,
			     enum failure ordered);

/* Without a record, because regatta-init was killed. container: the engine's
 * answer to inspect; NULL: the container does not exist any more.
 */
void exit_status_from_engine(struct exit_status *outcome,
			     const cJSON *container, enum failure ordered);

/* With a record that is not valid, or contradicts the engine. A process of the
 * container has written it: regatta-init leaves a valid one or none. why: its
 * fault.
 */
void exit_status_from_ruin(struct exit_status *outcome, const cJSON *container,
			   const struct error *why, enum failure ordered);
