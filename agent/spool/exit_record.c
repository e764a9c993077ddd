/* exit_record.c - the record that regatta-init writes when a container ends.
 */
#include "agent/spool/exit_record.h"
#include "agent/init/init.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOST 255 /* exit code of engines that did not see the end */

/* Milliseconds since 1970 from "2026-11-23T03:18:36.054812686Z", or with +01:00
 * for Z. 0: never ("0001-01-01T00:00:00Z"), or not a time.
 */
static int64_t exit_check_parse_time(const cJSON *state, const char *name)
{
	const char *text = json_get_text(state, name);
	struct tm tm = { 0 };
	const char *rest =
		text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int hours = 0, minutes = 0;
	double fraction = 0;
	int64_t zone_s;
	char *end;

	if (!rest || tm.tm_year < 70)
		return 0;
	if (*rest == '.') {
		fraction = strtod(rest, &end);
		rest = end;
	}
	if (*rest != 'Z' && sscanf(rest, "%3d:%2d", &hours, &minutes) != 2)
		return 0;
	zone_s = (int64_t)hours * 3600 +
		 (int64_t)(*rest == '-' ? -60 : 60) * minutes;
	return ((int64_t)timegm(&tm) - zone_s) * 1000 +
	       (int64_t)(fraction * 1000);
}

static int exit_times_compare(const char *what, uint64_t record_ms,
			      int64_t engine_ms, struct error *err)
{
	int64_t apart_ms = (int64_t)record_ms - engine_ms;

	if (engine_ms == 0 || (apart_ms <= EXIT_CHECK_SLACK_MS &&
			       apart_ms >= -EXIT_CHECK_SLACK_MS))
		return 0;
	return error_set(err, EPROTO, "its %s is %" PRId64 " s %s the engine's",
			 what, (apart_ms < 0 ? -apart_ms : apart_ms) / 1000,
			 apart_ms < 0 ? "before" : "after");
}

int exit_check(const struct exit_record *record, const cJSON *container,
	       struct error *err)
{
	const cJSON *state = json_get(container, "State");
	const cJSON *code = json_get(state, "ExitCode");
	int64_t started_ms = exit_check_parse_time(state, "StartedAt");

	if (!started_ms || !cJSON_IsNumber(code) || code->valueint == LOST)
		return 0;
	/* An engine that was killed at the end may report 0. */
	if (code->valueint && code->valueint != (int)record->exit_code)
		return error_set(err, EPROTO,
				 "its exit code is %u, the engine's %d",
				 record->exit_code, code->valueint);
	if (exit_times_compare("begin", record->started_ms, started_ms, err) <
	    0)
		return -1;
	return exit_times_compare("end", record->ended_ms + record->packed_ms,
				  exit_check_parse_time(state, "FinishedAt"),
				  err);
}

#define ULIMITS_MAX 16
#define ULIMIT_BYTES_MAX 64

/* clang-format off */
static const struct schema exit_process_schema = SCHEMA(exit_process,
	FIELD(exit_process, rank),
	FIELD(exit_process, exit_code),
	FIELD(exit_process, signal),
	FIELD(exit_process, ended_ms),
	FIELD(exit_process, max_rss_kib),
	FIELD(exit_process, user_ms),
	FIELD(exit_process, system_ms),
	FIELD(exit_process, log_bytes));

static const struct schema exit_record_schema = SCHEMA(exit_record,
	FIELD(exit_record, version),
	FIELD(exit_record, exit_code),
	FIELD(exit_record, signal),
	FIELD_OPTIONAL(exit_record, error),
	FIELD_OPTIONAL(exit_record, note),
	FIELD(exit_record, started_ms),
	FIELD(exit_record, ended_ms),
	FIELD_OPTIONAL(exit_record, packed_ms),
	FIELD(exit_record, oom_kills),
	FIELD(exit_record, memory_peak_bytes),
	FIELD_OPTIONAL(exit_record, ulimits),
	FIELD_MANY(exit_record, processes, exit_process_schema));
/* clang-format on */

static int exit_record_check(const struct exit_record *record,
			     struct error *err)
{
	if (record->version != 1 || record->exit_code > 255 ||
	    record->signal > 64)
		return error_set(err, EPROTO,
				 "version %u, exit code %u, signal %u; "
				 "expected 1, 0 to 255, 0 to 64",
				 record->version, record->exit_code,
				 record->signal);
	for (size_t i = 0; i < record->ulimits.count; i++)
		if (i == ULIMITS_MAX ||
		    !text_is_of(record->ulimits.items[i], ULIMIT_BYTES_MAX,
				ASCII_LOWER ASCII_DIGITS "=:-"))
			return error_set(err, EPROTO,
					 "ulimits[%zu]: expected at most %d, "
					 "each NAME=SOFT:HARD",
					 i, ULIMITS_MAX);
	if (record->processes_count > INIT_PROCESSES_MAX)
		return error_set(err, EPROTO, "%zu processes; expected 0 to %d",
				 record->processes_count, INIT_PROCESSES_MAX);
	for (size_t i = 0; i < record->processes_count; i++)
		if (record->processes[i].exit_code > 255 ||
		    record->processes[i].signal > 64)
			return error_set(err, EPROTO,
					 "processes[%zu]: exit code %u, signal "
					 "%u; expected 0 to 255, 0 to 64",
					 i, record->processes[i].exit_code,
					 record->processes[i].signal);
	return 0;
}

int exit_record_parse(const char *text, size_t size, struct exit_record *record,
		      struct error *err)
{
	struct exit_record got;

	if (codec_decode(&exit_record_schema, text, size, &got, err) < 0)
		return error_prefix(err, "exit record");
	if (exit_record_check(&got, err) < 0) {
		exit_record_clear(&got);
		return error_prefix(err, "exit record");
	}
	*record = got;
	return 0;
}

void exit_record_clear(struct exit_record *record)
{
	codec_clear(&exit_record_schema, record);
}
