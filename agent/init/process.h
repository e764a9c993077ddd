/* process.h - starts one process of the command and remembers how it ended.
 */
#pragma once

#include "agent/init/start.h"
#include "protocol/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct process {
	pid_t pid; /* also its session and its process group */
	uint32_t rank;
	int log;           /* its rank-<R>.log, close-on-exec */
	uint64_t log_size; /* at the last check; at most the kept bytes */
	uint32_t log_cuts; /* how often the command truncated it */
	bool ended;
	int exit_code; /* 128 + signal when a signal ended it */
	int signal;    /* 0: it exited */
	int64_t ended_ms;
	int64_t max_rss_kib;
	int64_t user_ms;
	int64_t system_ms;
};

/* Start process `index` of the command `args`, which is one of start's: a
 * session of its own, stdin /dev/null, output to rank-<R>.log in the folder
 * `out`, no signal blocked.
 * environment is the container's. Descriptors 0 to 2 must be open (so that no
 * other descriptor takes their place). Returns once the program runs.
 *
 * -1 with *why: nothing was started and there is nothing to reap. 0 with
 * why->code 0: it runs. 0 with another: the program could not be executed; the
 * child ends with 127 or 126 and is to be reaped like any other.
 */
int process_start(struct process *process, const struct start *start,
		  char **args, uint32_t index, int out, char **environment,
		  struct error *why);

/* Store the result of wait4(). now_ms: wall clock since 1970. */
void process_end(struct process *process, int status,
		 const struct rusage *usage, int64_t now_ms);

/* The present size of its log; 0 if it cannot be read. */
int64_t process_log_bytes(const struct process *process);
