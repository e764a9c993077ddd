/* workspace.h - packs the workspaces of a sweep and sends them to the
 * controller.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/sweep/sweep.h"

#include <limits.h>

/* A name that is ignored by default (a pattern can include it again), and the
 * file in the workspace with further patterns, one per line.
 */
#define WORKSPACE_IGNORE ".git"
#define WORKSPACE_IGNORE_FILE ".regattaignore"

/* Hash each workspace of the sweep, bind it (sweep_bind()), and add it to the
 * message. file: the sweep file, to whose folder the paths are relative. A
 * missing workspace is left out, with a message, so that a sweep can be planned
 * without its code.
 */
int workspaces_bind(struct sweep *sweep, const char *file, struct cli *cli,
		    struct message_plan *plan, struct error *err);

/* Bind all workspaces, which must exist, send them to the controller, and add
 * them to the message.
 */
int workspaces_send(struct sweep *sweep, const char *file, struct cli *cli,
		    struct client *client, struct message_submit *submit,
		    struct error *err);

/* The local folder of a workspace; its path is relative to the sweep file. */
int workspace_folder(const struct sweep *sweep, size_t index, const char *file,
		     char folder[PATH_MAX], struct error *err);
