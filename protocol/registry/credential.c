/* credential.c - finds the login for a registry in Docker's config.json.
 */
#include "protocol/registry/credential.h"

#include "protocol/base/file.h"
#include "protocol/base/subprocess.h"
#include "protocol/message/codec.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELPER_OUTPUT_MAX (64 << 10)
#define HUB "docker.io"
#define HUB_KEY "https://index.docker.io/v1/" /* docker login's name for it */
#define HELPER_PREFIX "docker-credential-"

struct credential_wait {
	sd_event_source *soon;
	struct subprocess *tool;
	char *helper;
	char *registry;
	struct credential found;
	struct error error; /* code 0: none */
	credential_done_fn *done;
	void *arg;
};

void credential_clear(struct credential *credential)
{
	secret_free(credential->username);
	secret_free(credential->password);
	secret_free(credential->token);
	*credential = (struct credential){ 0 };
}

/* Reading the file. */

static int credential_check_owner(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return error_set(err, EACCES,
				 "%s: belongs to user %u; credentials must "
				 "belong to root or to the agent's user",
				 path, (unsigned int)st.st_uid);
	if (st.st_mode & 077)
		return error_set(err, EACCES,
				 "%s: mode %04o found, others may read it; "
				 "expected 0600: chmod 600 %s",
				 path, (unsigned int)(st.st_mode & 07777),
				 path);
	return 0;
}

/* The parser's own error could quote a secret. */
static cJSON *credential_parse(const char *text, size_t size, const char *path,
			       struct error *err)
{
	cJSON *tree = codec_parse(text, size, NULL);

	if (cJSON_IsObject(tree))
		return tree;
	secret_json_free(tree);
	return error_null(
		error_set(err, EPROTO,
			  "%s: not a JSON object as written by docker login",
			  path));
}

static cJSON *credential_load_file(const char *path, struct error *err)
{
	owned(secret_buffer_clear) struct buffer text;
	owned_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	buffer_init(&text, CREDENTIAL_FILE_MAX);
	if (fd < 0)
		return error_null(error_errno(err, "%s", path));
	if (credential_check_owner(fd, path, err) < 0 ||
	    file_read_fd(fd, path, &text, err) < 0)
		return NULL;
	return credential_parse(text.data, text.size, path, err);
}

int credential_check(const char *path, struct error *err)
{
	cJSON *tree = credential_load_file(path, err);

	secret_json_free(tree);
	return tree ? 0 : -1;
}

/* The login for one registry. */

static const char *credential_find_text(const cJSON *object, const char *name)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));
}

static char *credential_copy_text(const char *text)
{
	return text && *text ? strdup(text) : NULL;
}

/* The host of a key, which may be a URL: "https://host/v1/" is "host". False:
 * it is no valid one.
 */
static bool key_host(const char *key, char host[REFERENCE_HOST_MAX + 1])
{
	const char *at = strstr(key, "://");
	size_t size;

	at = at ? at + 3 : key;
	size = strcspn(at, "/");
	snprintf(host, REFERENCE_HOST_MAX + 1, "%.*s", (int)size, at);
	return size <= REFERENCE_HOST_MAX && reference_host_valid(host);
}

static bool is_key_of(const char *key, const char *registry)
{
	char host[REFERENCE_HOST_MAX + 1];

	return (!strcmp(registry, HUB) && !strcmp(key, HUB_KEY)) ||
	       (key_host(key, host) && !strcmp(host, registry));
}

static int add_registry(const char *key, struct strings *registries,
			struct error *err)
{
	char host[REFERENCE_HOST_MAX + 1];

	if (!strcmp(key, HUB_KEY))
		snprintf(host, sizeof(host), HUB);
	else if (!key_host(key, host))
		return 0;
	return strings_has(registries, host)
		       ? 0
		       : strings_add(registries, host, err);
}

int credential_registries(const char *path, struct strings *registries,
			  struct error *err)
{
	static const char *const names[] = { "auths", "credHelpers" };
	owned(secret_json_free) cJSON *tree = credential_load_file(path, err);
	const cJSON *item;

	if (!tree)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cJSON_ArrayForEach(item,
				   cJSON_GetObjectItemCaseSensitive(tree,
								    names[i]))
			if (item->string &&
			    add_registry(item->string, registries, err) < 0)
				return -1;
	}
	return 0;
}

static const cJSON *credential_find_entry(const cJSON *object,
					  const char *registry)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, object)
		if (item->string && is_key_of(item->string, registry))
			return item;
	return NULL;
}

/* "name:password" in base64. */
static int split_auth(const char *auth, struct credential *to)
{
	size_t size = strlen(auth), got = 0;
	owned(secret_free) char *plain = calloc(1, size + 1);
	char *colon;

	if (!plain ||
	    sodium_base642bin((unsigned char *)plain, size, auth, size, "\n",
			      &got, NULL, sodium_base64_VARIANT_ORIGINAL) < 0)
		return -1;
	plain[got] = 0;
	colon = strchr(plain, ':');
	if (!colon)
		return -1;
	*colon = 0;
	to->username = strdup(plain);
	to->password = strdup(colon + 1);
	return to->username && to->password ? 0 : -1;
}

static int credential_read_entry(const cJSON *entry, const char *registry,
				 struct credential *to, struct error *err)
{
	const char *auth = credential_find_text(entry, "auth");

	to->token = credential_copy_text(
		credential_find_text(entry, "identitytoken"));
	if (to->token)
		return 0;
	if (auth && *auth && split_auth(auth, to) < 0) {
		credential_clear(to);
		return error_set(err, EPROTO,
				 "credentials for %.100s: \"auth\" is not "
				 "NAME:PASSWORD in base64",
				 registry);
	}
	if (!to->username) {
		to->username = credential_copy_text(
			credential_find_text(entry, "username"));
		to->password = credential_copy_text(
			credential_find_text(entry, "password"));
	}
	return 0;
}

/* Docker's name for it, where it is a key or an address. */
static const char *address_of(const char *registry)
{
	return strcmp(registry, HUB) ? registry : HUB_KEY;
}

/* Helpers. */

static void helper_answer(struct credential_wait *wait, const char *text,
			  size_t size)
{
	owned(secret_json_free) cJSON *answer = codec_parse(text, size, NULL);
	const char *name = credential_find_text(answer, "Username");
	const char *secret = credential_find_text(answer, "Secret");

	if (!name || !secret) {
		error_set(&wait->error, EPROTO,
			  "credential helper %.100s: no Username and Secret in "
			  "its answer",
			  wait->helper);
	} else if (!strcmp(name, "<token>")) {
		wait->found.token = credential_copy_text(secret);
	} else {
		wait->found.username = credential_copy_text(name);
		wait->found.password = credential_copy_text(secret);
	}
}

static void credential_tell(struct credential_wait *wait)
{
	wait->done(wait->arg, wait->error.code ? &wait->error : NULL,
		   wait->error.code ? NULL : &wait->found);
	credential_cancel(wait);
}

/* A helper that has no login prints this and exits with 1. */
static void helper_done(void *arg, const struct error *err,
			const struct subprocess_output *output)
{
	static const char nothing[] = "credentials not found";
	struct credential_wait *wait = arg;

	wait->tool = NULL;
	if (err)
		error_set(&wait->error, err->code, "credential helper: %s",
			  err->text);
	else if (output->exit_code == 0)
		helper_answer(wait, output->text, output->size);
	else if (!strstr(output->text, nothing))
		/* Its output is left out: it could hold a part of a secret. */
		error_set(&wait->error, EIO,
			  "credential helper %.100s: exit code %d%s",
			  wait->helper, output->exit_code,
			  output->exit_code == 127 ? ": no such program" : "");
	credential_tell(wait);
}

static int run_helper(struct credential_wait *wait, sd_event *loop,
		      const char *name, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 };
	struct subprocess_command command = {
		.argv = &argv,
		.input = address_of(wait->registry),
		.timeout_ms = CREDENTIAL_HELPER_MS,
		.output_max = HELPER_OUTPUT_MAX,
	};

	if (!text_is_of(name, SIZE_MAX, ASCII_LETTERS ASCII_DIGITS "._-"))
		return error_set(err, EINVAL,
				 "credential helper \"%.60s\": expected "
				 "letters, digits, '.', '_' and '-'",
				 name);
	if (asprintf(&wait->helper, HELPER_PREFIX "%s", name) < 0) {
		wait->helper = NULL;
		return error_nomem(err, "credentials");
	}
	if (strings_add(&argv, wait->helper, err) < 0 ||
	    strings_add(&argv, "get", err) < 0)
		return -1;
	wait->tool = subprocess_run(loop, &command, helper_done, wait, err);
	return wait->tool ? 0 : -1;
}

/* Asking. */

static int credential_soon_run(sd_event_source *source, void *arg)
{
	credential_tell(arg);
	return 0;
}

/* 1: a helper is at work. */
static int credential_search(struct credential_wait *wait, sd_event *loop,
			     const cJSON *tree, struct error *err)
{
	const cJSON *entry = credential_find_entry(
		cJSON_GetObjectItemCaseSensitive(tree, "credHelpers"),
		wait->registry);
	const char *helper = cJSON_GetStringValue(entry);

	if (!helper) {
		entry = credential_find_entry(
			cJSON_GetObjectItemCaseSensitive(tree, "auths"),
			wait->registry);
		if (entry && credential_read_entry(entry, wait->registry,
						   &wait->found, err) < 0)
			return -1;
		if (wait->found.username || wait->found.token)
			return 0;
		helper = credential_find_text(tree, "credsStore");
	}
	if (!helper)
		return 0;
	return run_helper(wait, loop, helper, err) < 0 ? -1 : 1;
}

static int credential_wait_begin(struct credential_wait *wait, sd_event *loop,
				 const char *path, struct error *err)
{
	owned(secret_json_free) cJSON *tree =
		path ? credential_load_file(path, err) : NULL;
	int rc = 0;

	if (path && !tree)
		return -1;
	if (tree)
		rc = credential_search(wait, loop, tree, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	rc = sd_event_add_defer(loop, &wait->soon, credential_soon_run, wait);
	return rc < 0 ? error_set(err, -rc, "credentials: event loop") : 0;
}

struct credential_wait *credential_ask(sd_event *loop, const char *path,
				       const char *registry,
				       credential_done_fn *done, void *arg,
				       struct error *err)
{
	owned(credential_cancel) struct credential_wait *wait =
		calloc(1, sizeof(*wait));

	if (!wait || !(wait->registry = strdup(registry)))
		return error_null(error_nomem(err, "credentials"));
	wait->done = done;
	wait->arg = arg;
	if (credential_wait_begin(wait, loop, path, err) < 0)
		return NULL;
	return take(wait);
}

void credential_cancel(struct credential_wait *wait)
{
	if (!wait)
		return;
	subprocess_cancel(wait->tool);
	sd_event_source_disable_unref(wait->soon);
	credential_clear(&wait->found);
	free(wait->helper);
	free(wait->registry);
	free(wait);
}

/* Headers. */

/* The header NAME with the JSON in base64, as the engine wants it. */
static char *header_of(const char *name, const cJSON *json)
{
	static const int variant = sodium_base64_VARIANT_URLSAFE;
	owned(secret_free) char *text =
		secret_json_print(json, CREDENTIAL_HEADER_MAX, NULL);
	size_t before = strlen(name) + 2, size;
	char *to;

	if (!text)
		return NULL;
	size = sodium_base64_ENCODED_LEN(strlen(text), variant);
	to = malloc(before + size);
	if (!to)
		return NULL;
	snprintf(to, before + 1, "%s: ", name);
	sodium_bin2base64(to + before, size, (const unsigned char *)text,
			  strlen(text), variant);
	return to;
}

static bool credential_add_text(cJSON *object, const char *name,
				const char *text)
{
	return !text || cJSON_AddStringToObject(object, name, text);
}

static bool is_somebody(const struct credential *credential)
{
	return credential->token || credential->username;
}

static cJSON *in_json(const struct credential *credential)
{
	const char *token = credential->token;
	cJSON *object = cJSON_CreateObject();

	if (credential_add_text(object, "identitytoken", token) &&
	    (token ||
	     (credential_add_text(object, "username", credential->username) &&
	      credential_add_text(object, "password", credential->password))))
		return object;
	secret_json_free(object);
	return NULL;
}

char *credential_header(const struct credential *credential,
			const char *registry)
{
	owned(secret_json_free) cJSON *object = NULL;

	if (!is_somebody(credential))
		return NULL;
	object = in_json(credential);
	if (!object ||
	    !credential_add_text(object, "serveraddress", address_of(registry)))
		return NULL;
	return header_of("X-Registry-Auth", object);
}

int credential_collect(cJSON *map, const struct credential *credential,
		       const char *registry)
{
	cJSON *object;

	if (!is_somebody(credential))
		return 0;
	object = in_json(credential);
	if (object && cJSON_AddItemToObject(map, address_of(registry), object))
		return 0;
	secret_json_free(object);
	return -1;
}

char *credential_map_header(const cJSON *map)
{
	return map && map->child ? header_of("X-Registry-Config", map) : NULL;
}
