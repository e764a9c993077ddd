/* controller_key.h - the controller's own key, and the one that follows it.
 *
 * The key that the settings name is the first one, the anchor. Rotating makes
 * the next, which all peers are told from then on
 * (protocol/wire/server_keys.h); at its time it takes the place of the current
 * one. The former one stays, to open what was sealed for it before.
 *
 * The file controller.keys of the state folder (mode 0600) holds all of that in
 * one line: public anchor, secrets of current, former and next key ("-": none),
 * and when the next one counts. Each change is one rename. When the settings
 * name another key than the anchor, the file does not count.
 */
#ifndef CONTROLLER_ACCESS_CONTROLLER_KEY_H
#define CONTROLLER_ACCESS_CONTROLLER_KEY_H

#include "protocol/base/error.h"
#include "protocol/wire/key.h"

#include <limits.h>
#include <stdint.h>

#define CONTROLLER_KEY_KEEP_S (7 * 86400U) /* unless it is said */
#define CONTROLLER_KEY_KEEP_MIN_S 10
#define CONTROLLER_KEY_KEEP_MAX_S (30 * 86400U)

struct controller_key {
	char path[PATH_MAX];
	char anchor[KEY_TEXT_SIZE];
	struct key current;
	struct key former, next; /* no secret: none */
	int64_t from_ms;         /* when the next one counts; wall clock */
};

/* given: the key of the settings. A next key whose time has come is the current
 * one. EINVAL: the file is damaged.
 */
int controller_key_open(struct controller_key *keys, const struct key *given,
			const char *state, int64_t now_ms, struct error *err);
void controller_key_clear(struct controller_key *keys);

/* Make the next key, which counts in keep_s (0: CONTROLLER_KEY_KEEP_S). EBUSY:
 * there is one already. It is on disk when this returns.
 */
int controller_key_rotate(struct controller_key *keys, int64_t now_ms,
			  uint32_t keep_s, struct error *err);

/* Public half of the next key; NULL: there is none. */
const char *controller_key_next(const struct controller_key *keys);
/* Its time has come: whoever opens the file from now on has it. */
bool controller_key_due(const struct controller_key *keys, int64_t now_ms);

#endif
