/* viewers_test.c - one-time addresses, cookies, and their limits.
 */
#include "controller/access/viewers.h"

#include "tests/tap.h"

#include <errno.h>
#include <sodium.h>

/* The ticket of a new address of this key. */
static void make(struct viewers *viewers, const struct key *key,
		 char ticket[VIEWERS_SECRET_SIZE])
{
	char *address = viewers_address(viewers, key->public, NULL);

	snprintf(ticket, VIEWERS_SECRET_SIZE, "%s",
		 address ? strstr(address, "?ticket=") + 8 : "");
	free(address);
}

int main(void)
{
	owned(keyring_free) struct keyring *keyring = NULL;
	owned(viewers_free) struct viewers *viewers = NULL;
	struct key ann, bob;
	char anns[VIEWERS_SECRET_SIZE] = "", waits[VIEWERS_SECRET_SIZE];
	char first[VIEWERS_SECRET_SIZE], ticket[VIEWERS_SECRET_SIZE];
	char cookie[VIEWERS_SECRET_SIZE] = "", other[VIEWERS_SECRET_SIZE];
	struct error err = { 0 };

	tap_begin(30);
	if (sodium_init() < 0)
		return 1;
	keyring = keyring_new(NULL, &err);
	key_generate(&ann, "ann", ROLE_OPERATOR, NULL);
	key_generate(&bob, "bob", ROLE_VIEWER, NULL);
	keyring_admit(keyring, "ann", ROLE_OPERATOR, ann.public, NULL);
	keyring_admit(keyring, "bob", ROLE_VIEWER, bob.public, NULL);
	viewers = viewers_new(keyring, NULL, &err);
	ok(!viewers_address(viewers, bob.public, &err) && err.code == ENOENT,
	   "without pages there is no address");
	viewers_serve(viewers, "http://127.0.0.1:7118");
	make(viewers, &bob, first);
	ok(strlen(first) == VIEWERS_SECRET_SIZE - 1, "a ticket of 256 bits");
	ok(!viewers_know(viewers, NULL, NULL, NULL) &&
		   !viewers_know(viewers, "", NULL, NULL) &&
		   !viewers_know(viewers, first, NULL, NULL),
	   "a ticket is no cookie");
	ok(viewers_enter(viewers, first, cookie) &&
		   viewers_know(viewers, cookie, NULL, NULL),
	   "it becomes one");
	ok(strcmp(first, cookie) != 0, "which is another secret");
	ok(!viewers_enter(viewers, first, other), "once");
	ok(!viewers_enter(viewers, cookie, other) &&
		   !viewers_enter(viewers, NULL, other) &&
		   !viewers_enter(viewers, "", other),
	   "nothing else does");
	make(viewers, &bob, first);
	for (int i = 0; i < VIEWERS_TICKETS_MAX; i++)
		make(viewers, &bob, ticket);
	ok(!viewers_enter(viewers, first, other) &&
		   viewers_enter(viewers, ticket, other),
	   "of too many addresses the oldest gives way");
	ok(viewers_know(viewers, cookie, NULL, NULL) &&
		   viewers_know(viewers, other, NULL, NULL),
	   "two browsers are in");
	make(viewers, &ann, ticket);
	viewers_enter(viewers, ticket, anns);
	make(viewers, &ann, waits);
	for (int i = 0; i < VIEWERS_COOKIES_MAX + VIEWERS_TICKETS_MAX; i++) {
		make(viewers, &bob, ticket);
		viewers_enter(viewers, ticket, other);
	}
	for (int i = 0; i < VIEWERS_TICKETS_MAX; i++)
		make(viewers, &bob, ticket);
	ok(viewers_know(viewers, anns, NULL, NULL) &&
		   viewers_enter(viewers, waits, anns),
	   "however often one logs in, others stay");
	ok(!viewers_know(viewers, cookie, NULL, NULL) &&
		   viewers_know(viewers, other, NULL, NULL),
	   "and its own oldest one gives way");
	keyring_revoke(keyring, bob.public, NULL);
	ok(!viewers_know(viewers, other, NULL, NULL) &&
		   !viewers_enter(viewers, ticket, other),
	   "both end with the key");
	ok(viewers_know(viewers, anns, NULL, NULL), "but not those of others");
	viewers_free(take(viewers));
	keyring_free(take(keyring));
	return tap_done();
}
