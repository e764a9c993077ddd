/* credential.h - finds the login for a registry in Docker's config.json.
 *
 * The file is read at each call, so that changes apply without a restart. Its
 * keys "auths" (auth, username and password, identitytoken), "credHelpers" and
 * "credsStore" are used, others ignored. EACCES: it is not a regular file owned
 * by root or this user, or others may read it. A credential helper is the
 * program docker-credential-NAME, run without a shell for at most
 * CREDENTIAL_HELPER_MS.
 *
 * No error and no log line holds a secret. Memory that held a secret is
 * overwritten.
 *
 * Source: docs.docker.com/reference/cli/docker/login, "Credential stores";
 * Docker Engine API 1.41, "Authentication", "Build an image".
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/base/secret.h"
#include "protocol/message/codec.h"

#include <stddef.h>
#include <systemd/sd-event.h>

#define CREDENTIAL_FILE_MAX (1 << 20)
#define CREDENTIAL_HELPER_MS 10000
#define CREDENTIAL_HEADER_MAX (64 << 10) /* bytes before base64 */

/* Either a token, or a name and a password. All NULL: anonymous. */
struct credential {
	char *username;
	char *password;
	char *token; /* an identity token */
};
void credential_clear(struct credential *credential);
OWNED_VALUE(struct credential, credential_clear)

/* Does the file exist, with a safe owner and mode, and hold valid JSON? */
int credential_check(const char *path, struct error *err);

/* Add the registries that the file names to the list, once each: HOST[:PORT],
 * "docker.io" for Docker Hub.
 */
int credential_registries(const char *path, struct strings *registries,
			  struct error *err);

/* Exactly one of err and credential is NULL; it is borrowed. For a registry
 * that the file does not name the credential is empty (anonymous).
 */
typedef void credential_done_fn(void *arg, const struct error *err,
				const struct credential *credential);

struct credential_wait;

/* Look up the login for a registry: HOST[:PORT], "docker.io" for Docker Hub.
 * done() runs once, from the loop, never inside the call. path NULL: the result
 * is anonymous.
 */
struct credential_wait *credential_ask(sd_event *loop, const char *path,
				       const char *registry,
				       credential_done_fn *done, void *arg,
				       struct error *err);
/* done() does not run then. NULL is allowed. */
void credential_cancel(struct credential_wait *wait);
OWNED_POINTER(struct credential_wait, credential_cancel)

/* The header "X-Registry-Auth: ..." for the engine; the caller releases it with
 * secret_free(). NULL: anonymous, or no memory.
 */
char *credential_header(const struct credential *credential,
			const char *registry);

/* The same for the several registries of a build: credential_collect() adds one
 * login to a JSON object (not an anonymous one; -1: no memory), from which
 * credential_map_header() makes "X-Registry-Config: ...".
 */
int credential_collect(cJSON *map, const struct credential *credential,
		       const char *registry);
char *credential_map_header(const cJSON *map);
