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
	int64_t until_ms; /* monotonic; 0: unused */
};

struct viewers {
	char url[128];
	struct secret tickets[VIEWERS_TICKETS_MAX];
	struct secret cookies[VIEWERS_COOKIES_MAX];
};

struct viewers *viewers_new(struct error *err)
{
	struct viewers *viewers = calloc(1, sizeof(*viewers));

	if (!viewers)
		error_nomem(err, "viewers");
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

/* Replace the secret that ends first; an unused one has until_ms 0. */
static struct secret *viewer_secret_make(struct secret *list, size_t count,
					 int64_t seconds)
{
	struct secret *oldest = list;
	uint8_t random[(VIEWERS_SECRET_SIZE - 1) / 2];

	for (size_t i = 1; i < count; i++)
		if (list[i].until_ms < oldest->until_ms)
			oldest = &list[i];
	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(oldest->text, sizeof(oldest->text), random,
		       sizeof(random));
	oldest->until_ms = clock_mono_ms() + seconds * 1000;
	return oldest;
}

/* The time does not depend on the text: all secrets are compared. */
static const struct secret *viewer_secret_find(const struct secret *list,
					       size_t count, const char *text)
{
	const struct secret *found = NULL;

	if (!text || strlen(text) != VIEWERS_SECRET_SIZE - 1)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (sodium_memcmp(list[i].text, text, VIEWERS_SECRET_SIZE) ==
			    0 &&
		    clock_mono_ms() < list[i].until_ms)
			found = &list[i];
	return found;
}

char *viewers_address(struct viewers *viewers, struct error *err)
{
	const struct secret *ticket;
	char *address = NULL;

	if (!viewers->url[0])
		return error_null(error_set(err, ENOENT,
					    "this controller serves no web "
					    "pages; start it with "
					    "--web 127.0.0.1:7118"));
	ticket = viewer_secret_make(viewers->tickets, VIEWERS_TICKETS_MAX,
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
		viewer_secret_find(viewers->tickets, VIEWERS_TICKETS_MAX,
				   ticket);

	if (!found)
		return false;
	viewers->tickets[found - viewers->tickets] =
		(struct secret){ .until_ms = 0 };
	memcpy(cookie,
	       viewer_secret_make(viewers->cookies, VIEWERS_COOKIES_MAX,
				  VIEWERS_COOKIE_S)
		       ->text,
	       VIEWERS_SECRET_SIZE);
	return true;
}

bool viewers_know(const struct viewers *viewers, const char *cookie)
{
	return viewer_secret_find(viewers->cookies, VIEWERS_COOKIES_MAX,
				  cookie);
}
