/* keyring.c - the public keys that may connect: those of a file, and those
 * added here.
 */
#include "protocol/wire/keyring.h"
#include "protocol/base/clock.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEYS_MAX 65536
#define KEY_LIST_MAX (16 << 20)

struct ring_key {
	struct key key;
	bool held;   /* a key of the owner */
	bool leaves; /* another one of that name came after it */
	int64_t banned_until_ms;
};

struct keyring {
	char *path;
	struct stat seen;      /* the file as last read */
	struct ring_key *keys; /* sorted by their public text */
	size_t count;
	void *revoked; /* tsearch(3) tree of public texts */
	uint64_t changes;
	char problem[240];
};

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool is_revoked(const struct keyring *keyring, const char *public)
{
	return tfind(public, &keyring->revoked, compare_texts) != NULL;
}

static int compare_public(const void *a, const void *b)
{
	const struct ring_key *x = a, *y = b;

	return strcmp(x->key.public, y->key.public);
}

static struct ring_key *with_public(const struct keyring *keyring,
				    const char *public)
{
	struct ring_key wanted = { 0 };

	if (!keyring->count || strlen(public) >= sizeof(wanted.key.public))
		return NULL;
	memcpy(wanted.key.public, public, strlen(public));
	return bsearch(&wanted, keyring->keys, keyring->count, sizeof(wanted),
		       compare_public);
}

/* A key with two names would identify two parties. */
static int check_doubles(const struct keyring *keyring, struct ring_key *keys,
			 size_t count, struct error *err)
{
	qsort(keys, count, sizeof(*keys), compare_public);
	for (size_t i = 1; i < count; i++)
		if (!compare_public(&keys[i - 1], &keys[i]))
			return error_set(err, EINVAL,
					 "%s: '%s' and '%s' have the same key",
					 keyring->path, keys[i - 1].key.name,
					 keys[i].key.name);
	return 0;
}

/* Is it revoked, or does the owner have a key with its name or text? */
static bool overruled(const struct keyring *keyring, const struct key *key)
{
	const struct ring_key *same = with_public(keyring, key->public);

	if (is_revoked(keyring, key->public) || (same && same->held))
		return true;
	for (size_t i = 0; i < keyring->count; i++)
		if (keyring->keys[i].held &&
		    !strcmp(keyring->keys[i].key.name, key->name))
			return true;
	return false;
}

/* keys has room for those of the file and those that are held. Bans outlive
 * the change.
 */
static void adopt_keys(struct keyring *keyring, struct ring_key *keys,
		       size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ring_key *old =
			with_public(keyring, keys[i].key.public);

		if (overruled(keyring, &keys[i].key))
			continue;
		keys[i].banned_until_ms = old ? old->banned_until_ms : 0;
		keys[kept++] = keys[i];
	}
	for (size_t i = 0; i < keyring->count; i++)
		if (keyring->keys[i].held)
			keys[kept++] = keyring->keys[i];
	qsort(keys, kept, sizeof(*keys), compare_public);
	free(keyring->keys);
	keyring->keys = keys;
	keyring->count = kept;
	keyring->changes++;
}

static int keyring_read(struct keyring *keyring, struct error *err)
{
	static const struct document_limits limits = { .bytes = KEY_LIST_MAX,
						       .values =
							       KEYS_MAX * 3UL };
	owned(document_free) struct document *document =
		document_read(keyring->path, &limits, err);
	owned_free struct ring_key *keys = NULL;
	const struct value *root;
	size_t count;

	if (!document)
		return -1;
	root = document_root(document);
	count = value_count(root);
	if (value_kind(root) != VALUE_NULL &&
	    value_expect(root, VALUE_MAP, err) < 0)
		return -1;
	keys = calloc(count + keyring->count + 1, sizeof(*keys));
	if (!keys)
		return error_nomem(err, "keys");
	for (size_t i = 0; i < count; i++)
		if (key_of_list(&keys[i].key, root, i, err) < 0)
			return -1;
	if (check_doubles(keyring, keys, count, err) < 0)
		return -1;
	adopt_keys(keyring, take(keys), count);
	return 0;
}

/* Has the file changed since it was last read, with success or not? */
static bool file_changed(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
	       a->st_mtim.tv_nsec != b->st_mtim.tv_nsec ||
	       a->st_size != b->st_size || a->st_ino != b->st_ino ||
	       a->st_dev != b->st_dev;
}

static int keyring_refresh(struct keyring *keyring, struct error *err)
{
	struct stat st = { 0 };
	int rc;

	if (!keyring->path)
		return 0;
	if (stat(keyring->path, &st) < 0) {
		rc = error_errno(err, "keys %s", keyring->path);
	} else {
		if (!file_changed(&st, &keyring->seen))
			return 0;
		rc = keyring_read(keyring, err);
	}
	/* A file that is not valid is not read again for each connection. */
	keyring->seen = st;
	snprintf(keyring->problem, sizeof(keyring->problem), "%s",
		 rc < 0 ? err->text : "");
	return rc;
}

struct keyring *keyring_new(const char *path, struct error *err)
{
	owned(keyring_free) struct keyring *keyring =
		calloc(1, sizeof(*keyring));

	struct error why;

	if (!keyring || (path && !(keyring->path = strdup(path))))
		return error_null(error_nomem(err, "keys"));
	if (keyring_refresh(keyring, &why) < 0)
		return error_null(error_set(err, why.code, "%s", why.text));
	return take(keyring);
}

void keyring_free(struct keyring *keyring)
{
	if (!keyring)
		return;
	tdestroy(keyring->revoked, free);
	free(keyring->keys);
	free(keyring->path);
	free(keyring);
}

static int check_key(const struct keyring *keyring, const char *name,
		     enum role role, const char *public, struct error *err)
{
	if (!name_valid(name) || !role_name(role))
		return error_set(err, EINVAL, "key: no name or role");
	if (!key_text_valid(public))
		return error_set(err, EINVAL, "key of %s: no public key", name);
	if (is_revoked(keyring, public))
		return error_set(err, EACCES, "key of %s: it is revoked", name);
	return 0;
}

/* Room for one more. */
static int keyring_reserve(struct keyring *keyring, struct error *err)
{
	struct ring_key *keys =
		reallocarray(keyring->keys, keyring->count + 1, sizeof(*keys));

	if (!keys)
		return error_nomem(err, "keys");
	keyring->keys = keys;
	return 0;
}

static void keyring_hold_key(struct keyring *keyring, const char *name,
			     enum role role, const char *public)
{
	struct ring_key *entry = &keyring->keys[keyring->count++];

	*entry = (struct ring_key){ .held = true, .key.role = role };
	snprintf(entry->key.name, sizeof(entry->key.name), "%s", name);
	memcpy(entry->key.public, public, KEY_TEXT_SIZE);
	qsort(keyring->keys, keyring->count, sizeof(*entry), compare_public);
	keyring->changes++;
}

int keyring_admit(struct keyring *keyring, const char *name, enum role role,
		  const char *public, struct error *err)
{
	size_t count = 0;

	if (check_key(keyring, name, role, public, err) < 0 ||
	    keyring_reserve(keyring, err) < 0)
		return -1;
	for (size_t i = 0; i < keyring->count; i++)
		if (strcmp(keyring->keys[i].key.name, name) != 0 &&
		    strcmp(keyring->keys[i].key.public, public) != 0)
			keyring->keys[count++] = keyring->keys[i];
	keyring->count = count;
	keyring_hold_key(keyring, name, role, public);
	return 0;
}

int keyring_succeed(struct keyring *keyring, const char *old, const char *next,
		    struct error *err)
{
	struct ring_key *entry = with_public(keyring, old);
	struct key key;

	if (!entry)
		return error_set(err, ENOENT, "no such key");
	if (with_public(keyring, next))
		return error_set(err, EEXIST, "the next key exists already");
	key = entry->key;
	if (check_key(keyring, key.name, key.role, next, err) < 0 ||
	    keyring_reserve(keyring, err) < 0)
		return -1;
	/* keyring_reserve() may have moved the keys. */
	entry = with_public(keyring, key.public);
	entry->held = entry->leaves = true;
	keyring_hold_key(keyring, key.name, key.role, next);
	return 0;
}

static void keyring_drop(struct keyring *keyring, struct ring_key *entry)
{
	size_t index = (size_t)(entry - keyring->keys);

	keyring->count--;
	memmove(entry, entry + 1, (keyring->count - index) * sizeof(*entry));
	keyring->changes++;
}

void keyring_forget(struct keyring *keyring, const char *public)
{
	struct ring_key *entry = with_public(keyring, public);

	if (!entry || !entry->held)
		return;
	keyring_drop(keyring, entry);
	/* The file may hold this key, too: read it again. */
	memset(&keyring->seen, 0, sizeof(keyring->seen));
}

int keyring_revoke(struct keyring *keyring, const char *public,
		   struct error *err)
{
	owned_free char *text = NULL;
	struct ring_key *entry = with_public(keyring, public);

	if (!is_revoked(keyring, public)) {
		text = strdup(public);
		if (!text || !tsearch(text, &keyring->revoked, compare_texts))
			return error_nomem(err, "keys");
		text = NULL;
	}
	if (entry)
		keyring_drop(keyring, entry);
	return 0;
}

const struct key *keyring_find(struct keyring *keyring, const char *public)
{
	const struct ring_key *entry;
	struct error err;

	/* keyring_problem() tells what went wrong. */
	keyring_refresh(keyring, &err);
	entry = with_public(keyring, public);
	return entry && entry->banned_until_ms <= clock_mono_ms() ? &entry->key
								  : NULL;
}

const struct key *keyring_known(const struct keyring *keyring,
				const char *public)
{
	const struct ring_key *entry = with_public(keyring, public);

	return entry ? &entry->key : NULL;
}

const struct key *keyring_named(struct keyring *keyring, const char *name)
{
	for (size_t i = 0; i < keyring->count; i++)
		if (!strcmp(keyring->keys[i].key.name, name) &&
		    !keyring->keys[i].leaves)
			return &keyring->keys[i].key;
	return NULL;
}

uint64_t keyring_changes(struct keyring *keyring)
{
	struct error err;

	keyring_refresh(keyring, &err);
	return keyring->changes;
}

void keyring_ban(struct keyring *keyring, const char *name, uint64_t for_ms)
{
	int64_t until_ms = clock_mono_ms() + (int64_t)for_ms;

	for (size_t i = 0; i < keyring->count; i++)
		if (!strcmp(keyring->keys[i].key.name, name))
			keyring->keys[i].banned_until_ms = until_ms;
}

const struct key *keyring_at(const struct keyring *keyring, size_t index)
{
	return index < keyring->count ? &keyring->keys[index].key : NULL;
}

const char *keyring_problem(const struct keyring *keyring)
{
	return keyring->problem;
}
