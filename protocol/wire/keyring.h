/* keyring.h - the public keys that may connect: those of a file, and those
 * added here.
 *
 * The file (key.h has its format) is read again when it changes. A file that is
 * not valid, also one where two names share a key, changes nothing. The owner
 * adds keys of its own, which take precedence over the file's entries with the
 * same name or key. It also revokes keys, which are then refused even if the
 * file has them.
 */
#pragma once

#include "protocol/wire/key.h"

/* path NULL: without a file. */
struct keyring;
struct keyring *keyring_new(const char *path, struct error *err);
void keyring_free(struct keyring *keyring);
OWNED_POINTER(struct keyring, keyring_free)

/* Add a key. It replaces a key with the same name or the same public key.
 * EINVAL: name or key is not valid; EACCES: it is revoked.
 */
int keyring_admit(struct keyring *keyring, const char *name, enum role role,
		  const char *public, struct error *err);

/* Give the name and the role of the key `old` to the key `next`. The old one
 * stays valid, but keyring_named() finds the new one. From now on both are keys
 * of the owner. ENOENT: old is not known; EEXIST: next is known already;
 * EINVAL, EACCES as above.
 */
int keyring_succeed(struct keyring *keyring, const char *old, const char *next,
		    struct error *err);

/* Remove a key of the owner; revoke it, so that it cannot be added again. */
void keyring_forget(struct keyring *keyring, const char *public);
int keyring_revoke(struct keyring *keyring, const char *public,
		   struct error *err);

/* The key with that public text; NULL: not known, or banned at present.
 * keyring_known() also finds banned keys, and never reads the file. Borrowed
 * until the next call.
 */
const struct key *keyring_find(struct keyring *keyring, const char *public);
const struct key *keyring_known(const struct keyring *keyring,
				const char *public);
const struct key *keyring_named(struct keyring *keyring, const char *name);

/* Read the file again if it changed. The returned number changes when the keys
 * change.
 */
uint64_t keyring_changes(struct keyring *keyring);

/* Refuse all keys of that name for a while. */
void keyring_ban(struct keyring *keyring, const char *name, uint64_t for_ms);

/* Walk all keys, from *at 0 to NULL. */
const struct key *keyring_next(const struct keyring *keyring, size_t *at);

/* Has the file this key, whatever counts of it? Yes, while it cannot be read.
 */
bool keyring_listed(const struct keyring *keyring, const char *public);

/* Why the present file could not be read; "": it was read. */
const char *keyring_problem(const struct keyring *keyring);
