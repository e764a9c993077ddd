/* standin.h - an engine that exists only in memory.
 *
 * Given to an agent in place of the real one, so that ten thousand agents fit
 * on one machine. A container is a few bytes; "start" notes the time and "wait"
 * writes the exit record (and a log, if wanted) into the task's spool as
 * agent/init/init.h says. It has every image. Every answer comes from the loop,
 * in a later turn, as the real one does.
 *
 * While the stand-in holds, commands run on until they are stopped. Those of
 * rank 0 that begin while they may fail do so once they are told to, and look
 * for it all the time: with many of them that is what a machine does.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/* In memory that all processes of a benchmark share. */
struct standin {
	uint32_t log_bytes; /* that each command "prints" */
	size_t jobs_max;
	_Atomic uint64_t calls, started, removed; /* ever */
	_Atomic int64_t removed_ns;               /* clock_ns() of the last */
	_Atomic bool holds, may_fail, fails;
	_Atomic int64_t failed_ns, stopped_ns; /* clock_ns() of the last */
	_Atomic uint64_t stopped;              /* ever, while it held */
	int64_t started_ns[];                  /* by job id, < jobs_max */
};

struct standin *standin_new(size_t jobs_max);
void standin_free(struct standin *standin);

/* One node's engine; engine_free() it. It counts in standin (borrowed). */
struct engine *standin_engine(sd_event *loop, struct standin *standin,
			      struct error *err);
