/* process_state.h - reads what a process does from /proc.
 */
#ifndef AGENT_EVIDENCE_PROCESS_STATE_H
#define AGENT_EVIDENCE_PROCESS_STATE_H

#include "protocol/message/evidence.h"

#include <sys/types.h>

/* What a process is, by /proc/PID/stat. */
struct process_state {
	pid_t pid, parent;
	char state;
	uint32_t threads;
	uint64_t cpu_ms; /* since it began */
};

struct ranked_process {
	struct process_state state;
	int64_t rank; /* global, by its launcher's variable; -1: not known */
	bool leads;   /* it is the rank's process, not one that this started */
};

/* All that descend from the process root, without itself, parents before their
 * children, at most max. Where no launcher names ranks, all are of first_rank.
 * Returns how many; *left_out: those beyond max.
 */
size_t process_ranks(pid_t root, int64_t first_rank,
		     struct ranked_process *list, size_t max, size_t *left_out);

/* The state now; false: it is gone. */
bool process_state_read(pid_t pid, struct process_state *state);

/* Fill command, waits, stack and written_bytes. What cannot be read is left
 * out: a kernel may hide it.
 */
int process_observe(pid_t pid, struct evidence *evidence, struct error *err);

/* Does it handle SIGABRT itself, as Python does to print its stacks? */
bool process_catches_abort(pid_t pid);

#endif
