/* reference.c - the parts of an image reference, name[:tag][@digest].
 */
#include "protocol/registry/reference.h"

#include "protocol/base/digest.h"
#include "protocol/base/strings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LOWER ASCII_LOWER ASCII_DIGITS
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HUB "docker.io"

static int reference_refuse(const char *text, const char *why,
			    struct error *err)
{
	return error_set(err, EINVAL,
			 "image reference \"%.100s\": %s; expected "
			 "name[:tag][@sha256:64 hex digits]",
			 text, why);
}

static int digest_valid(const char *text)
{
	return !strncmp(text, "sha256:", 7) && digest_hex_valid(text + 7);
}

static int tag_valid(const char *text)
{
	return text_is_of(text, 128, LOWER UPPER "_.-") && *text != '.' &&
	       *text != '-';
}

/* Is what stands in front of the first '/' meant as a registry? */
static bool reference_is_place(const char *text, size_t size)
{
	return memchr(text, '.', size) || memchr(text, ':', size) ||
	       (size == 9 && !strncmp(text, "localhost", 9));
}

/* HOST[:PORT] in front of the first '/'. */
static int registry_valid(const char *text, size_t size)
{
	size_t host = strspn(text, LOWER UPPER ".-");
	size_t port;

	if (!host || host > size || text[0] == '.' || text[0] == '-')
		return 0;
	if (host == size)
		return 1;
	port = text[host] == ':' ? strspn(text + host + 1, "0123456789") : 0;
	return port >= 1 && port <= 5 && host + 1 + port == size;
}

static int component_valid(const char *text, size_t size)
{
	size_t at = strspn(text, LOWER), run, letters;

	while (at && at < size) {
		run = strspn(text + at, "._-");
		letters = strspn(text + at + run, LOWER);
		if (!letters || (run != 1 && strspn(text + at, "-") < run &&
				 !(run == 2 && !strncmp(text + at, "__", 2))))
			return 0;
		at += run + letters;
	}
	return at && at == size;
}

static int name_check(const char *whole, const char *name, struct error *err)
{
	const char *at = name, *slash;
	size_t size;

	while (1) {
		slash = strchr(at, '/');
		size = slash ? (size_t)(slash - at) : strlen(at);
		if (!(at == name && slash && reference_is_place(at, size)
			      ? registry_valid(at, size)
			      : component_valid(at, size)))
			break;
		if (!slash)
			return 0;
		at = slash + 1;
	}
	if (!*name)
		return reference_refuse(whole, "no name", err);
	if (strspn(at, LOWER UPPER "._-") >= size && size &&
	    strcspn(at, UPPER) < size)
		return reference_refuse(whole, "capital letters in the name",
					err);
	return reference_refuse(whole,
				"a name has a-z and 0-9, and . _ - / between "
				"them",
				err);
}

int reference_parse(const char *text, struct reference *reference,
		    struct error *err)
{
	struct reference parts = { 0 };
	char *at, *slash, *colon;

	if (strlen(text) > REFERENCE_MAX)
		return error_set(err, EINVAL,
				 "image reference: %zu bytes; expected at most "
				 "%d",
				 strlen(text), REFERENCE_MAX);
	if (digest_valid(text)) {
		memcpy(parts.digest, text, strlen(text));
		*reference = parts;
		return 0;
	}
	memcpy(parts.name, text, strlen(text));
	at = strchr(parts.name, '@');
	if (at) {
		*at = 0;
		if (!digest_valid(at + 1))
			return reference_refuse(text,
						"no SHA-256 digest after the @",
						err);
		memcpy(parts.digest, at + 1, strlen(at + 1));
	}
	slash = strrchr(parts.name, '/');
	colon = strrchr(slash ? slash : parts.name, ':');
	if (colon) {
		*colon = 0;
		if (!tag_valid(colon + 1))
			return reference_refuse(text,
						"no tag of a-z, A-Z, 0-9, . _ "
						"- after the "
						"colon",
						err);
		memcpy(parts.tag, colon + 1, strlen(colon + 1));
	}
	if (name_check(text, parts.name, err) < 0)
		return -1;
	*reference = parts;
	return 0;
}

void reference_place(const struct reference *reference, char *host, char *path)
{
	const char *name = reference->name;
	size_t first = strcspn(name, "/");
	bool named = name[first] && reference_is_place(name, first);

	snprintf(host, REFERENCE_HOST_MAX + 1, "%.*s",
		 named ? (int)first : (int)strlen(HUB), named ? name : HUB);
	if (named)
		name += first + 1;
	snprintf(path, REFERENCE_PATH_MAX + 1, "%s%s",
		 !named && !strchr(name, '/') ? "library/" : "", name);
}

void reference_listed(const struct reference *reference,
		      char listed[REFERENCE_LISTED_SIZE])
{
	bool by_digest = reference->digest[0];
	const char *tag = reference->tag[0] ? reference->tag : "latest";

	snprintf(listed, REFERENCE_LISTED_SIZE, "%s%s%s", reference->name,
		 !reference->name[0] ? ""
		 : by_digest         ? "@"
				     : ":",
		 by_digest ? reference->digest : tag);
}

bool reference_digest_is(const char *reference, const char *id)
{
	const char *at = strchr(reference, '@');

	return at && !strcmp(at + 1, id);
}

bool reference_host_valid(const char *text)
{
	size_t size = strlen(text);

	return size <= REFERENCE_HOST_MAX && registry_valid(text, size);
}
