/* exit_record.c - what regatta-init says of a container's end.
 */
#include "agent/tasks/exit_record.h"

#include <errno.h>

/* clang-format off */
static const struct field exit_process_fields[] = {
	FIELD(exit_process, rank),
	FIELD(exit_process, exit_code),
	FIELD(exit_process, signal),
	FIELD(exit_process, ended_ms),
	FIELD(exit_process, max_rss_kib),
	FIELD(exit_process, user_ms),
	FIELD(exit_process, system_ms),
	FIELD(exit_process, log_bytes),
};
static const struct schema exit_process_schema =
	SCHEMA(exit_process, exit_process_fields);

static const struct field exit_record_fields[] = {
	FIELD(exit_record, version),
	FIELD(exit_record, exit_code),
	FIELD(exit_record, signal),
	FIELD_OPTIONAL(exit_record, error),
	FIELD(exit_record, started_ms),
	FIELD(exit_record, ended_ms),
	FIELD(exit_record, oom_kills),
	FIELD(exit_record, memory_peak_bytes),
	FIELD_MANY(exit_record, processes, exit_process_schema),
};
static const struct schema exit_record_schema =
	SCHEMA(exit_record, exit_record_fields);
/* clang-format on */

int exit_record_parse(const char *text, size_t size, struct exit_record *record,
		      struct error *err)
{
	struct exit_record got;

	if (codec_decode(&exit_record_schema, text, size, &got, err) < 0)
		return error_prefix(err, "exit record");
	if (got.version != 1 || got.exit_code > 255 || got.signal > 64) {
		error_set(err, EPROTO,
			  "exit record: version %u, exit code %u, signal %u; "
			  "allowed are 1, 0 to 255, 0 to 64",
			  got.version, got.exit_code, got.signal);
		exit_record_clear(&got);
		return -1;
	}
	*record = got;
	return 0;
}

void exit_record_clear(struct exit_record *record)
{
	codec_clear(&exit_record_schema, record);
}
