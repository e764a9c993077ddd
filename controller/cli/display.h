/* display.h - lines at the foot of a terminal that are redrawn in place.
 *
 * Above them, permanent lines scroll away as usual. Each line is cut to the
 * width of the terminal, and no more are shown than it has room for; its size
 * is asked for anew at every drawing.
 */
#ifndef CONTROLLER_CLI_DISPLAY_H
#define CONTROLLER_CLI_DISPLAY_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stddef.h>
#include <stdio.h>

struct display;

/* out: borrowed; a terminal that knows ANSI sequences. */
struct display *display_new(FILE *out, struct error *err);

/* Removes the lines at the foot. */
void display_free(struct display *display);
OWNED_POINTER(struct display, display_free)

/* Lines that there is room for, at least 1. */
size_t display_rows(const struct display *display);

/* Replace the lines at the foot. Lines may hold colour sequences, nothing else
 * that is not printed.
 */
void display_draw(struct display *display, const char *const *lines,
		  size_t count);

/* Print a permanent line; those at the foot are gone until the next drawing. */
void display_line(struct display *display, const char *line);

#endif
