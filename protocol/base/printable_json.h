/* printable_json.h - makes JSON with untrusted texts safe for a terminal.
 */
#pragma once

#include "protocol/base/buffer.h"

/* Append a JSON text that says the same: what printable() replaces is \uXXXX in
 * its strings, and U+FFFD for a byte that is not UTF-8. Errors: see
 * buffer_append().
 */
int printable_json(struct buffer *out, const char *json, struct error *err);
