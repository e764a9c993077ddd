/* screen.h - the whole terminal, by ncurses: lines of text, and keys.
 *
 * Texts are UTF-8 and may be from outside: they are cut to the columns that
 * there are, and control characters in them are '?'.
 */
#ifndef CONTROLLER_CLI_SCREEN_H
#define CONTROLLER_CLI_SCREEN_H

#include "controller/report/terminal.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stdio.h>

enum screen_key {
	SCREEN_NONE, /* no key is waiting */
	SCREEN_UP,
	SCREEN_DOWN,
	SCREEN_OTHER, /* letters are themselves */
};

struct screen;
/* NULL with *err set: the terminal cannot do it, ENOTTY. */
struct screen *screen_new(FILE *in, FILE *out, bool colours, struct error *err);
/* The terminal is as it was. */
void screen_free(struct screen *screen);
OWNED_POINTER(struct screen, screen_free)

/* How large it is now; true: that is news. */
bool screen_resize(struct screen *screen);
int screen_rows(const struct screen *screen);
int screen_columns(const struct screen *screen);

/* A line from the left edge on; the rest of it is blank. marked: in reverse.
 * Returns how many bytes of the text there was room for.
 */
size_t screen_line(struct screen *screen, int row, enum colour colour,
		   bool marked, const char *text);
/* All lines from this one on are empty; then everything is shown. */
void screen_show(struct screen *screen, int row);

/* The next key: enum screen_key, or a letter. */
int screen_key(struct screen *screen);

#endif
