/* exit_status_test.c - from what is left of a command, its class and a
 * sentence.
 */
#include "agent/task/exit_status.h"

#include "tests/tap.h"

#include <errno.h>

static struct exit_process processes[3];

/* Three processes, ranks 8 to 10; the one of rank 9 ended first. */
static struct exit_record record_of(uint32_t exit_code, uint32_t signal)
{
	for (uint32_t i = 0; i < 3; i++)
		processes[i] = (struct exit_process){
			.rank = 8 + i,
			.exit_code = exit_code,
			.signal = signal,
			.ended_ms = i == 1 ? 100 : 200,
		};
	return (struct exit_record){
		.version = 1,
		.exit_code = exit_code,
		.signal = signal,
		.started_ms = 50,
		.ended_ms = 300,
		.memory_peak_bytes = 4096,
		.processes = processes,
		.processes_count = 3,
	};
}

static struct exit_status from(const struct exit_record *record,
			       enum failure ordered)
{
	struct exit_status outcome;

	exit_status_from_record(&outcome, record, false, ordered);
	return outcome;
}

static void by_itself(void)
{
	struct exit_record record = record_of(0, 0);
	struct exit_status outcome = from(&record, FAILURE_NONE);

	is_int(outcome.failure, FAILURE_NONE, "exit code 0 is no failure");
	is(outcome.text, "", "and needs no words");
	ok(outcome.exit_code == 0 && outcome.started_ms == 50 &&
		   outcome.ended_ms == 300 && outcome.memory_peak_bytes == 4096,
	   "times and memory are kept");

	record = record_of(3, 0);
	exit_status_from_record(&outcome, &record, true, FAILURE_NONE);
	is(outcome.text, "task 9 exited with code 3",
	   "a command that starts the ranks is a task");

	record = record_of(3, 0);
	outcome = from(&record, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_EXIT, "another code is an exit");
	is(outcome.text, "rank 9 exited with code 3", "of the first that did");
	is_int(outcome.exit_code, 3, "with its code");

	record = record_of(137, 0);
	outcome = from(&record, FAILURE_NONE);
	is(outcome.text,
	   "rank 9 exited with code 137, by which a shell tells signal 9 "
	   "(Killed)",
	   "a shell's code is told as a signal");
	record = record_of(130 + 20, 0);
	outcome = from(&record, FAILURE_NONE);
	is(outcome.text, "rank 9 exited with code 150", "but not any code");

	record = record_of(3, 0);
	processes[0].exit_code = processes[1].exit_code = 143;
	outcome = from(&record, FAILURE_NONE);
	is(outcome.text, "rank 10 exited with code 3",
	   "processes that were ended in its wake do not count");
}

static void by_signal(void)
{
	struct exit_record record = record_of(139, 11);
	struct exit_status outcome = from(&record, FAILURE_NONE);

	is_int(outcome.failure, FAILURE_EXIT, "a crash is an exit");
	is(outcome.text, "rank 9 was ended by signal 11 (Segmentation fault)",
	   "with its signal in words");
	is_int(outcome.exit_code, 139, "and its code");
	record = record_of(137, 9);
	outcome = from(&record, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_EXIT,
	       "a kill of one of several processes is an exit");
	record = record_of(137, 9);
	record.processes_count = 1;
	outcome = from(&record, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_NODE_LOST,
	       "a kill that nobody here ordered is of the node");
	ok(strstr(outcome.text, "signal 9 (Killed)"), "in words: %s",
	   outcome.text);
	record = record_of(143, 15);
	outcome = from(&record, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_NODE_LOST, "so is a SIGTERM");
	record = record_of(192, 64);
	outcome = from(&record, FAILURE_NONE);
	ok(outcome.failure == FAILURE_EXIT && strstr(outcome.text, "signal 64"),
	   "the last signal has words too: %s", outcome.text);
}

static void for_memory(void)
{
	struct exit_record record = record_of(137, 9);
	struct exit_status outcome;

	record.oom_kills = 2;
	outcome = from(&record, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_OOM, "killed for memory");
	is(outcome.text, "rank 9: the kernel killed 2 process(es) for memory",
	   "in words");
	record = record_of(0, 0);
	record.oom_kills = 1;
	outcome = from(&record, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_NONE,
	       "a helper that was killed does no harm when all ended well");
}

static void ordered(void)
{
	static const enum failure reasons[] = { FAILURE_CANCELLED,
						FAILURE_TIMEOUT, FAILURE_HANG,
						FAILURE_NODE_LOST };
	struct exit_record record = record_of(137, 9);

	record.oom_kills = 1;
	record.error = (char *)"words";
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		struct exit_status outcome = from(&record, reasons[i]);
		char want[64];

		snprintf(want, sizeof(want), "stopped: %s",
			 failure_name(reasons[i]));
		is_int(outcome.failure, reasons[i],
		       "what was ordered counts over all that followed");
		is(outcome.text, want, "in words");
		is_int(outcome.exit_code, 137, "the code stays");
	}
}

static void of_init_itself(void)
{
	struct exit_record record = record_of(125, 0);
	struct exit_status outcome;
	char hostile[4096];

	record.error = (char *)"start: record 3: no such key";
	record.processes_count = 0;
	outcome = from(&record, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_EXIT, "regatta-init could not run it");
	is(outcome.text, "rank 0: start: record 3: no such key",
	   "and says why");
	memset(hostile, 'x', sizeof(hostile));
	memcpy(hostile, "\x1b[2J\n", 5);
	hostile[sizeof(hostile) - 1] = 0;
	/* A character on the place where it is cut. */
	for (size_t i = 170; i + 2 < 200; i += 2)
		memcpy(hostile + i, "\xc3\xa9", 2);
	for (int shift = 0; shift < 2; shift++) {
		bool good = true;

		record.error = hostile + shift;
		outcome = from(&record, FAILURE_NONE);
		for (const char *c = outcome.text; *c; c++)
			good &= (unsigned char)*c >= 0x20;
		ok(good && strlen(outcome.text) < sizeof(outcome.text),
		   "words from inside are one bounded line: %zu bytes",
		   strlen(outcome.text));
		ok(outcome.text[strlen(outcome.text) - 1] == '?' ||
			   (unsigned char)outcome.text[strlen(outcome.text) -
						       1] == 0xa9,
		   "and end with a whole character");
	}
}

static void without_a_record(void)
{
	/* clang-format off */
	static const struct {
		const char *container;
		enum failure ordered, failure;
		int64_t exit_code;
		const char *words, *what;
	} cases[] = {
		{ NULL, FAILURE_NONE, FAILURE_NODE_LOST, 137, "vanished",
		  "no container" },
		{ NULL, FAILURE_CANCELLED, FAILURE_CANCELLED, 137,
		  "stopped: cancelled", "no container, as ordered" },
		{ "{\"State\": {\"ExitCode\": 137, \"OOMKilled\": true}}",
		  FAILURE_NONE, FAILURE_OOM, 137, "memory",
		  "killed for memory" },
		{ "{\"State\": {\"ExitCode\": 137, \"OOMKilled\": false}}",
		  FAILURE_NONE, FAILURE_NODE_LOST, 137, "exit code 137",
		  "killed from outside" },
		{ "{\"State\": {\"ExitCode\": 255, \"OOMKilled\": true}}",
		  FAILURE_TIMEOUT, FAILURE_TIMEOUT, 255, "stopped: timeout",
		  "ended as ordered" },
		{ "{\"State\": {\"ExitCode\": \"x\", \"OOMKilled\": 7}}",
		  FAILURE_NONE, FAILURE_NODE_LOST, 137, "exit code 137",
		  "an answer of other types" },
		{ "{\"State\": []}", FAILURE_NONE, FAILURE_NODE_LOST, 137,
		  "exit code", "an answer of another shape" },
		{ "{}", FAILURE_NONE, FAILURE_NODE_LOST, 137, "exit code",
		  "an answer without a state" },
		{ "{\"State\": {\"ExitCode\": 1e300}}", FAILURE_NONE,
		  FAILURE_NODE_LOST, 2147483647, "exit code",
		  "an answer out of range" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cJSON *container = cases[i].container
					   ? cJSON_Parse(cases[i].container)
					   : NULL;
		struct exit_status outcome;

		exit_status_from_engine(&outcome, container, cases[i].ordered);
		ok(outcome.failure == cases[i].failure &&
			   outcome.exit_code == cases[i].exit_code &&
			   strstr(outcome.text, cases[i].words),
		   "%s: %s", cases[i].what, outcome.text);
		cJSON_Delete(container);
	}
}

static void with_a_ruined_record(void)
{
	struct exit_status outcome;
	struct error why;
	cJSON *ended = cJSON_Parse("{\"State\": {\"ExitCode\": 3}}");
	cJSON *full = cJSON_Parse(
		"{\"State\": {\"ExitCode\": 137, \"OOMKilled\": true}}");

	error_set(&why, EINVAL, "exit.json: not a regular file");
	exit_status_from_ruin(&outcome, ended, &why, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_EXIT,
	       "who overwrites the exit record is not tried elsewhere");
	is(outcome.text,
	   "the exit record is forged or damaged: "
	   "exit.json: not a regular file",
	   "and told of it");
	is_int(outcome.exit_code, 3, "the code is the engine's");
	exit_status_from_ruin(&outcome, full, &why, FAILURE_NONE);
	is_int(outcome.failure, FAILURE_OOM, "memory goes before");
	exit_status_from_ruin(&outcome, ended, &why, FAILURE_TIMEOUT);
	is_int(outcome.failure, FAILURE_TIMEOUT, "and so does an order");
	cJSON_Delete(ended);
	cJSON_Delete(full);
}

int main(void)
{
	tap_begin(30);
	by_itself();
	by_signal();
	for_memory();
	ordered();
	of_init_itself();
	without_a_record();
	with_a_ruined_record();
	return tap_done();
}
