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

/* Fill command, waits, stack and written_bytes. Values that the kernel hides
 * are left out.
 */
int process_observe(pid_t pid, struct evidence *evidence, struct error *err);

/* Does it handle SIGABRT itself, as Python does to print its stacks? */
bool process_catches_abort(pid_t pid);
