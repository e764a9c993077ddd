/* exit_record.c - feeds any bytes to the reader of exit records; what it takes
 * must be within its limits and make a sound outcome.
 */
#include "agent/init/init.h"
#include "agent/task/exit_status.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void check(const struct exit_status *outcome)
{
	size_t length = strnlen(outcome->text, sizeof(outcome->text));

	must(length < sizeof(outcome->text));
	must(outcome->exit_code >= 0 && outcome->exit_code <= 255);
	must(outcome->failure == FAILURE_NONE || length);
	must(outcome->failure == FAILURE_NONE ||
	     failure_name(outcome->failure));
	for (size_t i = 0; i < length; i++)
		must((unsigned char)outcome->text[i] >= 0x20 &&
		     outcome->text[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct exit_record record = { 0 };
	struct error err = { 0 };
	struct exit_status outcome;

	if (size > EXIT_RECORD_MAX)
		return 0;
	if (exit_record_parse((const char *)data, size, &record, &err) < 0) {
		must(err.code && err.text[0] && !record.processes &&
		     !record.error);
		return 0;
	}
	must(record.version == 1 && record.exit_code <= 255 &&
	     record.signal <= 64 &&
	     record.processes_count <= INIT_PROCESSES_MAX);
	exit_status_from_record(&outcome, &record, false, FAILURE_NONE);
	check(&outcome);
	/* Nobody ordered it, and it failed: that must show. */
	must(!record.exit_code || outcome.failure);
	exit_status_from_record(&outcome, &record, true, FAILURE_TIMEOUT);
	check(&outcome);
	must(outcome.failure == FAILURE_TIMEOUT);
	exit_record_clear(&record);
	return 0;
}
