/* watch_screen.h - shows a sweep on the whole terminal: its jobs, the details
 * and last output of the selected one; keys select, cancel and leave.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/cli/watched.h"

struct watch_screen;

/* All arguments are borrowed. leave() runs when the user leaves the screen.
 * NULL: the terminal is not usable, or this process is not in its foreground.
 */
typedef void watch_screen_leave_fn(void *arg);
struct watch_screen *watch_screen_new(struct cli *cli, struct client *client,
				      const struct watched_sweep *known,
				      watch_screen_leave_fn *leave, void *arg);
void watch_screen_free(struct watch_screen *view);
OWNED_POINTER(struct watch_screen, watch_screen_free)

void watch_screen_choose(struct watch_screen *view, uint64_t job);

/* Draw the present state. */
void watch_screen_draw(struct watch_screen *view);

/* Show a message in the last line, until the next message. */
void watch_screen_say(struct watch_screen *view, const char *words);
