/* approach.c - how registries may be approached: as whom, and with TLS or not.
 */
#include "agent/registry/approach.h"

#include "agent/policy/node_policy.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define HUB "docker.io"
#define CALL_MS 30000
#define LOOKUP_MS 10000
#define LOOKUP_MAX (16 << 10)

struct approach {
	sd_event *loop;
	struct engine *engine;
	const struct registries *registries;
	char *host; /* NULL: any */
	struct registry_login *logins;
	size_t logins_count;
	struct strings hosts; /* that we may be somebody to */
	size_t asked;         /* of them */
	cJSON *who;           /* we are there */
	char *header;
	sd_event_source *soon;
	struct engine_call *call;
	struct subprocess *lookup;
	struct credential_wait *asking;
	cJSON *info;
	struct approach_way way;
	approach_done_fn *done;
	void *arg;
};

/* The last thing: it is gone afterwards. */
static void finish(struct approach *approach, const struct error *err)
{
	approach->done(approach->arg, err, err ? NULL : &approach->way);
	approach_cancel(approach);
}

/* As whom. */

static void ask_next(struct approach *approach);

static void known(struct approach *approach,
		  const struct credential *credential)
{
	const char *host = approach->hosts.items[approach->asked++];
	struct error err;

	if (approach->host) {
		approach->header = credential_header(credential, host);
	} else if (credential_collect(approach->who, credential, host) < 0) {
		error_nomem(&err, "registry");
		finish(approach, &err);
		return;
	}
	ask_next(approach);
}

/* A helper that fails for a registry that nobody may want is no reason to build
 * nothing.
 */
static void unknown(struct approach *approach, const struct error *err)
{
	if (approach->host) {
		finish(approach, err);
		return;
	}
	log_warning("registry=%s no credentials for builds: %s",
		    approach->hosts.items[approach->asked], err->text);
	approach->asked++;
	ask_next(approach);
}

static void credential_done(void *arg, const struct error *err,
			    const struct credential *credential)
{
	struct approach *approach = arg;

	approach->asking = NULL;
	if (err)
		unknown(approach, err);
	else
		known(approach, credential);
}

static void ask_file(struct approach *approach, const char *host)
{
	struct error err;

	approach->asking =
		credential_ask(approach->loop,
			       approach->registries->credentials, host,
			       credential_done, approach, &err);
	if (!approach->asking)
		unknown(approach, &err);
}

static void ask_next(struct approach *approach)
{
	const struct registries *registries = approach->registries;
	owned(credential_clear) struct credential opened = { 0 };
	const struct registry_login *login;
	struct error err;
	const char *host;

	if (approach->asked == approach->hosts.count) {
		if (!approach->host)
			approach->header = credential_map_header(approach->who);
		approach->way.header = approach->header;
		finish(approach, NULL);
		return;
	}
	host = approach->hosts.items[approach->asked];
	login = logins_find(approach->logins, approach->logins_count, host);
	approach->way.gone |= login && !login->sealed;
	if (!login || !login->sealed)
		ask_file(approach, host);
	else if (login_open(login, registries->key, registries->controller,
			    &opened, &err) < 0)
		finish(approach, &err);
	else
		known(approach, &opened);
}

/* Of a build: whoever we may be anywhere. */
static int add_hosts(struct approach *approach, struct error *err)
{
	const char *file = approach->registries->credentials;

	if (approach->host)
		return strings_add(&approach->hosts, approach->host, err);
	for (size_t i = 0; i < approach->logins_count; i++)
		if (strings_add(&approach->hosts, approach->logins[i].registry,
				err) < 0)
			return -1;
	return file ? credential_registries(file, &approach->hosts, err) : 0;
}

static void ask_who(struct approach *approach)
{
	struct error err;

	if (add_hosts(approach, &err) < 0)
		finish(approach, &err);
	else
		ask_next(approach);
}

/* With TLS or not. */

static int judge(struct approach *approach, const char *host, struct error *err)
{
	const struct node_policy *node_policy =
		approach->registries->node_policy;

	return node_policy ? node_policy_insecure(node_policy, host, err) : 0;
}

static void judged(struct approach *approach, bool plain)
{
	struct error err;

	if (plain && judge(approach, approach->host, &err) < 0)
		finish(approach, &err);
	else
		ask_who(approach);
}

static void judge_all(struct approach *approach)
{
	owned(strings_clear) struct strings names = { 0 };
	struct error err;

	if (plain_list(approach->info, &names, &err) < 0) {
		finish(approach, &err);
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		if (judge(approach, names.items[i], &err) == 0)
			continue;
		error_prefix(&err, "a base image may come from there");
		finish(approach, &err);
		return;
	}
	ask_who(approach);
}

/* Lines of "ADDRESS TYPE [NAME]". A name that leads nowhere is none of an
 * insecure network, to the engine as well.
 */
static void lookup_done(void *arg, const struct error *err,
			const struct subprocess_output *output)
{
	struct approach *approach = arg;
	const char *at;
	char address[64];
	bool plain;

	approach->lookup = NULL;
	if (!output) {
		finish(approach, err);
		return;
	}
	at = output->text;
	/* 2: no such name. Any other code: it could not be told. */
	plain = output->exit_code != 0 && output->exit_code != 2;
	while (*at && !plain) {
		snprintf(address, sizeof(address), "%.*s",
			 (int)strcspn(at, " \t\n"), at);
		plain = plain_address(approach->info, address);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	judged(approach, plain);
}

/* In a program of its own, as it may take its time. */
static void look_up(struct approach *approach)
{
	owned(strings_clear) struct strings argv = { 0 };
	struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = LOOKUP_MS,
		.output_max = LOOKUP_MAX,
	};
	struct error err;

	if (strings_add(&argv, "getent", &err) == 0 &&
	    strings_add(&argv, "ahosts", &err) == 0 &&
	    strings_printf(&argv, &err, "%.*s",
			   (int)strcspn(approach->host, ":"),
			   approach->host) == 0)
		approach->lookup = subprocess_run(approach->loop, &command,
						  lookup_done, approach, &err);
	if (!approach->lookup)
		finish(approach, &err);
}

static void info_done(void *arg, const struct error *err, cJSON *answer)
{
	struct approach *approach = arg;
	char mirror[REFERENCE_HOST_MAX + 1];
	struct error wrong;
	enum plain plain;

	approach->call = NULL;
	/* Not known is not allowed. */
	if (err) {
		finish(approach, err);
		return;
	}
	approach->info = cJSON_Duplicate(answer, true);
	approach->way.root = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(approach->info,
						 "DockerRootDir"));
	if (!approach->host) {
		judge_all(approach);
		return;
	}
	if (!strcmp(approach->host, HUB) &&
	    plain_mirror(approach->info, mirror) &&
	    judge(approach, mirror, &wrong) < 0) {
		finish(approach, &wrong);
		return;
	}
	plain = plain_of(approach->info, approach->host);
	if (plain == PLAIN_BY_ADDRESS)
		look_up(approach);
	else
		judged(approach, plain == PLAIN_YES);
}

static int start(sd_event_source *source, uint64_t usec, void *arg)
{
	struct approach *approach = arg;
	struct error err;

	approach->call = engine_info(approach->engine, CALL_MS, info_done,
				     approach, &err);
	if (!approach->call)
		finish(approach, &err);
	return 0;
}

int approach_check(const struct registries *registries,
		   const struct registry_login *logins, size_t count,
		   struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		owned(credential_clear) struct credential opened = { 0 };

		if (logins[i].sealed &&
		    login_open(&logins[i], registries->key,
			       registries->controller, &opened, err) < 0)
			return -1;
	}
	return 0;
}

static void add_who(const struct registries *registries,
		    const struct registry_login *login,
		    crypto_generichash_state *state)
{
	owned(credential_clear) struct credential found = { 0 };
	const char *parts[4] = { login->registry, login->sealed };

	if (registries->key &&
	    login_open(login, registries->key, registries->controller, &found,
		       NULL) == 0) {
		parts[1] = found.username;
		parts[2] = found.password;
		parts[3] = found.token;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *part = parts[i] ? parts[i] : "";

		crypto_generichash_update(state, (const unsigned char *)part,
					  strlen(part) + 1);
	}
}

void approach_who(const struct registries *registries, const char *host,
		  const struct registry_login *logins, size_t count,
		  const unsigned char key[APPROACH_KEY_BYTES],
		  unsigned char who[APPROACH_WHO_BYTES])
{
	crypto_generichash_state state;
	bool any = false;

	memset(who, 0, APPROACH_WHO_BYTES);
	crypto_generichash_init(&state, key, APPROACH_KEY_BYTES,
				APPROACH_WHO_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (host && strcmp(logins[i].registry, host) != 0)
			continue;
		add_who(registries, &logins[i], &state);
		any = true;
	}
	if (any)
		crypto_generichash_final(&state, who, APPROACH_WHO_BYTES);
	sodium_memzero(&state, sizeof(state));
}

/* Life. */

struct approach *approach_begin(sd_event *loop, struct engine *engine,
				const struct registries *registries,
				const char *host,
				const struct registry_login *logins,
				size_t count, approach_done_fn *done, void *arg,
				struct error *err)
{
	owned(approach_cancel) struct approach *approach =
		calloc(1, sizeof(*approach));

	if (!approach || !(approach->who = cJSON_CreateObject()) ||
	    (host && !(approach->host = strdup(host)))) {
		error_nomem(err, "registry");
		return NULL;
	}
	approach->loop = sd_event_ref(loop);
	approach->engine = engine;
	approach->registries = registries;
	approach->done = done;
	approach->arg = arg;
	if (logins_copy(&approach->logins, &approach->logins_count, logins,
			count, err) < 0 ||
	    loop_timer(loop, &approach->soon, 0, start, approach, err) < 0)
		return NULL;
	return take(approach);
}

void approach_cancel(struct approach *approach)
{
	if (!approach)
		return;
	loop_source_free(&approach->soon);
	engine_call_cancel(approach->call);
	subprocess_cancel(approach->lookup);
	credential_cancel(approach->asking);
	logins_free(approach->logins, approach->logins_count);
	cJSON_Delete(approach->info);
	secret_json_free(approach->who);
	secret_free(approach->header);
	strings_clear(&approach->hosts);
	sd_event_unref(approach->loop);
	free(approach->host);
	free(approach);
}
