/* snapshot.h - takes one look at all processes of a container.
 *
 * Runs as a program of its own, `regatta-agent snapshot PID FIRST_RANK ROUND`,
 * because a read of /proc may wait for a process that is stuck in the kernel:
 * then this program is stuck, and not the agent.
 */
#ifndef AGENT_EVIDENCE_SNAPSHOT_H
#define AGENT_EVIDENCE_SNAPSHOT_H

#include "protocol/base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SNAPSHOT_WORD "snapshot" /* the agent's first argument */
#define SNAPSHOT_BUSY_MS 500     /* for so long it is watched who computes */

/* Write a line of protocol/message/evidence.h for each process that descends
 * from root, that of regatta-init. first_rank: of the command where no
 * launcher names ranks.
 */
int snapshot_write(pid_t root, int64_t first_rank, uint64_t round, FILE *out,
		   struct error *err);

/* The program: its arguments behind SNAPSHOT_WORD. -1 with *err set. */
int snapshot_main(int argc, char **argv, struct error *err);

#endif
