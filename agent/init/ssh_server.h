/* ssh_server.h - runs the commands that other tasks of the job send here.
 *
 * agent/init/init.h describes the files and limits.
 */
#pragma once

#include "agent/init/start.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ssh_server;

/* in: path of the start file, in whose folder commands arrive; out: the folder
 * for answers. All is borrowed. NULL: out of memory.
 */
struct ssh_server *ssh_server_new(const struct start *start, const char *in,
				  int out);
void ssh_server_free(struct ssh_server *server); /* NULL is fine */

/* Start new commands; returns the time of the next check (monotonic ms). */
int64_t ssh_server_look(struct ssh_server *server, int64_t now_ms);

/* A child has ended: if it was such a command, write its answer. */
void ssh_server_reaped(struct ssh_server *server, pid_t pid, int status);

/* Send a signal to the process group of each running command. */
void ssh_server_signal(struct ssh_server *server, int signal);
