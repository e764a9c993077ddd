/* key.c - CURVE key files, and the list of keys that may connect.
 */
#include "protocol/key.h"
#include "protocol/buffer.h"
#include "protocol/document.h"
#include "protocol/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define KEYS_MAX 65536
#define KEY_FILE_MAX 4096
#define KEY_LIST_MAX (16 << 20)

/* clang-format off */
static const struct {
	enum role role;
	const char *name;
} roles[] = {
	{ ROLE_AGENT, "agent" },
	{ ROLE_OPERATOR, "operator" },
	{ ROLE_VIEWER, "viewer" },
	{ ROLE_CONTROLLER, "controller" },
};
/* clang-format on */

const char *role_name(enum role role)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (roles[i].role == role)
			return roles[i].name;
	return NULL;
}

enum role role_from(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i].name, name))
			return roles[i].role;
	return ROLE_NONE;
}

bool name_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t length = strlen(name);

	return length > 0 && length < KEY_NAME_SIZE &&
	       strchr(letters, name[0]) &&
	       strspn(name,
		      "abcdefghijklmnopqrstuvwxyz"
		      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

static int key_name(struct key *key, const char *name, enum role role,
		    struct error *err)
{
	if (!name_valid(name))
		return error_set(err, EINVAL,
				 "name: found '%.80s', allowed are up to %d "
				 "letters, digits, '.', '_' and '-'",
				 name, KEY_NAME_SIZE - 1);
	if (!role_name(role))
		return error_set(err, EINVAL,
				 "role: allowed are agent, operator, viewer "
				 "and controller");
	memset(key, 0, sizeof(*key));
	memcpy(key->name, name, strlen(name));
	key->role = role;
	return 0;
}

int key_generate(struct key *key, const char *name, enum role role,
		 struct error *err)
{
	struct key made;

	if (key_name(&made, name, role, err) < 0)
		return -1;
	if (zmq_curve_keypair(made.public, made.secret) < 0)
		return error_errno(err, "libzmq makes no CURVE keys here");
	*key = made;
	return 0;
}

int key_save(const struct key *key, const char *path, struct error *err)
{
	char text[512];
	struct stat st;
	int size;

	if (lstat(path, &st) == 0)
		return error_set(err, EEXIST,
				 "%s: there is a file already; remove it "
				 "first if its key may go",
				 path);
	size = snprintf(text, sizeof(text),
			"name: \"%s\"\nrole: %s\npublic: \"%s\"\n"
			"secret: \"%s\"\n",
			key->name, role_name(key->role), key->public,
			key->secret);
	return file_write(AT_FDCWD, path, text, (size_t)size, 0600, 1, err);
}

int key_line(const struct key *key, char *line, size_t size)
{
	return snprintf(line, size, "\"%s\": {role: %s, public: \"%s\"}\n",
			key->name, role_name(key->role), key->public);
}

/* A Z85 key of the map into text; absent is an error unless optional. */
static int read_key_text(const struct value *map, const char *field,
			 char text[KEY_TEXT_SIZE], struct error *err)
{
	const struct value *value = value_get(map, field);
	const char *found;
	uint8_t bytes[32];

	if (!value)
		return value_error(map, err, "%s: missing", field);
	if (value_string(value, KEY_TEXT_SIZE - 1, &found, err) < 0)
		return -1;
	if (strlen(found) != KEY_TEXT_SIZE - 1 || !zmq_z85_decode(bytes, found))
		return value_error(value, err,
				   "found no key, allowed are 40 "
				   "characters of Z85");
	memcpy(text, found, KEY_TEXT_SIZE);
	return 0;
}

static int read_role(const struct value *map, enum role *role,
		     struct error *err)
{
	static const char *const names[] = { "agent", "operator", "viewer",
					     "controller", NULL };
	const struct value *value = value_get(map, "role");
	size_t which;

	if (!value)
		return value_error(map, err, "role: missing");
	if (value_enum(value, names, &which, err) < 0)
		return -1;
	*role = role_from(names[which]);
	return 0;
}

int key_load(struct key *key, const char *path, struct error *err)
{
	static const char *const keys[] = { "name", "role", "public", "secret",
					    NULL };
	static const struct document_limits limits = { .bytes = KEY_FILE_MAX };
	owned(document_free) struct document *document = NULL;
	const struct value *root;
	const char *name;
	char public[KEY_TEXT_SIZE];
	struct key got;
	enum role role = ROLE_NONE;
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno(err, "key %s", path);
	if (st.st_mode & 077)
		return error_set(err, EPERM,
				 "key %s: mode is %04o, others may read it; "
				 "allowed is 0600: chmod 600 %s",
				 path, st.st_mode & 07777, path);
	document = document_read(path, &limits, err);
	if (!document)
		return -1;
	root = document_root(document);
	if (value_expect(root, VALUE_MAP, err) < 0 ||
	    value_check_keys(root, keys, err) < 0 ||
	    read_role(root, &role, err) < 0)
		return -1;
	if (!value_get(root, "name"))
		return value_error(root, err, "name: missing");
	if (value_string(value_get(root, "name"), KEY_NAME_SIZE - 1, &name,
			 err) < 0 ||
	    key_name(&got, name, role, err) < 0 ||
	    read_key_text(root, "public", got.public, err) < 0 ||
	    read_key_text(root, "secret", got.secret, err) < 0)
		return -1;
	if (zmq_curve_public(public, got.secret) < 0 ||
	    strcmp(public, got.public) != 0)
		return value_error(root, err,
				   "public: not the key that belongs to the "
				   "secret one");
	*key = got;
	return 0;
}

/* The entry of a one-line list, or the map of a key file. */
static const struct value *public_map(const struct value *root)
{
	const struct value *first = value_at(root, 0);

	if (value_kind(root) == VALUE_MAP && value_count(root) == 1 &&
	    value_kind(first) == VALUE_MAP)
		return first;
	return root;
}

int key_public(const char *given, char public[KEY_TEXT_SIZE], struct error *err)
{
	static const struct document_limits limits = { .bytes = KEY_FILE_MAX };
	owned(document_free) struct document *document = NULL;
	owned(buffer_clear) struct buffer text;
	uint8_t bytes[32];

	buffer_init(&text, KEY_FILE_MAX);
	/* Paths of that length are Z85, too: what is a file counts as one. */
	if (strlen(given) == KEY_TEXT_SIZE - 1 && access(given, F_OK) < 0 &&
	    zmq_z85_decode(bytes, given)) {
		memcpy(public, given, KEY_TEXT_SIZE);
		return 0;
	}
	if (file_read_any(given, &text, err) < 0)
		return -1;
	while (text.size && text.data[text.size - 1] == '\n')
		text.data[--text.size] = 0;
	if (text.size == KEY_TEXT_SIZE - 1 &&
	    zmq_z85_decode(bytes, text.data)) {
		memcpy(public, text.data, KEY_TEXT_SIZE);
		return 0;
	}
	document = document_parse(text.data, text.size, given, &limits, err);
	if (!document)
		return -1;
	return read_key_text(public_map(document_root(document)), "public",
			     public, err);
}

/* The list. */

struct ring_key {
	struct key key;
	int64_t banned_until_ms;
};

struct keyring {
	char *path;
	struct stat seen;      /* the file as last read */
	struct ring_key *keys; /* sorted by their public text */
	size_t count;
	char problem[240];
};

static int read_entry(const struct value *list, size_t index,
		      struct ring_key *entry, struct error *err)
{
	static const char *const keys[] = { "role", "public", NULL };
	const struct value *map = value_at(list, index);
	enum role role = ROLE_NONE;

	if (value_expect(map, VALUE_MAP, err) < 0 ||
	    value_check_keys(map, keys, err) < 0 ||
	    read_role(map, &role, err) < 0)
		return -1;
	if (key_name(&entry->key, value_key(list, index), role, err) < 0)
		return error_prefix(err, "%s:%u", value_file(list),
				    value_key_line(list, index));
	return read_key_text(map, "public", entry->key.public, err);
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

/* One key under two names would be either party. Bans outlive the change. */
static int adopt_keys(struct keyring *keyring, struct ring_key *keys,
		      size_t count, struct error *err)
{
	qsort(keys, count, sizeof(*keys), compare_public);
	for (size_t i = 1; i < count; i++)
		if (!compare_public(&keys[i - 1], &keys[i]))
			return error_set(err, EINVAL,
					 "%s: '%s' and '%s' have the same key",
					 keyring->path, keys[i - 1].key.name,
					 keys[i].key.name);
	for (size_t i = 0; i < count; i++) {
		const struct ring_key *old =
			with_public(keyring, keys[i].key.public);

		keys[i].banned_until_ms = old ? old->banned_until_ms : 0;
	}
	free(keyring->keys);
	keyring->keys = keys;
	keyring->count = count;
	return 0;
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
	keys = calloc(count ? count : 1, sizeof(*keys));
	if (!keys)
		return error_nomem(err, "keys");
	for (size_t i = 0; i < count; i++)
		if (read_entry(root, i, &keys[i], err) < 0)
			return -1;
	if (adopt_keys(keyring, keys, count, err) < 0)
		return -1;
	keys = NULL;
	return 0;
}

/* Has the file changed since it was last read, well or badly? */
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
	/* A broken list is not read anew for every connection. */
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

	if (!keyring || (path && !(keyring->path = strdup(path)))) {
		error_nomem(err, "keys");
		return NULL;
	}
	if (keyring_refresh(keyring, &why) < 0) {
		error_set(err, why.code, "%s", why.text);
		return NULL;
	}
	return take(keyring);
}

int keyring_admit(struct keyring *keyring, const char *name, enum role role,
		  const char *public, struct error *err)
{
	struct ring_key entry = { 0 };
	struct ring_key *keys;
	uint8_t bytes[32];
	size_t count = 0;

	if (key_name(&entry.key, name, role, err) < 0)
		return -1;
	if (strlen(public) != KEY_TEXT_SIZE - 1 ||
	    !zmq_z85_decode(bytes, public))
		return error_set(err, EINVAL, "key of %s: no public key", name);
	memcpy(entry.key.public, public, KEY_TEXT_SIZE);
	keys = reallocarray(keyring->keys, keyring->count + 1, sizeof(*keys));
	if (!keys)
		return error_nomem(err, "keys");
	keyring->keys = keys;
	for (size_t i = 0; i < keyring->count; i++)
		if (strcmp(keys[i].key.name, name) != 0 &&
		    strcmp(keys[i].key.public, public) != 0)
			keys[count++] = keys[i];
	keys[count++] = entry;
	keyring->count = count;
	qsort(keys, count, sizeof(*keys), compare_public);
	return 0;
}

void keyring_free(struct keyring *keyring)
{
	if (!keyring)
		return;
	free(keyring->keys);
	free(keyring->path);
	free(keyring);
}

static struct ring_key *named(struct keyring *keyring, const char *name)
{
	for (size_t i = 0; i < keyring->count; i++)
		if (!strcmp(keyring->keys[i].key.name, name))
			return &keyring->keys[i];
	return NULL;
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

const struct key *keyring_named(struct keyring *keyring, const char *name)
{
	struct ring_key *entry = named(keyring, name);

	return entry ? &entry->key : NULL;
}

void keyring_ban(struct keyring *keyring, const char *name, uint64_t for_ms)
{
	struct ring_key *entry = named(keyring, name);

	if (entry)
		entry->banned_until_ms = clock_mono_ms() + (int64_t)for_ms;
}

const char *keyring_problem(const struct keyring *keyring)
{
	return keyring->problem;
}
