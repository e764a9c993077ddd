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
	bool leaves; /* another one of that name came after it */
	bool hidden; /* of the file: what the owner has or revoked counts */
	int64_t banned_until_ms;
};

struct key_list {
	struct ring_key *keys; /* sorted by their public text */
	size_t count;
};

struct keyring {
	char *path;
	struct stat seen;     /* the file as last read */
	struct key_list held; /* keys of the owner */
	struct key_list file;
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

/* Lists. */

/* The first key that is not before it. */
static size_t key_list_place(const struct key_list *list, const char *public)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(list->keys[middle].key.public, public) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct ring_key *key_list_find(const struct key_list *list,
				      const char *public)
{
	size_t place = key_list_place(list, public);

	return place < list->count &&
			       !strcmp(list->keys[place].key.public, public)
		       ? &list->keys[place]
		       : NULL;
}

static struct ring_key *key_list_named(const struct key_list *list,
				       const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->keys[i].key.name, name) &&
		    !list->keys[i].leaves && !list->keys[i].hidden)
			return &list->keys[i];
	return NULL;
}

static bool key_list_has_name(const struct key_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->keys[i].key.name, name))
			return true;
	return false;
}

static void key_list_drop(struct key_list *list, struct ring_key *entry)
{
	size_t index = (size_t)(entry - list->keys);

	list->count--;
	memmove(entry, entry + 1, (list->count - index) * sizeof(*entry));
}

/* What of the file the owner overrules. */

/* After a change of the owner's keys of that name, or of this text. */
static void keyring_judge(struct keyring *keyring, const char *name,
			  const char *public)
{
	for (size_t i = 0; i < keyring->file.count; i++) {
		struct ring_key *entry = &keyring->file.keys[i];
		const struct key *key = &entry->key;

		if (strcmp(key->name, name) != 0 &&
		    strcmp(key->public, public) != 0)
			continue;
		entry->hidden = is_revoked(keyring, key->public) ||
				key_list_find(&keyring->held, key->public) ||
				key_list_has_name(&keyring->held, key->name);
	}
	keyring->changes++;
}

static void key_name_keep(void *name)
{
	(void)name; /* it is the list's */
}

static int keyring_judge_all(struct keyring *keyring, struct key_list *file,
			     struct error *err)
{
	void *names = NULL;
	int rc = 0;

	for (size_t i = 0; i < keyring->held.count && rc == 0; i++)
		if (!tsearch(keyring->held.keys[i].key.name, &names,
			     compare_texts))
			rc = error_nomem(err, "keys");
	for (size_t i = 0; i < file->count && rc == 0; i++) {
		struct ring_key *entry = &file->keys[i];
		const struct key *key = &entry->key;

		entry->hidden = is_revoked(keyring, key->public) ||
				key_list_find(&keyring->held, key->public) ||
				tfind(key->name, &names, compare_texts);
	}
	tdestroy(names, key_name_keep);
	return rc;
}

static struct ring_key *with_public(const struct keyring *keyring,
				    const char *public)
{
	struct ring_key *entry = key_list_find(&keyring->held, public);

	if (!entry)
		entry = key_list_find(&keyring->file, public);
	return entry && !entry->hidden ? entry : NULL;
}

/* The file. */

/* A key with two names would identify two parties. */
static int check_doubles(const struct keyring *keyring, struct key_list *list,
			 struct error *err)
{
	const struct ring_key *keys = list->keys;

	qsort(list->keys, list->count, sizeof(*keys), compare_public);
	for (size_t i = 1; i < list->count; i++)
		if (!compare_public(&keys[i - 1], &keys[i]))
			return error_set(err, EINVAL,
					 "%s: '%s' and '%s' have the same key",
					 keyring->path, keys[i - 1].key.name,
					 keys[i].key.name);
	return 0;
}

/* Bans outlive the change. */
static void adopt_keys(struct keyring *keyring, const struct key_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct ring_key *old =
			key_list_find(&keyring->file, list->keys[i].key.public);

		list->keys[i].banned_until_ms = old ? old->banned_until_ms : 0;
	}
	free(keyring->file.keys);
	keyring->file = *list;
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
	struct key_list list;
	const struct value *root;

	if (!document)
		return -1;
	root = document_root(document);
	list.count = value_count(root);
	if (value_kind(root) != VALUE_NULL &&
	    value_expect(root, VALUE_MAP, err) < 0)
		return -1;
	list.keys = keys = calloc(list.count + 1, sizeof(*keys));
	if (!keys)
		return error_nomem(err, "keys");
	for (size_t i = 0; i < list.count; i++)
		if (key_of_list(&keys[i].key, root, i, err) < 0)
			return -1;
	if (check_doubles(keyring, &list, err) < 0 ||
	    keyring_judge_all(keyring, &list, err) < 0)
		return -1;
	keys = NULL;
	adopt_keys(keyring, &list);
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
	free(keyring->held.keys);
	free(keyring->file.keys);
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

/* Room for two more. */
static int keyring_reserve(struct keyring *keyring, struct error *err)
{
	struct ring_key *keys =
		reallocarray(keyring->held.keys, keyring->held.count + 2,
			     sizeof(*keys));

	if (!keys)
		return error_nomem(err, "keys");
	keyring->held.keys = keys;
	return 0;
}

static void keyring_hold_key(struct keyring *keyring, const char *name,
			     enum role role, const char *public)
{
	struct key_list *held = &keyring->held;
	size_t place = key_list_place(held, public);
	struct ring_key *entry = &held->keys[place];

	memmove(entry + 1, entry, (held->count - place) * sizeof(*entry));
	held->count++;
	*entry = (struct ring_key){ .key.role = role };
	snprintf(entry->key.name, sizeof(entry->key.name), "%s", name);
	memcpy(entry->key.public, public, KEY_TEXT_SIZE);
	keyring_judge(keyring, name, public);
}

int keyring_admit(struct keyring *keyring, const char *name, enum role role,
		  const char *public, struct error *err)
{
	struct key_list *held = &keyring->held;
	size_t count = 0;

	if (check_key(keyring, name, role, public, err) < 0 ||
	    keyring_reserve(keyring, err) < 0)
		return -1;
	for (size_t i = 0; i < held->count; i++)
		if (strcmp(held->keys[i].key.name, name) != 0 &&
		    strcmp(held->keys[i].key.public, public) != 0)
			held->keys[count++] = held->keys[i];
	held->count = count;
	keyring_hold_key(keyring, name, role, public);
	return 0;
}

int keyring_succeed(struct keyring *keyring, const char *old, const char *next,
		    struct error *err)
{
	struct ring_key *entry = with_public(keyring, old);
	int64_t banned_until_ms;
	struct key key;

	if (!entry)
		return error_set(err, ENOENT, "no such key");
	if (with_public(keyring, next))
		return error_set(err, EEXIST, "the next key exists already");
	key = entry->key;
	banned_until_ms = entry->banned_until_ms;
	if (check_key(keyring, key.name, key.role, next, err) < 0 ||
	    keyring_reserve(keyring, err) < 0)
		return -1;
	/* The old one may be the file's. */
	if (!key_list_find(&keyring->held, key.public))
		keyring_hold_key(keyring, key.name, key.role, key.public);
	entry = key_list_find(&keyring->held, key.public);
	entry->leaves = true;
	entry->banned_until_ms = banned_until_ms;
	keyring_hold_key(keyring, key.name, key.role, next);
	return 0;
}

/* *entry is the owner's. */
static void keyring_drop(struct keyring *keyring, struct ring_key *entry)
{
	struct key key = entry->key;

	key_list_drop(&keyring->held, entry);
	keyring_judge(keyring, key.name, key.public);
}

void keyring_forget(struct keyring *keyring, const char *public)
{
	struct ring_key *entry = key_list_find(&keyring->held, public);

	if (entry)
		keyring_drop(keyring, entry);
}

int keyring_revoke(struct keyring *keyring, const char *public,
		   struct error *err)
{
	owned_free char *text = NULL;
	struct ring_key *entry = key_list_find(&keyring->held, public);

	if (!is_revoked(keyring, public)) {
		text = strdup(public);
		if (!text || !tsearch(text, &keyring->revoked, compare_texts))
			return error_nomem(err, "keys");
		text = NULL;
	}
	if (entry)
		keyring_drop(keyring, entry);
	else
		keyring_judge(keyring, "", public);
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
	const struct ring_key *entry = key_list_named(&keyring->held, name);

	if (!entry)
		entry = key_list_named(&keyring->file, name);
	return entry ? &entry->key : NULL;
}

uint64_t keyring_changes(struct keyring *keyring)
{
	struct error err;

	keyring_refresh(keyring, &err);
	return keyring->changes;
}

static void key_list_ban(struct key_list *list, const char *name,
			 int64_t until_ms)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->keys[i].key.name, name))
			list->keys[i].banned_until_ms = until_ms;
}

void keyring_ban(struct keyring *keyring, const char *name, uint64_t for_ms)
{
	int64_t until_ms = clock_mono_ms() + (int64_t)for_ms;

	key_list_ban(&keyring->held, name, until_ms);
	key_list_ban(&keyring->file, name, until_ms);
}

const struct key *keyring_next(const struct keyring *keyring, size_t *at)
{
	const struct key_list *held = &keyring->held, *file = &keyring->file;

	if (*at < held->count)
		return &held->keys[(*at)++].key;
	while (*at < held->count + file->count) {
		const struct ring_key *entry =
			&file->keys[(*at)++ - held->count];

		if (!entry->hidden)
			return &entry->key;
	}
	return NULL;
}

bool keyring_listed(const struct keyring *keyring, const char *public)
{
	return keyring->problem[0] || key_list_find(&keyring->file, public);
}

const char *keyring_problem(const struct keyring *keyring)
{
	return keyring->problem;
}
