/* screen.h - shows lines of text on the whole terminal and reads keys, with
 * ncurses.
 *
 * Texts are UTF-8 and not trusted: they are cut to the width of the terminal,
 * and control characters become '?'.
 */
#ifndef CONTROLLER_CLI_SCREEN_H
#define CONTROLLER_CLI_SCREEN_H

#include "controller/report/terminal.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stdio.h>

enum screen_key {
	SCREEN_NONE, /* no key is waiting */
	SCREEN_UP,
	SCREEN_DOWN,
	SCREEN_OTHER, /* any other special key; letters are themselves */
};

struct screen;
/* NULL: the terminal lacks the needed functions, or out of memory. */
struct screen *screen_new(FILE *in, FILE *out, bool colours);
/* Also restores the terminal. */
void screen_free(struct screen *screen);
OWNED_POINTER(struct screen, screen_free)

/* Read the size of the terminal. True: it has changed. */
bool screen_resize(struct screen *screen);
int screen_rows(const struct screen *screen);
int screen_columns(const struct screen *screen);

/* Write a line; the rest of it becomes blank. marked: in reverse video. Returns
 * how many bytes of the text fit.
 */
size_t screen_line(struct screen *screen, int row, enum colour colour,
		   bool marked, const char *text);
/* Clear the lines from `row` on, then update the terminal. */
void screen_show(struct screen *screen, int row);

/* The next key: enum screen_key, or a letter. */
int screen_key(struct screen *screen);

#endif
