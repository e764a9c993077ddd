/* exit_record.h - the record that regatta-init writes when a container ends.
 *
 * The record is written inside the container, so it is not trusted: its size is
 * bounded, unknown or mistyped fields are refused, and it is compared with the
 * engine (exit_check() below). agent/init/init.h describes its fields.
 */
#pragma once

#include "protocol/message/codec.h"

#include <cjson/cJSON.h>

#define EXIT_RECORD_MAX (64 << 10)

struct exit_process {
	uint32_t rank;
	uint32_t exit_code;
	uint32_t signal;
	uint64_t ended_ms;
	uint64_t max_rss_kib;
	uint64_t user_ms;
	uint64_t system_ms;
	uint64_t log_bytes;
};

struct exit_record {
	uint32_t version;
	uint32_t exit_code;
	uint32_t signal;
	char *error;
	char *note;
	uint64_t started_ms;
	uint64_t ended_ms;
	uint64_t packed_ms;
	uint64_t oom_kills;
	uint64_t memory_peak_bytes;
	struct strings ulimits; /* that the command had, as in a sweep */
	struct exit_process *processes;
	size_t processes_count;
};

/* EPROTO: not a valid record. The caller clears it. */
int exit_record_parse(const char *text, size_t size, struct exit_record *record,
		      struct error *err);
void exit_record_clear(struct exit_record *record);
OWNED_VALUE(struct exit_record, exit_record_clear)

/* Checks an exit record against what the engine reports.
 *
 * The record comes from inside the container, from a folder that the measured
 * program may write to; the engine saw the container begin and end itself.
 */

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
