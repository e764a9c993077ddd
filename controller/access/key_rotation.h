/* key_rotation.h - another key in place of one, and the end of those whose time
 * is over.
 *
 * The next key is its owner's own: it is good from the moment that the key
 * before it asks for it, and that one stays good for a while, so that whoever
 * uses it can change over. Both are in the store with one commit. Errors as in
 * access.h.
 */
#ifndef CONTROLLER_ACCESS_KEY_ROTATION_H
#define CONTROLLER_ACCESS_KEY_ROTATION_H

#include "protocol/message/message.h"
#include "protocol/message/reply_access.h"

#define ACCESS_KEEP_S 86400 /* how long a rotated key stays good */
#define ACCESS_KEEP_MIN_S 3600
#define ACCESS_KEEP_MAX_S (7 * 86400L)
#define ACCESS_KEY_MIN_S (30 * 86400L) /* of a new key that ends */
#define ACCESS_KEY_MAX_S (3660 * 86400L)

struct access;

/* Whoever connected with the key `public` gets another one; both are good for
 * a time. EBUSY: the one before that is still good. machine: the one that the
 * new key is bound to where the old one was not; NULL: none. 1: it was so
 * already.
 */
int access_rotate(struct access *access, const char *public,
		  const char *machine, const struct message_rotate *message,
		  struct reply_rotate *reply, struct error *err);

/* Revoke the keys that ended by then. True: there were some, so sessions are to
 * be held to the keyring.
 */
bool access_expire(struct access *access, int64_t now_ms);

#endif
