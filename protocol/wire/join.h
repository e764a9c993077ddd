/* join.h - joining a cluster: join tokens, enrolment of keys, key rotation.
 *
 * A token is one line without blanks: where the controller listens, its public
 * key, and the secret key of the token itself, both in base64url:
 *
 *	tcp://10.0.0.1:7117,Zk3...,q9A...
 *
 * Whoever holds it connects with the token's key: the controller proves that it
 * is the one that the token speaks of, and everything is encrypted. Of the
 * secret the controller never knows more than the public half.
 */
#ifndef PROTOCOL_WIRE_JOIN_H
#define PROTOCOL_WIRE_JOIN_H

#include "protocol/wire/key.h"

#define JOIN_TOKEN_MAX 400 /* bytes of the text, and a 0 */
#define JOIN_ENDPOINT_SIZE 256

struct join_token {
	char endpoint[JOIN_ENDPOINT_SIZE];
	char server_public[KEY_TEXT_SIZE];
	char public[KEY_TEXT_SIZE]; /* of the token */
	char secret[KEY_TEXT_SIZE];
};

/* EINVAL: no token, or an endpoint that does not fit one. */
int join_token_read(struct join_token *token, const char *text,
		    struct error *err);
/* The same of the token's word on the command line, or of a file; the other one
 * is NULL. Either may be "-": standard input. An argument can be read by all
 * users of the machine as long as the program runs. EINVAL: both or neither.
 */
int join_token_fetch(struct join_token *token, const char *word,
		     const char *file, struct error *err);
int join_token_text(const struct join_token *token, char text[JOIN_TOKEN_MAX],
		    struct error *err);

/* Enrol key, which is a new one; its name is what it would like to be called
 * ("": whatever the token says). Runs a loop of its own for at most timeout_ms.
 * On success key has the name and role that it got. agent: it is going to be
 * one. machine: machine.h, or NULL. EACCES and others: the controller's words;
 * ENOTCONN: it is out of reach. The same call again does no harm.
 */
int join_enrol(const struct join_token *token, struct key *key, bool agent,
	       const char *machine, uint32_t timeout_ms, struct error *err);

/* Have the key next take the place of key, at the controller `server` (public)
 * at endpoint: both are good until *old_until_ms. As above; the same again,
 * also with next as key, does no harm. keep_s, for_s: message_rotate. EBUSY:
 * the key before this one is still good.
 */
struct join_rotation {
	const char *endpoint;
	const char *server;
	const struct key *key, *next;
	uint32_t keep_s, for_s;
	int64_t old_until_ms, until_ms; /* found; 0: not good, without end */
};
int join_rotate(struct join_rotation *rotation, const char *machine,
		uint32_t timeout_ms, struct error *err);

/* A key to enrol, kept in the file path + ".next" until it is: the one that
 * lies there from an attempt before, or a new one.
 */
int join_key_prepare(struct key *key, const char *path, const char *name,
		     enum role role, struct error *err);
/* It is enrolled: into the file path, which it replaces. */
int join_key_settle(const struct key *key, const char *path, struct error *err);
/* The controller will not have it: its file goes. */
void join_key_forget(const char *path);

/* Put lines of settings into the YAML file at path (mode 0644) in place of
 * those that it has of these keys (an array that ends in NULL); its other lines
 * stay. A new file begins with `head`.
 */
int join_settings(const char *path, const char *const *keys, const char *text,
		  const char *head, struct error *err);

#endif
