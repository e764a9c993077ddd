/* exit_check_test.c - an exit record beside what the engine says. */
#include "agent/spool/exit_record.h"
#include "tests/tap.h"

#include <errno.h>

/* 2026-11-23T03:18:36Z */
#define END_MS UINT64_C(1795403916000)

static void check(const char *state, const char *want, const char *what)
{
	const struct exit_record record = { .version = 1,
					    .exit_code = 7,
					    .started_ms = END_MS - 4000,
					    .ended_ms = END_MS };
	struct error err = { 0 };
	cJSON *container = cJSON_CreateObject();
	int rc;

	cJSON_AddItemToObject(container, "State", cJSON_Parse(state));
	rc = exit_check(&record, container, &err);
	if (want)
		is(rc < 0 && err.code == EPROTO ? err.text : "", want, "%s",
		   what);
	else
		ok(rc == 0, "%s %s", what, err.text);
	cJSON_Delete(container);
}

#define STATE(code, start, end)                                                \
	"{\"ExitCode\": " code ", \"StartedAt\": \"" start                     \
	"\", \"FinishedAt\": \"" end "\"}"
#define START "2026-11-23T03:18:31.970504Z"
#define END "2026-11-23T03:18:36.054812686Z"
#define NEVER "0001-01-01T00:00:00Z"

int main(void)
{
	struct error err = { 0 };
	const struct exit_record record = { .version = 1 };

	tap_begin(10);
	check(STATE("7", START, END), NULL, "what agrees passes");
	check(STATE("7", "2026-11-23T04:18:31.97+01:00",
		    "2026-11-22T20:48:36-06:30"),
	      NULL, "in any time zone");
	check(STATE("1", START, END), "its exit code is 7, the engine's 1",
	      "another exit code");
	check(STATE("0", START, END), NULL,
	      "an engine that was killed at the end says 0");
	check(STATE("137", START, END), "its exit code is 7, the engine's 137",
	      "the code of a kill");
	check(STATE("255", START, END), NULL,
	      "an engine that did not see the end says 255");
	check(STATE("128", NEVER, NEVER), NULL,
	      "one that did not see the begin has no time of it");
	check(STATE("7", START, "2026-11-23T04:18:36Z"),
	      "its end is 3600 s before the engine's",
	      "a container that went on after the record");
	check(STATE("7", START, "2026-11-23T03:16:36Z"),
	      "its end is 120 s after the engine's", "an end in the future");
	check(STATE("7", "2026-11-23T03:08:32Z", END),
	      "its begin is 600 s after the engine's", "a begin made later");
	check(STATE("7", START, "x"), NULL, "an end that cannot be read");
	check("{}", NULL, "nothing to compare with");
	ok(exit_check(&record, NULL, &err) == 0, "nor without a container");
	return tap_done();
}
