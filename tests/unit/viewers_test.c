/* viewers_test.c - one-time addresses, cookies, and their limits.
 */
#include "controller/access/viewers.h"

#include "tests/tap.h"

#include <errno.h>
#include <sodium.h>

/* The ticket of a new address. */
static void make(struct viewers *viewers, char ticket[VIEWERS_SECRET_SIZE])
{
	char *address = viewers_address(viewers, NULL);

	snprintf(ticket, VIEWERS_SECRET_SIZE, "%s",
		 address ? strstr(address, "?ticket=") + 8 : "");
	free(address);
}

int main(void)
{
	owned(viewers_free) struct viewers *viewers = NULL;
	char first[VIEWERS_SECRET_SIZE], ticket[VIEWERS_SECRET_SIZE];
	char cookie[VIEWERS_SECRET_SIZE] = "", other[VIEWERS_SECRET_SIZE];
	struct error err = { 0 };

	tap_begin(30);
	if (sodium_init() < 0)
		return 1;
	viewers = viewers_new(&err);
	ok(!viewers_address(viewers, &err) && err.code == ENOENT,
	   "without pages there is no address");
	viewers_serve(viewers, "http://127.0.0.1:7118");
	make(viewers, first);
	ok(strlen(first) == VIEWERS_SECRET_SIZE - 1, "a ticket of 256 bits");
	ok(!viewers_know(viewers, NULL) && !viewers_know(viewers, "") &&
		   !viewers_know(viewers, first),
	   "a ticket is no cookie");
	ok(viewers_enter(viewers, first, cookie) &&
		   viewers_know(viewers, cookie),
	   "it becomes one");
	ok(strcmp(first, cookie) != 0, "which is another secret");
	ok(!viewers_enter(viewers, first, other), "once");
	ok(!viewers_enter(viewers, cookie, other) &&
		   !viewers_enter(viewers, NULL, other) &&
		   !viewers_enter(viewers, "", other),
	   "nothing else does");
	make(viewers, first);
	for (int i = 0; i < VIEWERS_TICKETS_MAX; i++)
		make(viewers, ticket);
	ok(!viewers_enter(viewers, first, other) &&
		   viewers_enter(viewers, ticket, other),
	   "of too many addresses the oldest gives way");
	ok(viewers_know(viewers, cookie) && viewers_know(viewers, other),
	   "two browsers are in");
	viewers_free(take(viewers));
	return tap_done();
}
