/* key.h - CURVE key files: a name, a role and a key pair.
 *
 * A key file (mode 0600) holds one party's name, role and key pair:
 *
 *	name: "n1"
 *	role: agent
 *	public: "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
 *	secret: "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
 *
 * The controller's list of keys (keyring.h) is one line a key, as `regatta key
 * show` prints it:
 *
 *	"n1": {role: agent, public: "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"}
 *
 * Keys are Z85 text of 40 characters (ZeroMQ RFC 32; zmq_curve_keypair(3)).
 * Names are [A-Za-z0-9][A-Za-z0-9._-]{0,62}.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/role.h"

#include <stdbool.h>
#include <stdint.h>

#define KEY_TEXT_SIZE 41 /* Z85 and a 0 */
#define KEY_NAME_SIZE 64

struct key {
	char name[KEY_NAME_SIZE];
	enum role role;
	char public[KEY_TEXT_SIZE];
	char secret[KEY_TEXT_SIZE]; /* "" where only the public half is known */
};

const char *role_name(enum role role); /* "agent" ...; NULL */
enum role role_from(const char *name); /* ROLE_NONE: no such role */
bool name_valid(const char *name);

/* Make a new pair. EINVAL: a bad name or role. */
int key_generate(struct key *key, const char *name, enum role role,
		 struct error *err);

/* A text that only the holders of `own` and of the other public key can make:
 * it shows on a connection without CURVE that a peer holds its secret half.
 * EINVAL: the other one is no key.
 */
int key_proof(const struct key *own, const char *other,
	      char proof[KEY_TEXT_SIZE], struct error *err);

/* Write a key file of mode 0600. EEXIST: there is one already. */
int key_save(const struct key *key, const char *path, struct error *err);
/* The same, in place of whatever is there; a reader sees the old or the new. */
int key_replace(const struct key *key, const char *path, struct error *err);

/* Read a key file. EPERM: others may read it; EINVAL names file and line, also
 * where the two halves do not belong together.
 */
int key_load(struct key *key, const char *path, struct error *err);

/* The public key that the file named `given` holds (40 characters of Z85 alone,
 * a line for the controller's list, or a key file) or, where there is no such
 * file, that `given` is.
 */
int key_public(const char *given, char public[KEY_TEXT_SIZE],
	       struct error *err);

/* The line for the controller's list, with its newline. */
int key_line(const struct key *key, char *line, size_t size);

/* Read entry `index` of such a list. EINVAL names file and line. */
struct value;
int key_of_list(struct key *key, const struct value *list, size_t index,
		struct error *err);

/* Is this the text of a key: 40 characters of Z85? */
bool key_text_valid(const char *text);
