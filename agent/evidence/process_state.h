/* process_state.h - reads what a process does from /proc.
 */
#pragma once

#include "protocol/message/evidence.h"

#include <sys/types.h>

/* Fields of /proc/PID/stat. */
struct process_state {
	pid_t pid, parent, group;
	char name[16]; /* of the program, cut by the kernel */
	char state;
	uint32_t threads;
	uint64_t cpu_ms; /* since it began */
	uint64_t began;  /* clock ticks after the machine did */
};

struct ranked_process {
	struct process_state state;
	int64_t rank; /* global, from its launcher's variable; -1: not known */
	bool leads;   /* it is the rank's own process, not a child of it */
};

/* List the descendants of the process root, parents before their children, at
 * most max. Without a launcher that sets ranks, all are of first_rank. Returns
 * their number; *left_out: those beyond max.
 */
size_t process_ranks(pid_t root, int64_t first_rank,
		     struct ranked_process *list, size_t max, size_t *left_out);

/* Read the present state; false: it has ended. */
bool process_state_read(pid_t pid, struct process_state *state);

/* Read the state of the process that was seen; false: it has ended, and its
 * number may be another's.
 */
bool process_state_again(const struct process_state *seen,
			 struct process_state *now);

/* Signal the process that was seen, and no other; false: it has ended. */
bool process_state_signal(const struct process_state *seen, int number);

/* Fill command, waits, stack and written_bytes. Values that the kernel hides
 * are left out.
 */
int process_observe(pid_t pid, struct evidence *evidence, struct error *err);

/* Does it handle SIGABRT itself, as Python does to print its stacks? */
bool process_catches_abort(pid_t pid);
