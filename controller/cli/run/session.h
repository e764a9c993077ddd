/* session.h - a session with the controller of the settings, or of a folder.
 *
 * With --state FOLDER a command reads what `regatta run` left in its folder.
 * While a run is at work there, its own controller answers; else one is started
 * for as long as the session lasts. It runs no jobs and changes none.
 */
#ifndef CONTROLLER_CLI_RUN_SESSION_H
#define CONTROLLER_CLI_RUN_SESSION_H

#include "controller/cli/command.h"
#include "controller/cli/run/daemons.h"

struct session {
	struct client *client;
	/* Of a folder: */
	struct cli *cli;
	struct folder folder;
	struct daemons *daemons;
	char paths[2][PATH_MAX]; /* of its program, of the images */
};

/* ENOENT: no run was ever in the folder; EINVAL: a controller is named, too. */
int session_open(struct session *session, struct cli *cli, struct error *err);

/* Ends the controller that was started. */
void session_clear(struct session *session);
OWNED_VALUE(struct session, session_clear)

/* The rule of a command that reads through a session. */
/* clang-format off */
#define OPTION_STATE \
	{ OPTION(options, "state", 0, OPTION_TEXT, state, "DIR"), \
	  .help = "read the folder of a regatta run instead of asking a " \
		  "controller" }
/* clang-format on */

#endif
