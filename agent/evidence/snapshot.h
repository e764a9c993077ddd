/* snapshot.h - records what all processes of a container do at one moment.
 *
 * It runs as a process of its own, `regatta-agent snapshot PID FIRST_RANK
 * ROUND`, because a read of /proc may hang with a process that is stuck in the
 * kernel. Then the agent does not hang.
 */
#ifndef AGENT_EVIDENCE_SNAPSHOT_H
#define AGENT_EVIDENCE_SNAPSHOT_H

#include "protocol/base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SNAPSHOT_WORD "snapshot" /* the agent's first argument */
#define SNAPSHOT_BUSY_MS 500     /* busy_percent is measured for so long */

/* Write a line of protocol/message/evidence.h for each descendant of root,
 * which is regatta-init. first_rank: as for process_ranks().
 */
int snapshot_write(pid_t root, int64_t first_rank, uint64_t round, FILE *out,
		   struct error *err);

/* The program: its arguments behind SNAPSHOT_WORD. -1 with *err set. */
int snapshot_main(int argc, char **argv, struct error *err);

#endif
