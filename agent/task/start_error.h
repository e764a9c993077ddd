/* start_error.h - explains why an engine did not start a container.
 *
 * It adds what the engine's message lacks: which limit cannot be raised, and
 * what helps. Sources: runc
 * libcontainer/init_linux.go (setupRlimits), crun
 * src/libcrun/linux.c (libcrun_set_rlimits); getrlimit(2) for the numbers.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/message/codec.h"

/* err: from the engine. ulimits: of the container, "memlock=-1". Other errors
 * stay unchanged.
 */
void start_error_explain(const struct strings *ulimits, struct error *err);
