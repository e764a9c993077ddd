/* record.h - the exit record: how the command ended, as one JSON file.
 *
 * agent/init/init.h describes the fields.
 */
#pragma once

#include "agent/init/init.h"
#include "agent/init/process.h"
#include "protocol/base/error.h"

#include <stdint.h>

struct record {
	int exit_code;
	int signal;
	struct error why; /* "error"; code 0: none */
	char note[240];   /* "note", on missing output; "": none */
	int64_t started_ms;
	int64_t ended_ms;
	int64_t packed_ms; /* how long collected files were packed after it */
	int64_t oom_kills;
	int64_t memory_peak_bytes;
	struct process processes[INIT_PROCESSES_MAX];
	uint32_t count; /* of processes that were started */
};

/* Reserve the disk space of the largest record in the folder `out`, so that it
 * can be written even when the logs have filled the disk. Returns a descriptor,
 * or -1 with *why.
 */
int record_reserve(int out, struct error *why);

/* Write the record to the reserved descriptor (-1: none) and rename it to
 * exit.json: a reader sees all of it or nothing. It need not survive a power
 * cut, because the task does not either.
 */
int record_write(const struct record *record, int out, int reserved,
		 struct error *why);
