/* sockets.h - tells with whom a process communicates over TCP.
 */
#ifndef AGENT_EVIDENCE_SOCKETS_H
#define AGENT_EVIDENCE_SOCKETS_H

#include "protocol/base/strings.h"

#include <sys/types.h>

struct sockets;

/* The TCP sockets of the network that the process is in, by /proc/PID/net. At
 * most SOCKETS_MAX are known. NULL: ENOMEM.
 */
#define SOCKETS_MAX 65536
struct sockets *sockets_read(pid_t pid, struct error *err);
void sockets_free(struct sockets *sockets);
OWNED_POINTER(struct sockets, sockets_free)

/* Append those that the process has open, at most max: "HOST:PORT HOST:PORT
 * STATE" of its own side and its peer's, without those that only listen.
 */
int sockets_of(const struct sockets *sockets, pid_t pid, size_t max,
	       struct strings *list, struct error *err);

#endif
