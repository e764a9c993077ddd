/* exit_record.c - the record that regatta-init writes when a container ends.
 */
#include "agent/spool/exit_record.h"
#include "agent/init/init.h"

#include <errno.h>

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
