/* exit_record_test.c - records from inside a container are read, or refused.
 */
#include "agent/spool/exit_record.h"

#include "tests/tap.h"

#include <errno.h>

#define HEAD "{\"version\": 1, \"exit_code\": 3, \"signal\": 0, "
#define TIMES                                                                  \
	"\"started_ms\": 1700000000001, \"ended_ms\": 1700000000002, "         \
	"\"oom_kills\": 1, \"memory_peak_bytes\": 9007199254740991"
#define PROCESS(rank, code, signal)                                            \
	"{\"rank\": " rank ", \"exit_code\": " code ", \"signal\": " signal    \
	", \"ended_ms\": 7, \"max_rss_kib\": 8, \"user_ms\": 9, "              \
	"\"system_ms\": 10, \"log_bytes\": 11}"

static int parse(const char *text, struct exit_record *record,
		 struct error *err)
{
	return exit_record_parse(text, strlen(text), record, err);
}

static void good_ones(void)
{
	struct exit_record record = { 0 };
	struct error err = { 0 };

	is_int(parse(HEAD TIMES
		     ", \"ulimits\": [\"core=0:-1\", \"nofile=8:9\"]"
		     ", \"processes\": [" PROCESS("4", "0",
						  "0") ", " PROCESS("5", "3",
								    "0") "]}\n",
		     &record, &err),
	       0, "a record is read");
	ok(record.exit_code == 3 && record.started_ms == 1700000000001 &&
		   record.oom_kills == 1 &&
		   record.memory_peak_bytes == 9007199254740991 &&
		   !record.error,
	   "its numbers are there");
	ok(record.ulimits.count == 2 &&
		   !strcmp(record.ulimits.items[1], "nofile=8:9"),
	   "and its limits");
	is_int((long long)record.processes_count, 2, "with its processes");
	ok(record.processes[1].rank == 5 &&
		   record.processes[1].exit_code == 3 &&
		   record.processes[1].log_bytes == 11,
	   "and theirs");
	exit_record_clear(&record);
	is_int(parse(HEAD "\"error\": \"no such program\", " TIMES "}", &record,
		     &err),
	       0, "one of regatta-init's own failures is read");
	is(record.error, "no such program", "with its words");
	is_int((long long)record.processes_count, 0,
	       "although no process was there");
	exit_record_clear(&record);
}

static void bad_ones(void)
{
	/* clang-format off */
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "exit record:" },
		{ "{}", "version" },
		{ "{\"version\": 1", "exit record:" },
		{ HEAD TIMES "} trailing", "exit record:" },
		{ HEAD TIMES ", \"unknown\": 1}", "unknown" },
		{ HEAD TIMES ", \"signal\": 1}", "signal" },
		{ HEAD TIMES ", \"error\": 7}", "error" },
		{ HEAD TIMES ", \"error\": \"a\\u0000b\"}", "NUL" },
		{ HEAD TIMES ", \"ulimits\": [\"nofile=1:2\", \"\\u001b[1m\"]}",
		  "ulimits[1]" },
		{ HEAD TIMES ", \"processes\": {}}", "processes" },
		{ HEAD TIMES ", \"processes\": [7]}", "processes" },
		{ HEAD TIMES ", \"processes\": [{\"rank\": 1}]}", "exit_code" },
		{ HEAD TIMES ", \"processes\": ["
		  PROCESS("0", "0", "0") ", " PROCESS("-1", "0", "0") "]}",
		  "rank" },
		{ HEAD TIMES ", \"processes\": [" PROCESS("0", "256", "0")
		  "]}", "256" },
		{ HEAD TIMES ", \"processes\": [" PROCESS("0", "0", "65")
		  "]}", "65" },
		{ "{\"version\": 2, \"exit_code\": 0, \"signal\": 0, " TIMES
		  "}", "version 2" },
		{ "{\"version\": 1, \"exit_code\": 256, \"signal\": 0, " TIMES
		  "}", "exit code 256" },
		{ "{\"version\": 1, \"exit_code\": -1, \"signal\": 0, " TIMES
		  "}", "exit_code" },
		{ "{\"version\": 1, \"exit_code\": 0, \"signal\": 65, " TIMES
		  "}", "signal 65" },
		{ "{\"version\": 1, \"exit_code\": 0.5, \"signal\": 0, " TIMES
		  "}", "exit_code" },
		{ "[1]", "exit record:" },
		{ "\xff\xfe", "exit record:" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct exit_record record = { .exit_code = 77 };
		struct error err = { 0 };

		ok(parse(cases[i].text, &record, &err) == -1 &&
			   err.code == EPROTO && record.exit_code == 77 &&
			   strstr(err.text, cases[i].why),
		   "refused: %s", err.text);
	}
}

static void too_many_processes(void)
{
	struct exit_record record = { 0 };
	struct error err = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(EXIT_RECORD_MAX);

	buffer_text(&text, HEAD TIMES ", \"processes\": [", NULL);
	for (int i = 0; i < 64; i++)
		buffer_printf(&text, NULL, "%s%s", i ? "," : "",
			      PROCESS("0", "0", "0"));
	buffer_text(&text, "]}", NULL);
	is_int(exit_record_parse(text.data, text.size, &record, &err), 0,
	       "64 processes are read");
	exit_record_clear(&record);
	text.size -= 2;
	buffer_text(&text, "," PROCESS("0", "0", "0") "]}", NULL);
	is_int(exit_record_parse(text.data, text.size, &record, &err), -1,
	       "65 are refused");
	is(err.text, "exit record: 65 processes; expected 0 to 64", "in words");
}

int main(void)
{
	tap_begin(32);
	good_ones();
	bad_ones();
	too_many_processes();
	return tap_done();
}
