/* local_tool.h - run a vendor's program on this machine and wait for it.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/strings.h"

#include <stdint.h>

/* Append what argv prints to *text, whose limit bounds it. env (NAME=VALUE) may
 * be NULL. ENOENT: there is no such program; EIO: it ended with another code
 * than 0; ETIMEDOUT, E2BIG and others as in protocol/base/subprocess.h.
 */
int local_tool_run(const struct strings *argv, const struct strings *env,
		   uint32_t timeout_ms, struct buffer *text, struct error *err);
