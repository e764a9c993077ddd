/* server_keys.c - the public keys of the controller: the present one and the
 * next.
 */
#include "protocol/wire/server_keys.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX 512
#define NONE "-"

/* false: neither a key nor none. */
static bool take_word(char to[KEY_TEXT_SIZE], const char *word)
{
	if (!strcmp(word, NONE)) {
		to[0] = 0;
		return true;
	}
	if (!key_text_valid(word))
		return false;
	memcpy(to, word, KEY_TEXT_SIZE);
	return true;
}

static int server_keys_read_line(struct server_keys *keys, const char *text,
				 struct error *err)
{
	char word[4][KEY_TEXT_SIZE] = { "" };
	struct server_keys got = *keys;

	if (sscanf(text, "%40s %40s %40s %40s", word[0], word[1], word[2],
		   word[3]) != 4 ||
	    !take_word(got.anchor, word[0]) ||
	    !take_word(got.former, word[1]) ||
	    !take_word(got.current, word[2]) || !take_word(got.next, word[3]) ||
	    !got.anchor[0] || !got.current[0])
		return error_set(err, EINVAL,
				 "%.150s: damaged; expected four keys of the "
				 "controller; remove it",
				 keys->path);
	if (!strcmp(got.anchor, keys->anchor))
		*keys = got;
	return 0;
}

int server_keys_read(struct server_keys *keys, const char *anchor,
		     const char *path, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(FILE_MAX);

	*keys = (struct server_keys){ 0 };
	snprintf(keys->path, sizeof(keys->path), "%s", path);
	snprintf(keys->anchor, KEY_TEXT_SIZE, "%s", anchor);
	snprintf(keys->current, KEY_TEXT_SIZE, "%s", anchor);
	if (!path[0] || (access(path, F_OK) < 0 && errno == ENOENT))
		return 0;
	if (file_read(AT_FDCWD, path, &text, err) < 0 ||
	    buffer_append(&text, "", 1, err) < 0)
		return -1;
	return server_keys_read_line(keys, text.data, err);
}

static const char *server_keys_format_key(const char *key)
{
	return key[0] ? key : NONE;
}

static int server_keys_save(const struct server_keys *keys, struct error *err)
{
	char text[FILE_MAX];
	int size = snprintf(text, sizeof(text), "%s %s %s %s\n", keys->anchor,
			    server_keys_format_key(keys->former), keys->current,
			    server_keys_format_key(keys->next));

	if (!keys->path[0])
		return 0;
	return file_write(AT_FDCWD, keys->path, text, (size_t)size, 0600, 1,
			  err);
}

int server_keys_learn(struct server_keys *keys, const char *next,
		      struct error *err)
{
	struct server_keys learned = *keys;

	if (!next || !key_text_valid(next) || !strcmp(next, keys->current) ||
	    !strcmp(next, keys->next))
		return 1;
	memcpy(learned.next, next, KEY_TEXT_SIZE);
	if (server_keys_save(&learned, err) < 0)
		return -1;
	*keys = learned;
	return 0;
}

int server_keys_advance(struct server_keys *keys, struct error *err)
{
	memcpy(keys->former, keys->current, KEY_TEXT_SIZE);
	memcpy(keys->current, keys->next, KEY_TEXT_SIZE);
	keys->next[0] = 0;
	return server_keys_save(keys, err);
}
