/* login.c - a login for a registry, or a secret, sealed for one reader.
 */
#include "protocol/registry/login.h"

#include "protocol/base/secret.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#define BASE64 sodium_base64_VARIANT_ORIGINAL

/* What is inside. */
struct login_inside {
	char *registry;
	char *from;
	char *username;
	char *password;
	char *token;
};

/* clang-format off */
static const struct schema login_inside_schema = SCHEMA(login_inside,
	FIELD(login_inside, registry),
	FIELD(login_inside, from),
	FIELD_OPTIONAL(login_inside, username),
	FIELD_OPTIONAL(login_inside, password),
	FIELD_OPTIONAL(login_inside, token));
/* clang-format on */

static void login_inside_clear(struct login_inside *inside)
{
	secret_free(inside->username);
	secret_free(inside->password);
	secret_free(inside->token);
	free(inside->registry);
	free(inside->from);
	*inside = (struct login_inside){ 0 };
}
OWNED_VALUE(struct login_inside, login_inside_clear)

void login_clear(struct registry_login *login)
{
	codec_clear(&registry_login_schema, login);
}

bool login_variable_valid(const char *name)
{
	return text_is_of(name, LOGIN_VARIABLE_MAX,
			  ASCII_LETTERS ASCII_DIGITS "_") &&
	       !strchr(ASCII_DIGITS, name[0]);
}

const char *login_variable(const struct registry_login *login)
{
	return login->registry[0] == '$' || login_is_file(login)
		       ? login->registry + 1
		       : NULL;
}

bool login_is_file(const struct registry_login *login)
{
	return login->registry[0] == '/';
}

void login_secret_name(char text[LOGIN_VARIABLE_MAX + 2], const char *name,
		       bool as_file)
{
	snprintf(text, LOGIN_VARIABLE_MAX + 2, "%c%s", as_file ? '/' : '$',
		 name);
}

/* Sealing. */

static char *login_format_inside(const char *registry,
				 const struct credential *credential,
				 const char *from, struct error *err)
{
	owned(secret_json_free) cJSON *tree = NULL;
	char *text;
	/* Only read. */
	const struct login_inside inside = {
		.registry = (char *)registry,
		.from = (char *)from,
		.username = credential->username,
		.password = credential->password,
		.token = credential->token,
	};

	tree = codec_object(&login_inside_schema, &inside, err);
	text = tree ? secret_json_print(tree, LOGIN_TEXT_MAX, err) : NULL;
	if (!text)
		error_prefix(err, "credentials for %.80s", registry);
	return text;
}

static char *sealed_text(const char *text, const unsigned char *public)
{
	size_t size = strlen(text);
	size_t box_size = crypto_box_SEALBYTES + size;
	size_t base64_size = sodium_base64_ENCODED_LEN(box_size, BASE64);
	owned_free unsigned char *box = malloc(box_size);
	char *out = malloc(base64_size);

	if (box && out &&
	    crypto_box_seal(box, (const unsigned char *)text, size, public) ==
		    0)
		return sodium_bin2base64(out, base64_size, box, box_size,
					 BASE64);
	free(out);
	return NULL;
}

int login_seal(const char *registry, const struct credential *credential,
	       const char *from, const char *to, struct registry_login *login,
	       struct error *err)
{
	struct registry_login made = { 0 };
	owned(secret_free) char *text = NULL;
	unsigned char public[crypto_box_PUBLICKEYBYTES];

	if (!key_text_valid(to) || !zmq_z85_decode(public, to))
		return error_set(err, EINVAL, "credentials: not a public key");
	text = login_format_inside(registry, credential, from, err);
	if (!text)
		return -1;
	made.registry = strdup(registry);
	made.sealed = sealed_text(text, public);
	if (!made.registry || !made.sealed) {
		login_clear(&made);
		return error_nomem(err, "credentials");
	}
	*login = made;
	return 0;
}

/* Opening. */

static int login_refuse_key(const struct registry_login *login,
			    struct error *err)
{
	return error_set(err, EKEYREJECTED,
			 "credentials for %.80s: encrypted for another key",
			 login->registry);
}

/* The decrypted text, *size bytes, which the caller overwrites and frees. */
static char *opened_text(const struct registry_login *login,
			 const struct key *key, size_t *size, struct error *err)
{
	unsigned char public[crypto_box_PUBLICKEYBYTES];
	unsigned char secret[crypto_box_SECRETKEYBYTES];
	size_t length = strlen(login->sealed);
	owned_free unsigned char *box = malloc(length + 1);
	char *text = calloc(1, length + 1);
	bool good;

	if (!box || !text) {
		free(text);
		return error_null(error_nomem(err, "credentials"));
	}
	good = length <= LOGIN_SEALED_MAX &&
	       sodium_base642bin(box, length + 1, login->sealed, length, NULL,
				 size, NULL, BASE64) == 0 &&
	       *size >= crypto_box_SEALBYTES;
	if (!good)
		error_set(err, EPROTO, "credentials for %.80s: not encrypted",
			  login->registry);
	if (good && (!zmq_z85_decode(public, key->public) ||
		     !zmq_z85_decode(secret, key->secret) ||
		     crypto_box_seal_open((unsigned char *)text, box, *size,
					  public, secret) < 0)) {
		login_refuse_key(login, err);
		good = false;
	}
	explicit_bzero(secret, sizeof(secret));
	if (good) {
		*size -= crypto_box_SEALBYTES;
		return text;
	}
	free(text);
	return NULL;
}

/* The parser's own error could quote a secret. */
static int login_read_words(const char *text, size_t size,
			    struct login_inside *inside)
{
	owned(secret_json_free) cJSON *tree = codec_parse(text, size, NULL);

	return tree ? codec_from_object(&login_inside_schema, tree, inside,
					NULL)
		    : -1;
}

int login_open(const struct registry_login *login, const struct key *key,
	       const char *from, struct credential *credential,
	       struct error *err)
{
	owned(login_inside_clear) struct login_inside inside = { 0 };
	size_t size = 0;
	char *text;
	int rc;

	*credential = (struct credential){ 0 };
	if (!login->sealed)
		return error_set(err, EKEYREJECTED,
				 "credentials for %.80s: they were deleted",
				 login->registry);
	text = opened_text(login, key, &size, err);
	if (!text)
		return -1;
	rc = login_read_words(text, size, &inside);
	explicit_bzero(text, size);
	free(text);
	if (rc < 0 || strcmp(inside.registry, login->registry) != 0 ||
	    (!inside.username && !inside.token))
		return error_set(err, EPROTO,
				 "credentials for %.80s: the encrypted "
				 "credentials are for another registry",
				 login->registry);
	if (from && strcmp(inside.from, from) != 0)
		return error_set(err, EKEYREJECTED,
				 "credentials for %.80s: encrypted by another "
				 "key than that of the sender",
				 login->registry);
	credential->username = take(inside.username);
	credential->password = take(inside.password);
	credential->token = take(inside.token);
	return 0;
}

/* Lists of them. */

int logins_check(const struct registry_login *logins, size_t count,
		 struct error *err)
{
	if (count > LOGINS_MAX)
		return error_set(err, EPROTO,
				 "credentials for %zu registries; expected at "
				 "most %d with one sweep",
				 count, LOGINS_MAX);
	for (size_t i = 0; i < count; i++) {
		const char *registry = logins[i].registry;
		const char *variable = login_variable(&logins[i]);

		if (variable ? !login_variable_valid(variable)
			     : !reference_host_valid(registry))
			return error_set(err, EPROTO,
					 "credentials: registry: \"%.80s\" is "
					 "not valid here; expected "
					 "HOST[:PORT], "
					 "$NAME or /NAME",
					 registry);
		if (!logins[i].sealed ||
		    strlen(logins[i].sealed) > LOGIN_SEALED_MAX)
			return error_set(err, EPROTO,
					 "credentials for %.80s: empty, or "
					 "more than %d bytes",
					 registry, LOGIN_SEALED_MAX);
		if (logins_find(logins, i, registry))
			return error_set(err, EPROTO,
					 "credentials for %.80s: duplicate",
					 registry);
	}
	return 0;
}

const struct registry_login *logins_find(const struct registry_login *logins,
					 size_t count, const char *registry)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(logins[i].registry, registry))
			return &logins[i];
	return NULL;
}

int logins_copy(struct registry_login **to, size_t *to_count,
		const struct registry_login *from, size_t count,
		struct error *err)
{
	struct registry_login *copy = calloc(count + 1, sizeof(*copy));

	if (!copy)
		return error_nomem(err, "credentials");
	for (size_t i = 0; i < count; i++)
		if (codec_copy(&registry_login_schema, &from[i], &copy[i],
			       err) < 0) {
			logins_free(copy, i);
			return error_prefix(err, "credentials");
		}
	*to = copy;
	*to_count = count;
	return 0;
}

void logins_free(struct registry_login *logins, size_t count)
{
	for (size_t i = 0; logins && i < count; i++)
		login_clear(&logins[i]);
	free(logins);
}
