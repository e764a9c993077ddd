/* standin.h - an engine and its images that exist only in memory.
 *
 * standin_engine.c takes the place of agent/engine/{engine,call,image}.c in the
 * programs here, so that ten thousand agents fit on one machine. A container is
 * a few bytes; "start" notes the time and "wait" writes the exit record (and a
 * log, if wanted) into the task's spool as agent/init/init.h says. Every answer
 * comes from the loop, in a later turn, as the real one does.
 */
#ifndef TESTS_BENCH_STANDIN_H
#define TESTS_BENCH_STANDIN_H

#include <stddef.h>
#include <stdint.h>

#define STANDIN_HOST_SIZE 40

/* In memory that all processes of a benchmark share. */
struct standin {
	uint32_t log_bytes; /* that each command "prints" */
	size_t jobs_max;
	_Atomic uint64_t started, removed; /* calls, ever */
	_Atomic int64_t removed_ns;        /* clock_ns() of the last one */
	int64_t started_ns[];              /* by job id, below jobs_max */
};

struct standin *standin_new(size_t jobs_max);
void standin_free(struct standin *standin);

/* What to give engine_new() as its host. */
void standin_host(const struct standin *standin, char host[STANDIN_HOST_SIZE]);

#endif
