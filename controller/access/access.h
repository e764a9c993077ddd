/* access.h - who may connect: by a token, let in by an operator, or no longer.
 *
 * A token is a pair of keys whose secret half only its holder has; here it is a
 * key of role joiner, which may enrol one key for each use and nothing else.
 * What is enrolled, let in or revoked is put into the store and into the
 * keyring in the same step, before what the list of keys in a file says. Keys
 * of that file are revoked like others.
 *
 * Times are wall clock. A token that is used up or has expired is known for
 * another day, so that its holder hears why. Errors: EINVAL, EEXIST a name or
 * key that is there already, ENOENT, EACCES what a token does not allow,
 * ENOSPC, ENOMEM; all in words for whoever asked.
 */
#ifndef CONTROLLER_ACCESS_ACCESS_H
#define CONTROLLER_ACCESS_ACCESS_H

#include "controller/store/store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"
#include "protocol/wire/keyring.h"

#define ACCESS_TOKENS_MAX 4096
#define ACCESS_TOKEN_S 3600              /* how long a token holds */
#define ACCESS_TOKEN_MAX_S (366 * 86400) /* at most */
#define ACCESS_USES_MAX 16384

/* Both are borrowed; what the store knows comes into the keyring. */
struct access;
struct access *access_new(struct store *store, struct keyring *keyring,
			  struct error *err);
void access_free(struct access *access);
OWNED_POINTER(struct access, access_free)

/* These answer into `reply`. by: who asks. */
int access_token(struct access *access, const char *by,
		 const struct message_token *message, struct reply_token *reply,
		 struct error *err);
int access_admit(struct access *access, const char *by,
		 const struct message_admit *message, struct reply_admit *reply,
		 struct error *err);
/* ENOENT: no key or token of that kind and name. EPERM: the last operator. */
int access_revoke(struct access *access, const char *by,
		  const struct message_revoke *message,
		  struct reply_revoke *reply, struct error *err);
/* token: the public key that the joiner connected with, from that address. */
int access_enrol(struct access *access, const char *token, const char *address,
		 const struct message_enrol *message, struct reply_admit *reply,
		 struct error *err);

/* May an agent with this key be on this machine (NULL: it did not tell)? A key
 * that was enrolled on one machine does not come from another. EACCES.
 */
int access_check_machine(const struct access *access, const char *public,
			 const char *machine, struct error *err);

/* May anybody with this key come from this address? One that was enrolled by a
 * token for a network comes from that network alone. EACCES.
 */
int access_check_address(const struct access *access, const char *public,
			 const char *address, struct error *err);

/* Call fn for each key, also those of the file (by "keys file"), and for each
 * token, until it returns -1. What it is given is borrowed.
 */
typedef int access_key_fn(const struct key_info *key, void *arg);
typedef int access_token_fn(const struct token_info *token, void *arg);
int access_keys(const struct access *access, access_key_fn *fn, void *arg);
int access_tokens(const struct access *access, access_token_fn *fn, void *arg);

#endif
