/* join.h - joining a cluster: join tokens, enrolment of keys, key rotation.
 *
 * A token is one line without blanks: where the controller listens, its public
 * key, and the secret key of the token itself, both in base64url:
 *
 *	tcp://10.0.0.1:7117,Zk3...,q9A...
 *
 * Its holder connects with the token's key. The controller proves that it has
 * the key named in the token, and everything is encrypted. The controller knows
 * only the public half of the token's key.
 */
#pragma once

#include "protocol/wire/key.h"

#define JOIN_TOKEN_MAX 400 /* bytes of the text, and a 0 */
#define JOIN_ENDPOINT_SIZE 256

struct join_token {
	char endpoint[JOIN_ENDPOINT_SIZE];
	char server_public[KEY_TEXT_SIZE];
	char public[KEY_TEXT_SIZE]; /* of the token */
	char secret[KEY_TEXT_SIZE];
};

/* Parse a token. EINVAL: it is not valid. */
int join_token_read(struct join_token *token, const char *text,
		    struct error *err);
/* Read a token from the command line (word) or from a file; the other one is
 * NULL. Each may be "-", standard input, because all users of a machine can
 * read the arguments of a program. EINVAL: both or neither are given.
 */
int join_token_fetch(struct join_token *token, const char *word,
		     const char *file, struct error *err);
/* Make a token for the controller there. Only it knows the secret key. */
int join_token_make(struct join_token *token, const char *endpoint,
		    const char *server_public, struct error *err);
int join_token_text(const struct join_token *token, char text[JOIN_TOKEN_MAX],
		    struct error *err);

/* Enrol a new key. Its name is a proposal ("": none). Runs a loop of its own
 * for at most timeout_ms. On success key has the name and role that the
 * controller gave it. agent: it is an agent's key. machine: machine_id(), or
 * NULL. EACCES and others: from the controller; ENOTCONN: it cannot be reached.
 * The call may be repeated.
 */
int join_enrol(const struct join_token *token, struct key *key, bool agent,
	       const char *machine, uint32_t timeout_ms, struct error *err);

/* Replace key by next at the controller with public key `server`: both are
 * valid until old_until_ms. Otherwise as join_enrol(); the call may be
 * repeated, also with next as key. keep_s, for_s: message_rotate. EBUSY: the
 * key before this one is still valid.
 */
struct join_rotation {
	const char *endpoint;
	const char *server;
	const struct key *key, *next;
	uint32_t keep_s, for_s;
	int64_t old_until_ms, until_ms; /* set by the call. 0: the old key is
					   not valid any more; the new one has
					   no end */
};
int join_rotate(struct join_rotation *rotation, const char *machine,
		uint32_t timeout_ms, struct error *err);

/* A key to enrol. It is stored in the file path + ".next" until it is enrolled;
 * a key that an earlier attempt left there is used again.
 */
int join_key_prepare(struct key *key, const char *path, const char *name,
		     enum role role, struct error *err);
/* It is enrolled: move it to the file path, which it replaces. */
int join_key_settle(const struct key *key, const char *path, struct error *err);
/* The controller refused it: remove its file. */
void join_key_forget(const char *path);

/* Replace the lines with these keys (an array that ends in NULL) in the YAML
 * file at path (mode 0644) by the lines in text. Its other lines stay. A new
 * file begins with `head`.
 */
int join_settings(const char *path, const char *const *keys, const char *text,
		  const char *head, struct error *err);
