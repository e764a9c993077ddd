/* registry_access.c - access to registries: which login, and whether with
 * TLS.
 */
#include "agent/images/registry_access.h"

#include "agent/images/insecure_registry.h"
#include "agent/policy/node_policy.h"
#include "protocol/base/log.h"
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

struct registry_access {
	sd_event *loop;
	const struct registries *registries;
	char *host; /* NULL: any */
	struct registry_login *logins;
	size_t logins_count;
	struct strings hosts; /* registries to find a login for */
	size_t asked;         /* index of the present one */
	cJSON *who;           /* logins found, for X-Registry-Config */
	char *header;
	struct engine_call *call;
	struct subprocess *lookup;
	struct credential_wait *asking;
	cJSON *info;
	struct registry_access_way way;
	registry_access_done_fn *done;
	void *arg;
};

const struct policy *registries_policy(const struct registries *registries)
{
	return registries->node_policy
		       ? node_policy_rules(registries->node_policy)
		       : NULL;
}

int registries_open(const struct registries *registries,
		    const struct registry_login *login,
		    struct credential *credential, struct error *err)
{
	struct error why;

	if (login_open(login, registries->key, registries->controller,
		       credential, &why) == 0)
		return 0;
	/* It may have been sealed before the controller's key was rotated. */
	if (why.code == EKEYREJECTED && registries->former &&
	    registries->former[0])
		return login_open(login, registries->key, registries->former,
				  credential, err);
	return error_set(err, why.code, "%s", why.text);
}

/* Ends and frees it. */
static void registry_access_finish(struct registry_access *access,
				   const struct error *err)
{
	access->done(access->arg, err, err ? NULL : &access->way);
	registry_access_cancel(access);
}

/* Logins. */

static void ask_next(struct registry_access *access);

static void login_found(struct registry_access *access,
			const struct credential *credential)
{
	const char *host = access->hosts.items[access->asked++];
	struct error err;

	if (access->host) {
		access->header = credential_header(credential, host);
	} else if (credential_collect(access->who, credential, host) < 0) {
		error_nomem(&err, "registry");
		registry_access_finish(access, &err);
		return;
	}
	ask_next(access);
}

/* A build may not need this registry, so a failing credential helper does not
 * fail it.
 */
static void login_failed(struct registry_access *access,
			 const struct error *err)
{
	if (access->host) {
		registry_access_finish(access, err);
		return;
	}
	log_warning("registry=%s no credentials for builds: %s",
		    access->hosts.items[access->asked], err->text);
	access->asked++;
	ask_next(access);
}

static void credential_done(void *arg, const struct error *err,
			    const struct credential *credential)
{
	struct registry_access *access = arg;

	access->asking = NULL;
	if (err)
		login_failed(access, err);
	else
		login_found(access, credential);
}

static void ask_file(struct registry_access *access, const char *host)
{
	struct error err;

	access->asking =
		credential_ask(access->loop, access->registries->credentials,
			       host, credential_done, access, &err);
	if (!access->asking)
		login_failed(access, &err);
}

static void ask_next(struct registry_access *access)
{
	const struct registries *registries = access->registries;
	owned(credential_clear) struct credential opened = { 0 };
	const struct registry_login *login;
	struct error err;
	const char *host;

	if (access->asked == access->hosts.count) {
		if (!access->host)
			access->header = credential_map_header(access->who);
		access->way.header = access->header;
		registry_access_finish(access, NULL);
		return;
	}
	host = access->hosts.items[access->asked];
	login = logins_find(access->logins, access->logins_count, host);
	access->way.gone |= login && !login->sealed;
	if (!login || !login->sealed)
		ask_file(access, host);
	else if (registries_open(registries, login, &opened, &err) < 0)
		registry_access_finish(access, &err);
	else
		login_found(access, &opened);
}

/* For a build: all registries with a login. */
static int registry_access_add_hosts(struct registry_access *access,
				     struct error *err)
{
	const char *file = access->registries->credentials;

	if (access->host)
		return strings_add(&access->hosts, access->host, err);
	for (size_t i = 0; i < access->logins_count; i++)
		if (!login_variable(&access->logins[i]) &&
		    strings_add(&access->hosts, access->logins[i].registry,
				err) < 0)
			return -1;
	return file ? credential_registries(file, &access->hosts, err) : 0;
}

static void find_logins(struct registry_access *access)
{
	struct error err;

	if (registry_access_add_hosts(access, &err) < 0)
		registry_access_finish(access, &err);
	else
		ask_next(access);
}

/* TLS. */

static int check_policy(struct registry_access *access, const char *host,
			struct error *err)
{
	const struct node_policy *policy = access->registries->node_policy;

	return policy ? policy_image_check_insecure(node_policy_rules(policy),
						    host, err)
		      : 0;
}

static void check_host(struct registry_access *access, bool plain)
{
	struct error err;

	if (plain && check_policy(access, access->host, &err) < 0)
		registry_access_finish(access, &err);
	else
		find_logins(access);
}

static void check_policy_all(struct registry_access *access)
{
	owned(strings_clear) struct strings names = { 0 };
	struct error err;

	if (insecure_registry_list(access->info, &names, &err) < 0) {
		registry_access_finish(access, &err);
		return;
	}
	for (size_t i = 0; i < names.count; i++) {
		if (check_policy(access, names.items[i], &err) == 0)
			continue;
		error_prefix(&err, "a base image may be in this registry");
		registry_access_finish(access, &err);
		return;
	}
	find_logins(access);
}

/* Lines of "ADDRESS TYPE [NAME]". A name without an address is in no insecure
 * network.
 */
static void lookup_done(void *arg, const struct error *err,
			const struct subprocess_output *output)
{
	struct registry_access *access = arg;
	const char *at;
	char address[64];
	bool plain;

	access->lookup = NULL;
	if (!output) {
		registry_access_finish(access, err);
		return;
	}
	at = output->text;
	/* Code 2: no such name. With any other failure, assume the worst. */
	plain = output->exit_code != 0 && output->exit_code != 2;
	while (*at && !plain) {
		snprintf(address, sizeof(address), "%.*s",
			 (int)strcspn(at, " \t\n"), at);
		plain = insecure_registry_address(access->info, address);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	check_host(access, plain);
}

/* A subprocess, because a lookup may take long. */
static void registry_access_look_up(struct registry_access *access)
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
	    strings_printf(&argv, &err, "%.*s", (int)strcspn(access->host, ":"),
			   access->host) == 0)
		access->lookup = subprocess_run(access->loop, &command,
						lookup_done, access, &err);
	if (!access->lookup)
		registry_access_finish(access, &err);
}

static void registry_access_info_done(void *arg, const struct error *err,
				      cJSON *answer)
{
	struct registry_access *access = arg;
	char mirror[REFERENCE_HOST_MAX + 1];
	struct error wrong;
	enum insecure_registry plain;

	access->call = NULL;
	/* Without the settings of the engine nothing is allowed. */
	if (err) {
		registry_access_finish(access, err);
		return;
	}
	access->info = cJSON_Duplicate(answer, true);
	access->way.info = access->info;
	if (!access->host) {
		check_policy_all(access);
		return;
	}
	if (!strcmp(access->host, HUB) &&
	    insecure_registry_mirror(access->info, mirror) &&
	    check_policy(access, mirror, &wrong) < 0) {
		registry_access_finish(access, &wrong);
		return;
	}
	plain = insecure_registry_of(access->info, access->host);
	if (plain == INSECURE_BY_ADDRESS)
		registry_access_look_up(access);
	else
		check_host(access, plain == INSECURE_YES);
}

int registry_access_check(const struct registries *registries,
			  const struct registry_login *logins, size_t count,
			  struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		owned(credential_clear) struct credential opened = { 0 };

		if (logins[i].sealed &&
		    registries_open(registries, &logins[i], &opened, err) < 0)
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
	    registries_open(registries, login, &found, NULL) == 0) {
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

void registry_access_who(const struct registries *registries, const char *host,
			 const struct registry_login *logins, size_t count,
			 const unsigned char key[REGISTRY_ACCESS_KEY_BYTES],
			 unsigned char who[REGISTRY_ACCESS_WHO_BYTES])
{
	crypto_generichash_state state;
	bool any = false;

	memset(who, 0, REGISTRY_ACCESS_WHO_BYTES);
	crypto_generichash_init(&state, key, REGISTRY_ACCESS_KEY_BYTES,
				REGISTRY_ACCESS_WHO_BYTES);
	for (size_t i = 0; i < count; i++) {
		if (login_variable(&logins[i]) ||
		    (host && strcmp(logins[i].registry, host) != 0))
			continue;
		add_who(registries, &logins[i], &state);
		any = true;
	}
	if (any)
		crypto_generichash_final(&state, who,
					 REGISTRY_ACCESS_WHO_BYTES);
	sodium_memzero(&state, sizeof(state));
}

/* Creation and release. */

struct registry_access *
registry_access_begin(sd_event *loop, struct engine *engine,
		      const struct registries *registries, const char *host,
		      const struct registry_login *logins, size_t count,
		      registry_access_done_fn *done, void *arg,
		      struct error *err)
{
	owned(registry_access_cancel) struct registry_access *access =
		calloc(1, sizeof(*access));

	if (!access || !(access->who = cJSON_CreateObject()) ||
	    (host && !(access->host = strdup(host))))
		return error_null(error_nomem(err, "registry"));
	access->loop = sd_event_ref(loop);
	access->registries = registries;
	access->done = done;
	access->arg = arg;
	if (logins_copy(&access->logins, &access->logins_count, logins, count,
			err) < 0)
		return NULL;
	access->call = engine_info(engine, CALL_MS, registry_access_info_done,
				   access, err);
	return access->call ? take(access) : NULL;
}

void registry_access_cancel(struct registry_access *access)
{
	if (!access)
		return;
	engine_call_cancel(access->call);
	subprocess_cancel(access->lookup);
	credential_cancel(access->asking);
	logins_free(access->logins, access->logins_count);
	cJSON_Delete(access->info);
	secret_json_free(access->who);
	secret_free(access->header);
	strings_clear(&access->hosts);
	sd_event_unref(access->loop);
	free(access->host);
	free(access);
}
