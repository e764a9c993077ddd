/* tool_here.h - run a vendor's program on this machine and wait for it.
 */
#ifndef CONTROLLER_CLI_TOOL_HERE_H
#define CONTROLLER_CLI_TOOL_HERE_H

#include "protocol/buffer.h"
#include "protocol/codec.h"

/* Append what argv prints to *text, whose limit bounds it. env (NAME=VALUE) may
 * be NULL. ENOENT: there is no such program; EIO: it ended with another code
 * than 0; ETIMEDOUT, E2BIG and others as in protocol/hardware/tool.h.
 */
int tool_here(const struct strings *argv, const struct strings *env,
	      uint32_t timeout_ms, struct buffer *text, struct error *err);

#endif
