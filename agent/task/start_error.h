/* start_error.h - explains why an engine did not start a container.
 *
 * Only what the engine's own words leave a reader alone with: which limit it
 * is that may not be raised, and what helps. Sources: runc
 * libcontainer/init_linux.go (setupRlimits), crun
 * src/libcrun/linux.c (libcrun_set_rlimits); getrlimit(2) for the numbers.
 */
#ifndef AGENT_TASK_START_ERROR_H
#define AGENT_TASK_START_ERROR_H

#include "protocol/base/error.h"
#include "protocol/message/codec.h"

/* err: what the engine said. ulimits: what the container asked for,
 * "memlock=-1". Other errors are left as they are.
 */
void start_error_explain(const struct strings *ulimits, struct error *err);

#endif
