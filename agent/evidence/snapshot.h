/* snapshot.h - records what all processes of a container do at one moment.
 *
 * It runs as a process of its own, `regatta-agent snapshot PID FIRST_RANK
 * ROUND`, because a read of /proc may hang with a process that is stuck in the
 * kernel. Then the agent does not hang.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SNAPSHOT_WORD "snapshot" /* the agent's first argument */
#define SNAPSHOT_BUSY_MS 500     /* busy_percent is measured for so long */

/* The program: its arguments behind SNAPSHOT_WORD. -1 with *err set. */
int snapshot_main(int argc, char **argv, struct error *err);
