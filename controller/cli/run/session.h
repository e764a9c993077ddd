/* session.h - opens a session with the configured controller, or with that of a
 * run's folder.
 *
 * With --state FOLDER a command reads the folder of `regatta run`. If a run
 * uses the folder now, its controller answers; else a controller is started for
 * the session. That one runs no jobs and changes none. Where no controller is
 * configured, the folder is that of the last run in the present folder.
 */
#pragma once

#include "controller/cli/command.h"
#include "controller/cli/run/daemons.h"

struct session {
	struct client *client;
	/* Only with --state: */
	struct cli *cli;
	struct folder folder;
	struct daemons *daemons;
	char paths[2][PATH_MAX]; /* of the controller program, of the images */
};

/* ENOENT: the folder has no run; EINVAL: a controller is given, too. */
int session_open(struct session *session, struct cli *cli, struct error *err);

/* Open a session and find a sweep; the word may also be the folder of a run. */
int session_open_sweep(struct session *session, struct cli *cli,
		       const char *word, uint64_t *sweep, struct error *err);

/* The job of this number, or without a number (NULL) of the last sweep the
 * first that failed, else the last one.
 */
int session_job(struct session *session, const char *word, uint64_t *job,
		struct error *err);

/* Also ends a controller that was started for the session. */
void session_clear(struct session *session);
OWNED_VALUE(struct session, session_clear)

/* Open a session, ask one query, and end the session. */
int session_query(struct cli *cli, struct message_query *query,
		  struct answer *answer, struct error *err);

/* A client of the controller at this address, as the folder's operator. */
struct client *session_client(sd_event *loop, const struct folder *folder,
			      const char *endpoint, struct error *err);

/* The option of commands that use a session. */
/* clang-format off */
#define OPTION_STATE \
	{ OPTION(options, "state", 0, OPTION_TEXT, state, "DIR"), \
	  .help = "read the folder of a regatta run instead of asking a " \
		  "controller" }
/* clang-format on */
