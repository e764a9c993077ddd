/* access.c - the keys that may connect: enrolled by a token, admitted by an
 * operator, or revoked.
 */
#include "controller/access/access.h"
#include "controller/access/key_entry.h"
#include "controller/access/key_rotation.h"
#include "protocol/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define REMEMBERED_MS (24LL * 3600 * 1000)
#define REVOKED_MS (366 * REMEMBERED_MS)
#define PERSONS (ROLE_OPERATOR | ROLE_VIEWER)

/* Drop the tokens that expired more than a day ago, and the keys that ended
 * long ago.
 */
static void tidy(struct access *access)
{
	int64_t now_ms = clock_wall_ms();

	for (size_t i = access->count; i-- > 0;) {
		struct key_entry *entry = &access->entries[i];

		if (entry->key.role == ROLE_JOINER
			    ? entry->until_ms < now_ms - REMEMBERED_MS
			    : entry->revoked_ms < now_ms - REVOKED_MS &&
				      key_entry_may_go(access, entry))
			key_entry_drop(access, entry);
	}
}

struct access *access_new(struct store *store, struct keyring *keyring,
			  struct error *err)
{
	owned(access_free) struct access *access = calloc(1, sizeof(*access));

	if (!access)
		return error_null(error_nomem(err, "keys"));
	access->store = store;
	access->keyring = keyring;
	if (key_entries_load(access, err) < 0)
		return NULL;
	tidy(access);
	/* Before anybody can connect. */
	access_expire(access, clock_wall_ms());
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

static int access_check_name(const char *name, struct error *err)
{
	if (name_valid(name))
		return 0;
	return error_set(err, EINVAL,
			 "name: '%.80s' is not valid here; expected up to %d "
			 "letters, digits, '.', '_' and '-', starting with a "
			 "letter or digit",
			 name, KEY_NAME_SIZE - 1);
}

static int access_read_role(const char *word, unsigned allowed, enum role *role,
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
			 "a%s %s named %s exists with another key; use another "
			 "name, or run 'regatta %s %s %s' first",
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

/* Does a key of that name exist if the token is to renew it, and only then? */
static int check_for(struct access *access, const struct message_token *message,
		     enum role grants, struct error *err)
{
	const struct key *there;

	if (!message->name) {
		if (grants == ROLE_AGENT && !message->renew)
			return 0;
		return error_set(err, EINVAL, "name: missing");
	}
	if (access_check_name(message->name, err) < 0)
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
				 "tokens: %zu exist; expected at most %d; "
				 "remove some",
				 tokens, ACCESS_TOKENS_MAX);
	if (message->uses > ACCESS_USES_MAX)
		return error_set(err, EINVAL,
				 "uses: %u is not valid here; expected 1 to %d",
				 message->uses, ACCESS_USES_MAX);
	if (message->uses > 1 && message->name)
		return error_set(err, EINVAL,
				 "uses: %u is not valid here; expected 1 for a "
				 "token for %.64s",
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

static int answer_token(const struct key_entry *entry,
			struct reply_token *reply, struct error *err)
{
	reply->until_ms = entry->until_ms;
	return string_set(&reply->token, entry->key.name, err);
}

int access_token(struct access *access, const char *by,
		 const struct message_token *message, struct reply_token *reply,
		 struct error *err)
{
	struct key_entry *entry = key_entry_find(access, message->public);
	uint32_t seconds = message->for_s ? message->for_s : ACCESS_TOKEN_S;
	char name[KEY_NAME_SIZE];
	enum role grants;

	/* Sent again after its answer was lost. */
	if (entry && entry->key.role == ROLE_JOINER && !strcmp(entry->by, by))
		return answer_token(entry, reply, err);
	tidy(access);
	if (access_read_role(message->role, ROLE_AGENT | PERSONS, &grants,
			     err) < 0 ||
	    key_entry_check_new(access, message->public, err) < 0 ||
	    check_limits(access, message, err) < 0 ||
	    check_for(access, message, grants, err) < 0)
		return -1;
	token_name(message->public, name);
	entry = key_entry_add(access, name, ROLE_JOINER, message->public, by,
			      err);
	if (!entry)
		return -1;
	entry->grants = grants;
	key_entry_text(entry->for_name, sizeof(entry->for_name), message->name);
	key_entry_text(entry->network, sizeof(entry->network), message->from);
	entry->uses = message->uses ? message->uses : 1;
	entry->renew = message->renew;
	entry->until_ms = entry->since_ms + (int64_t)seconds * 1000;
	if (keyring_named(access->keyring, name))
		return error_set(err, EEXIST,
				 "a token %s exists; create another one", name);
	if (key_entry_save(access, entry, err) < 0 ||
	    keyring_admit(access->keyring, name, ROLE_JOINER, message->public,
			  err) < 0)
		return -1;
	access->count++;
	return answer_token(entry, reply, err);
}

/* Admitting. */

static int answer_key(const struct key *key, struct reply_admit *reply,
		      struct error *err)
{
	return string_set(&reply->name, key->name, err) < 0
		       ? -1
		       : string_set(&reply->role, role_name(key->role), err);
}

static int access_admit_key(struct access *access, const char *name,
			    enum role role, const char *public,
			    const char *machine, const char *network,
			    const char *by, struct reply_admit *reply,
			    struct error *err)
{
	struct key_entry *entry =
		key_entry_add(access, name, role, public, by, err);

	if (!entry)
		return -1;
	key_entry_text(entry->machine, sizeof(entry->machine), machine);
	key_entry_text(entry->network, sizeof(entry->network), network);
	if (key_entry_save(access, entry, err) < 0 ||
	    keyring_admit(access->keyring, name, role, public, err) < 0)
		return -1;
	access->count++;
	return answer_key(&entry->key, reply, err);
}

int access_admit(struct access *access, const char *by,
		 const struct message_admit *message, struct reply_admit *reply,
		 struct error *err)
{
	const struct key *there;
	enum role role;

	if (access_check_name(message->name, err) < 0 ||
	    access_read_role(message->role, ROLE_AGENT | PERSONS, &role, err) <
		    0)
		return -1;
	there = keyring_named(access->keyring, message->name);
	if (key_entry_is(access, message->public, message->name, role, by))
		return answer_key(there, reply, err);
	if (there)
		return name_taken(there, err);
	if (key_entry_check_new(access, message->public, err) < 0)
		return -1;
	return access_admit_key(access, message->name, role, message->public,
				NULL, NULL, by, reply, err);
}

/* Revoking. */

/* Revoke the key, and the key that it replaced if that is still valid. */
static int revoke_keys(struct access *access, const struct key *key,
		       const char *by, struct error *err)
{
	int64_t now_ms = clock_wall_ms();
	struct key_entry *entry = key_entry_of(access, key, by, err);

	if (!entry || key_entry_revoke(access, entry, now_ms, err) < 0)
		return -1;
	for (size_t i = 0; i < access->count; i++) {
		entry = &access->entries[i];
		if (!entry->revoked_ms && entry->key.role == key->role &&
		    !strcmp(entry->key.name, key->name) &&
		    key_entry_revoke(access, entry, now_ms, err) < 0)
			return -1;
	}
	return 0;
}

static void drop_tokens_for(struct access *access, const char *name)
{
	for (size_t i = access->count; i-- > 0;)
		if (access->entries[i].key.role == ROLE_JOINER &&
		    !strcmp(access->entries[i].for_name, name))
			key_entry_drop(access, &access->entries[i]);
}

static bool last_operator(const struct access *access, const struct key *key)
{
	const struct key *other;
	size_t at = 0;

	if (key->role != ROLE_OPERATOR)
		return false;
	while ((other = keyring_next(access->keyring, &at)))
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
				 "%s is the last operator and cannot be "
				 "removed",
				 key.name);
	if (key.role == ROLE_JOINER)
		key_entry_drop(access, key_entry_find(access, key.public));
	else if (revoke_keys(access, &key, by, err) < 0)
		return -1;
	drop_tokens_for(access, key.name);
	reply->revoked = 1;
	return 0;
}

/* Enrolling. */

static int check_token(const struct key_entry *token, const char *address,
		       const struct message_enrol *message, struct error *err)
{
	int64_t late = clock_wall_ms() - token->until_ms;

	if (message->agent != (token->grants == ROLE_AGENT))
		return error_set(err, EACCES,
				 "this token is for a%s %s; use it with '%s "
				 "join'",
				 token->grants == ROLE_VIEWER ? "" : "n",
				 role_name(token->grants),
				 message->agent ? "regatta" : "regatta-agent");
	if (token->network[0] && !network_has(token->network, address))
		return error_set(err, EACCES,
				 "this token is valid from %s, but not from "
				 "%.60s",
				 token->network, address);
	if (late >= 0)
		return error_set(err, EACCES,
				 "this token expired %lld s ago; ask for a new "
				 "one",
				 (long long)(late / 1000));
	if (!token->uses)
		return error_set(err, EACCES,
				 "this token has no uses left; ask for a new "
				 "one");
	return 0;
}

/* Revoke the key of that name (NULL: there is none) if the token renews it. */
static int replace(struct access *access, const struct key_entry *token,
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
	struct key_entry *found = key_entry_find(access, public), token;
	const char *name;

	if (!found || found->key.role != ROLE_JOINER)
		return error_set(err, EACCES, "this token is unknown");
	token = *found;
	name = token.for_name[0] ? token.for_name : message->name;
	if (!name)
		return error_set(err, EINVAL, "name: missing");
	if (access_check_name(name, err) < 0)
		return -1;
	/* Sent again after its answer was lost. */
	if (key_entry_is(access, message->public, name, token.grants,
			 token.key.name))
		return answer_key(keyring_named(access->keyring, name), reply,
				  err);
	if (check_token(&token, address, message, err) < 0 ||
	    key_entry_check_new(access, message->public, err) < 0)
		return -1;
	if (message->machine && strlen(message->machine) >= MACHINE_SIZE)
		return error_set(err, EINVAL,
				 "machine: %zu bytes; expected at most %d",
				 strlen(message->machine), MACHINE_SIZE - 1);
	if (replace(access, &token, keyring_named(access->keyring, name), err) <
	    0)
		return -1;
	found = key_entry_find(access, public);
	found->uses--;
	if (key_entry_save(access, found, err) < 0)
		return -1;
	return access_admit_key(access, name, token.grants, message->public,
				message->machine, token.network, token.key.name,
				reply, err);
}

int access_check_machine(const struct access *access, const char *public,
			 const char *machine, struct error *err)
{
	const struct key_entry *entry = key_entry_find(access, public);

	if (!entry || !entry->machine[0] ||
	    (machine && !strcmp(machine, entry->machine)))
		return 0;
	return error_set(err, EACCES,
			 "the key of %s was enrolled on another machine; join "
			 "this machine with its own token, or run 'regatta "
			 "node rekey %s'",
			 entry->key.name, entry->key.name);
}

int access_check_address(const struct access *access, const char *public,
			 const char *address, struct error *err)
{
	const struct key_entry *entry = key_entry_find(access, public);

	/* access_enrol() checks a token's network; that refusal is audited. */
	if (!entry || !entry->network[0] || entry->key.role == ROLE_JOINER ||
	    network_has(entry->network, address))
		return 0;
	return error_set(err, EACCES,
			 "the key of %s is valid from %s, but not from %.60s, "
			 "because its token was created with --from",
			 entry->key.name, entry->network, address);
}

/* Lists. */

static int tell_key(const struct key *key, const struct key_entry *entry,
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
		.network = entry && entry->network[0] ? (char *)entry->network
						      : NULL,
		.until_ms = entry ? entry->until_ms : 0,
	};

	return fn(&info, arg);
}

int access_keys(const struct access *access, access_key_fn *fn, void *arg)
{
	const struct key *key;
	size_t at = 0;

	while ((key = keyring_next(access->keyring, &at)))
		if (key->role != ROLE_JOINER &&
		    tell_key(key, key_entry_find(access, key->public), fn,
			     arg) < 0)
			return -1;
	for (size_t i = 0; i < access->count; i++)
		if (access->entries[i].revoked_ms &&
		    tell_key(&access->entries[i].key, &access->entries[i], fn,
			     arg) < 0)
			return -1;
	return 0;
}

int access_tokens(const struct access *access, access_token_fn *fn, void *arg)
{
	for (size_t i = 0; i < access->count; i++) {
		const struct key_entry *entry = &access->entries[i];
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
			.from = entry->network[0] ? (char *)entry->network
						  : NULL,
		};

		if (entry->key.role == ROLE_JOINER && fn(&info, arg) < 0)
			return -1;
	}
	return 0;
}
