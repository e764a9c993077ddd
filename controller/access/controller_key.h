/* controller_key.h - the controller's own key, and its rotation.
 *
 * The key of the settings is the first one, the anchor. A rotation makes the
 * next key, which is announced to all peers from then on
 * (protocol/wire/server_keys.h). At its time it becomes the current key. The
 * former key is kept, to open what was sealed for it.
 *
 * The file controller.keys of the state folder (mode 0600) holds this in one
 * line: public anchor, secrets of current, former and next key ("-": none), and
 * the time of the next one. Each change is one rename. When the settings name
 * another key than the anchor, the file is ignored.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/wire/key.h"

#include <limits.h>
#include <stdint.h>

#define CONTROLLER_KEY_KEEP_S (7 * 86400U) /* default */
#define CONTROLLER_KEY_KEEP_MIN_S 10
#define CONTROLLER_KEY_KEEP_MAX_S (30 * 86400U)

struct controller_key {
	char path[PATH_MAX];
	char anchor[KEY_TEXT_SIZE];
	struct key current;
	struct key former, next; /* no secret: none */
	int64_t from_ms;         /* start of the next one; wall clock */
};

/* given: the key of the settings. If the time of the next key has come, it
 * becomes the current one. EINVAL: the file is damaged.
 */
int controller_key_open(struct controller_key *keys, const struct key *given,
			const char *state, int64_t now_ms, struct error *err);
void controller_key_clear(struct controller_key *keys);

/* Make the next key, which becomes the current one in keep_s (0:
 * CONTROLLER_KEY_KEEP_S). It is on disk when this returns. EBUSY: there is one
 * already.
 */
int controller_key_rotate(struct controller_key *keys, int64_t now_ms,
			  uint32_t keep_s, struct error *err);

/* Public half of the next key; NULL: there is none. */
const char *controller_key_next(const struct controller_key *keys);
/* Has its time come? Then controller_key_open() makes it the current key. */
bool controller_key_due(const struct controller_key *keys, int64_t now_ms);
