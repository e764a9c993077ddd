/* http_owners.h - how many answers a second each owner of an HTTP server gets.
 *
 * An owner is who asks, as the server's handler names it. Each has HTTP_RATE,
 * so that none keeps others out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_RATE 200
#define HTTP_OWNERS_MAX 320 /* in one second */
#define HTTP_OWNER_SIZE 48  /* a public key, and the 0 */

/* Zero at first. */
struct http_owners {
	int64_t second; /* monotonic */
	struct http_owner {
		char name[HTTP_OWNER_SIZE];
		unsigned int answers;
	} list[HTTP_OWNERS_MAX]; /* of that second */
	size_t count;
};

/* One more answer to the owner. False: it has had all of this second. */
bool http_owners_answer(struct http_owners *owners, const char *name);
