/* probe.h - whether a Docker engine can be reached at an address.
 */
#ifndef CONTROLLER_CLI_RUN_PROBE_H
#define CONTROLLER_CLI_RUN_PROBE_H

#include "protocol/base/error.h"

#define PROBE_MS 5000

/* Connect to the engine at unix:///PATH or tcp://HOST:PORT and hang up;
 * OWN_ENGINE is good when there is one, or a Podman to start. Waits
 * at most PROBE_MS for each address of HOST. EINVAL: not such an address;
 * ECONNREFUSED: nobody answers; the text names the address and says what to do.
 */
int probe_engine(const char *host, struct error *err);

#endif
