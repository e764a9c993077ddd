/* viewers.h - logins to the web pages: one-time addresses and cookies.
 *
 * The owner of an operator's or viewer's key requests a login address. It is
 * good for one browser, once, within VIEWERS_TICKET_S. The browser gets a
 * cookie that is valid for VIEWERS_COOKIE_S. Both end with the key. Both are
 * random and only in memory, so after a restart of the controller a new address
 * is needed. At the limits the key with most of them loses its oldest one.
 */
#pragma once

#include "controller/access/access.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/wire/keyring.h"

#include <stdbool.h>

#define VIEWERS_TICKET_S 600
#define VIEWERS_COOKIE_S 43200
#define VIEWERS_TICKETS_MAX 64
#define VIEWERS_COOKIES_MAX 256

#define VIEWERS_SECRET_SIZE 65 /* hex digits, and the 0 */

struct viewers;
/* keyring: the keys that are valid; access: from where; both borrowed. */
struct viewers *viewers_new(const struct keyring *keyring,
			    const struct access *access, struct error *err);
void viewers_free(struct viewers *viewers);
OWNED_POINTER(struct viewers, viewers_free)

/* Set the URL of the pages ("http://127.0.0.1:7118"; copied). Before that,
 * viewers_address() fails with ENOENT.
 */
void viewers_serve(struct viewers *viewers, const char *url);

/* A new login address for the owner of this key, which the caller frees.
 * ENOENT, ENOMEM.
 */
char *viewers_address(struct viewers *viewers, const char *public,
		      struct error *err);

/* Exchange the ticket of an address for a cookie; false: it is not valid, or
 * not any more.
 */
bool viewers_enter(struct viewers *viewers, const char *ticket,
		   char cookie[VIEWERS_SECRET_SIZE]);

/* The key of who has this cookie, at this address (NULL: it was asked before).
 * NULL: EACCES, the cookie is not valid, or the key not from there. Borrowed
 * until the keys change.
 */
const struct key *viewers_know(const struct viewers *viewers,
			       const char *cookie, const char *address,
			       struct error *err);
