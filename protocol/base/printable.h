/* printable.h - makes untrusted text safe for one line of a terminal.
 */
#pragma once

#include <stddef.h>

/* In place: every byte of a control character (C0, DEL, and C1, which is
 * U+0080 to U+009F), of what turns the direction of writing (utf8_turns) and
 * every byte that is not UTF-8 becomes '?'. All other characters stay. The
 * length stays the same.
 */
void printable(char *text, size_t size);

/* In place: take out what only sets colours (ECMA-48, SGR: ESC [ numbers m). */
void uncolour(char *text);

/* Copy text to `to`. Of a text that is too long, copy "..." and its end, from a
 * whole character on. For paths, whose ends tell most. size: at least 4.
 */
void copy_end(char *to, size_t size, const char *text);
