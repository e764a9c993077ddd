/* look.h - takes one look at all processes of a container.
 *
 * Runs as a program of its own, `regatta-agent look PID FIRST_RANK ROUND`,
 * because a read of /proc may wait for a process that is stuck in the kernel:
 * then this program is stuck, and not the agent.
 */
#ifndef AGENT_EVIDENCE_LOOK_H
#define AGENT_EVIDENCE_LOOK_H

#include "protocol/base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define LOOK_WORD "look" /* the agent's first argument */
#define LOOK_BUSY_MS 500 /* for so long it is watched who computes */

/* Write a line of protocol/message/evidence.h for each process that descends
 * from root, that of regatta-init. first_rank: of the command where no
 * launcher names ranks.
 */
int look_write(pid_t root, int64_t first_rank, uint64_t round, FILE *out,
	       struct error *err);

/* The program: its arguments behind LOOK_WORD. -1 with *err set. */
int look_main(int argc, char **argv, struct error *err);

#endif
