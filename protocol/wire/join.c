/* join.c - joining a cluster: join tokens, enrolment of keys, key rotation.
 */
#include "protocol/wire/join.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/secret.h"
#include "protocol/message/reply_access.h"
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

/* The endpoint comes from the maker of the token, and goes into files of
 * settings.
 */
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
				 "the token is not whole; expected the line "
				 "that 'regatta node token' or 'regatta user "
				 "add' prints: tcp://HOST:PORT,KEY,SECRET");
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
				 "missing token (expected as an argument, - "
				 "for standard input, or --token-file)");
	if (word && strcmp(word, "-") != 0)
		return join_token_read(token, word, err);
	if (!file || !strcmp(file, "-"))
		file = "/dev/stdin";
	if (file_read_any(file, &text, err) < 0 ||
	    buffer_append(&text, "", 1, err) < 0)
		return error_prefix(err, "token");
	return join_token_read(token, text.data, err);
}

int join_token_make(struct join_token *token, const char *endpoint,
		    const char *server_public, struct error *err)
{
	struct key key;

	if (key_generate(&key, "token", ROLE_JOINER, err) < 0)
		return -1;
	snprintf(token->endpoint, sizeof(token->endpoint), "%s", endpoint);
	memcpy(token->server_public, server_public, KEY_TEXT_SIZE);
	memcpy(token->public, key.public, KEY_TEXT_SIZE);
	memcpy(token->secret, key.secret, KEY_TEXT_SIZE);
	return 0;
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

/* One request of a key, in a session of its own. */

struct asking {
	sd_event *loop;
	struct wire_client *wire;
	const struct key *key; /* that asks */
	struct message_hello hello;
	enum message_type type;
	const void *request;
	const char *unknown; /* what to say when it is refused; NULL: why */
	int (*answer)(struct asking *asking, const struct packed *body);
	void *arg;
	struct error why; /* of the last loss */
	int rc;           /* 1: not known yet */
	struct error *err;
};

static void asking_end(struct asking *asking, int rc)
{
	asking->rc = rc;
	sd_event_exit(asking->loop, 0);
}

static void asking_connected(void *arg)
{
	struct asking *asking = arg;

	wire_client_send(asking->wire, MESSAGE_HELLO, &asking->hello, NULL, 0,
			 NULL);
}

static void asking_take_message(void *arg, enum message_type type, void *body,
				const void *payload, size_t size)
{
	struct asking *asking = arg;
	const struct message_refused *refused = body;

	if (type == MESSAGE_WELCOME)
		wire_client_send(asking->wire, asking->type, asking->request,
				 NULL, 0, NULL);
	else if (type == MESSAGE_REPLY)
		asking_end(asking,
			   asking->answer(asking,
					  &((struct message_reply *)body)
						   ->body));
	else if (type == MESSAGE_REFUSED && refused->request)
		asking_end(asking,
			   error_set(asking->err,
				     refused->code > 0 ? (int)refused->code
						       : EPROTO,
				     "%s", refused->text));
}

static void asking_lost(void *arg, int code, const char *why)
{
	struct asking *asking = arg;

	if (code == EACCES)
		asking_end(asking,
			   error_set(asking->err, EACCES, "%s",
				     asking->unknown ? asking->unknown : why));
	else
		error_set(&asking->why, code, "%s", why);
}

static int asking_timed_out(sd_event_source *source, uint64_t usec, void *arg)
{
	struct asking *asking = arg;

	asking_end(asking,
		   error_set(asking->err, ENOTCONN,
			     "controller not reachable%s%s; check the address, "
			     "and that regatta-controller is running there",
			     asking->why.code ? ": " : "", asking->why.text));
	return 0;
}

static int asking_run(struct asking *asking, const char *endpoint,
		      const char *server, uint32_t timeout_ms,
		      struct error *err)
{
	static const struct wire_client_handler handler = {
		.connected = asking_connected,
		.message = asking_take_message,
		.lost = asking_lost,
	};
	sd_event_source *timer = NULL;
	int rc = sd_event_new(&asking->loop);

	if (rc < 0)
		return error_set(err, -rc, "event loop: cannot be made");
	asking->rc = 1;
	asking->err = err;
	asking->hello.version = PROTOCOL_VERSION;
	asking->hello.software = (char *)"regatta " REGATTA_VERSION;
	asking->wire =
		wire_client_new(asking->loop, NULL, endpoint, asking->key,
				server, &handler, asking, err);
	if (!asking->wire || loop_timer(asking->loop, &timer, timeout_ms,
					asking_timed_out, asking, err) < 0)
		asking->rc = -1;
	else
		rc = sd_event_loop(asking->loop);
	if (asking->rc > 0)
		asking->rc = error_set(err, rc < 0 ? -rc : ECANCELED,
				       "event loop: ended without an answer");
	loop_source_free(&timer);
	wire_client_free(asking->wire);
	sd_event_unref(asking->loop);
	return asking->rc;
}

/* Enrolling. */

static int asking_take_name(struct asking *asking, const struct packed *body)
{
	struct reply_admit reply = { 0 };
	struct key *key = asking->arg;
	int rc = codec_unpack(&reply_admit_schema, body, &reply, asking->err);
	enum role role = rc < 0 ? ROLE_NONE : role_from(reply.role);

	if (rc < 0)
		return error_prefix(asking->err, "the controller's answer");
	if (name_valid(reply.name) && role) {
		snprintf(key->name, sizeof(key->name), "%s", reply.name);
		key->role = role;
	} else {
		rc = error_set(asking->err, EPROTO,
			       "the answer of the controller contains no key");
	}
	codec_clear(&reply_admit_schema, &reply);
	return rc;
}

int join_enrol(const struct join_token *token, struct key *key, bool agent,
	       const char *machine, uint32_t timeout_ms, struct error *err)
{
	struct key own = { .name = "token", .role = ROLE_JOINER };
	/* The answer overwrites *key, so the request has a copy. */
	const struct key wanted = *key;
	const struct message_enrol enrol = {
		.request = 1,
		.agent = agent,
		.name = wanted.name[0] ? (char *)wanted.name : NULL,
		.public = (char *)wanted.public,
		.machine = (char *)machine,
	};
	struct asking asking = {
		.key = &own,
		.type = MESSAGE_ENROL,
		.request = &enrol,
		.unknown = "the controller does not know this token; it has "
			   "expired or was removed",
		.answer = asking_take_name,
		.arg = key,
	};

	memcpy(own.public, token->public, KEY_TEXT_SIZE);
	memcpy(own.secret, token->secret, KEY_TEXT_SIZE);
	return asking_run(&asking, token->endpoint, token->server_public,
			  timeout_ms, err);
}

/* Rotating. */

static int take_times(struct asking *asking, const struct packed *body)
{
	struct join_rotation *rotation = asking->arg;
	struct reply_rotate reply = { 0 };

	if (codec_unpack(&reply_rotate_schema, body, &reply, asking->err) < 0)
		return error_prefix(asking->err, "the controller's answer");
	rotation->old_until_ms = reply.old_until_ms;
	rotation->until_ms = reply.until_ms;
	codec_clear(&reply_rotate_schema, &reply);
	return 0;
}

int join_rotate(struct join_rotation *rotation, const char *machine,
		uint32_t timeout_ms, struct error *err)
{
	const struct message_rotate rotate = {
		.request = 1,
		.public = (char *)rotation->next->public,
		.keep_s = rotation->keep_s,
		.for_s = rotation->for_s,
	};
	bool agent = rotation->key->role == ROLE_AGENT;
	struct asking asking = {
		.key = rotation->key,
		.hello = { .visits = agent,
			   .machine = agent ? (char *)machine : NULL },
		.type = MESSAGE_ROTATE,
		.request = &rotate,
		.answer = take_times,
		.arg = rotation,
	};

	return asking_run(&asking, rotation->endpoint, rotation->server,
			  timeout_ms, err);
}

/* The key, in its files. */

/* Not ".new", where file_write() writes what replaces the key itself. */
static char *next_path(const char *path, struct error *err)
{
	char *text = NULL;

	if (asprintf(&text, "%s.next", path) >= 0)
		return text;
	return error_null(error_nomem(err, "key"));
}

int join_key_prepare(struct key *key, const char *path, const char *name,
		     enum role role, struct error *err)
{
	owned_free char *file = next_path(path, err);

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
	owned_free char *file = next_path(path, err);

	if (!file)
		return -1;
	if (key_replace(key, path, err) < 0)
		return -1;
	if (unlink(file) < 0 && errno != ENOENT)
		return error_errno(err, "%s", file);
	return 0;
}

void join_key_forget(const char *path)
{
	owned_free char *file = next_path(path, NULL);

	if (file)
		unlink(file);
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
	owned(buffer_clear) struct buffer old = BUFFER_INIT(SETTINGS_MAX);

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
	owned(buffer_clear) struct buffer out = BUFFER_INIT(SETTINGS_MAX);
	int rc;

	rc = access(path, F_OK) < 0 ? buffer_text(&out, head, err)
				    : keep_lines(path, keys, &out, err);
	if (rc < 0 || buffer_text(&out, text, err) < 0)
		return -1;
	return file_write(AT_FDCWD, path, out.data, out.size, 0644, 1, err);
}
