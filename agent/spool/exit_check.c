/* exit_check.c - checks an exit record against what the engine reports.
 */
#include "agent/spool/exit_check.h"
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
