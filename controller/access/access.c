/* access.c - who may connect: by a token, let in by an operator, or no longer.
 */
#include "controller/access/access.h"
#include "controller/access/network.h"
#include "protocol/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define MACHINE_SIZE 65
#define REMEMBERED_MS (24LL * 3600 * 1000)
#define PERSONS (ROLE_OPERATOR | ROLE_VIEWER)

/* A key_row that owns its texts. */
struct entry {
	struct key key;
	char machine[MACHINE_SIZE]; /* "": any; of a token, a network */
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
	struct entry *entries;
	size_t count;
	int64_t end_ms; /* no key ends before; INT64_MAX: none */
};

static struct entry *find(const struct access *access, const char *public)
{
	for (size_t i = 0; i < access->count; i++)
		if (!strcmp(access->entries[i].key.public, public))
			return &access->entries[i];
	return NULL;
}

static struct entry *find_token(const struct access *access, const char *name)
{
	for (size_t i = 0; i < access->count; i++)
		if (access->entries[i].key.role == ROLE_JOINER &&
		    !strcmp(access->entries[i].key.name, name))
			return &access->entries[i];
	return NULL;
}

/* Room for one more; the pointers to others are stale. */
static struct entry *add(struct access *access, struct error *err)
{
	struct entry *entries;

	if (access->count >= ACCESS_KEYS_MAX) {
		error_set(err, ENOSPC, "keys: at most %d", ACCESS_KEYS_MAX);
		return NULL;
	}
	entries = reallocarray(access->entries, access->count + 1,
			       sizeof(*entries));
	if (!entries) {
		error_nomem(err, "keys");
		return NULL;
	}
	access->entries = entries;
	memset(&entries[access->count], 0, sizeof(*entries));
	return &entries[access->count];
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static int save(struct access *access, const struct entry *entry,
		struct error *err)
{
	const struct key_row row = {
		.public = entry->key.public,
		.name = entry->key.name,
		.role = role_name(entry->key.role),
		.machine = or_null(entry->machine),
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

/* Forget entry, also in the store. */
static void drop(struct access *access, struct entry *entry)
{
	keyring_forget(access->keyring, entry->key.public);
	store_remove_key(access->store, entry->key.public, NULL);
	*entry = access->entries[--access->count];
}

/* Tokens that nobody will ask about any more. */
static void tidy(struct access *access)
{
	int64_t limit = clock_wall_ms() - REMEMBERED_MS;

	for (size_t i = access->count; i-- > 0;)
		if (access->entries[i].key.role == ROLE_JOINER &&
		    access->entries[i].until_ms < limit)
			drop(access, &access->entries[i]);
}

static void note_end(struct access *access, const struct entry *entry)
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

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

/* Rows come by age: of two keys of one name the second is the one to stay. */
static int hold(struct access *access, const struct entry *entry,
		struct error *err)
{
	const struct key *key = &entry->key;
	const struct key *there = keyring_named(access->keyring, key->name);

	if (entry->revoked_ms)
		return keyring_revoke(access->keyring, key->public, err);
	if (there && there->role == key->role && find(access, there->public))
		return keyring_succeed(access->keyring, there->public,
				       key->public, err);
	return keyring_admit(access->keyring, key->name, key->role, key->public,
			     err);
}

static int load(const struct key_row *row, void *arg)
{
	struct loading *loading = arg;
	struct access *access = loading->access;
	struct entry *entry = add(access, loading->err);

	if (!entry)
		return -1;
	copy(entry->key.name, sizeof(entry->key.name), row->name);
	copy(entry->key.public, sizeof(entry->key.public), row->public);
	copy(entry->machine, sizeof(entry->machine), row->machine);
	copy(entry->for_name, sizeof(entry->for_name), row->for_name);
	copy(entry->by, sizeof(entry->by), row->by);
	entry->key.role = role_from(row->role);
	entry->grants = row->grants ? role_from(row->grants) : ROLE_NONE;
	entry->uses = row->uses;
	entry->renew = row->renew;
	entry->until_ms = row->until_ms;
	entry->since_ms = row->since_ms;
	entry->revoked_ms = row->revoked_ms;
	if (hold(access, entry, loading->err) < 0)
		return -1;
	access->count++;
	note_end(access, entry);
	return 0;
}

struct access *access_new(struct store *store, struct keyring *keyring,
			  struct error *err)
{
	owned(access_free) struct access *access = calloc(1, sizeof(*access));
	struct loading loading = { access, err };

	if (!access) {
		error_nomem(err, "keys");
		return NULL;
	}
	access->store = store;
	access->keyring = keyring;
	access->end_ms = INT64_MAX;
	if (store_keys(store, load, &loading, err) < 0) {
		error_prefix(err, "keys in the store");
		return NULL;
	}
	tidy(access);
	return take(access);
}

void access_free(struct access *access)
{
	if (!access)
		return;
	free(access->entries);
	free(access);
}

/* Checks. */

static int check_name(const char *name, struct error *err)
{
	if (name_valid(name))
		return 0;
	return error_set(err, EINVAL,
			 "name: '%.80s' is not valid here; expected up to %d "
			 "letters, digits, '.', '_' and '-', the first no sign",
			 name, KEY_NAME_SIZE - 1);
}

static int check_public(const struct access *access, const char *public,
			struct error *err)
{
	const struct key *known;
	const struct entry *entry;

	if (!key_text_valid(public))
		return error_set(err, EINVAL,
				 "public: no key; expected 40 characters of "
				 "Z85");
	entry = find(access, public);
	if (entry && entry->revoked_ms)
		return error_set(err, EACCES,
				 "this key is revoked: make a new one");
	known = keyring_known(access->keyring, public);
	if (known)
		return error_set(err, EEXIST, "this key is that of %s",
				 known->name);
	return 0;
}

static int read_role(const char *word, unsigned allowed, enum role *role,
		     struct error *err)
{
	*role = role_from(word);
	if (*role & allowed)
		return 0;
	return error_set(err, EINVAL,
			 "role: '%.40s' is not valid here; expected %soperator "
			 "and viewer",
			 word, allowed & ROLE_AGENT ? "agent, " : "");
}

static int name_taken(const struct key *key, struct error *err)
{
	return error_set(err, EEXIST,
			 "there is a%s %s named %s already, with another key: "
			 "take another name, or 'regatta %s %s %s' first",
			 key->role & (ROLE_AGENT | ROLE_OPERATOR) ? "n" : "",
			 role_name(key->role), key->name,
			 key->role == ROLE_AGENT ? "node" : "user",
			 key->role == ROLE_AGENT ? "rekey" : "remove",
			 key->name);
}

/* Tokens. */

static void token_name(const char *public, char name[KEY_NAME_SIZE])
{
	uint8_t bytes[32] = { 0 };

	zmq_z85_decode(bytes, public);
	snprintf(name, KEY_NAME_SIZE, "token-%02x%02x%02x%02x", bytes[0],
		 bytes[1], bytes[2], bytes[3]);
}

/* Is whom it is for the right one? */
static int check_for(struct access *access, const struct message_token *message,
		     enum role grants, struct error *err)
{
	const struct key *there;

	if (!message->name) {
		if (grants == ROLE_AGENT && !message->renew)
			return 0;
		return error_set(err, EINVAL, "name: missing");
	}
	if (check_name(message->name, err) < 0)
		return -1;
	there = keyring_named(access->keyring, message->name);
	if (!message->renew)
		return there ? name_taken(there, err) : 0;
	if (!there || there->role != grants)
		return error_set(err, ENOENT, "no %s is named %.64s",
				 role_name(grants), message->name);
	return 0;
}

static int check_limits(const struct access *access,
			const struct message_token *message, struct error *err)
{
	size_t tokens = 0;

	for (size_t i = 0; i < access->count; i++)
		tokens += access->entries[i].key.role == ROLE_JOINER;
	if (tokens >= ACCESS_TOKENS_MAX)
		return error_set(err, ENOSPC,
				 "tokens: there are %zu; expected at most %d: "
				 "remove some",
				 tokens, ACCESS_TOKENS_MAX);
	if (message->uses > ACCESS_USES_MAX)
		return error_set(err, EINVAL,
				 "uses: %u is not valid here; expected 1 to %d",
				 message->uses, ACCESS_USES_MAX);
	if (message->uses > 1 && message->name)
		return error_set(err, EINVAL,
				 "uses: %u; a token for %.64s has one",
				 message->uses, message->name);
	if (message->from && network_check(message->from, err) < 0)
		return error_prefix(err, "from");
	if (message->for_s > ACCESS_TOKEN_MAX_S)
		return error_set(err, EINVAL,
				 "expires: %u s is not valid here; expected 1 "
				 "to %d",
				 message->for_s, ACCESS_TOKEN_MAX_S);
	return 0;
}

static int answer_token(const struct entry *entry, struct reply_token *reply,
			struct error *err)
{
	reply->until_ms = entry->until_ms;
	return string_set(&reply->token, entry->key.name, err);
}

int access_token(struct access *access, const char *by,
		 const struct message_token *message, struct reply_token *reply,
		 struct error *err)
{
	struct entry *entry = find(access, message->public);
	uint32_t seconds = message->for_s ? message->for_s : ACCESS_TOKEN_S;
	enum role grants;

	/* Sent again after its answer was lost. */
	if (entry && entry->key.role == ROLE_JOINER && !strcmp(entry->by, by)) {
		return answer_token(entry, reply, err);
	}
	tidy(access);
	if (read_role(message->role, ROLE_AGENT | PERSONS, &grants, err) < 0 ||
	    check_public(access, message->public, err) < 0 ||
	    check_limits(access, message, err) < 0 ||
	    check_for(access, message, grants, err) < 0)
		return -1;
	entry = add(access, err);
	if (!entry)
		return -1;
	token_name(message->public, entry->key.name);
	copy(entry->key.public, sizeof(entry->key.public), message->public);
	entry->key.role = ROLE_JOINER;
	entry->grants = grants;
	copy(entry->for_name, sizeof(entry->for_name), message->name);
	copy(entry->machine, sizeof(entry->machine), message->from);
	entry->uses = message->uses ? message->uses : 1;
	entry->renew = message->renew;
	entry->since_ms = clock_wall_ms();
	entry->until_ms = entry->since_ms + (int64_t)seconds * 1000;
	copy(entry->by, sizeof(entry->by), by);
	if (keyring_named(access->keyring, entry->key.name))
		return error_set(err, EEXIST, "%s: make another one",
				 entry->key.name);
	if (save(access, entry, err) < 0 ||
	    keyring_admit(access->keyring, entry->key.name, ROLE_JOINER,
			  entry->key.public, err) < 0)
		return -1;
	access->count++;
	return answer_token(entry, reply, err);
}

/* Letting in. */

static int answer_key(const struct key *key, struct reply_admit *reply,
		      struct error *err)
{
	return string_set(&reply->name, key->name, err) < 0
		       ? -1
		       : string_set(&reply->role, role_name(key->role), err);
}

static int let_in(struct access *access, const char *name, enum role role,
		  const char *public, const char *machine, const char *by,
		  struct reply_admit *reply, struct error *err)
{
	struct entry *entry = add(access, err);

	if (!entry)
		return -1;
	copy(entry->key.name, sizeof(entry->key.name), name);
	copy(entry->key.public, sizeof(entry->key.public), public);
	entry->key.role = role;
	copy(entry->machine, sizeof(entry->machine), machine);
	copy(entry->by, sizeof(entry->by), by);
	entry->since_ms = clock_wall_ms();
	if (save(access, entry, err) < 0 ||
	    keyring_admit(access->keyring, name, role, public, err) < 0)
		return -1;
	access->count++;
	return answer_key(&entry->key, reply, err);
}

/* The key of that public text is there, of that name, role and origin. */
static bool there_already(const struct access *access, const char *public,
			  const char *name, enum role role, const char *by)
{
	const struct entry *entry = find(access, public);

	return entry && !entry->revoked_ms && entry->key.role == role &&
	       !strcmp(entry->key.name, name) && !strcmp(entry->by, by);
}

int access_admit(struct access *access, const char *by,
		 const struct message_admit *message, struct reply_admit *reply,
		 struct error *err)
{
	const struct key *there;
	enum role role;

	if (check_name(message->name, err) < 0 ||
	    read_role(message->role, ROLE_AGENT | PERSONS, &role, err) < 0)
		return -1;
	there = keyring_named(access->keyring, message->name);
	if (there_already(access, message->public, message->name, role, by))
		return answer_key(there, reply, err);
	if (there)
		return name_taken(there, err);
	if (check_public(access, message->public, err) < 0)
		return -1;
	return let_in(access, message->name, role, message->public, NULL, by,
		      reply, err);
}

/* Revoking. */

/* The entry of a key, which may be of the file: then it is made. */
static struct entry *entry_of(struct access *access, const struct key *key,
			      const char *by, struct error *err)
{
	struct entry *entry = find(access, key->public);

	if (entry)
		return entry;
	entry = add(access, err);
	if (!entry)
		return NULL;
	entry->key = *key;
	copy(entry->by, sizeof(entry->by), by);
	access->count++;
	return entry;
}

static int revoke_entry(struct access *access, struct entry *entry,
			int64_t at_ms, struct error *err)
{
	entry->revoked_ms = at_ms;
	if (save(access, entry, err) < 0)
		return -1;
	return keyring_revoke(access->keyring, entry->key.public, err);
}

/* Also the one before it that is still good. */
static int revoke_keys(struct access *access, const struct key *key,
		       const char *by, struct error *err)
{
	int64_t now_ms = clock_wall_ms();
	struct entry *entry = entry_of(access, key, by, err);

	if (!entry || revoke_entry(access, entry, now_ms, err) < 0)
		return -1;
	for (size_t i = 0; i < access->count; i++) {
		entry = &access->entries[i];
		if (!entry->revoked_ms && entry->key.role == key->role &&
		    !strcmp(entry->key.name, key->name) &&
		    revoke_entry(access, entry, now_ms, err) < 0)
			return -1;
	}
	return 0;
}

static void drop_tokens_for(struct access *access, const char *name)
{
	for (size_t i = access->count; i-- > 0;)
		if (access->entries[i].key.role == ROLE_JOINER &&
		    !strcmp(access->entries[i].for_name, name))
			drop(access, &access->entries[i]);
}

static bool last_operator(const struct access *access, const struct key *key)
{
	const struct key *other;

	if (key->role != ROLE_OPERATOR)
		return false;
	for (size_t i = 0; (other = keyring_at(access->keyring, i)); i++)
		if (other->role == ROLE_OPERATOR &&
		    strcmp(other->name, key->name) != 0)
			return false;
	return true;
}

int access_revoke(struct access *access, const char *by,
		  const struct message_revoke *message,
		  struct reply_revoke *reply, struct error *err)
{
	/* clang-format off */
	static const struct {
		const char *kind;
		unsigned roles;
	} kinds[] = {
		{ "node", ROLE_AGENT },
		{ "user", PERSONS },
		{ "token", ROLE_JOINER },
	};
	/* clang-format on */
	const struct key *there;
	struct key key;
	unsigned roles = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].kind, message->kind))
			roles = kinds[i].roles;
	if (!roles)
		return error_set(err, EINVAL,
				 "kind: '%.40s' is not valid here; expected "
				 "node, user or token",
				 message->kind);
	there = keyring_named(access->keyring, message->name);
	if (!there || !(there->role & roles))
		return error_set(err, ENOENT, "no %s is named '%.64s'",
				 message->kind, message->name);
	key = *there;
	if (last_operator(access, &key))
		return error_set(err, EPERM,
				 "%s is the last operator: without one nobody "
				 "could change anything",
				 key.name);
	if (key.role == ROLE_JOINER)
		drop(access, find_token(access, key.name));
	else if (revoke_keys(access, &key, by, err) < 0)
		return -1;
	drop_tokens_for(access, key.name);
	reply->revoked = 1;
	return 0;
}

/* Enrolling. */

static int check_token(const struct entry *token, const char *address,
		       const struct message_enrol *message, struct error *err)
{
	int64_t late = clock_wall_ms() - token->until_ms;

	if (message->agent != (token->grants == ROLE_AGENT))
		return error_set(err, EACCES,
				 "this token is for a%s %s: use it with '%s "
				 "join'",
				 token->grants == ROLE_VIEWER ? "" : "n",
				 role_name(token->grants),
				 message->agent ? "regatta" : "regatta-agent");
	if (token->machine[0] && !network_has(token->machine, address))
		return error_set(err, EACCES,
				 "this token may be used from %s, and not "
				 "from %.60s",
				 token->machine, address);
	if (late >= 0)
		return error_set(err, EACCES,
				 "this token expired %lld s ago: ask for a new "
				 "one",
				 (long long)(late / 1000));
	if (!token->uses)
		return error_set(err, EACCES,
				 "this token is used up: ask for a new one");
	return 0;
}

static int replace(struct access *access, const struct entry *token,
		   const struct key *there, struct error *err)
{
	struct key old;

	if (!there)
		return 0;
	if (!token->renew || there->role != token->grants ||
	    strcmp(token->for_name, there->name) != 0)
		return name_taken(there, err);
	old = *there;
	return revoke_keys(access, &old, token->key.name, err);
}

int access_enrol(struct access *access, const char *public, const char *address,
		 const struct message_enrol *message, struct reply_admit *reply,
		 struct error *err)
{
	struct entry *found = find(access, public), token;
	const char *name;

	if (!found || found->key.role != ROLE_JOINER)
		return error_set(err, EACCES, "this token is not known");
	token = *found;
	name = token.for_name[0] ? token.for_name : message->name;
	if (!name)
		return error_set(err, EINVAL, "name: missing");
	if (check_name(name, err) < 0)
		return -1;
	/* Sent again after its answer was lost. */
	if (there_already(access, message->public, name, token.grants,
			  token.key.name))
		return answer_key(keyring_named(access->keyring, name), reply,
				  err);
	if (check_token(&token, address, message, err) < 0 ||
	    check_public(access, message->public, err) < 0)
		return -1;
	if (message->machine && strlen(message->machine) >= MACHINE_SIZE)
		return error_set(err, EINVAL, "machine: longer than %d",
				 MACHINE_SIZE - 1);
	if (replace(access, &token, keyring_named(access->keyring, name), err) <
	    0)
		return -1;
	found = find(access, public);
	found->uses--;
	if (save(access, found, err) < 0)
		return -1;
	return let_in(access, name, token.grants, message->public,
		      message->machine, token.key.name, reply, err);
}

/* Rotating. */

/* The key of that name that was good before `key`, and still is; NULL. */
static const struct entry *find_leaving(const struct access *access,
					const struct key *key)
{
	for (size_t i = 0; i < access->count; i++) {
		const struct entry *entry = &access->entries[i];

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
	const struct entry *entry = find(access, public);
	const struct entry *old = find_leaving(access, &entry->key);

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
	const struct entry *leaving = find_leaving(access, key);

	if (!present || strcmp(present->public, key->public) != 0)
		return error_set(err, EACCES,
				 "another key came in place of this one: use "
				 "that");
	if (leaving)
		return error_set(err, EBUSY,
				 "the key before this one is good for another "
				 "%lld s: rotate again after that",
				 (long long)(leaving->until_ms -
					     clock_wall_ms()) /
					 1000);
	if (check_seconds("keep", message->keep_s, ACCESS_KEEP_MIN_S,
			  ACCESS_KEEP_MAX_S, err) < 0 ||
	    check_seconds("expires", message->for_s, ACCESS_KEY_MIN_S,
			  ACCESS_KEY_MAX_S, err) < 0)
		return -1;
	return check_public(access, message->public, err);
}

/* Both rows become true together, with the commit. */
static int succeed(struct access *access, const struct key *key,
		   const char *machine, const struct message_rotate *message,
		   struct error *err)
{
	uint32_t keep_s = message->keep_s ? message->keep_s : ACCESS_KEEP_S;
	struct entry *old = entry_of(access, key, key->name, err);
	struct entry *entry = old ? add(access, err) : NULL;
	int64_t now_ms = clock_wall_ms();
	int64_t end_ms = now_ms + (int64_t)keep_s * 1000;

	if (!entry)
		return -1;
	old = find(access, key->public);
	entry->key.role = key->role;
	copy(entry->key.name, sizeof(entry->key.name), key->name);
	copy(entry->key.public, sizeof(entry->key.public), message->public);
	copy(entry->machine, sizeof(entry->machine),
	     old->machine[0] ? old->machine : machine);
	copy(entry->by, sizeof(entry->by), key->name);
	entry->since_ms = now_ms;
	if (message->for_s)
		entry->until_ms = now_ms + (int64_t)message->for_s * 1000;
	if (!old->until_ms || old->until_ms > end_ms)
		old->until_ms = end_ms;
	if (save(access, entry, err) < 0 || save(access, old, err) < 0 ||
	    keyring_succeed(access->keyring, key->public, entry->key.public,
			    err) < 0)
		return -1;
	access->count++;
	note_end(access, old);
	note_end(access, entry);
	return 0;
}

int access_rotate(struct access *access, const char *public,
		  const char *machine, const struct message_rotate *message,
		  struct reply_rotate *reply, struct error *err)
{
	const struct key *known = keyring_known(access->keyring, public);
	struct key key;

	if (!known)
		return error_set(err, EACCES, "this key is not known");
	key = *known;
	/* Sent again after its answer was lost. */
	if (there_already(access, message->public, key.name, key.role,
			  key.name))
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
		struct entry *entry = &access->entries[i];

		/* One that cannot be saved now ends with the next start. */
		if (entry->key.role != ROLE_JOINER && entry->until_ms &&
		    !entry->revoked_ms && entry->until_ms <= now_ms)
			revoke_entry(access, entry, entry->until_ms, NULL);
		note_end(access, entry);
	}
	return true;
}

int access_check_machine(const struct access *access, const char *public,
			 const char *machine, struct error *err)
{
	const struct entry *entry = find(access, public);

	if (!entry || !entry->machine[0] ||
	    (machine && !strcmp(machine, entry->machine)))
		return 0;
	return error_set(err, EACCES,
			 "the key of %s was enrolled on another machine than "
			 "this one: let this one join by a token of its own, "
			 "or 'regatta node rekey %s'",
			 entry->key.name, entry->key.name);
}

/* Lists. */

static int tell_key(const struct key *key, const struct entry *entry,
		    access_key_fn *fn, void *arg)
{
	const struct key_info info = {
		.name = (char *)key->name,
		.role = (char *)role_name(key->role),
		.public = (char *)key->public,
		.by = (char *)(entry ? entry->by : "keys file"),
		.since_ms = entry ? entry->since_ms : 0,
		.revoked_ms = entry ? entry->revoked_ms : 0,
		.machine = entry && entry->machine[0] ? (char *)entry->machine
						      : NULL,
		.until_ms = entry ? entry->until_ms : 0,
	};

	return fn(&info, arg);
}

int access_keys(const struct access *access, access_key_fn *fn, void *arg)
{
	const struct key *key;

	for (size_t i = 0; (key = keyring_at(access->keyring, i)); i++)
		if (key->role != ROLE_JOINER &&
		    tell_key(key, find(access, key->public), fn, arg) < 0)
			return -1;
	for (size_t i = 0; i < access->count; i++) {
		const struct entry *entry = &access->entries[i];

		if (entry->revoked_ms &&
		    tell_key(&entry->key, entry, fn, arg) < 0)
			return -1;
	}
	return 0;
}

int access_tokens(const struct access *access, access_token_fn *fn, void *arg)
{
	for (size_t i = 0; i < access->count; i++) {
		const struct entry *entry = &access->entries[i];
		const struct token_info info = {
			.name = (char *)entry->key.name,
			.role = (char *)role_name(entry->grants),
			.for_name = entry->for_name[0] ? (char *)entry->for_name
						       : NULL,
			.uses = entry->uses,
			.until_ms = entry->until_ms,
			.by = (char *)entry->by,
			.since_ms = entry->since_ms,
			.renew = entry->renew,
			.from = (char *)or_null(entry->machine),
		};

		if (entry->key.role == ROLE_JOINER && fn(&info, arg) < 0)
			return -1;
	}
	return 0;
}
