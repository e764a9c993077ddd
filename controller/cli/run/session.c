/* session.c - opens a session with the configured controller, or with that of a
 * run's folder.
 */
#include "controller/cli/run/session.h"

#include <errno.h>
#include <string.h>

static void session_say_line(void *arg, const char *line)
{
	cli_say(arg, "%s", line);
}

/* Nothing else to do: the client notices that nobody answers. */
static void session_say_failure(void *arg, const struct error *why)
{
	cli_say(arg, "%s", why->text);
}

static int start_controller(struct session *session, sd_event *loop,
			    struct error *err)
{
	static const bool never = false;
	const struct cli *cli = session->cli;
	struct daemons_config config = {
		.folder = &session->folder,
		.controller = session->paths[0],
		.images = session->paths[1],
		.interrupted = &never,
		.say = session_say_line,
		.failed = session_say_failure,
		.arg = session->cli,
	};

	if (settings_program(cli->environment, "regatta-controller",
			     session->paths[0], err) < 0 ||
	    cli_images(cli, session->paths[1], err) < 0)
		return -1;
	session->daemons = daemons_new(loop, &config, err);
	return session->daemons ? 0 : -1;
}

struct client *session_client(sd_event *loop, const struct folder *folder,
			      const char *endpoint, struct error *err)
{
	struct connection connection = { .key = folder->operator};

	snprintf(connection.endpoint, sizeof(connection.endpoint), "%s",
		 endpoint);
	memcpy(connection.server_public, folder->controller.public,
	       KEY_TEXT_SIZE);
	return client_new(loop, &connection, err);
}

static int session_open_folder(struct session *session, sd_event *loop,
			       struct error *err)
{
	struct folder *folder = &session->folder;
	const char *state = session->cli->options->state;
	char endpoint[256];
	int rc = folder_open(folder, session->cli, state, endpoint, err);

	if (rc < 0 || (rc == 0 && start_controller(session, loop, err) < 0))
		return -1;
	session->client =
		session_client(loop, folder,
			       session->daemons
				       ? daemons_endpoint(session->daemons)
				       : endpoint,
			       err);
	return session->client ? 0 : -1;
}

int session_open(struct session *session, struct cli *cli, struct error *err)
{
	sd_event *loop = NULL;
	int rc;

	*session = (struct session){ .cli = cli };
	if (!cli->options->state) {
		session->client = cli_connect(cli, err);
		return session->client ? 0 : -1;
	}
	if (cli->options->controller)
		return error_set(err, EINVAL,
				 "--state and --controller exclude each other");
	rc = sd_event_new(&loop);
	if (rc < 0)
		return error_set(err, -rc, "cannot create the event loop");
	rc = session_open_folder(session, loop, err);
	sd_event_unref(loop);
	if (rc < 0)
		session_clear(session);
	return rc;
}

void session_clear(struct session *session)
{
	client_free(session->client);
	session->client = NULL;
	if (session->daemons)
		daemons_stop(session->daemons);
	daemons_free(session->daemons);
	session->daemons = NULL;
	folder_clear(&session->folder);
}

int session_query(struct cli *cli, struct message_query *query,
		  struct answer *answer, struct error *err)
{
	owned(session_clear) struct session session = { 0 };

	return session_open(&session, cli, err) < 0
		       ? -1
		       : client_query(session.client, query, answer, err);
}
