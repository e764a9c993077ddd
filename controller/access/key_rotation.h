/* key_rotation.h - replaces keys by new ones, and revokes keys that have
 * expired.
 *
 * The owner makes the new key, and registers it with the old one. The old key
 * stays valid for a while, so that its users can change to the new one. Both
 * are stored with one commit. Errors as in access.h.
 */
#pragma once

#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"

#define ACCESS_KEEP_S 86400 /* how long an old key stays valid */
#define ACCESS_KEEP_MIN_S 3600
#define ACCESS_KEEP_MAX_S (7 * 86400L)
#define ACCESS_KEY_MIN_S (30 * 86400L) /* of a new key that ends */
#define ACCESS_KEY_MAX_S (3660 * 86400L)

struct access;

/* Replace the key `public` by the one of the message. machine: that the new key
 * is bound to if the old one was not; NULL: none. EBUSY: the key before this
 * one is still valid. Returns 1 if it was replaced so before.
 */
int access_rotate(struct access *access, const char *public,
		  const char *machine, const struct message_rotate *message,
		  struct reply_rotate *reply, struct error *err);

/* Revoke the keys that have expired. True: there were some; check the sessions
 * against the keyring.
 */
bool access_expire(struct access *access, int64_t now_ms);
