/* key.c - CURVE key files: a name, a role and a key pair.
 */
#include "protocol/wire/key.h"
#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#define KEY_FILE_MAX 4096

/* clang-format off */
static const struct {
	enum role role;
	const char *name;
} roles[] = {
	{ ROLE_AGENT, "agent" },
	{ ROLE_OPERATOR, "operator" },
	{ ROLE_VIEWER, "viewer" },
	{ ROLE_CONTROLLER, "controller" },
	{ ROLE_JOINER, "joiner" },
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
	return text_is_of(name, KEY_NAME_SIZE - 1,
			  ASCII_LETTERS ASCII_DIGITS "._-") &&
	       !strchr("._-", name[0]);
}

static int key_set_name(struct key *key, const char *name, enum role role,
			struct error *err)
{
	if (!name_valid(name))
		return error_set(err, EINVAL,
				 "name: '%.80s' is not valid here; expected up "
				 "to %d letters, digits, '.', '_' and '-'",
				 name, KEY_NAME_SIZE - 1);
	if (!role_name(role))
		return error_set(err, EINVAL,
				 "role: expected agent, operator, viewer or "
				 "controller");
	memset(key, 0, sizeof(*key));
	memcpy(key->name, name, strlen(name));
	key->role = role;
	return 0;
}

bool key_text_valid(const char *text)
{
	uint8_t bytes[32];

	return strlen(text) == KEY_TEXT_SIZE - 1 && zmq_z85_decode(bytes, text);
}

int key_generate(struct key *key, const char *name, enum role role,
		 struct error *err)
{
	struct key made;

	if (key_set_name(&made, name, role, err) < 0)
		return -1;
	if (zmq_curve_keypair(made.public, made.secret) < 0)
		return error_errno(err, "libzmq was built without CURVE");
	*key = made;
	return 0;
}

int key_proof(const struct key *own, const char *other,
	      char proof[KEY_TEXT_SIZE], struct error *err)
{
	static const unsigned char purpose[] = "regatta proof of a key";
	unsigned char public[32], secret[32], shared[32], hash[32];
	bool good =
		key_text_valid(other) && zmq_z85_decode(public, other) &&
		zmq_z85_decode(secret, own->secret) &&
		crypto_box_beforenm(shared, public, secret) == 0 &&
		crypto_generichash(hash, sizeof(hash), purpose, sizeof(purpose),
				   shared, sizeof(shared)) == 0 &&
		zmq_z85_encode(proof, hash, sizeof(hash));

	sodium_memzero(secret, sizeof(secret));
	sodium_memzero(shared, sizeof(shared));
	return good ? 0
		    : error_set(err, EINVAL,
				"'%.40s' is no key that can be used", other);
}

int key_save(const struct key *key, const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		return error_set(err, EEXIST,
				 "%s: the file exists; remove it first if its "
				 "key is no longer needed",
				 path);
	return key_replace(key, path, err);
}

int key_replace(const struct key *key, const char *path, struct error *err)
{
	char text[512];
	int size;

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

/* Read a Z85 key of the map; a missing one is an error. */
static int read_key_text(const struct value *map, const char *field,
			 char text[KEY_TEXT_SIZE], struct error *err)
{
	const struct value *value = value_get(map, field);
	const char *found;

	if (!value)
		return value_error(map, err, "%s: missing", field);
	if (value_string(value, KEY_TEXT_SIZE - 1, &found, err) < 0)
		return -1;
	if (!key_text_valid(found))
		return value_error(value, err,
				   "not a key; expected 40 characters of Z85");
	memcpy(text, found, KEY_TEXT_SIZE);
	return 0;
}

static int key_read_role(const struct value *map, enum role *role,
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
				 "expected 0600: chmod 600 %s",
				 path, st.st_mode & 07777, path);
	document = document_read(path, &limits, err);
	if (!document)
		return -1;
	root = document_root(document);
	if (value_expect(root, VALUE_MAP, err) < 0 ||
	    value_check_keys(root, keys, err) < 0 ||
	    key_read_role(root, &role, err) < 0)
		return -1;
	if (!value_get(root, "name"))
		return value_error(root, err, "name: missing");
	if (value_string(value_get(root, "name"), KEY_NAME_SIZE - 1, &name,
			 err) < 0 ||
	    key_set_name(&got, name, role, err) < 0 ||
	    read_key_text(root, "public", got.public, err) < 0 ||
	    read_key_text(root, "secret", got.secret, err) < 0)
		return -1;
	if (zmq_curve_public(public, got.secret) < 0 ||
	    strcmp(public, got.public) != 0)
		return value_error(root, err,
				   "public: does not match the secret key");
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
	owned(buffer_clear) struct buffer text = BUFFER_INIT(KEY_FILE_MAX);

	/* A path may be valid Z85, too: an existing file is read. */
	if (key_text_valid(given) && access(given, F_OK) < 0) {
		memcpy(public, given, KEY_TEXT_SIZE);
		return 0;
	}
	if (file_read_any(given, &text, err) < 0)
		return -1;
	while (text.size && text.data[text.size - 1] == '\n')
		text.data[--text.size] = 0;
	if (text.size && key_text_valid(text.data)) {
		memcpy(public, text.data, KEY_TEXT_SIZE);
		return 0;
	}
	document = document_parse(text.data, text.size, given, &limits, err);
	if (!document)
		return -1;
	return read_key_text(public_map(document_root(document)), "public",
			     public, err);
}

int key_of_list(struct key *key, const struct value *list, size_t index,
		struct error *err)
{
	static const char *const keys[] = { "role", "public", NULL };
	const struct value *map = value_at(list, index);
	enum role role = ROLE_NONE;

	if (value_expect(map, VALUE_MAP, err) < 0 ||
	    value_check_keys(map, keys, err) < 0 ||
	    key_read_role(map, &role, err) < 0)
		return -1;
	if (key_set_name(key, value_key(list, index), role, err) < 0)
		return error_prefix(err, "%s:%u", value_file(list),
				    value_key_line(list, index));
	return read_key_text(map, "public", key->public, err);
}
