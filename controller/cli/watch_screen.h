/* watch_screen.h - a sweep on the whole terminal: its jobs, one of them in
 * words, the end of its output; keys choose, cancel and leave.
 */
#ifndef CONTROLLER_CLI_WATCH_SCREEN_H
#define CONTROLLER_CLI_WATCH_SCREEN_H

#include "controller/cli/cli.h"
#include "controller/cli/watched.h"

struct watch_screen;

/* All are borrowed. leave() runs when a person wants no screen any more. NULL:
 * no terminal that can, or not in its foreground.
 */
typedef void watch_screen_leave_fn(void *arg);
struct watch_screen *watch_screen_new(struct cli *cli, struct client *client,
				      const struct watched_sweep *known,
				      watch_screen_leave_fn *leave, void *arg,
				      struct error *err);
void watch_screen_free(struct watch_screen *view);
OWNED_POINTER(struct watch_screen, watch_screen_free)

void watch_screen_choose(struct watch_screen *view, uint64_t job);

/* What is known now. */
void watch_screen_draw(struct watch_screen *view);

/* In the last line, until the next is said. */
void watch_screen_say(struct watch_screen *view, const char *words);

#endif
