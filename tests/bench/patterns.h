/* patterns.h - the rules of all log formats, as patterns for `grep -E -f`.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "protocol/base/buffer.h"

/* One line for each `match` of each format, which matches the same lines: named
 * groups and classes are written as grep knows them. What looks ahead or behind
 * is none of its patterns, and is left out and counted. ENOMEM.
 */
int patterns_write(const struct catalog *catalog, struct buffer *to,
		   size_t *left_out, struct error *err);
