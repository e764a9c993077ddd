/* keyring.h - the public keys that may connect: those of a file, and those
 * added here.
 *
 * The file (key.h says how it looks) is read again by itself when it changes. A
 * broken file, also one where two names share a key, changes nothing. Beside
 * them the owner holds keys of its own, which go before what the file says of
 * that name or that key; and it revokes keys, which are then refused whatever
 * the file says.
 */
#ifndef PROTOCOL_WIRE_KEYRING_H
#define PROTOCOL_WIRE_KEYRING_H

#include "protocol/wire/key.h"

/* path NULL: without a file. */
struct keyring;
struct keyring *keyring_new(const char *path, struct error *err);
void keyring_free(struct keyring *keyring);
OWNED_POINTER(struct keyring, keyring_free)

/* Hold a key. A key or a name that is there already is replaced. EINVAL: a bad
 * name or key; EACCES: it is revoked.
 */
int keyring_admit(struct keyring *keyring, const char *name, enum role role,
		  const char *public, struct error *err);

/* Hold the key `next` in place of the one that is `old`, by its name and in its
 * role; the old one stays good beside it, is the one of that name no longer,
 * and is held from now on, whatever the file says. ENOENT: there is no such old
 * key; EEXIST: next is there already; EINVAL, EACCES as above.
 */
int keyring_succeed(struct keyring *keyring, const char *old, const char *next,
		    struct error *err);

/* Forget a held key; when it is revoked, it may not come again. */
void keyring_forget(struct keyring *keyring, const char *public);
int keyring_revoke(struct keyring *keyring, const char *public,
		   struct error *err);

/* The key of that public text, or NULL: not known, or banned at present. The
 * second finds banned ones too, and never reads the file. Borrowed until the
 * next call.
 */
const struct key *keyring_find(struct keyring *keyring, const char *public);
const struct key *keyring_known(const struct keyring *keyring,
				const char *public);
const struct key *keyring_named(struct keyring *keyring, const char *name);

/* Read the file again if it changed. The number is another one when the keys
 * are others than at the last call.
 */
uint64_t keyring_changes(struct keyring *keyring);

/* Refuse all keys of that name for a while. */
void keyring_ban(struct keyring *keyring, const char *name, uint64_t for_ms);

/* Walk all keys, from index 0 to NULL. */
const struct key *keyring_at(const struct keyring *keyring, size_t index);

/* Why the list as it is now could not be read; "" when it was. */
const char *keyring_problem(const struct keyring *keyring);

#endif
