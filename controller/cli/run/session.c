/* session.c - opens a session with the configured controller, or with that of a
 * run's folder.
 */
#include "controller/cli/run/session.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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

static int session_open_folder(struct session *session, const char *state,
			       sd_event *loop, struct error *err)
{
	struct folder *folder = &session->folder;
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

static int session_open_state(struct session *session, const char *state,
			      struct error *err)
{
	sd_event *loop = NULL;
	int rc;

	if (session->cli->options->controller)
		return error_set(err, EINVAL,
				 "--state and --controller exclude each other");
	rc = sd_event_new(&loop);
	if (rc < 0)
		return error_set(err, -rc, "cannot create the event loop");
	rc = session_open_folder(session, state, loop, err);
	sd_event_unref(loop);
	if (rc < 0)
		session_clear(session);
	return rc;
}

/* Without a controller, the last run of this folder is meant. */
static int session_open_last(struct session *session, struct error *err)
{
	char last[NAME_MAX + 1];

	if (!folder_last(last))
		return error_set(err, EINVAL,
				 "no controller is set: use 'regatta join "
				 "TOKEN', --controller tcp://HOST:7117, "
				 "REGATTA_CONTROLLER, or "
				 "'controller:' in "
				 "~/.config/regatta/config.yaml; or --state "
				 "DIR of a regatta run, which needs none");
	cli_say(session->cli, "of %s, the last run here", last);
	return session_open_state(session, last, err);
}

int session_open(struct session *session, struct cli *cli, struct error *err)
{
	struct error why;

	*session = (struct session){ .cli = cli };
	if (cli->options->state)
		return session_open_state(session, cli->options->state, err);
	session->client = cli_connect(cli, &why);
	if (session->client)
		return 0;
	return why.code == SETTINGS_NO_CONTROLLER
		       ? session_open_last(session, err)
		       : error_set(err, why.code, "%s", why.text);
}

/* The last sweep of the name. */
static int session_find_name(struct session *session, const char *name,
			     uint64_t *sweep, struct error *err)
{
	owned(rows_clear) struct rows sweeps = { 0 };

	if (client_rows(session->client, QUERY_SWEEPS, 0, "id", &sweeps, err) <
	    0)
		return -1;
	for (size_t i = sweeps.count; i-- > 0;) {
		const struct sweep_info *info = rows_at(&sweeps, i);

		if (info->name && !strcmp(info->name, name)) {
			*sweep = info->id;
			return 0;
		}
	}
	return error_set(err, ENOENT,
			 "no sweep '%.60s'; regatta sweeps lists numbers and "
			 "names",
			 name);
}

/* The number of a sweep that a word names: its number, its name (then the last
 * of that name), or NULL (the last one). ENOENT.
 */
static int session_sweep(struct session *session, const char *word,
			 uint64_t *sweep, struct error *err)
{
	struct message_query query = { .what = QUERY_SWEEP };
	owned(answer_clear) struct answer answer = { 0 };

	if (word && (*word < '0' || *word > '9'))
		return session_find_name(session, word, sweep, err);
	if (word)
		return cli_id(word, "sweep", sweep, err);
	if (client_query(session->client, &query, &answer, err) < 0)
		return -1;
	*sweep = ((const struct reply_sweep *)answer.reply)->sweep.id;
	return 0;
}

int session_open_sweep(struct session *session, struct cli *cli,
		       const char *word, uint64_t *sweep, struct error *err)
{
	struct stat st;

	if (!word || stat(word, &st) < 0 || !S_ISDIR(st.st_mode))
		return session_open(session, cli, err) < 0
			       ? -1
			       : session_sweep(session, word, sweep, err);
	*session = (struct session){ .cli = cli };
	return session_open_state(session, word, err) < 0
		       ? -1
		       : session_sweep(session, NULL, sweep, err);
}

int session_job(struct session *session, const char *word, uint64_t *job,
		struct error *err)
{
	owned(rows_clear) struct rows jobs = { 0 };
	uint64_t sweep = 0;

	if (word)
		return cli_id(word, "job", job, err);
	if (session_sweep(session, NULL, &sweep, err) < 0 ||
	    client_rows(session->client, QUERY_JOBS, sweep, "job", &jobs, err) <
		    0)
		return -1;
	if (!jobs.count)
		return error_set(err, ENOENT, "the last sweep has no jobs");
	*job = ((const struct job_info *)rows_at(&jobs, jobs.count - 1))->job;
	for (size_t i = jobs.count; i-- > 0;) {
		const struct job_info *info = rows_at(&jobs, i);

		if (job_state_from(info->state) == JOB_FAILED)
			*job = info->job;
	}
	cli_say(session->cli, "job %llu, of the last sweep",
		(unsigned long long)*job);
	return 0;
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
