/* viewers.h - who may look at the web pages: one-time addresses and cookies.
 *
 * Whoever has a key of an operator or viewer asks for an address; it lets one
 * browser in, once, within VIEWERS_TICKET_S. What the browser gets is a cookie
 * that holds for VIEWERS_COOKIE_S. Both are random, in memory alone: a new
 * controller lets nobody in without a new address. At the limits the oldest one
 * gives way.
 */
#ifndef CONTROLLER_ACCESS_VIEWERS_H
#define CONTROLLER_ACCESS_VIEWERS_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>

#define VIEWERS_TICKET_S 600
#define VIEWERS_COOKIE_S 43200
#define VIEWERS_TICKETS_MAX 64
#define VIEWERS_COOKIES_MAX 256

#define VIEWERS_SECRET_SIZE 65 /* hex digits, and the 0 */

struct viewers;
struct viewers *viewers_new(struct error *err);
void viewers_free(struct viewers *viewers);
OWNED_POINTER(struct viewers, viewers_free)

/* Where the pages are ("http://127.0.0.1:7118"; copied); before, ENOENT is the
 * answer of viewers_address().
 */
void viewers_serve(struct viewers *viewers, const char *url);

/* A new address, which the caller frees. ENOENT, ENOMEM. */
char *viewers_address(struct viewers *viewers, struct error *err);

/* The ticket of an address becomes a cookie; false: it is none, or no longer.
 */
bool viewers_enter(struct viewers *viewers, const char *ticket,
		   char cookie[VIEWERS_SECRET_SIZE]);

/* Does the cookie let in? NULL: no. */
bool viewers_know(const struct viewers *viewers, const char *cookie);

#endif
