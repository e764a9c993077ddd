/* names.c - feeds any bytes to the readers of what people paste and configure:
 * references of images, tokens, networks, lists of keys.
 */
#include "controller/access/key_entry.h"
#include "protocol/registry/reference.h"
#include "protocol/wire/join.h"
#include "protocol/yaml/document.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

/* What is taken is short, and the same when it is read again. */
static void check_reference(const char *text)
{
	struct reference first, second;
	struct error err = { 0 };
	char whole[sizeof(first) + 3];

	if (reference_parse(text, &first, &err) < 0) {
		must(err.code && err.text[0]);
		return;
	}
	if (!first.name[0])
		return;
	snprintf(whole, sizeof(whole), "%s%s%s%s%s", first.name,
		 first.tag[0] ? ":" : "", first.tag, first.digest[0] ? "@" : "",
		 first.digest);
	must(reference_parse(whole, &second, &err) == 0 &&
	     !strcmp(first.name, second.name) &&
	     !strcmp(first.tag, second.tag) &&
	     !strcmp(first.digest, second.digest));
}

static void check_token(const char *text)
{
	struct join_token first, second;
	char again[JOIN_TOKEN_MAX];
	struct error err = { 0 };

	if (join_token_read(&first, text, &err) < 0) {
		must(err.code && err.text[0]);
		return;
	}
	must(key_text_valid(first.public) && key_text_valid(first.secret) &&
	     join_token_text(&first, again, &err) == 0 &&
	     join_token_read(&second, again, &err) == 0 &&
	     !strcmp(first.endpoint, second.endpoint) &&
	     !strcmp(first.secret, second.secret));
}

static void check_network(const char *text)
{
	struct error err = { 0 };
	bool has = network_has(text, "10.0.0.1") || network_has(text, "::1");

	if (network_check(text, &err) < 0)
		must(err.code && err.text[0] && !has);
	must(!network_has("10.0.0.0/8", text) ||
	     network_check(text, NULL) == 0);
}

static void check_keys(const char *text, size_t size)
{
	static const struct document_limits limits = { .bytes = 65536 };
	struct error err = { 0 };
	struct document *document =
		document_parse(text, size, "keys", &limits, &err);
	const struct value *list = document ? document_root(document) : NULL;

	for (size_t i = 0;
	     list && value_kind(list) == VALUE_MAP && i < value_count(list);
	     i++) {
		struct key key;

		if (key_of_list(&key, list, i, &err) < 0)
			must(err.code && err.text[0]);
		else
			must(name_valid(key.name) &&
			     key_text_valid(key.public) && role_name(key.role));
	}
	document_free(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);

	must(text != NULL);
	memcpy(text, data, size);
	check_reference(text);
	check_token(text);
	check_network(text);
	check_keys(text, size);
	free(text);
	return 0;
}
