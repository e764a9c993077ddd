/* workspace.h - the code trees of a sweep, packed and sent to the controller.
 */
#ifndef CONTROLLER_CLI_WORKSPACE_H
#define CONTROLLER_CLI_WORKSPACE_H

#include "controller/cli/cli.h"
#include "controller/sweep/sweep.h"

#include <limits.h>

/* What is left out unless a pattern takes it back in, and a file in the folder
 * with more patterns, one a line.
 */
#define WORKSPACE_IGNORE ".git"
#define WORKSPACE_IGNORE_FILE ".regattaignore"

/* Hash each workspace of the sweep and bind it (sweep_bind()). file: the
 * sweep's, at whose folder the paths begin. One that is not there is told and
 * left unbound: a sweep may be planned where its code is not.
 */
int workspaces_bind(struct sweep *sweep, const char *file, struct cli *cli,
		    struct error *err);

/* Bind them, all of which must be there, and have them at the controller; adds
 * them to the message. */
int workspaces_send(struct sweep *sweep, const char *file, struct cli *cli,
		    struct client *client, struct message_submit *submit,
		    struct error *err);

/* Where a workspace is here: its path begins where the sweep's file is. */
int workspace_folder(const struct sweep *sweep, size_t index, const char *file,
		     char folder[PATH_MAX], struct error *err);

#endif
