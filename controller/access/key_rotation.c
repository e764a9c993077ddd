/* key_rotation.c - replaces keys by new ones, and revokes keys that have
 * expired.
 */
#include "controller/access/key_rotation.h"
#include "controller/access/key_entry.h"
#include "protocol/base/clock.h"

#include <errno.h>
#include <string.h>

/* The key that `key` replaced, if it is still valid, or NULL. */
static const struct key_entry *find_leaving(const struct access *access,
					    const struct key *key)
{
	for (size_t i = 0; i < access->count; i++) {
		const struct key_entry *entry = &access->entries[i];

		if (!entry->revoked_ms && entry->key.role == key->role &&
		    !strcmp(entry->key.name, key->name) &&
		    strcmp(entry->key.public, key->public) != 0)
			return entry;
	}
	return NULL;
}

static int answer_rotate(const struct access *access, const char *public,
			 struct reply_rotate *reply, struct error *err)
{
	const struct key_entry *entry = key_entry_find(access, public);
	const struct key_entry *old = find_leaving(access, &entry->key);

	reply->old_until_ms = old ? old->until_ms : 0;
	reply->until_ms = entry->until_ms;
	return string_set(&reply->name, entry->key.name, err) < 0
		       ? -1
		       : string_set(&reply->role, role_name(entry->key.role),
				    err);
}

static int check_seconds(const char *what, uint32_t seconds, int64_t least,
			 int64_t most, struct error *err)
{
	if (!seconds || (seconds >= least && seconds <= most))
		return 0;
	return error_set(err, EINVAL,
			 "%s: %u s is not valid here; expected %lld to %lld",
			 what, seconds, (long long)least, (long long)most);
}

static int check_rotate(const struct access *access, const struct key *key,
			const struct message_rotate *message, struct error *err)
{
	const struct key *present = keyring_named(access->keyring, key->name);
	const struct key_entry *leaving = find_leaving(access, key);

	if (!present || strcmp(present->public, key->public) != 0)
		return error_set(err, EACCES,
				 "another key replaced this one; use that key");
	if (leaving)
		return error_set(err, EBUSY,
				 "the previous key is still valid for %lld s; "
				 "rotate again after that",
				 (long long)(leaving->until_ms -
					     clock_wall_ms()) /
					 1000);
	if (check_seconds("keep", message->keep_s, ACCESS_KEEP_MIN_S,
			  ACCESS_KEEP_MAX_S, err) < 0 ||
	    check_seconds("expires", message->for_s, ACCESS_KEY_MIN_S,
			  ACCESS_KEY_MAX_S, err) < 0)
		return -1;
	return key_entry_check_new(access, message->public, err);
}

/* A key that was stolen must not outlive its end by another one. An operator
 * can add keys anyway.
 */
static int set_end(struct key_entry *entry, const struct key_entry *old,
		   uint32_t for_s, struct error *err)
{
	entry->until_ms =
		for_s ? entry->since_ms + (int64_t)for_s * 1000 : old->until_ms;
	if (!old->until_ms || entry->until_ms <= old->until_ms ||
	    entry->key.role == ROLE_OPERATOR)
		return 0;
	return error_set(err, EPERM,
			 "expires: the present key ends in %lld s, and the new "
			 "one cannot end later; ask an operator for a token",
			 (long long)(old->until_ms - entry->since_ms) / 1000);
}

/* Add the new key and limit the old one, with one commit. */
static int succeed(struct access *access, const struct key *key,
		   const char *machine, const struct message_rotate *message,
		   struct error *err)
{
	uint32_t keep_s = message->keep_s ? message->keep_s : ACCESS_KEEP_S;
	struct key_entry *old = key_entry_of(access, key, key->name, err);
	struct key_entry *entry =
		old ? key_entry_add(access, key->name, key->role,
				    message->public, key->name, err)
		    : NULL;
	int64_t end_ms;

	if (!entry)
		return -1;
	old = key_entry_find(access, key->public);
	end_ms = entry->since_ms + (int64_t)keep_s * 1000;
	key_entry_text(entry->machine, sizeof(entry->machine),
		       old->machine[0] ? old->machine : machine);
	key_entry_text(entry->network, sizeof(entry->network), old->network);
	if (set_end(entry, old, message->for_s, err) < 0)
		return -1;
	if (!old->until_ms || old->until_ms > end_ms)
		old->until_ms = end_ms;
	if (key_entry_save(access, entry, err) < 0 ||
	    key_entry_save(access, old, err) < 0 ||
	    keyring_succeed(access->keyring, key->public, entry->key.public,
			    err) < 0)
		return -1;
	access->count++;
	key_entry_note_end(access, old);
	key_entry_note_end(access, entry);
	return 0;
}

int access_rotate(struct access *access, const char *public,
		  const char *machine, const struct message_rotate *message,
		  struct reply_rotate *reply, struct error *err)
{
	const struct key *known = keyring_known(access->keyring, public);
	struct key key;

	if (!known)
		return error_set(err, EACCES, "this key is unknown");
	key = *known;
	/* Sent again after its answer was lost. */
	if (key_entry_is(access, message->public, key.name, key.role, key.name))
		return answer_rotate(access, message->public, reply, err) < 0
			       ? -1
			       : 1;
	if (check_rotate(access, &key, message, err) < 0 ||
	    succeed(access, &key, machine, message, err) < 0)
		return -1;
	return answer_rotate(access, message->public, reply, err);
}

bool access_expire(struct access *access, int64_t now_ms)
{
	if (now_ms < access->end_ms)
		return false;
	access->end_ms = INT64_MAX;
	for (size_t i = 0; i < access->count; i++) {
		struct key_entry *entry = &access->entries[i];

		/* A key that cannot be saved is revoked at the next start. */
		if (entry->key.role != ROLE_JOINER && entry->until_ms &&
		    !entry->revoked_ms && entry->until_ms <= now_ms)
			key_entry_revoke(access, entry, entry->until_ms, NULL);
		key_entry_note_end(access, entry);
	}
	return true;
}
