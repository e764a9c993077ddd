/* secrets.c - reads the secrets of a sweep and seals them for the controller.
 */
#include "controller/cli/secrets.h"

#include "protocol/base/secret.h"
#include "protocol/message/reply_sweeps.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As in a shell, "~/" is the home of the user. */
static int source_read_file(const struct cli *cli, const char *place,
			    struct buffer *value, struct error *err)
{
	const char *home = cli->environment->home;
	char path[PATH_MAX];

	if (!strncmp(place, "~/", 2) && home)
		snprintf(path, sizeof(path), "%s%s", home, place + 1);
	else
		snprintf(path, sizeof(path), "%s", place);
	return read_input(path, value, err);
}

static void drop_line_end(struct buffer *value)
{
	static const char end[] = "\r\n"; /* from its last byte on */

	for (size_t i = sizeof(end) - 1; i-- > 0;) {
		if (!value->size || value->data[value->size - 1] != end[i])
			return;
		value->data[--value->size] = 0;
	}
}

/* Errors never quote the value. */
static int source_read_value(const struct cli *cli,
			     const struct secret_source *source,
			     struct buffer *value, struct error *err)
{
	const char *found;
	int rc;

	if (source->from == SECRET_ENV) {
		found = getenv(source->place);
		if (!found)
			return error_set(err, ENOENT,
					 "the variable %.80s is not set",
					 source->place);
		rc = buffer_text(value, found, err);
	} else {
		rc = source->from == SECRET_FILE
			     ? source_read_file(cli, source->place, value, err)
			     : read_input("-", value, err);
		drop_line_end(value);
	}
	if (rc < 0)
		return -1;
	if (!value->size)
		return error_set(err, EINVAL, "the value is empty");
	if (memchr(value->data, 0, value->size))
		return error_set(err, EINVAL, "the value has a NUL byte");
	return 0;
}

static int source_seal(const struct cli *cli, struct client *client,
		       const struct secret_source *source,
		       struct registry_login *login, struct error *err)
{
	owned(secret_buffer_clear) struct buffer value;
	struct credential credential = { 0 };
	char name[LOGIN_VARIABLE_MAX + 2];

	buffer_init(&value, SECRET_BYTES_MAX + 1);
	if (source_read_value(cli, source, &value, err) < 0)
		return error_prefix(err, "secrets.%s", source->name);
	login_secret_name(name, source->name, source->as_file);
	credential.token = value.data;
	return login_seal(name, &credential, client_public(client),
			  client_server_public(client), login, err);
}

static int sources_seal_all(struct cli *cli, struct client *client,
			    const struct secret_sources *sources, bool again,
			    struct logins *logins, struct error *err)
{
	struct registry_login *grown =
		reallocarray(logins->items, logins->count + sources->count + 1,
			     sizeof(*grown));

	if (!grown)
		return error_nomem(err, "secrets");
	logins->items = grown;
	for (size_t i = 0; i < sources->count; i++) {
		const struct secret_source *source = &sources->items[i];
		struct error why;

		/* A retry does not wait for standard input. */
		if (again && source->from == SECRET_STDIN)
			continue;
		if (source_seal(cli, client, source, &grown[logins->count],
				&why) == 0)
			logins->count++;
		else if (!again || why.code == ENOMEM)
			return error_set(err, why.code, "%s", why.text);
		else
			cli_say(cli, "%s; it is not sent again", why.text);
	}
	return 0;
}

/* Variables that all readers of the sweep can see. */

static void warn_of(struct cli *cli, const struct strings *env)
{
	for (size_t i = 0; i < env->count; i++) {
		char name[LOGIN_VARIABLE_MAX + 1];

		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(env->items[i], "="), env->items[i]);
		if (!secret_looks_like(name))
			continue;
		cli_say(cli,
			"warning: env.%s looks like a secret, but all users "
			"who can read this sweep see env; use secrets: {%s: "
			"{from: env}}",
			name, name);
	}
}

static int variables_warn(struct cli *cli, struct sweep *sweep,
			  struct error *err)
{
	owned(job_spec_clear) struct job_spec spec = { 0 };

	/* Cells mostly have the same variables: look only at the first. */
	if (!sweep_totals(sweep)->kept)
		return 0;
	if (sweep_cell_spec(sweep, 0, &spec, err) < 0)
		return -1;
	warn_of(cli, &spec.container.env);
	return 0;
}

int secrets_collect(struct cli *cli, struct client *client, struct sweep *sweep,
		    struct logins *logins, struct error *err)
{
	if (!sweep)
		return 0;
	return variables_warn(cli, sweep, err) < 0
		       ? -1
		       : sources_seal_all(cli, client, sweep_secrets(sweep),
					  false, logins, err);
}

int secrets_collect_again(struct cli *cli, struct client *client, uint64_t id,
			  struct logins *logins, struct error *err)
{
	static const struct document_limits limits = { .layers = true };
	struct message_query query = { .what = QUERY_TEXT, .id = id };
	owned(answer_clear) struct answer answer = { 0 };
	owned(document_free) struct document *document = NULL;
	struct secret_sources sources;
	const char *text;

	/* EPERM: the controller will refuse the retry, too. */
	if (client_query(client, &query, &answer, err) < 0)
		return err->code == EPERM ? 0 : -1;
	text = ((const struct reply_text *)answer.reply)->text;
	document = document_parse(text, strlen(text), "sweep", &limits, err);
	return document && secrets_read(document_root(document), &sources,
					err) == 0
		       ? sources_seal_all(cli, client, &sources, true, logins,
					  err)
		       : -1;
}
