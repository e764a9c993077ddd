/* exit_check.h - checks an exit record against what the engine reports.
 *
 * The record comes from inside the container, from a folder that the measured
 * program may write to; the engine saw the container begin and end itself.
 */
#ifndef AGENT_SPOOL_EXIT_CHECK_H
#define AGENT_SPOOL_EXIT_CHECK_H

#include "agent/spool/exit_record.h"

#include <cjson/cJSON.h>

/* How much the times may differ. The engine's start is before ours and its end
 * is after ours, each by the time that starting or ending takes on a loaded
 * machine.
 */
#define EXIT_CHECK_SLACK_MS 60000

/* container: the engine's inspect answer for a container that does not run any
 * more. Exit code, start and end must agree. Values that the engine does not
 * know are not compared: an engine that was away at the start has no start
 * time, and one that was away at the end reports exit code 255 or 0. EPROTO
 * names the difference.
 */
int exit_check(const struct exit_record *record, const cJSON *container,
	       struct error *err);

#endif
