/* join.c - joining a cluster: tokens as text, and the enrolling of a key.
 */
#include "protocol/wire/join.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/secret.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define KEY_BYTES 32
#define SETTINGS_MAX 65536
#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING
#define BASE64_SIZE 44 /* of a key, and a 0 */

/* Tokens. */

static bool key_from_base64(char key[KEY_TEXT_SIZE], const char *text,
			    size_t length)
{
	unsigned char bytes[KEY_BYTES];
	const char *end = NULL;
	size_t got = 0;

	if (sodium_base642bin(bytes, sizeof(bytes), text, length, NULL, &got,
			      &end, BASE64) < 0 ||
	    got != KEY_BYTES || end != text + length)
		return false;
	zmq_z85_encode(key, bytes, KEY_BYTES);
	sodium_memzero(bytes, sizeof(bytes));
	return true;
}

static void key_to_base64(char text[BASE64_SIZE], const char *key)
{
	unsigned char bytes[KEY_BYTES];

	zmq_z85_decode(bytes, key);
	sodium_bin2base64(text, BASE64_SIZE, bytes, sizeof(bytes), BASE64);
	sodium_memzero(bytes, sizeof(bytes));
}

/* It goes into files of settings, and comes from whoever made the token. */
static bool endpoint_valid(const char *endpoint, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (endpoint[i] <= ' ' || endpoint[i] > '~' ||
		    strchr("\"\\',#", endpoint[i]))
			return false;
	return length < JOIN_ENDPOINT_SIZE && length > 6 &&
	       (!strncmp(endpoint, "tcp://", 6) ||
		!strncmp(endpoint, "ipc://", 6));
}

int join_token_read(struct join_token *token, const char *text,
		    struct error *err)
{
	const char *server = strchr(text, ',');
	const char *secret = server ? strchr(server + 1, ',') : NULL;
	size_t length = strlen(text);
	struct join_token got = { 0 };

	/* As it was pasted. */
	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		length--;
	if (!secret || !endpoint_valid(text, (size_t)(server - text)) ||
	    !key_from_base64(got.server_public, server + 1,
			     (size_t)(secret - server - 1)) ||
	    !key_from_base64(got.secret, secret + 1,
			     length - (size_t)(secret + 1 - text)) ||
	    zmq_curve_public(got.public, got.secret) < 0)
		return error_set(err, EINVAL,
				 "no token; expected the line that 'regatta "
				 "node token' or 'regatta user add' printed: "
				 "tcp://HOST:PORT,KEY,SECRET");
	memcpy(got.endpoint, text, (size_t)(server - text));
	*token = got;
	return 0;
}

int join_token_fetch(struct join_token *token, const char *word,
		     const char *file, struct error *err)
{
	owned(secret_buffer_clear) struct buffer text;

	buffer_init(&text, JOIN_TOKEN_MAX + 16);
	if (!word == !file)
		return error_set(err, EINVAL,
				 "expected one token: as a word, as - for "
				 "standard input, or with --token-file");
	if (word && strcmp(word, "-") != 0)
		return join_token_read(token, word, err);
	if (!file || !strcmp(file, "-"))
		file = "/dev/stdin";
	if (file_read_any(file, &text, err) < 0 ||
	    buffer_append(&text, "", 1, err) < 0)
		return error_prefix(err, "token");
	return join_token_read(token, text.data, err);
}

int join_token_text(const struct join_token *token, char text[JOIN_TOKEN_MAX],
		    struct error *err)
{
	char server[BASE64_SIZE], secret[BASE64_SIZE];

	if (!endpoint_valid(token->endpoint, strlen(token->endpoint)))
		return error_set(err, EINVAL,
				 "endpoint: '%.100s' is not valid here; "
				 "expected tcp://HOST:PORT",
				 token->endpoint);
	key_to_base64(server, token->server_public);
	key_to_base64(secret, token->secret);
	snprintf(text, JOIN_TOKEN_MAX, "%s,%s,%s", token->endpoint, server,
		 secret);
	sodium_memzero(secret, sizeof(secret));
	return 0;
}

/* Enrolling. */

struct joining {
	sd_event *loop;
	struct wire_client *wire;
	struct key *key;
	struct message_enrol enrol;
	struct error why; /* of the last loss */
	int rc;           /* 1: not known yet */
	struct error *err;
};

static void end(struct joining *joining, int rc)
{
	joining->rc = rc;
	sd_event_exit(joining->loop, 0);
}

static void on_connected(void *arg)
{
	struct joining *joining = arg;
	struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.software = (char *)"regatta " REGATTA_VERSION,
	};

	wire_client_send(joining->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
}

static void on_reply(struct joining *joining, const cJSON *body)
{
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(body, "name");
	const cJSON *role = cJSON_GetObjectItemCaseSensitive(body, "role");
	enum role got =
		cJSON_IsString(role) ? role_from(role->valuestring) : ROLE_NONE;

	if (!cJSON_IsString(name) || !name_valid(name->valuestring) || !got) {
		end(joining, error_set(joining->err, EPROTO,
				       "the controller's answer names no key"));
		return;
	}
	snprintf(joining->key->name, sizeof(joining->key->name), "%s",
		 name->valuestring);
	joining->key->role = got;
	end(joining, 0);
}

static void on_message(void *arg, enum message_type type, void *body,
		       const void *payload, size_t size)
{
	struct joining *joining = arg;
	const struct message_refused *refused = body;

	if (type == MESSAGE_WELCOME)
		wire_client_send(joining->wire, MESSAGE_ENROL, &joining->enrol,
				 NULL, 0, NULL);
	else if (type == MESSAGE_REPLY)
		on_reply(joining, ((struct message_reply *)body)->body);
	else if (type == MESSAGE_REFUSED && refused->request)
		end(joining,
		    error_set(joining->err,
			      refused->code > 0 ? (int)refused->code : EPROTO,
			      "%s", refused->text));
}

static void on_lost(void *arg, int code, const char *why)
{
	struct joining *joining = arg;

	if (code == EACCES)
		end(joining,
		    error_set(joining->err, EACCES,
			      "the controller does not know this token: it is "
			      "old, or was removed"));
	else
		error_set(&joining->why, code, "%s", why);
}

static int on_time(sd_event_source *source, uint64_t usec, void *arg)
{
	struct joining *joining = arg;

	end(joining,
	    error_set(joining->err, ENOTCONN, "controller out of reach%s%s",
		      joining->why.code ? ": " : "", joining->why.text));
	return 0;
}

static int run(struct joining *joining, const struct join_token *token,
	       uint32_t timeout_ms)
{
	static const struct wire_client_handler handler = {
		.connected = on_connected,
		.message = on_message,
		.lost = on_lost,
	};
	struct key key = { .name = "token", .role = ROLE_JOINER };
	sd_event_source *timer = NULL;

	memcpy(key.public, token->public, KEY_TEXT_SIZE);
	memcpy(key.secret, token->secret, KEY_TEXT_SIZE);
	joining->wire = wire_client_new(joining->loop, NULL, token->endpoint,
					&key, token->server_public, &handler,
					joining, joining->err);
	if (!joining->wire || loop_timer(joining->loop, &timer, timeout_ms,
					 on_time, joining, joining->err) < 0)
		joining->rc = -1;
	else
		sd_event_loop(joining->loop);
	loop_source_free(&timer);
	wire_client_free(joining->wire);
	return joining->rc;
}

int join_enrol(const struct join_token *token, struct key *key, bool agent,
	       const char *machine, uint32_t timeout_ms, struct error *err)
{
	struct joining joining = {
		.key = key,
		.rc = 1,
		.err = err,
		.enrol = {
			.request = 1,
			.agent = agent,
			.name = key->name[0] ? key->name : NULL,
			.public = key->public,
			.machine = (char *)machine,
		},
	};
	char name[KEY_NAME_SIZE];
	int rc = sd_event_new(&joining.loop);

	if (rc < 0)
		return error_set(err, -rc, "event loop: cannot be made");
	/* What is asked for does not change with what is got. */
	snprintf(name, sizeof(name), "%s", key->name);
	if (joining.enrol.name)
		joining.enrol.name = name;
	rc = run(&joining, token, timeout_ms);
	sd_event_unref(joining.loop);
	return rc;
}

/* The key, in its files. */

static char *new_path(const char *path, struct error *err)
{
	char *text = NULL;

	if (asprintf(&text, "%s.new", path) >= 0)
		return text;
	error_nomem(err, "key");
	return NULL;
}

int join_key_prepare(struct key *key, const char *path, const char *name,
		     enum role role, struct error *err)
{
	owned_free char *file = new_path(path, err);

	if (!file)
		return -1;
	if (access(file, F_OK) < 0) {
		if (key_generate(key, name, role, err) < 0)
			return -1;
		return key_save(key, file, err);
	}
	if (key_load(key, file, err) < 0)
		return -1;
	snprintf(key->name, sizeof(key->name), "%s", name);
	return 0;
}

int join_key_settle(const struct key *key, const char *path, struct error *err)
{
	owned_free char *file = new_path(path, err);

	if (!file)
		return -1;
	if (key_replace(key, path, err) < 0)
		return -1;
	if (unlink(file) < 0 && errno != ENOENT)
		return error_errno(err, "%s", file);
	return 0;
}

/* Settings. */

static bool is_of(const char *const *keys, const char *line, size_t length)
{
	for (; *keys; keys++) {
		size_t size = strlen(*keys);

		if (length > size && !strncmp(line, *keys, size) &&
		    line[size] == ':')
			return true;
	}
	return false;
}

static int keep_lines(const char *path, const char *const *keys,
		      struct buffer *out, struct error *err)
{
	owned(buffer_clear) struct buffer old;

	buffer_init(&old, SETTINGS_MAX);
	if (file_read_any(path, &old, err) < 0)
		return -1;
	for (const char *line = old.data; line && *line;) {
		size_t length = strcspn(line, "\n");

		length += line[length] == '\n';
		if (!is_of(keys, line, length) &&
		    buffer_append(out, line, length, err) < 0)
			return -1;
		line += length;
	}
	if (out->size && out->data[out->size - 1] != '\n')
		return buffer_text(out, "\n", err);
	return 0;
}

int join_settings(const char *path, const char *const *keys, const char *text,
		  const char *head, struct error *err)
{
	owned(buffer_clear) struct buffer out;
	int rc;

	buffer_init(&out, SETTINGS_MAX);
	rc = access(path, F_OK) < 0 ? buffer_text(&out, head, err)
				    : keep_lines(path, keys, &out, err);
	if (rc < 0 || buffer_text(&out, text, err) < 0)
		return -1;
	return file_write(AT_FDCWD, path, out.data, out.size, 0644, 1, err);
}
