/* engine_network.h - whether the host network of an engine is this machine's.
 *
 * Rootless Docker has a host network of its own behind address translation:
 * its containers can connect to other machines, which cannot connect to them.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Connect to a socket of this machine: the process that listens there. 0: not
 * known.
 */
pid_t engine_listener(const char *path);

/* Connect to the engine and compare the network namespace of its process with
 * ours. True: they differ. False: they are the same, or the engine belongs to
 * another machine or user.
 */
bool engine_network_separate(const char *host);

/* Are the processes of an engine that answers not seen here, because they are
 * in another PID namespace?
 */
bool engine_is_unseen(const char *host);
