/* login.h - a login for a registry, or a secret, sealed for one reader.
 *
 * Whoever submits a sweep may send with it who he is to the registries of its
 * images. Each login travels sealed (libsodium's crypto_box_seal(3)): to the
 * controller's CURVE key by the command line, to an agent's by the controller,
 * so that what is stored anywhere is of use to the owner of that key alone. A
 * CURVE key is one of X25519, which sealed boxes take, too (zmq_curve(7)).
 *
 * Inside stands which registry it is for and the public key of who sealed it,
 * so that nobody can pass off a sealed login that he came by as his own.
 *
 * The secrets of a sweep travel the same way, among its logins: in the place of
 * the registry stands "$NAME" for a variable of the container or "/NAME" for a
 * file of it, and the token is its value. No registry's name begins so.
 */
#ifndef PROTOCOL_REGISTRY_LOGIN_H
#define PROTOCOL_REGISTRY_LOGIN_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/spec.h"
#include "protocol/wire/key.h"

#define LOGINS_MAX 32               /* that go with one sweep */
#define LOGIN_TEXT_MAX 16384        /* bytes of JSON inside */
#define LOGIN_SEALED_MAX (22 << 10) /* of base64 */

#define LOGIN_VARIABLE_MAX 64 /* bytes of a secret's name */

struct credential; /* protocol/registry/credential.h */

/* Is it the name of a variable: letters, digits, '_', no digit first? */
bool login_variable_valid(const char *name);

/* The name of the secret that it is; NULL: it is for a registry. */
const char *login_variable(const struct registry_login *login);
/* Is it a secret that the container gets as a file? */
bool login_is_file(const struct registry_login *login);
/* What stands in the place of the registry of such a secret. */
void login_secret_name(char text[LOGIN_VARIABLE_MAX + 2], const char *name,
		       bool as_file);

void login_clear(struct registry_login *login);
OWNED_VALUE(struct registry_login, login_clear)

/* from: public key of who seals, to: of who is to open. E2BIG: the credential
 * is longer than LOGIN_TEXT_MAX.
 */
int login_seal(const char *registry, const struct credential *credential,
	       const char *from, const char *to, struct registry_login *login,
	       struct error *err);

/* The credential must be cleared. from: who must have sealed it; NULL: anybody.
 * EKEYREJECTED: it is for another key, or from another one; EPROTO: what is in
 * it is no login for that registry.
 */
int login_open(const struct registry_login *login, const struct key *key,
	       const char *from, struct credential *credential,
	       struct error *err);

/* At most LOGINS_MAX, each of a registry (or variable) of its own and not too
 * long: EPROTO.
 */
int logins_check(const struct registry_login *logins, size_t count,
		 struct error *err);

/* NULL: none for that registry. */
const struct registry_login *logins_find(const struct registry_login *logins,
					 size_t count, const char *registry);

int logins_copy(struct registry_login **to, size_t *to_count,
		const struct registry_login *from, size_t count,
		struct error *err);
void logins_free(struct registry_login *logins, size_t count);

#endif
