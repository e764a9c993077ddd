/* exit_check.h - checks an exit record against what the engine reports.
 *
 * The record comes from inside the container, from a folder that the measured
 * program may write to; the engine saw the container begin and end itself.
 */
#ifndef AGENT_SPOOL_EXIT_CHECK_H
#define AGENT_SPOOL_EXIT_CHECK_H

#include "agent/spool/exit_record.h"

#include <cjson/cJSON.h>

/* How far the times may differ: the engine's begin before ours and end after
 * ours, each by what starting and ending take on a loaded machine.
 */
#define EXIT_CHECK_SLACK_MS 60000

/* container: the engine's inspect answer for a container that does not run any
 * more. Exit code, begin and end must agree. What the engine does not know is
 * not held against the record: it was away when the container began (no start
 * of its own) or ended (exit code 255, or 0). EPROTO: they do not agree; the
 * text says in what.
 */
int exit_check(const struct exit_record *record, const cJSON *container,
	       struct error *err);

#endif
