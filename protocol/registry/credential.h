/* credential.h - finds the login for a registry in Docker's config.json.
 *
 * The file is read at each question, so that what changes in it counts without
 * a restart. Of it count "auths" (auth, username and password, identitytoken),
 * "credHelpers" and "credsStore"; the rest is left alone. It must be a regular
 * file of root or of this user that nobody else may read: EACCES otherwise. A
 * credential helper is the program docker-credential-NAME, run without a shell
 * for at most CREDENTIAL_HELPER_MS.
 *
 * No error, and nothing that is logged, holds a secret. Memory that held one is
 * overwritten.
 *
 * Source: docs.docker.com/reference/cli/docker/login, "Credential stores";
 * Docker Engine API 1.41, "Authentication", "Build an image".
 */
#ifndef PROTOCOL_REGISTRY_CREDENTIAL_H
#define PROTOCOL_REGISTRY_CREDENTIAL_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/base/secret.h"
#include "protocol/message/codec.h"

#include <stddef.h>
#include <systemd/sd-event.h>

#define CREDENTIAL_FILE_MAX (1 << 20)
#define CREDENTIAL_HELPER_MS 10000
#define CREDENTIAL_HEADER_MAX (64 << 10) /* before it is base64 */

/* All NULL: nobody. Either a token, or a name and a password. */
struct credential {
	char *username;
	char *password;
	char *token; /* an identity token */
};
void credential_clear(struct credential *credential);
OWNED_VALUE(struct credential, credential_clear)

/* Is the file there, ours and readable as JSON of that form? */
int credential_check(const char *path, struct error *err);

/* Add the registries that the file names, HOST[:PORT] ("docker.io" for the
 * Hub), which are not in the list yet.
 */
int credential_registries(const char *path, struct strings *registries,
			  struct error *err);

/* Exactly one of err and credential is NULL; it is borrowed. A registry that
 * the file does not name is no error: the credential is empty.
 */
typedef void credential_done_fn(void *arg, const struct error *err,
				const struct credential *credential);

struct credential_wait;

/* registry: HOST[:PORT], "docker.io" for the Hub. done() runs from the loop,
 * once, never from inside the call. path NULL: nobody is anybody.
 */
struct credential_wait *credential_ask(sd_event *loop, const char *path,
				       const char *registry,
				       credential_done_fn *done, void *arg,
				       struct error *err);
/* done() does not run. NULL is fine. */
void credential_cancel(struct credential_wait *wait);
OWNED_POINTER(struct credential_wait, credential_cancel)

/* "X-Registry-Auth: ..." for the engine, on the heap, or NULL: nobody, or no
 * memory. The caller overwrites it (secret_free()).
 */
char *credential_header(const struct credential *credential,
			const char *registry);

/* The same of several registries, for a build: each is put into a JSON object
 * (one that is nobody is left out; -1: no memory), which becomes
 * "X-Registry-Config: ...", as above.
 */
int credential_collect(cJSON *map, const struct credential *credential,
		       const char *registry);
char *credential_map_header(const cJSON *map);

#endif
