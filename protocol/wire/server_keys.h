/* server_keys.h - the public keys of the controller: the present one and the
 * next.
 *
 * Settings name one key, the anchor. A controller announces its next key
 * in every session, long before it uses it. A peer keeps the next key in a
 * file. Where a handshake fails, it tries both keys in turn. After the first
 * handshake with the next key, that key is the current one.
 *
 * The file is one line: anchor, former, current and next key, "-" for none.
 * When the settings name another anchor, the file is ignored.
 */
#pragma once

#include "protocol/wire/key.h"

#include <limits.h>

/* The file: in an agent's state folder; appended to the name of a person's key
 * file.
 */
#define SERVER_KEYS_AGENT "controller.keys"
#define SERVER_KEYS_PERSON ".controller"

struct server_keys {
	char path[PATH_MAX]; /* "": not stored */
	char anchor[KEY_TEXT_SIZE];
	char former[KEY_TEXT_SIZE]; /* "": none */
	char current[KEY_TEXT_SIZE];
	char next[KEY_TEXT_SIZE]; /* "": none is known */
};

/* Read the file at path for this anchor. Without a file, or with path "", the
 * anchor is the current key. EINVAL: the file is damaged; then, too.
 */
int server_keys_read(struct server_keys *keys, const char *anchor,
		     const char *path, struct error *err);

/* The controller announced its next key. 1: it is known already, or not a key.
 * On failure nothing changes; call it again with the next announcement.
 */
int server_keys_learn(struct server_keys *keys, const char *next,
		      struct error *err);

/* The controller uses the next key now. That holds also when the file cannot be
 * written; the file then still has both keys.
 */
int server_keys_advance(struct server_keys *keys, struct error *err);
