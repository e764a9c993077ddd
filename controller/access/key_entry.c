/* key_entry.c - the keys of a controller, as they are in the store and in the
 * keyring.
 */
#include "controller/access/key_entry.h"
#include "protocol/base/clock.h"
#include "protocol/base/list.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IPV4_BITS 96 /* before an IPv4 address that is written as IPv6 */

struct network {
	struct in6_addr address;
	unsigned int bits; /* of the address, that are the network */
};

/* *bits: the size of an address of that family. */
static bool read_address(const char *text, struct in6_addr *address,
			 unsigned int *bits)
{
	struct in_addr v4;

	*bits = 128;
	if (inet_pton(AF_INET6, text, address) == 1)
		return true;
	if (inet_pton(AF_INET, text, &v4) != 1)
		return false;
	*bits = 32;
	memset(address, 0, sizeof(*address));
	memset(&address->s6_addr[10], 0xff, 2);
	memcpy(&address->s6_addr[12], &v4, sizeof(v4));
	return true;
}

static bool read_network(const char *text, struct network *network)
{
	const char *slash = strchr(text, '/');
	char address[NETWORK_TEXT_SIZE];
	unsigned int most, bits = 0;
	int end = 0;

	if (strlen(text) >= sizeof(address))
		return false;
	snprintf(address, sizeof(address), "%.*s",
		 slash ? (int)(slash - text) : (int)strlen(text), text);
	if (!read_address(address, &network->address, &most))
		return false;
	if (slash && (slash[1] < '0' || slash[1] > '9' ||
		      sscanf(slash + 1, "%3u%n", &bits, &end) != 1 ||
		      slash[1 + end] || bits > most))
		return false;
	network->bits = (slash ? bits : most) + (most == 32 ? IPV4_BITS : 0);
	return true;
}

int network_check(const char *text, struct error *err)
{
	struct network network;

	if (read_network(text, &network))
		return 0;
	return error_set(err, EINVAL,
			 "'%.60s' is not valid here; expected a network such "
			 "as 10.0.0.0/8 or fd00::/8",
			 text);
}

bool network_has(const char *text, const char *address)
{
	struct network network;
	struct in6_addr other;
	unsigned int bits, whole;
	int mask;

	if (!read_network(text, &network) ||
	    !read_address(address, &other, &bits))
		return false;
	whole = network.bits / 8;
	mask = 0xff00 >> network.bits % 8 & 0xff;
	return !memcmp(&network.address, &other, whole) &&
	       (!mask ||
		!((network.address.s6_addr[whole] ^ other.s6_addr[whole]) &
		  mask));
}

void key_entry_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

struct key_entry *key_entry_find(const struct access *access,
				 const char *public)
{
	for (size_t i = 0; i < access->count; i++)
		if (!strcmp(access->entries[i].key.public, public))
			return &access->entries[i];
	return NULL;
}

bool key_entry_may_go(const struct access *access,
		      const struct key_entry *entry)
{
	return entry->revoked_ms && entry->since_ms &&
	       !keyring_listed(access->keyring, entry->key.public);
}

static bool key_entry_drop_oldest(struct access *access)
{
	struct key_entry *oldest = NULL;

	for (size_t i = 0; i < access->count; i++) {
		struct key_entry *entry = &access->entries[i];

		if ((!oldest || entry->revoked_ms < oldest->revoked_ms) &&
		    key_entry_may_go(access, entry))
			oldest = entry;
	}
	if (oldest)
		key_entry_drop(access, oldest);
	return oldest;
}

/* Space for one more entry, all zero; the caller increases access->count. */
static struct key_entry *key_entry_reserve(struct access *access, size_t most,
					   struct error *err)
{
	struct key_entry *entries;

	while (access->count >= most && key_entry_drop_oldest(access))
		;
	if (access->count >= most)
		return error_null(
			error_set(err, ENOSPC, "keys: %zu; expected at most %d",
				  access->count + 1, ACCESS_KEYS_MAX));
	entries = list_grow(access->entries, access->count, sizeof(*entries),
			    err);
	if (!entries)
		return NULL;
	access->entries = entries;
	return &entries[access->count];
}

static struct key_entry *key_entry_put(struct access *access, size_t most,
				       const char *name, enum role role,
				       const char *public, const char *by,
				       struct error *err)
{
	struct key_entry *entry = key_entry_reserve(access, most, err);

	if (!entry)
		return NULL;
	key_entry_text(entry->key.name, sizeof(entry->key.name), name);
	key_entry_text(entry->key.public, sizeof(entry->key.public), public);
	key_entry_text(entry->by, sizeof(entry->by), by);
	entry->key.role = role;
	entry->since_ms = clock_wall_ms();
	return entry;
}

struct key_entry *key_entry_add(struct access *access, const char *name,
				enum role role, const char *public,
				const char *by, struct error *err)
{
	return key_entry_put(access, ACCESS_KEYS_MAX, name, role, public, by,
			     err);
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

int key_entry_save(struct access *access, const struct key_entry *entry,
		   struct error *err)
{
	const struct key_row row = {
		.public = entry->key.public,
		.name = entry->key.name,
		.role = role_name(entry->key.role),
		.machine = or_null(entry->machine),
		.network = or_null(entry->network),
		.grants = role_name(entry->grants),
		.for_name = or_null(entry->for_name),
		.uses = entry->uses,
		.renew = entry->renew,
		.until_ms = entry->until_ms,
		.by = entry->by,
		.since_ms = entry->since_ms,
		.revoked_ms = entry->revoked_ms,
	};

	return store_put_key(access->store, &row, err);
}

void key_entry_drop(struct access *access, struct key_entry *entry)
{
	keyring_forget(access->keyring, entry->key.public);
	store_remove_key(access->store, entry->key.public, NULL);
	*entry = access->entries[--access->count];
}

void key_entry_note_end(struct access *access, const struct key_entry *entry)
{
	if (entry->key.role != ROLE_JOINER && entry->until_ms &&
	    !entry->revoked_ms && entry->until_ms < access->end_ms)
		access->end_ms = entry->until_ms;
}

/* Loading. */

struct loading {
	struct access *access;
	struct error *err;
};

/* Add the key to the keyring. Rows come in order of age: of two keys of one
 * name the second replaces the first.
 */
static int add_to_keyring(struct access *access, const struct key_entry *entry,
			  struct error *err)
{
	const struct key *key = &entry->key;
	const struct key *there = keyring_named(access->keyring, key->name);

	if (entry->revoked_ms)
		return keyring_revoke(access->keyring, key->public, err);
	if (there && there->role == key->role &&
	    key_entry_find(access, there->public))
		return keyring_succeed(access->keyring, there->public,
				       key->public, err);
	return keyring_admit(access->keyring, key->name, key->role, key->public,
			     err);
}

static int key_entry_load(const struct key_row *row, void *arg)
{
	struct loading *loading = arg;
	struct access *access = loading->access;
	struct key_entry *entry =
		key_entry_put(access, ACCESS_ROWS_MAX, row->name,
			      role_from(row->role), row->public, row->by,
			      loading->err);

	if (!entry)
		return -1;
	key_entry_text(entry->machine, sizeof(entry->machine), row->machine);
	key_entry_text(entry->network, sizeof(entry->network), row->network);
	/* Up to version 10 of the store a token's network was its machine. */
	if (!row->network && !strcmp(row->role, role_name(ROLE_JOINER)))
		key_entry_text(entry->network, sizeof(entry->network),
			       row->machine);
	key_entry_text(entry->for_name, sizeof(entry->for_name), row->for_name);
	entry->grants = row->grants ? role_from(row->grants) : ROLE_NONE;
	entry->uses = row->uses;
	entry->renew = row->renew;
	entry->until_ms = row->until_ms;
	entry->since_ms = row->since_ms;
	entry->revoked_ms = row->revoked_ms;
	if (add_to_keyring(access, entry, loading->err) < 0)
		return -1;
	access->count++;
	key_entry_note_end(access, entry);
	return 0;
}

int key_entries_load(struct access *access, struct error *err)
{
	struct loading loading = { access, err };

	access->end_ms = INT64_MAX;
	if (store_keys(access->store, key_entry_load, &loading, err) < 0)
		return error_prefix(err, "keys in the store");
	return 0;
}

int key_entry_check_new(const struct access *access, const char *public,
			struct error *err)
{
	const struct key *known;
	const struct key_entry *entry;

	if (!key_text_valid(public))
		return error_set(err, EINVAL,
				 "public: not a key; expected 40 characters of "
				 "Z85");
	entry = key_entry_find(access, public);
	if (entry && entry->revoked_ms)
		return error_set(err, EACCES,
				 "this key is revoked; create a new one");
	known = keyring_known(access->keyring, public);
	if (known)
		return error_set(err, EEXIST, "this key is that of %s",
				 known->name);
	return 0;
}

bool key_entry_is(const struct access *access, const char *public,
		  const char *name, enum role role, const char *by)
{
	const struct key_entry *entry = key_entry_find(access, public);

	return entry && !entry->revoked_ms && entry->key.role == role &&
	       !strcmp(entry->key.name, name) && !strcmp(entry->by, by);
}

struct key_entry *key_entry_of(struct access *access, const struct key *key,
			       const char *by, struct error *err)
{
	struct key_entry *entry = key_entry_find(access, key->public);

	if (entry)
		return entry;
	entry = key_entry_reserve(access, ACCESS_ROWS_MAX, err);
	if (!entry)
		return NULL;
	entry->key = *key;
	key_entry_text(entry->by, sizeof(entry->by), by);
	access->count++;
	return entry;
}

int key_entry_revoke(struct access *access, struct key_entry *entry,
		     int64_t at_ms, struct error *err)
{
	entry->revoked_ms = at_ms;
	if (key_entry_save(access, entry, err) < 0)
		return -1;
	return keyring_revoke(access->keyring, entry->key.public, err);
}
