/* key_entry.h - the keys of a controller, as they are in the store and in the
 * keyring.
 *
 * Only for this folder; other modules use access.h.
 */
#pragma once

#include "controller/store/store.h"
#include "protocol/base/error.h"
#include "protocol/wire/keyring.h"

#include <stdbool.h>

/* Networks as people write them: 10.0.0.0/8, fd00::/8, 192.0.2.7. */

#define NETWORK_TEXT_SIZE 64

/* EINVAL: not a network. A single address is a network of one address. */
int network_check(const char *text, struct error *err);

/* Is the address in that network? text must be checked before. IPv4 addresses
 * may be written as IPv6 (::ffff:10.0.0.1). A text that is not an address is in
 * no network.
 */
bool network_has(const char *text, const char *address);

/* Including revoked ones, of which the oldest gives way. */
#define ACCESS_KEYS_MAX 65536
/* With keys of the file that are revoked or replaced: that always works. */
#define ACCESS_ROWS_MAX (2 * (size_t)ACCESS_KEYS_MAX)
#define MACHINE_SIZE 65

/* A key_row that owns its texts. */
struct key_entry {
	struct key key;
	char machine[MACHINE_SIZE];      /* "": any */
	char network[NETWORK_TEXT_SIZE]; /* "": any */
	enum role grants;
	char for_name[KEY_NAME_SIZE];
	uint32_t uses;
	bool renew;
	int64_t until_ms;
	char by[KEY_NAME_SIZE];
	int64_t since_ms;
	int64_t revoked_ms;
};

struct access {
	struct store *store;
	struct keyring *keyring;
	struct key_entry *entries;
	size_t count;
	int64_t end_ms; /* no key expires before; INT64_MAX: none does */
};

/* Load all keys of the store into the entries and the keyring. */
int key_entries_load(struct access *access, struct error *err);

/* NULL: there is none, or only the file has the key. */
struct key_entry *key_entry_find(const struct access *access,
				 const char *public);
/* Is it revoked, and refused without its row as well? Then it was enrolled or
 * admitted here, and the file does not have it.
 */
bool key_entry_may_go(const struct access *access,
		      const struct key_entry *entry);
/* A new entry after the last, of now; the caller increases access->count.
 * Pointers to other entries are not valid any more. NULL: ENOSPC, ENOMEM.
 */
struct key_entry *key_entry_add(struct access *access, const char *name,
				enum role role, const char *public,
				const char *by, struct error *err);
/* The entry of a key; made, with since_ms 0, if only the file has the key.
 * Pointers to other entries are not valid any more.
 */
struct key_entry *key_entry_of(struct access *access, const struct key *key,
			       const char *by, struct error *err);

/* Queue its row for the store. */
int key_entry_save(struct access *access, const struct key_entry *entry,
		   struct error *err);
int key_entry_revoke(struct access *access, struct key_entry *entry,
		     int64_t at_ms, struct error *err);
/* Remove the entry, also from the store; the last one takes its place. */
void key_entry_drop(struct access *access, struct key_entry *entry);
/* Update end_ms for the end of this key. */
void key_entry_note_end(struct access *access, const struct key_entry *entry);

/* Is there a key with this public text, name, role and origin? */
bool key_entry_is(const struct access *access, const char *public,
		  const char *name, enum role role, const char *by);
/* May this public text become a key? EINVAL: it is not a key; EACCES: it is
 * revoked; EEXIST.
 */
int key_entry_check_new(const struct access *access, const char *public,
			struct error *err);

/* Copy a text, NULL: "", into one of an entry's, cut to fit. */
void key_entry_text(char *to, size_t size, const char *text);
