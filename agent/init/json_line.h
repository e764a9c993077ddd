/* json_line.h - strings in a line of JSON.
 */
#pragma once

#include "protocol/base/buffer.h"

/* Append a JSON string; bytes that are not UTF-8 become '?'. It takes at most 6
 * bytes per byte of the text, and 2.
 */
int json_line_string(struct buffer *line, const char *text, struct error *err);
