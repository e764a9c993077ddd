/* display.h - draws lines at the bottom of a terminal and updates them in
 * place.
 *
 * Permanent lines scroll above them as usual. Lines are cut to the width of the
 * terminal, and lines that do not fit its height are not drawn. The terminal's
 * size is read at every drawing.
 */
#ifndef CONTROLLER_CLI_DISPLAY_H
#define CONTROLLER_CLI_DISPLAY_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>
#include <stdio.h>

struct display;

/* out: a terminal that supports ANSI sequences; borrowed. */
struct display *display_new(FILE *out, struct error *err);

/* Also removes the lines at the bottom. */
void display_free(struct display *display);
OWNED_POINTER(struct display, display_free)

/* The number of lines that fit, at least 1. */
size_t display_rows(const struct display *display);

/* Replace the lines at the bottom. They contain no control characters. */
void display_draw(struct display *display, const char *const *lines,
		  size_t count);

/* Print a permanent line. Removes the lines at the bottom until the next
 * drawing.
 */
void display_line(struct display *display, const char *line);

#endif
