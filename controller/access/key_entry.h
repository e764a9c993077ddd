/* key_entry.h - the keys that a controller let in: each as it is in the store
 * and in the keyring.
 *
 * For this folder alone: others know struct access by access.h.
 */
#ifndef CONTROLLER_ACCESS_KEY_ENTRY_H
#define CONTROLLER_ACCESS_KEY_ENTRY_H

#include "controller/access/network.h"
#include "controller/store/store.h"
#include "protocol/wire/keyring.h"

#define ACCESS_KEYS_MAX 65536 /* with those that are revoked */
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
	int64_t end_ms; /* no key ends before; INT64_MAX: none */
};

/* All that the store knows: into entries, and into the keyring. */
int key_entries_load(struct access *access, struct error *err);

/* NULL: there is none, also for a key that only the file lists. */
struct key_entry *key_entry_find(const struct access *access,
				 const char *public);
/* Room for one more behind the last; it counts once access->count says so. The
 * pointers to others are stale. NULL: ENOSPC, ENOMEM.
 */
struct key_entry *key_entry_add(struct access *access, struct error *err);
/* The entry of a key, which may be of the file: then it is made. Stale as
 * above.
 */
struct key_entry *key_entry_of(struct access *access, const struct key *key,
			       const char *by, struct error *err);

/* Into the store. */
int key_entry_save(struct access *access, const struct key_entry *entry,
		   struct error *err);
int key_entry_revoke(struct access *access, struct key_entry *entry,
		     int64_t at_ms, struct error *err);
/* Forget entry, also in the store; the last one takes its place. */
void key_entry_drop(struct access *access, struct key_entry *entry);
/* Have end_ms heed when this key ends. */
void key_entry_note_end(struct access *access, const struct key_entry *entry);

/* The key of that public text is there, of that name, role and origin. */
bool key_entry_is(const struct access *access, const char *public,
		  const char *name, enum role role, const char *by);
/* May this text become a key? EINVAL: it is none; EACCES: it is revoked;
 * EEXIST.
 */
int key_entry_check_new(const struct access *access, const char *public,
			struct error *err);

/* Copy a text, NULL: "", into one of an entry's, cut to fit. */
void key_entry_text(char *to, size_t size, const char *text);

#endif
