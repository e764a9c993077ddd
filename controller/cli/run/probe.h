/* probe.h - checks whether a Docker engine can be reached at an address.
 */
#ifndef CONTROLLER_CLI_RUN_PROBE_H
#define CONTROLLER_CLI_RUN_PROBE_H

#include "protocol/base/error.h"

#include <stdbool.h>

#define PROBE_MS 5000

/* Connect to the engine at unix:///PATH or tcp://HOST:PORT and disconnect.
 * OWN_ENGINE succeeds if the user has an engine or can start a Podman service.
 * Waits at most PROBE_MS for each address of HOST. EINVAL: the address is not
 * valid; ECONNREFUSED: no answer; the text names the address and says what to
 * do.
 */
int probe_engine(const char *host, struct error *err);

/* Does the engine at unix:///PATH (or OWN_ENGINE) take connections, but leave a
 * request without an answer for PROBE_MS? False for other addresses.
 */
bool probe_is_silent(const char *host);

#endif
