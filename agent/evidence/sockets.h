/* sockets.h - lists the TCP connections of a process.
 */
#ifndef AGENT_EVIDENCE_SOCKETS_H
#define AGENT_EVIDENCE_SOCKETS_H

#include "protocol/base/strings.h"

#include <sys/types.h>

struct sockets;

/* Read the TCP sockets of the process's network namespace, from /proc/PID/net;
 * at most SOCKETS_MAX. NULL: ENOMEM.
 */
#define SOCKETS_MAX 65536
struct sockets *sockets_read(pid_t pid, struct error *err);
void sockets_free(struct sockets *sockets);
OWNED_POINTER(struct sockets, sockets_free)

/* Append the sockets that the process has open, at most max, without listening
 * ones: "OWN_HOST:PORT PEER_HOST:PORT STATE".
 */
int sockets_of(const struct sockets *sockets, pid_t pid, size_t max,
	       struct strings *list, struct error *err);

#endif
