/* access.h - the keys that may connect: enrolled by a token, admitted by an
 * operator, or revoked.
 *
 * A token is a key pair whose secret half only its holder has. Here it is a key
 * of role joiner, which may enrol one key for each use, and nothing else. Keys
 * that are enrolled, admitted or revoked are put into the store and the keyring
 * in the same step, and take precedence over the file with the list of keys.
 * Keys of that file can be revoked, too.
 *
 * A key that was enrolled or admitted, and then revoked, is kept for a year;
 * the oldest of them makes room when there are too many. Without its row it is
 * as unknown as any. What is revoked of the file stays so.
 *
 * Times are wall clock. A token that is used up or has expired is kept for
 * another day, so that its holder is told why. Errors: EINVAL; EEXIST, the name
 * or key exists already; ENOENT; EACCES, the token does not allow it; ENOSPC;
 * ENOMEM. Their texts are for the person who sent the request.
 */
#pragma once

#include "controller/store/store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"
#include "protocol/wire/keyring.h"

#define ACCESS_TOKENS_MAX 4096
#define ACCESS_TOKEN_S 3600              /* how long a token is valid */
#define ACCESS_TOKEN_MAX_S (366 * 86400) /* at most */
#define ACCESS_USES_MAX 16384

/* Both are borrowed. The keys of the store are added to the keyring. */
struct access;
struct access *access_new(struct store *store, struct keyring *keyring,
			  struct error *err);
void access_free(struct access *access);
OWNED_POINTER(struct access, access_free)

/* These fill `reply`. by: name of the key that sent the request. */
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

/* May an agent with this key be on this machine (NULL: unknown)? An enrolled
 * key belongs to the machine that enrolled it. EACCES.
 */
int access_check_machine(const struct access *access, const char *public,
			 const char *machine, struct error *err);

/* May this key be used from this address? A key that was enrolled by a token
 * with a network is valid only from that network. EACCES.
 */
int access_check_address(const struct access *access, const char *public,
			 const char *address, struct error *err);

/* Call fn for each key, also those of the file (by: "keys file"), and for each
 * token, until it returns -1. Its arguments are borrowed.
 */
typedef int access_key_fn(const struct key_info *key, void *arg);
typedef int access_token_fn(const struct token_info *token, void *arg);
int access_keys(const struct access *access, access_key_fn *fn, void *arg);
int access_tokens(const struct access *access, access_token_fn *fn, void *arg);
