/* ssh_server.h - runs what other tasks of the job hand to this one.
 *
 * The files and limits stand in agent/init/init.h.
 */
#ifndef AGENT_INIT_SSH_SERVER_H
#define AGENT_INIT_SSH_SERVER_H

#include "agent/init/start.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ssh_server;

/* in: path of the start file, beside which commands come; out: the folder for
 * answers. All is borrowed. NULL: out of memory.
 */
struct ssh_server *ssh_server_new(const struct start *start, const char *in,
				  int out);
void ssh_server_free(struct ssh_server *server); /* NULL is fine */

/* Start what has come; returns when to look again (monotonic ms). */
int64_t ssh_server_look(struct ssh_server *server, int64_t now_ms);

/* A child ended: its answer is written, if it was a command of another task. */
void ssh_server_reaped(struct ssh_server *server, pid_t pid, int status);

/* To the group of each command that runs. */
void ssh_server_signal(struct ssh_server *server, int signal);

#endif
