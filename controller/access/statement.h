/* statement.h - what a controller signs about the files of a sweep.
 *
 * The statement says: asked by this user at this time, the controller signed
 * this manifest, which lists the files of a sweep that it has. It has not
 * compared the files with its own: a statement is as true as the user who
 * asked for it.
 *
 * A CURVE key agrees on keys, and cannot sign. So the signing key (Ed25519) is
 * derived from its secret half (crypto_kdf_derive_from_key(3) of libsodium,
 * context "statemnt", number 1), and lasts as long as that key. Its public
 * half, the signer, does not follow from the public CURVE key: a reader must be
 * told it.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/message/reply_access.h"
#include "protocol/wire/key.h"

/* Sign: fill signer and signature; the other members are set. ENOMEM; EINVAL:
 * the key has no secret half.
 */
int statement_sign(const struct key *key, struct reply_sign *statement,
		   struct error *err);

/* Is it signed by the signer that it names? */
bool statement_holds(const struct reply_sign *statement);
