/* controller_key.c - the controller's own key, and its rotation. */
#include "controller/access/controller_key.h"
#include "protocol/base/file.h"
#include "protocol/base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define FILE_MAX 512
#define NONE "-"

/* Fill *key from the word for a secret key or for none. False: it is neither.
 */
static bool take_secret(struct key *key, const struct key *like,
			const char *word)
{
	*key = *like;
	key->secret[0] = key->public[0] = 0;
	if (!strcmp(word, NONE))
		return true;
	if (!key_text_valid(word) || zmq_curve_public(key->public, word) < 0)
		return false;
	memcpy(key->secret, word, KEY_TEXT_SIZE);
	return true;
}

static int controller_key_read_line(struct controller_key *keys,
				    const char *text, struct error *err)
{
	char anchor[KEY_TEXT_SIZE], word[3][KEY_TEXT_SIZE] = { "" };
	struct controller_key got = *keys;
	bool good = sscanf(text, "%40s %40s %40s %40s %" SCNd64, anchor,
			   word[0], word[1], word[2], &got.from_ms) == 5 &&
		    take_secret(&got.current, &keys->current, word[0]) &&
		    take_secret(&got.former, &keys->current, word[1]) &&
		    take_secret(&got.next, &keys->current, word[2]) &&
		    got.current.secret[0];

	if (good && !strcmp(anchor, keys->anchor))
		*keys = got;
	explicit_bzero(word, sizeof(word));
	controller_key_clear(&got);
	return good ? 0
		    : error_set(err, EINVAL,
				"%.150s: damaged; it contains the controller's "
				"key; restore it from a copy",
				keys->path);
}

static const char *controller_key_get_word(const struct key *key)
{
	return key->secret[0] ? key->secret : NONE;
}

static int controller_key_save(const struct controller_key *keys,
			       struct error *err)
{
	char text[FILE_MAX];
	int size =
		snprintf(text, sizeof(text), "%s %s %s %s %" PRId64 "\n",
			 keys->anchor, keys->current.secret,
			 controller_key_get_word(&keys->former),
			 controller_key_get_word(&keys->next), keys->from_ms);
	int rc = file_write(AT_FDCWD, keys->path, text, (size_t)size, 0600, 1,
			    err);

	explicit_bzero(text, sizeof(text));
	return rc;
}

static int controller_key_advance(struct controller_key *keys,
				  struct error *err)
{
	keys->former = keys->current;
	keys->current = keys->next;
	explicit_bzero(keys->next.secret, sizeof(keys->next.secret));
	return controller_key_save(keys, err);
}

int controller_key_open(struct controller_key *keys, const struct key *given,
			const char *state, int64_t now_ms, struct error *err)
{
	owned(secret_buffer_clear) struct buffer text;

	buffer_init(&text, FILE_MAX);
	*keys = (struct controller_key){ .current = *given };
	snprintf(keys->anchor, KEY_TEXT_SIZE, "%s", given->public);
	snprintf(keys->path, sizeof(keys->path), "%s/controller.keys", state);
	if (access(keys->path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (file_read(AT_FDCWD, keys->path, &text, err) < 0 ||
	    buffer_append(&text, "", 1, err) < 0 ||
	    controller_key_read_line(keys, text.data, err) < 0)
		return -1;
	return controller_key_due(keys, now_ms)
		       ? controller_key_advance(keys, err)
		       : 0;
}

void controller_key_clear(struct controller_key *keys)
{
	explicit_bzero(keys, sizeof(*keys));
}

int controller_key_rotate(struct controller_key *keys, int64_t now_ms,
			  uint32_t keep_s, struct error *err)
{
	struct controller_key rotated = *keys;
	int rc;

	if (keys->next.secret[0])
		return error_set(err, EBUSY,
				 "the controller's key changes in %" PRId64
				 " s; rotate again after that",
				 (keys->from_ms - now_ms) / 1000);
	if (keep_s && (keep_s < CONTROLLER_KEY_KEEP_MIN_S ||
		       keep_s > CONTROLLER_KEY_KEEP_MAX_S))
		return error_set(err, EINVAL,
				 "keep: %u s is not valid here; expected %d s "
				 "to %u s",
				 keep_s, CONTROLLER_KEY_KEEP_MIN_S,
				 CONTROLLER_KEY_KEEP_MAX_S);
	if (key_generate(&rotated.next, keys->current.name, ROLE_CONTROLLER,
			 err) < 0)
		return -1;
	rotated.from_ms =
		now_ms +
		(int64_t)(keep_s ? keep_s : CONTROLLER_KEY_KEEP_S) * 1000;
	rc = controller_key_save(&rotated, err);
	if (rc == 0)
		*keys = rotated;
	controller_key_clear(&rotated);
	return rc;
}

const char *controller_key_next(const struct controller_key *keys)
{
	return keys->next.secret[0] ? keys->next.public : NULL;
}

bool controller_key_due(const struct controller_key *keys, int64_t now_ms)
{
	return keys->next.secret[0] && now_ms >= keys->from_ms;
}
