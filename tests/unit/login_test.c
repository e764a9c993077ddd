/* login_test.c - what goes sealed with a job, and which images it is for.
 */
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"
#include "protocol/registry/reference.h"
#include "tests/tap.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

static struct key user, controller, node;

static void keys(void)
{
	ok(key_generate(&user, "u", ROLE_OPERATOR, NULL) == 0 &&
		   key_generate(&controller, "c", ROLE_CONTROLLER, NULL) == 0 &&
		   key_generate(&node, "n", ROLE_AGENT, NULL) == 0,
	   "three keys");
}

static void sealing(void)
{
	struct credential secret = { .username = (char *)"name",
				     .password = (char *)"pass\"\n:word" };
	owned(credential_clear) struct credential got = { 0 };
	owned(login_clear) struct registry_login login = { 0 };
	owned(login_clear) struct registry_login again = { 0 };
	struct error err = { 0 };
	char *other;

	is_int(login_seal("r:1", &secret, user.public, controller.public,
			  &login, &err),
	       0, "a login is sealed");
	is_int(login_seal("r:1", &secret, user.public, controller.public,
			  &again, &err),
	       0, "and again");
	ok(strcmp(login.sealed, again.sealed) != 0,
	   "no two of the same look alike");
	is_int(login_open(&login, &controller, user.public, &got, &err), 0,
	       "who it is for opens it");
	ok(!strcmp(got.username, "name") &&
		   !strcmp(got.password, "pass\"\n:word") && !got.token,
	   "and finds what was put in");
	credential_clear(&got);
	ok(login_open(&login, &node, NULL, &got, &err) < 0 &&
		   err.code == EKEYREJECTED && !got.username,
	   "nobody else does: %s", err.text);
	ok(login_open(&login, &controller, node.public, &got, &err) < 0 &&
		   err.code == EKEYREJECTED && !got.username,
	   "it is of no use from another sender: %s", err.text);
	other = login.registry;
	login.registry = (char *)"r:2";
	ok(login_open(&login, &controller, NULL, &got, &err) < 0 &&
		   err.code == EPROTO,
	   "nor for another registry: %s", err.text);
	login.registry = other;
	login.sealed[8] = login.sealed[8] == 'A' ? 'B' : 'A';
	ok(login_open(&login, &controller, NULL, &got, &err) < 0 &&
		   err.code == EKEYREJECTED,
	   "one that was changed is none");
	login.sealed[8] = '!';
	ok(login_open(&login, &controller, NULL, &got, &err) < 0 &&
		   err.code == EPROTO,
	   "nor is what is no base64: %s", err.text);
}

static void sizes(void)
{
	char *large = calloc(1, LOGIN_TEXT_MAX + 1);
	struct credential token = { .token = large };
	owned(login_clear) struct registry_login login = { 0 };
	owned(credential_clear) struct credential got = { 0 };
	struct error err = { 0 };

	memset(large, 'x', LOGIN_TEXT_MAX);
	ok(login_seal("r:1", &token, user.public, node.public, &login, &err) <
			   0 &&
		   err.code == E2BIG && !strstr(err.text, "xx"),
	   "one that is too long is refused: %s", err.text);
	large[LOGIN_TEXT_MAX - 200] = 0;
	is_int(login_seal("r:1", &token, user.public, node.public, &login,
			  &err),
	       0, "one that is long is not");
	is_int(logins_check(&login, 1, &err), 0, "and may travel");
	ok(login_open(&login, &node, user.public, &got, &err) == 0 &&
		   !strcmp(got.token, large),
	   "and is the same there");
	free(large);
}

/* Sealed, but nothing of ours. */
static void strangers(void)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"null",
		"{\"registry\":\"r:1\",\"from\":\"x\"}",
		"{\"registry\":\"r:1\",\"from\":\"x\",\"username\":7}",
		"{\"registry\":\"r:1\",\"username\":\"u\"}",
		"{\"registry\":\"r:1\",\"from\":\"x\",\"token\":\"t\",\"y\":1}",
	};
	unsigned char public[crypto_box_PUBLICKEYBYTES];
	unsigned char box[200];
	char text[300];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct registry_login login = { (char *)"r:1", text };
		owned(credential_clear) struct credential got = { 0 };
		size_t size = strlen(bad[i]);
		struct error err = { 0 };

		zmq_z85_decode(public, node.public);
		crypto_box_seal(box, (const unsigned char *)bad[i], size,
				public);
		sodium_bin2base64(text, sizeof(text), box,
				  size + crypto_box_SEALBYTES,
				  sodium_base64_VARIANT_ORIGINAL);
		ok(login_open(&login, &node, NULL, &got, &err) < 0 &&
			   err.code == EPROTO && !strstr(err.text, "token"),
		   "%s is no login", bad[i]);
	}
}

static void lists(void)
{
	struct registry_login list[LOGINS_MAX + 1] = {
		{ (char *)"a", (char *)"x" },
		{ (char *)"b:5000", (char *)"y" },
	};
	struct registry_login *copy = NULL;
	size_t count = 0;
	struct error err = { 0 };

	is_int(logins_check(list, 2, &err), 0, "two registries");
	ok(logins_find(list, 2, "b:5000") == &list[1] &&
		   !logins_find(list, 2, "b"),
	   "are found by their names");
	ok(logins_copy(&copy, &count, list, 2, NULL) == 0 && count == 2 &&
		   !strcmp(copy[1].sealed, "y"),
	   "and copied");
	logins_free(copy, count);
	list[1].registry = (char *)"a";
	ok(logins_check(list, 2, &err) < 0, "not the same twice: %s", err.text);
	list[1].registry = (char *)"a/b";
	ok(logins_check(list, 2, &err) < 0, "no path: %s", err.text);
	list[1] = (struct registry_login){ (char *)"b", NULL };
	ok(logins_check(list, 2, &err) < 0, "not without: %s", err.text);
	ok(logins_check(list, LOGINS_MAX + 1, &err) < 0, "not many: %s",
	   err.text);
}

int main(void)
{
	tap_begin(60);
	if (sodium_init() < 0)
		return 1;
	keys();
	sealing();
	sizes();
	strangers();
	lists();
	return tap_done();
}
