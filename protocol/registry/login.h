/* login.h - seals a registry login, or a secret, for the owner of one key.
 *
 * A sweep may carry logins for the registries of its images. Each login is
 * sealed (libsodium's crypto_box_seal(3)): the command line seals it for the
 * controller's CURVE key, the controller seals it again for an agent's. Only
 * the owner of that key can read a stored login. CURVE keys are X25519 keys, as
 * sealed boxes need them (zmq_curve(7)).
 *
 * The sealed text includes the registry and the public key of the sender, so
 * that nobody can submit a copied login as his own.
 *
 * The secrets of a sweep are sent the same way, among its logins. In place of
 * the registry they have "$NAME" for a variable of the container or "/NAME" for
 * a file; the token is the value. No registry's name begins with these
 * characters.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/spec.h"
#include "protocol/wire/key.h"

#define LOGINS_MAX 32               /* of one sweep */
#define LOGIN_TEXT_MAX 16384        /* bytes of JSON inside */
#define LOGIN_SEALED_MAX (22 << 10) /* of base64 */

#define LOGIN_VARIABLE_MAX 64 /* bytes of a secret's name */

struct credential; /* protocol/registry/credential.h */

/* Is this a valid name of a secret: letters, digits, '_', no digit first? */
bool login_variable_valid(const char *name);

/* The name of the secret; NULL: this is a login for a registry. */
const char *login_variable(const struct registry_login *login);
/* Is it a secret that becomes a file in the container? */
bool login_is_file(const struct registry_login *login);
/* Write "$NAME" or "/NAME", the `registry` of a secret. */
void login_secret_name(char text[LOGIN_VARIABLE_MAX + 2], const char *name,
		       bool as_file);

void login_clear(struct registry_login *login);
OWNED_VALUE(struct registry_login, login_clear)

/* from: public key of the sender, to: of the reader. E2BIG: the credential is
 * longer than LOGIN_TEXT_MAX.
 */
int login_seal(const char *registry, const struct credential *credential,
	       const char *from, const char *to, struct registry_login *login,
	       struct error *err);

/* Open a login. The caller clears the credential. from: the required sender;
 * NULL: any. EKEYREJECTED: it is for another key or from another sender;
 * EPROTO: the content is no login for that registry.
 */
int login_open(const struct registry_login *login, const struct key *key,
	       const char *from, struct credential *credential,
	       struct error *err);

/* EPROTO: more than LOGINS_MAX logins, two for the same registry (or secret),
 * or one that is too long.
 */
int logins_check(const struct registry_login *logins, size_t count,
		 struct error *err);

/* The login for a registry; NULL: none. */
const struct registry_login *logins_find(const struct registry_login *logins,
					 size_t count, const char *registry);

int logins_copy(struct registry_login **to, size_t *to_count,
		const struct registry_login *from, size_t count,
		struct error *err);
void logins_free(struct registry_login *logins, size_t count);
