/* viewers.c - logins to the web pages: one-time addresses and cookies. */
#include "controller/access/viewers.h"
#include "protocol/base/clock.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct secret {
	char text[VIEWERS_SECRET_SIZE];
	char public[KEY_TEXT_SIZE]; /* key of its owner */
	int64_t until_ms;           /* monotonic; 0: unused */
};

struct viewers {
	const struct keyring *keyring;
	const struct access *access;
	char url[128];
	struct secret tickets[VIEWERS_TICKETS_MAX];
	struct secret cookies[VIEWERS_COOKIES_MAX];
};

struct viewers *viewers_new(const struct keyring *keyring,
			    const struct access *access, struct error *err)
{
	struct viewers *viewers = calloc(1, sizeof(*viewers));

	if (!viewers)
		return error_null(error_nomem(err, "viewers"));
	viewers->keyring = keyring;
	viewers->access = access;
	return viewers;
}

void viewers_free(struct viewers *viewers)
{
	if (viewers)
		sodium_memzero(viewers, sizeof(*viewers));
	free(viewers);
}

void viewers_serve(struct viewers *viewers, const char *url)
{
	snprintf(viewers->url, sizeof(viewers->url), "%s", url);
}

static bool viewer_secret_is_valid(const struct viewers *viewers,
				   const struct secret *secret)
{
	return clock_mono_ms() < secret->until_ms &&
	       keyring_known(viewers->keyring, secret->public);
}

/* How many of the list have the same owner. */
static size_t owner_count(const struct secret *list, size_t count,
			  const struct secret *secret)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += !strcmp(list[i].public, secret->public);
	return found;
}

/* The secret to replace: one that is not valid, or else the one that ends first
 * among those of the owner with most.
 */
static struct secret *viewer_secret_place(const struct viewers *viewers,
					  struct secret *list, size_t count)
{
	struct secret *place = list;
	size_t most = 0;

	for (size_t i = 0; i < count; i++) {
		size_t has;

		if (!viewer_secret_is_valid(viewers, &list[i]))
			return &list[i];
		has = owner_count(list, count, &list[i]);
		if (has > most ||
		    (has == most && list[i].until_ms < place->until_ms))
			place = &list[i];
		most = has > most ? has : most;
	}
	return place;
}

static struct secret *viewer_secret_make(const struct viewers *viewers,
					 struct secret *list, size_t count,
					 const char *public, int64_t seconds)
{
	struct secret *secret = viewer_secret_place(viewers, list, count);
	uint8_t random[(VIEWERS_SECRET_SIZE - 1) / 2];

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(secret->text, sizeof(secret->text), random,
		       sizeof(random));
	snprintf(secret->public, sizeof(secret->public), "%s", public);
	secret->until_ms = clock_mono_ms() + seconds * 1000;
	return secret;
}

/* The time does not depend on the text: all secrets are compared. */
static const struct secret *viewer_secret_find(const struct viewers *viewers,
					       const struct secret *list,
					       size_t count, const char *text)
{
	const struct secret *found = NULL;

	if (!text || strlen(text) != VIEWERS_SECRET_SIZE - 1)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (sodium_memcmp(list[i].text, text, VIEWERS_SECRET_SIZE) ==
			    0 &&
		    viewer_secret_is_valid(viewers, &list[i]))
			found = &list[i];
	return found;
}

char *viewers_address(struct viewers *viewers, const char *public,
		      struct error *err)
{
	const struct secret *ticket;
	char *address = NULL;

	if (!viewers->url[0])
		return error_null(error_set(err, ENOENT,
					    "this controller serves no web "
					    "pages; start it with "
					    "--web 127.0.0.1:7118"));
	ticket = viewer_secret_make(viewers, viewers->tickets,
				    VIEWERS_TICKETS_MAX, public,
				    VIEWERS_TICKET_S);
	if (asprintf(&address, "%s/login?ticket=%s", viewers->url,
		     ticket->text) < 0)
		return error_null(error_nomem(err, "address"));
	return address;
}

bool viewers_enter(struct viewers *viewers, const char *ticket,
		   char cookie[VIEWERS_SECRET_SIZE])
{
	const struct secret *found =
		viewer_secret_find(viewers, viewers->tickets,
				   VIEWERS_TICKETS_MAX, ticket);
	struct secret *made;

	if (!found)
		return false;
	made = viewer_secret_make(viewers, viewers->cookies,
				  VIEWERS_COOKIES_MAX, found->public,
				  VIEWERS_COOKIE_S);
	viewers->tickets[found - viewers->tickets] =
		(struct secret){ .until_ms = 0 };
	memcpy(cookie, made->text, VIEWERS_SECRET_SIZE);
	return true;
}

const struct key *viewers_know(const struct viewers *viewers,
			       const char *cookie, const char *address,
			       struct error *err)
{
	const struct secret *found =
		viewer_secret_find(viewers, viewers->cookies,
				   VIEWERS_COOKIES_MAX, cookie);

	if (!found)
		return error_null(error_set(err, EACCES,
					    "login required; `regatta web` "
					    "prints a login address"));
	if (address && access_check_address(viewers->access, found->public,
					    address, err) < 0)
		return NULL;
	return keyring_known(viewers->keyring, found->public);
}
