/* logins.c - collects and seals the user's registry logins for a sweep.
 */
#include "controller/cli/logins.h"

#include "protocol/message/reply_sweeps.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int logins_file(const struct cli *cli, char path[PATH_MAX], struct error *err)
{
	const struct environment *environment = cli->environment;
	const char *given = cli->options->registry_auth;
	const char *folder = environment->docker_config;
	const char *home = environment->home;

	if (given && strcmp(given, REGISTRY_AUTH_DOCKER) != 0) {
		snprintf(path, PATH_MAX, "%s", given);
		return 0;
	}
	if (folder && *folder) {
		snprintf(path, PATH_MAX, "%s/config.json", folder);
		return 0;
	}
	if (!home || !*home)
		return error_set(err, EINVAL,
				 "--registry-auth: neither DOCKER_CONFIG nor "
				 "HOME is set");
	snprintf(path, PATH_MAX, "%s/.docker/config.json", home);
	return 0;
}

/* The registries of a sweep. */

static int hosts_add_image(struct strings *hosts, const char *image,
			   struct error *err)
{
	char host[REFERENCE_HOST_MAX + 1], path[REFERENCE_PATH_MAX + 1];
	struct reference parts;

	if (reference_parse(image, &parts, err) < 0)
		return -1;
	if (!parts.name[0])
		return 0; /* an image id, which no registry has */
	reference_place(&parts, host, path);
	return strings_has(hosts, host) ? 0 : strings_add(hosts, host, err);
}

/* EACCES of the file is a wrong request; elsewhere it is the controller's
 * refusal.
 */
static int wrong_file(struct error *err)
{
	if (err->code == EACCES)
		err->code = EPERM;
	return error_prefix(err, "--registry-auth");
}

/* Only the engine knows the registries of a build's base images, so add all
 * registries of the user's settings.
 */
static int hosts_add_all(struct cli *cli, struct strings *hosts,
			 struct error *err)
{
	char file[PATH_MAX];

	if (logins_file(cli, file, err) < 0)
		return -1;
	if (credential_registries(file, hosts, err) < 0)
		return wrong_file(err);
	if (!hosts->count)
		return error_set(err, ENOENT,
				 "--registry-auth: no credentials in %.100s; "
				 "docker login stores them",
				 file);
	return 0;
}

/* Cells beside each other mostly have the same image: *last is the image of the
 * cell before.
 */
static int hosts_add_cell(struct cli *cli, struct sweep *sweep, size_t cell,
			  char **last, struct strings *hosts, struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };
	const struct container_spec *container = &spec.container;
	char *now = NULL;

	if (sweep_cell_spec(sweep, cell, &spec, err) < 0)
		return -1;
	if (asprintf(&now, "%s %s", container->build ? container->build : "",
		     container->image) < 0)
		return error_nomem(err, "sweep");
	if (*last && !strcmp(*last, now)) {
		free(now);
		return 0;
	}
	free(*last);
	*last = now;
	return container->build ? hosts_add_all(cli, hosts, err)
				: hosts_add_image(hosts, container->image, err);
}

static int find_hosts(struct cli *cli, struct sweep *sweep,
		      struct strings *hosts, struct error *err)
{
	owned_free char *last = NULL;

	for (size_t i = 0; i < sweep_totals(sweep)->kept; i++)
		if (hosts_add_cell(cli, sweep, i, &last, hosts, err) < 0)
			return -1;
	return 0;
}

/* The user's settings. */

struct asking {
	struct client *client;
	const char *registry;
	struct registry_login login; /* empty: the file has none */
	bool told;
	int rc;
	struct error *err;
};

static void told(void *arg, const struct error *err,
		 const struct credential *credential)
{
	struct asking *asking = arg;

	asking->told = true;
	if (err)
		asking->rc = error_set(asking->err, err->code, "%s", err->text);
	else if (credential->username || credential->token)
		asking->rc = login_seal(asking->registry, credential,
					client_public(asking->client),
					client_server_public(asking->client),
					&asking->login, asking->err);
}

static int registry_ask(struct asking *asking, const char *file)
{
	sd_event *loop = client_loop(asking->client);
	struct credential_wait *wait =
		credential_ask(loop, file, asking->registry, told, asking,
			       asking->err);

	while (wait && !asking->told)
		if (sd_event_run(loop, UINT64_MAX) < 0)
			return error_set(asking->err, EIO, "event loop");
	return wait ? asking->rc : -1;
}

static int ask_each(struct cli *cli, struct client *client, const char *file,
		    const struct strings *hosts, struct logins *logins,
		    struct error *err)
{
	for (size_t i = 0; i < hosts->count; i++) {
		struct asking asking = { .client = client,
					 .registry = hosts->items[i],
					 .err = err };

		if (registry_ask(&asking, file) < 0)
			return wrong_file(err);
		if (asking.login.sealed)
			logins->items[logins->count++] = asking.login;
		else if (hosts->count > 1)
			cli_say(cli,
				"no credentials for %s in %s; nodes pull its "
				"images with their own credentials",
				hosts->items[i], file);
	}
	return 0;
}

static int logins_seal_file(struct cli *cli, struct client *client,
			    const struct strings *hosts, struct logins *logins,
			    struct error *err)
{
	char file[PATH_MAX];
	sigset_t children, before;
	int rc;

	if (hosts->count > LOGINS_MAX)
		return error_set(err, E2BIG,
				 "--registry-auth: %zu registries; expected "
				 "at most %d",
				 hosts->count, LOGINS_MAX);
	if (logins_file(cli, file, err) < 0)
		return -1;
	logins->items = calloc(hosts->count + 1, sizeof(*logins->items));
	if (!logins->items)
		return error_nomem(err, "credentials");
	/* Credential helpers are child processes. */
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, &before);
	rc = ask_each(cli, client, file, hosts, logins, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (rc == 0 && !logins->count)
		rc = error_set(err, ENOENT,
			       "--registry-auth: no credentials for %.80s%s "
			       "in %.100s; docker login stores them",
			       hosts->items[0],
			       hosts->count > 1 ? ", or any other of its "
						  "registries,"
						: "",
			       file);
	return rc;
}

static int logins_seal_hosts(struct cli *cli, struct client *client,
			     const struct strings *hosts, struct logins *logins,
			     struct error *err)
{
	if (hosts->count)
		return logins_seal_file(cli, client, hosts, logins, err);
	cli_say(cli,
		"--registry-auth: the sweep uses no image from a registry");
	return 0;
}

void logins_clear(struct logins *logins)
{
	logins_free(logins->items, logins->count);
	*logins = (struct logins){ 0 };
}

int logins_collect(struct cli *cli, struct client *client, struct sweep *sweep,
		   struct logins *logins, struct error *err)
{
	owned(strings_clear) struct strings hosts = { 0 };

	if (!cli->options->registry_auth)
		return 0;
	if (!sweep)
		return error_set(err, EINVAL,
				 "--registry-auth: the command line needs the "
				 "folder of models and frameworks (--images) "
				 "to find the sweep's registries");
	return find_hosts(cli, sweep, &hosts, err) < 0
		       ? -1
		       : logins_seal_hosts(cli, client, &hosts, logins, err);
}

int logins_collect_images(struct cli *cli, struct client *client,
			  const struct strings *images, bool builds,
			  struct logins *logins, struct error *err)
{
	owned(strings_clear) struct strings hosts = { 0 };

	if (!cli->options->registry_auth)
		return 0;
	for (size_t i = 0; i < images->count; i++)
		if (hosts_add_image(&hosts, images->items[i], err) < 0)
			return -1;
	if (builds && hosts_add_all(cli, &hosts, err) < 0)
		return -1;
	return logins_seal_hosts(cli, client, &hosts, logins, err);
}

int logins_collect_again(struct cli *cli, struct client *client, uint64_t id,
			 struct logins *logins, struct error *err)
{
	struct message_query query = { .what = QUERY_TEXT, .id = id };
	owned(answer_clear) struct answer answer = { 0 };
	owned(catalog_free) struct catalog *catalog = NULL;
	owned(sweep_free) struct sweep *sweep = NULL;
	const char *text;

	if (!cli->options->registry_auth)
		return 0;
	if (client_query(client, &query, &answer, err) < 0 ||
	    !(catalog = cli_catalog(cli, err)))
		return -1;
	text = ((const struct reply_text *)answer.reply)->text;
	sweep = sweep_parse(text, strlen(text), "sweep", catalog, err);
	return sweep ? logins_collect(cli, client, sweep, logins, err) : -1;
}
